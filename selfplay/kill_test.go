package selfplay

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/replay"
)

var kills = flag.Int("kills", 4, "processes that TestKilledRunLosesNothing kills")

// childDir, when set in the environment, makes the test binary run the loop in
// that directory until it is killed.
const childDir = "SELFPLAY_TEST_CHILD_DIR"

func TestMain(m *testing.M) {
	flag.Parse()
	if dir := os.Getenv(childDir); dir != "" {
		if err := child(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func child(dir string) error {
	cfg, _, err := SavedConfig(dir)
	if err != nil {
		return err
	}
	r, err := Open(context.Background(), dir, cfg, Options{Build: "test"})
	if err != nil {
		return err
	}
	return r.Loop(context.Background(), Limits{})
}

// spoolWatch collects the ids of all games that ever lay in the spool: each
// was finished, so each must be in the replay buffer in the end.
type spoolWatch struct {
	seen map[string]bool
	stop chan struct{}
	done sync.WaitGroup
}

func watchSpool(dir string) *spoolWatch {
	w := &spoolWatch{seen: map[string]bool{}, stop: make(chan struct{})}
	w.done.Go(func() {
		for {
			entries, _ := os.ReadDir(dir) // not there before the first start
			for _, e := range entries {
				if id, ok := strings.CutSuffix(e.Name(), spoolExt); ok {
					w.seen[id] = true
				}
			}
			select {
			case <-w.stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	})
	return w
}

// ids ends the watch.
func (w *spoolWatch) ids() map[string]bool {
	close(w.stop)
	w.done.Wait()
	return w.seen
}

func TestKilledRunLosesNothing(t *testing.T) {
	t.Run("nnue", func(t *testing.T) { killRun(t, smallConfig(t), *kills) })
	t.Run("planes", func(t *testing.T) { killRun(t, treeConfig(t), (*kills+1)/2) })
}

// killRun kills so many processes of a run, one after the other, and looks for what
// they played.
func killRun(t *testing.T, cfg configs.Config, kills int) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	watch := watchSpool(filepath.Join(dir, spoolDir))
	for range kills {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		var output strings.Builder
		cmd.Stdout, cmd.Stderr = &output, &output
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(300*time.Millisecond + rand.N(1200*time.Millisecond))
		_ = cmd.Process.Kill() // it may have ended by itself: then with an error, checked next
		err := cmd.Wait()
		if cmd.ProcessState.Exited() {
			t.Fatalf("the loop ended by itself: %v\n%s", err, output.String())
		}
	}
	// Started once more and ended in order, everything is in the buffer.
	last := loopOnce(t, dir, cfg, Limits{Games: 1})
	seen := watch.ids()
	report := audit(t, dir)
	stored := map[string]int{}
	err := replay.VisitIDs(filepath.Join(dir, replayDir), func(id string) { stored[id]++ })
	if err != nil {
		t.Fatal(err)
	}
	for id := range seen {
		if stored[id] != 1 {
			t.Errorf("finished game %s is stored %d times", id, stored[id])
		}
	}
	if len(seen) < 5 || uint64(len(stored)) != report.UniqueIDs {
		t.Errorf("saw %d games finished, %d are stored, the audit counts %d: too few for a test", len(seen), len(stored), report.UniqueIDs)
	}
	t.Logf("%d kills, %d games seen in the spool, %d stored, %d steps", kills, len(seen), len(stored), last.Step)
}
