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
	r, err := Open(context.Background(), dir, cfg, testOptions())
	if err != nil {
		return err
	}
	return r.Loop(context.Background(), Limits{})
}

// spoolWatch collects the ids of all games that ever lay in the spool: each
// was finished, so each must be in the replay buffer in the end.
type spoolWatch struct {
	mu   sync.Mutex
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
					w.mu.Lock()
					w.seen[id] = true
					w.mu.Unlock()
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

// games is how many games have been seen so far.
func (w *spoolWatch) games() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// ids ends the watch.
func (w *spoolWatch) ids() map[string]bool {
	close(w.stop)
	w.done.Wait()
	return w.seen
}

func TestKilledRunLosesNothing(t *testing.T) {
	t.Parallel()
	t.Run("nnue", func(t *testing.T) { killRun(t, smallConfig(t), *kills) })
	t.Run("planes", func(t *testing.T) { killRun(t, treeConfig(t), (*kills+1)/2) })
}

// killRun kills so many processes of a run, one after the other and each at some
// moment after it has finished a few games, and looks for what they played.
func killRun(t *testing.T, cfg configs.Config, kills int) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := openRun(t, dir, cfg).Close(); err != nil {
		t.Fatal(err)
	}
	watch := watchSpool(filepath.Join(dir, spoolDir))
	for range kills {
		killChild(t, dir, watch)
	}
	r := openRun(t, dir, cfg)
	before := netAt(t, r, r.currentKey()).Generation
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	// Started once more, it learns until it plays with a newer net. After an end in order,
	// everything is in the buffer.
	last := loopOnce(t, dir, cfg, Limits{Generation: before + 1})
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
	if len(seen) < kills*gamesPerChild || uint64(len(stored)) != report.UniqueIDs {
		t.Errorf("saw %d games finished, %d are stored, the audit counts %d", len(seen), len(stored), report.UniqueIDs)
	}
	t.Logf("%d kills, %d games seen in the spool, %d stored, %d steps", kills, len(seen), len(stored), last.Step)
}

const (
	gamesPerChild = 3        // that a process finishes before it may be killed
	childPatience = patience // for these games
)

// killChild starts a process of the run and kills it.
func killChild(t *testing.T, dir string, watch *spoolWatch) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	before := watch.games()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	pause := time.NewTicker(5 * time.Millisecond)
	defer pause.Stop()
	timeout := time.After(childPatience)
	var kill <-chan time.Time
	for {
		select {
		case err := <-ended:
			t.Fatalf("the loop ended by itself: %v\n%s", err, output.String())
		case <-timeout:
			_ = cmd.Process.Kill()
			t.Fatalf("%d games finished in %v, want %d (%v)\n%s", watch.games()-before, childPatience, gamesPerChild, <-ended, output.String())
		case <-pause.C:
			if kill == nil && watch.games() >= before+gamesPerChild {
				kill = time.After(rand.N(time.Second))
			}
		case <-kill:
			if err := cmd.Process.Kill(); err != nil {
				t.Fatalf("the loop ended by itself: %v (%v)", <-ended, err)
			}
			<-ended
			return
		}
	}
}
