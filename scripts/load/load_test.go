package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// TestMain makes the test program a role, as the program itself does.
func TestMain(m *testing.M) {
	if os.Getenv(roleVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// randomGame has up to 20 random plies.
func randomGame(t *testing.T, number int) []byte {
	t.Helper()
	g := &game.Game{ID: fmt.Sprintf("source-%d", number), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start()}
	rng := rand.New(rand.NewPCG(uint64(number), 1))
	line := chess.NewLine(g.Start)
	for range 20 {
		if g.Outcome, g.Reason = line.Outcome(); g.Outcome != chess.Ongoing {
			break
		}
		ply := game.Ply{Move: game.RandomMove(line.Pos(), rng)}
		g.Plies = append(g.Plies, ply)
		line.Push(ply.Move)
	}
	if g.Outcome, g.Reason = line.Outcome(); g.Outcome == chess.Ongoing {
		g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	}
	record, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// Of many actors each game is stored once, whatever the size of the messages; a case
// without a replay role goes before.
func TestEachGameIsStoredOnce(t *testing.T) {
	dir := t.TempDir()
	var records [][]byte
	for i := range 10 {
		records = append(records, randomGame(t, i))
	}
	replaytest.Store(t, filepath.Join(dir, "replay"), records...)
	jsonFile := filepath.Join(dir, "results.json")
	measure := func(args ...string) *result {
		o, err := parse(append(args, "--games-from", dir, "--actors", "20", "--bundle", "4", "--games", "400", "--in-flight", "400",
			"--connections", "10", "--warm", "0s", "--keep", filepath.Join(dir, "cases"), "--json", jsonFile), io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var progress bytes.Buffer
		r, err := load(t.Context(), o, &progress)
		t.Log(progress.String())
		if err != nil || len(r) != 1 {
			t.Fatalf("%d results, error %v", len(r), err)
		}
		return r[0]
	}
	// On a busy machine no message may have been answered in a short time.
	raw := measure("--only-raw", "--for", "200ms")
	for wait := time.Second; raw.Games == 0 && wait < time.Minute; wait *= 4 {
		if err := os.Remove(jsonFile); err != nil {
			t.Fatal(err)
		}
		raw = measure("--only-raw", "--for", wait.String())
	}
	r := measure("--no-raw", "--for", "1m")
	if !raw.Raw || raw.Games == 0 {
		t.Error("without a replay role no games were published")
	}
	if !r.sound() || r.Finished != 400 || r.Stored != 400 {
		t.Errorf("found %+v, want each of 400 games stored once", r.audit)
	}
	if r.Connections != 10 || r.Publish.Count == 0 || r.OnDisk.Count != 400 {
		t.Errorf("found %d connections, %d messages and %d games timed, want 10, some and 400", r.Connections, r.Publish.Count, r.OnDisk.Count)
	}
	text, err := os.ReadFile(jsonFile)
	if err != nil {
		t.Fatal(err)
	}
	var again result
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &again); len(lines) != 2 || err != nil || again != *r {
		t.Errorf("%d lines of JSON, error %v, the last is not the last result", len(lines), err)
	}
	if got := table([]*result{raw, r}); strings.Count(got, "\n") != 3 || !strings.Contains(got, "| 20 | 4 |") {
		t.Errorf("the table does not have the case in one row:\n%s", got)
	}
}

// What a buffer has is counted against what was finished.
func TestAuditBuffer(t *testing.T) {
	dir := t.TempDir()
	replaytest.Store(t, dir, randomGame(t, 1), randomGame(t, 2), randomGame(t, 3))
	got, err := auditBuffer(dir, map[string]bool{"source-1": true, "source-2": true, "source-4": true})
	if want := (audit{Stored: 2, Lost: 1, Alien: 1}); err != nil || got != want {
		t.Errorf("found %+v, error %v, want %+v", got, err, want)
	}
}

func TestQuantiles(t *testing.T) {
	var times []time.Duration
	for i := range 1000 {
		times = append(times, time.Duration(1000-i)*time.Millisecond)
	}
	if got, want := quantilesOf(times), (quantiles{1000, 500, 900, 990, 999, 1000}); got != want {
		t.Errorf("found %+v, want %+v", got, want)
	}
	if got := quantilesOf(nil); got != (quantiles{}) || got.String() != "–" {
		t.Errorf("found %+v for no times", got)
	}
}

func TestBadArguments(t *testing.T) {
	for _, args := range []string{
		"", "--games-from d --actors 0", "--games-from d --bundle 1,,2", "--games-from d x", "--games-from d --for 0s",
		"--games-from d --rate -1", "--games-from d --rate NaN", "--games-from d --rate Inf", "--games-from d --no-raw --only-raw",
	} {
		if o, err := parse(strings.Fields(args), io.Discard); err == nil {
			t.Errorf("%q gives %+v, want an error", args, o)
		}
	}
}
