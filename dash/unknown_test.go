package dash

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Offer or verdict say which generation a net is. What plays before the first net has 0, and
// a net of which neither is known is not taken for it.
func TestGenerations(t *testing.T) {
	dir := trial(t)
	write(t, dir, "events.jsonl", strings.Split(testEvents, "\n")[2]+"\n") // the verdict on the first net
	replaytest.Store(t, filepath.Join(dir, "replay"), record(t, "abc-6", "material", 4))
	s := newTestServer(t, Config{Dir: dir})
	want := []struct {
		id         string
		generation int
	}{{"abc-6", 0}, {"abc-5", unknownGeneration}, {"abc-2", 1}, {"abc-1", 1}}
	for _, list := range [][]GameLine{read[Games](t, s, "/api/games").Games, read[Stored](t, s, "/api/stored").Games} {
		if len(list) != len(want) {
			t.Fatalf("found games %+v, expected %d", list, len(want))
		}
		for i, g := range list {
			if w := want[i]; g.ID != w.id || g.Generations != [2]int{w.generation, w.generation} {
				t.Errorf("found game %s of generations %v, expected %s of %d", g.ID, g.Generations, w.id, w.generation)
			}
		}
	}
	if g := read[Replayed](t, s, "/api/games/abc-5"); g.Generations != [2]int{unknownGeneration, unknownGeneration} {
		t.Errorf("found generations %v, expected that they are not known", g.Generations)
	}

	// What is not known takes no part in a mean, and is not 0 games.
	l := read[Learning](t, s, "/api/learning")
	sum, rows := 0.0, uint64(0)
	for _, by := range l.Window.By {
		if by.Generation != unknownGeneration {
			sum += float64(2-by.Generation) * float64(by.Rows) // the pointers say that generation 2 is played with
			rows += by.Rows
		}
	}
	if rows == 0 || rows == l.Window.Rows || l.Window.Mean == nil || *l.Window.Mean != sum/float64(rows) {
		t.Errorf("found window %+v, expected a mean of %g by %d positions", l.Window, sum/float64(rows), rows)
	}
	if len(l.Strength) != 1 || l.Strength[0].Games != nil {
		t.Errorf("found strength %+v, expected a net whose games are not known", l.Strength)
	}
}

// The servers do not know when a net was offered, and of nets that they have pruned only what
// their verdicts say.
func TestUnknownOnServers(t *testing.T) {
	pruned, forgotten := strings.Repeat("3", 64), strings.Repeat("4", 64)
	now := time.Now()
	judged := func(generation int, net string, passed bool) selfplay.JudgedNet {
		return selfplay.JudgedNet{Time: now, Generation: generation, Net: net, Incumbent: "material", Passed: passed, Elo: "80.00 +/- 30.00", Games: 8}
	}
	dir := t.TempDir()
	replaytest.Store(t, dir, record(t, "abc-1", pruned, 1), record(t, "abc-2", forgotten, 2))
	w, err := NewWatch(Config{
		refresh: time.Nanosecond,
		Ask: func(context.Context) (selfplay.Overview, error) {
			return selfplay.Overview{Run: bus.RunRecord{Name: "far", ID: "abc", Variant: "crazyhouse", Kind: "nnue"}}, nil
		},
		Nets: func(context.Context) ([]nets.Manifest, []selfplay.NetChange, error) {
			return []nets.Manifest{{ID: firstNet, Generation: 3, Games: 70}, {ID: secondNet, Generation: 4, Games: 90}},
				[]selfplay.NetChange{{Time: now.Add(-time.Second), Record: nets.Record{Net: firstNet, Generation: 3, Action: "publish"}}}, nil
		},
		Judging: func(context.Context, int) (selfplay.Judging, error) {
			verdicts := []selfplay.JudgedNet{judged(2, pruned, true), judged(3, firstNet, true), judged(4, secondNet, false)}
			return selfplay.Judging{Total: len(verdicts), Verdicts: verdicts}, nil
		},
		Stored: storedHere{replay.NewArchive(dir)},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(w)
	askServers(t, w, s)
	list := read[Nets](t, s, "/api/nets").List
	if len(list) != 2 || list[0].Verdict != "failed" || list[1].Verdict != "passed" {
		t.Fatalf("found nets %+v, expected one that failed and one that passed", list)
	}
	for _, n := range list {
		if n.Seconds != 0 || !n.Time.IsZero() {
			t.Errorf("generation %d: found %g s from an offer at %v, expected neither", n.Generation, n.Seconds, n.Time)
		}
	}
	if l := read[Learning](t, s, "/api/learning"); len(l.Strength) != 2 || l.Strength[0].Games != nil || l.Strength[1].Games == nil || *l.Strength[1].Games != 70 {
		t.Errorf("found strength %+v, expected the games of the second net alone", l.Strength)
	}
	if g := read[Stored](t, s, "/api/stored").Games; len(g) != 2 || g[0].Generations != [2]int{unknownGeneration, unknownGeneration} || g[1].Generations != [2]int{2, 2} {
		t.Errorf("found games %+v, expected one whose net is not known and one of generation 2", g)
	}
}
