//go:build unix

package clustertest

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

var (
	kills = flag.Int("kills", 11, "processes that TestKilledClusterLosesNothing kills; 5 of a smaller cluster under -short")
	long  = flag.Bool("long", false, "run under -short what runs without it")
)

// programs are built once for all tests.
var programs struct {
	once sync.Once
	dir  string
	Programs
	err error
}

func TestMain(m *testing.M) {
	code := m.Run()
	if programs.dir != "" {
		_ = os.RemoveAll(programs.dir)
	}
	os.Exit(code)
}

func built(t *testing.T) Programs {
	t.Helper()
	programs.once.Do(func() {
		if programs.dir, programs.err = os.MkdirTemp("", "clustertest-"); programs.err == nil {
			programs.Programs, programs.err = Build(context.Background(), programs.dir)
		}
	})
	if programs.err != nil {
		t.Fatal(programs.err)
	}
	return programs.Programs
}

// start starts a cluster that the test's end kills.
func start(t *testing.T, servers, actors, gates int) *Cluster {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	c, err := Open(Options{Dir: t.TempDir(), Programs: built(t), Servers: servers, Actors: actors, Gates: gates, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			logTails(t, c)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}

// logTails logs the last lines of every process, whose logs go with the test.
func logTails(t *testing.T, c *Cluster) {
	const lines, width = 12, 300
	for _, p := range c.all() {
		for _, path := range []string{p.Log, filepath.Join(c.dir(p), eventsFile)} {
			text, err := os.ReadFile(path)
			if err != nil {
				continue // a server has no events
			}
			all := strings.Split(strings.TrimSpace(string(text)), "\n")
			t.Logf("the end of %s:", path)
			for _, line := range all[max(0, len(all)-lines):] {
				t.Log(line[:min(len(line), width)])
			}
		}
	}
}

// endWell ends the cluster in order and checks that each finished game is stored once.
func endWell(t *testing.T, c *Cluster) {
	t.Helper()
	if err := c.End(t.Context()); err != nil {
		t.Fatal(err)
	}
	v, err := c.Verdict()
	if err != nil {
		t.Fatal(err)
	}
	t.Log(v)
	if err := v.OK(); err != nil {
		t.Error(err)
	}
	if v.Finished == 0 {
		t.Error("found no finished game, expected some")
	}
}

// Every role and every server is killed; each finished game is stored once.
func TestKilledClusterLosesNothing(t *testing.T) {
	servers, actors, gates, n := 3, 2, 2, *kills
	if testing.Short() && !*long {
		servers, actors, gates, n = 1, 1, 1, min(n, 5) // several servers take their time to choose leaders
	}
	c := start(t, servers, actors, gates)
	if err := c.KillInTurn(t.Context(), n, 1); err != nil {
		t.Fatal(err)
	}
	endWell(t, c)
}

// Servers that have lost everything are given the run back, and the games that they
// had not handed on.
func TestWipedServersLoseNothing(t *testing.T) {
	if testing.Short() && !*long {
		t.Skip("the cluster has to begin twice")
	}
	c := start(t, 3, 2, 1)
	if err := c.WipeServers(t.Context()); err != nil {
		t.Fatal(err)
	}
	endWell(t, c)
}

// A holder of a role that was suspended for longer than its lease writes nothing after
// another has taken over.
func TestStoppedHolderWritesNothing(t *testing.T) {
	if testing.Short() && !*long {
		t.Skip("leases have to end, which takes a minute")
	}
	c := start(t, 3, 1, 2)
	if err := c.StopHolders(t.Context()); err != nil {
		t.Fatal(err)
	}
	endWell(t, c)
}

// While replay is suspended games wait in the spools, and afterwards each is stored once,
// by the same process or by another on the same directory. The command status --check tells
// that from calm.
func TestStoppedReplayStoresOnce(t *testing.T) {
	if testing.Short() && !*long {
		t.Skip("leases have to end, which takes half a minute")
	}
	c := start(t, 3, 2, 1)
	if err := c.StopReplay(t.Context()); err != nil {
		t.Fatal(err)
	}
	endWell(t, c)
}

// Roles are updated one after the other while the others go on: builds that send what the
// others do not know work together, and no game is lost.
func TestUpgradeLosesNothing(t *testing.T) {
	if testing.Short() && !*long {
		t.Skip("builds the program a second time")
	}
	later, err := BuildLater(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := start(t, 1, 2, 1)
	if err := c.UpgradeInTurn(t.Context(), later); err != nil {
		t.Fatal(err)
	}
	endWell(t, c)
}

func TestVerdictFindsWhatIsWrong(t *testing.T) {
	set := func(ids ...string) map[string]bool {
		m := map[string]bool{}
		for _, id := range ids {
			m[id] = true
		}
		return m
	}
	for _, test := range []struct {
		name     string
		finished map[string]bool
		stored   map[string]int
		want     string // part of the error; empty: none
	}{
		{"each once", set("r-a-0-0-000000", "r-a-0-0-000001"), map[string]int{"r-a-0-0-000000": 1, "r-a-0-0-000001": 1}, ""},
		{"one lost", set("r-a-0-0-000000", "r-a-0-0-000001"), map[string]int{"r-a-0-0-000000": 1}, "1 finished games are not in the buffer"},
		{"one twice", set("r-a-0-0-000000"), map[string]int{"r-a-0-0-000000": 2}, "1 games are in the buffer more than once"},
		{"one never seen", set(), map[string]int{"r-a-0-0-000000": 1}, "1 games in the buffer were in no spool"},
		{"a number missing", set("r-a-0-0-000001"), map[string]int{"r-a-0-0-000001": 1}, "1 numbers of games are missing"},
		{"no number", set("game"), map[string]int{"game": 1}, "expected one that ends in its number"},
	} {
		var v Verdict
		v.count(test.finished, test.stored)
		err := v.OK()
		if got := fmt.Sprint(err); test.want == "" && err != nil || !strings.Contains(got, test.want) && test.want != "" {
			t.Errorf("%s: found %v, expected %q", test.name, err, test.want)
		}
	}
}

func TestWatchSeesEveryGame(t *testing.T) {
	dir := t.TempDir()
	record, actor := filepath.Join(dir, "finished.txt"), filepath.Join(dir, "actor")
	w, err := WatchSpools(record, []string{actor})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(actor, spoolDir), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a-0.game", "a-1.game", "LOCK", "a-2.game.tmp"} {
		if err := os.WriteFile(filepath.Join(actor, spoolDir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w.Look()
	if err := os.Remove(filepath.Join(actor, spoolDir, "a-0.game")); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Close(); err != nil || len(got) != 2 || !got["a-0"] || !got["a-1"] {
		t.Errorf("found %v, error %v, expected a-0 and a-1", got, err)
	}
	if w, err = WatchSpools(record, nil); err != nil {
		t.Fatal(err)
	}
	if got, err := w.Close(); err != nil || len(got) != 2 {
		t.Errorf("after a start in the same directory: found %v, error %v, expected both games", got, err)
	}
}
