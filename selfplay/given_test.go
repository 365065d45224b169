package selfplay

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// TestLoopBeginsWithANet: the net that train.init names is a run's first one and plays from
// the first game on, unless the gate refuses it. A run begins no directory if it is not there.
func TestLoopBeginsWithANet(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	cfg.Gate.Enabled = false
	first := filepath.Join(t.TempDir(), "first")
	loopOnce(t, first, cfg, Limits{Generation: 1, For: patience})
	given, err := nets.Find(first)
	if err != nil {
		t.Fatal(err)
	}

	cfg.Train.Init = given.Path
	dir := filepath.Join(t.TempDir(), "run")
	if s := loopOnce(t, dir, cfg, Limits{Generation: 3, For: patience}); s.ActorGeneration < 1 {
		t.Errorf("actors play with generation %d after %v", s.ActorGeneration, s.Elapsed)
	}
	steps := []any{}
	for _, e := range events(t, dir) {
		switch e["msg"] {
		case "training begins with a given net":
			if from, _ := e["init"].(string); !strings.Contains(from, given.Path) {
				t.Errorf("training begins with %v, expected the net of %s", from, given.Path)
			}
		case "net offered":
			if steps = append(steps, e["step"]); len(steps) == 1 {
				sameNet(t, filepath.Join(dir, netsDir, fmt.Sprint(e["net"], ".nnue")), given.Path)
			}
		}
	}
	if len(steps) < 3 || steps[0] != 0.0 || steps[1] != float64(cfg.Train.StepsPerNet) {
		t.Errorf("nets offered after %v steps, expected 0, %d and so on", steps, cfg.Train.StepsPerNet)
	}
	if n := gamesWithout(t, dir); n > 0 {
		t.Errorf("%d games by what plays without a net, expected none", n)
	}

	cfg.Gate.Enabled, cfg.Gate.Elo0, cfg.Gate.Elo1, cfg.Gate.Undecided = true, 900, 1000, configs.UndecidedFail
	refused := filepath.Join(t.TempDir(), "refused")
	if s := loopOnce(t, refused, cfg, Limits{Games: 2, For: patience}); s.Elapsed >= patience || gamesWithout(t, refused) < 2 {
		t.Errorf("after a refusal %d games by what plays without a net in %v", gamesWithout(t, refused), s.Elapsed)
	}

	cfg.Train.Init = filepath.Join(t.TempDir(), "none.nnue")
	none := filepath.Join(t.TempDir(), "none")
	if _, err := Open(t.Context(), none, cfg, Options{}); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "train.init: ") {
		t.Errorf("a net that is not there: found error %v", err)
	}
	if _, err := os.Stat(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a net that is not there: found a directory, error %v", err)
	}
}

// TestGivenNetIsOfferedAgain: a trainer that ended before it could offer the net that train.init
// names offers it when it begins again, although its checkpoint tells of it already.
func TestGivenNetIsOfferedAgain(t *testing.T) {
	t.Parallel()
	cfg := smallConfig(t)
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "first"), cfg)
	given := filepath.Join(t.TempDir(), "given.nnue")
	l, err := newLearner(r, buffer, nil)
	if err == nil {
		_, err = l.trainer.Export(given)
	}
	if err != nil {
		t.Fatal(err)
	}
	cfg.Train.Init = given
	r, buffer = openWithBuffer(t, filepath.Join(t.TempDir(), "run"), cfg)
	for _, able := range []bool{false, true} {
		ctx, end := context.WithTimeout(t.Context(), patience)
		set := func(_ context.Context, key, value string, revision uint64) (uint64, error) {
			defer end()
			if !able {
				return 0, errors.New("no answer")
			}
			return r.bus.SetPointer(t.Context(), key, value, revision)
		}
		l, err := newLearner(r, buffer, set)
		if err == nil {
			err = l.catchUp(t.Context())
		}
		if err == nil {
			err = l.train(ctx)
		}
		end()
		if err != nil {
			t.Fatal(err)
		}
		offered, err := r.readRecord(t.Context(), r.candidateKey())
		if err != nil || (offered != nil) != able {
			t.Fatalf("the bus answers: %t: found %+v offered, error %v", able, offered, err)
		}
		if able {
			if offered.Generation != 1 {
				t.Errorf("offered as generation %d, expected 1", offered.Generation)
			}
			sameNet(t, r.store.Path(offered.Net), given)
		}
	}
}

// sameNet compares two files of nets but for their descriptions.
func sameNet(t *testing.T, got, want string) {
	t.Helper()
	var read [2]*nnue.Network
	for i, path := range []string{got, want} {
		net, err := nnue.ReadFile(path, chess.Crazyhouse)
		if err != nil {
			t.Fatal(err)
		}
		net.Description = ""
		read[i] = net
	}
	if !reflect.DeepEqual(read[0], read[1]) {
		t.Errorf("net %s, expected that of %s", got, want)
	}
}

// gamesWithout counts the games of a run's buffer that were played without a net.
func gamesWithout(t *testing.T, dir string) (n int) {
	t.Helper()
	_, err := replay.VisitGames(filepath.Join(dir, replayDir), func(g *game.Game) bool {
		if g.Nets[0] == player.Material {
			n++
		}
		return true
	}, func(d replay.Damage) { t.Error(d) })
	if err != nil {
		t.Fatal(err)
	}
	return n
}
