package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// A start that fails, or ends before its first checkpoint, leaves the directory to
// other settings and other data; the run is then what it is in an empty one.
func TestFailedStart(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(20)))
	cfg.Epochs = 1
	dir, straight := t.TempDir(), t.TempDir()
	if _, err := Run(t.Context(), cfg, quiet(straight)); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*configs.Learn){
		"nothing left": func(l *configs.Learn) { l.MinPly = 600 },
		"other data":   func(l *configs.Learn) { l.Data, l.Init = []string{dataFile(t, "b.chain", samples(3))}, dir+"/none" },
	} {
		wrong := cfg
		change(&wrong)
		if _, err := Run(t.Context(), wrong, quiet(dir)); err == nil || errors.Is(err, ErrOther) {
			t.Fatalf("%s: error %v, want another", name, err)
		}
	}
	// As if it had been killed in its first save, while it wrote the checkpoint.
	for _, name := range []string{dataJSON, logFile} {
		if err := os.WriteFile(filepath.Join(dir, name), read(t, straight, name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(os.MkdirAll(filepath.Join(dir, checkpoints), 0o755), os.WriteFile(filepath.Join(dir, checkpoints, ".tmp-1"), []byte("TRAINER"), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Fatal(err)
	}
	sameRun(t, dir, straight)
	if !bytes.Equal(read(t, dir, configFile), read(t, straight, configFile)) {
		t.Error("the settings are those of a start that failed")
	}

	// Settings of something else are no start of a run.
	if err := os.WriteFile(filepath.Join(dir, configFile), []byte("schema: 1\nactor.nodes: 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, summaryFile)), os.RemoveAll(filepath.Join(dir, checkpoints))); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, quiet(dir)); !errors.Is(err, configs.ErrInvalid) {
		t.Errorf("error %v, want ErrInvalid", err)
	}
}

// A run that is over makes its net again if that is gone, and tells of it where it is now.
func TestNetOfRunThatIsOver(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(20)))
	cfg.Epochs = 1
	dir, moved := filepath.Join(t.TempDir(), "a"), filepath.Join(t.TempDir(), "b")
	if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
		t.Fatal(err)
	}
	was := read(t, dir, NetName(cfg.Kind))
	if err := os.Rename(dir, moved); err != nil {
		t.Fatal(err)
	}
	for name, prepare := range map[string]func() error{
		"moved": func() error { return nil },
		"gone":  func() error { return os.Remove(filepath.Join(moved, NetName(cfg.Kind))) },
	} {
		if err := prepare(); err != nil {
			t.Fatal(err)
		}
		s, err := Run(t.Context(), cfg, quiet(moved))
		if err != nil || filepath.Dir(s.NetFile) != moved || !bytes.Equal(read(t, moved, NetName(cfg.Kind)), was) {
			t.Errorf("%s: found net %s, error %v", name, s.NetFile, err)
		}
	}
}

// addGames adds the games of a .chain file to a replay buffer, from the first to
// before the end.
func addGames(t *testing.T, dir, path string, first, end int) {
	t.Helper()
	var records [][]byte
	for r := chain.NewReader(bytes.NewReader(read(t, path))); len(records) < end; {
		record, err := r.Record(nil)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	replaytest.Store(t, dir, records[first:]...)
}

// A run on replay buffers is of the games that were there when it began, however
// they grow, and says so if these are gone.
func TestGrowingReplay(t *testing.T) {
	games, root := greedyGames(t, 60), t.TempDir()
	t.Chdir(root)
	cfg := settings(t, "replay:a", "replay:b")
	cfg.Weights, cfg.RequireScore, cfg.NewbobDecay, cfg.NewbobTries, cfg.Validation, cfg.SaveEvery, cfg.Epochs = "1,2", false, 0.9, 99, "replay:v", 300, 20
	begin := func() {
		for i, dir := range []string{"a", "b", "v"} {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			addGames(t, dir, games, 0, 10*(i+1))
		}
	}
	begin()
	opt := quiet("straight")
	opt.Games = map[string]dataset.Extent{"another": {First: "1", Games: 1}}
	if _, err := Run(t.Context(), cfg, opt); err != nil {
		t.Fatal(err)
	}
	if known, err := GamesOf("straight"); err != nil || len(known) != 3 {
		t.Errorf("found games %v, error %v, expected those of a, b and v", known, err)
	}
	for _, left := range []int{12, 18} {
		if _, err := Run(&counting{t.Context(), left}, cfg, quiet("broken")); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if _, err := os.Stat("broken/checkpoints"); err != nil {
			t.Fatal(err)
		}
		for i, dir := range []string{"a", "b", "v"} {
			addGames(t, dir, games, 10*(i+1)+left-12, 10*(i+1)+left-6)
		}
	}
	if err := os.CopyFS("gone", os.DirFS("broken")); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), cfg, quiet("broken")); err != nil {
		t.Fatal(err)
	}
	sameRun(t, "broken", "straight")

	if err := os.RemoveAll("b"); err != nil {
		t.Fatal(err)
	}
	addGames(t, "b", games, 1, 40)
	if _, err := Run(t.Context(), cfg, quiet("gone")); !errors.Is(err, dataset.ErrChanged) || !strings.Contains(err.Error(), "expected 20 from") {
		t.Errorf("error %v, want ErrChanged", err)
	}
}

// Data of which other games are held out are refused by how many positions are left.
func TestOtherSplit(t *testing.T) {
	text := func(positions uint64) []byte {
		data, err := json.Marshal([]dataFacts{{Positions: positions}})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	err := sameData(text(95), text(94), dataJSON)
	if !errors.Is(err, ErrOther) || !strings.Contains(err.Error(), "found 0 games of 0 positions, 0 of them kept, 94 to train on, expected") || !strings.Contains(err.Error(), "95 to train on;") {
		t.Errorf("error %v, want ErrOther", err)
	}
}
