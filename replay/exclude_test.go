package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// actorGames returns games of run "run" that the given actors played in turn.
func actorGames(t testing.TB, first, n int, actors ...string) [][]byte {
	t.Helper()
	out := make([][]byte, n)
	for i := range out {
		g := testGame(first+i, 10+(first+i)%24)
		g.ID = fmt.Sprintf("run-%s-1-0-%06d", actors[i%len(actors)], first+i)
		out[i] = encode(t, g)
	}
	return out
}

func TestActorOf(t *testing.T) {
	for _, c := range []struct{ id, run, want string }{
		{"ab2cd3ef4g-x7-1-0-000001", "ab2cd3ef4g", "x7"},
		{"crazyhouse-1-local-2-3-000017", "crazyhouse-1", "local"},
		{"crazyhouse-1-4-3-000017", "crazyhouse-1", "local"},
		{"crazyhouse-12-4-3-000017", "crazyhouse-1", ""},
		{"crazyhouse-1-a-b-4-3-000017", "crazyhouse-1", ""},
		{"crazyhouse-1", "crazyhouse-1", ""},
		{"-1-2-3", "", ""},
	} {
		if got := ActorOf(c.id, c.run); got != c.want {
			t.Errorf("%s of run %q: found %q, expected %q", c.id, c.run, got, c.want)
		}
	}
}

// Without the games of an excluded actor the buffer is like one where they came before all
// others and were deleted, also after a restart, and with them again like one where they
// always counted.
func TestExclude(t *testing.T) {
	o := testOptions()
	o.Run, o.Window.Min = "run", 500
	games, more := actorGames(t, 0, 200, "a", "b"), actorGames(t, 200, 40, "b", "a")
	only := func(games [][]byte) (out [][]byte) {
		for _, g := range games {
			if strings.Contains(string(g[:80]), "run-a-") {
				out = append(out, g)
			}
		}
		return out
	}
	all, without := openBuffer(t, t.TempDir(), o), openBuffer(t, t.TempDir(), o)
	appendGames(t, all, games)
	others := slices.DeleteFunc(slices.Clone(games), func(g []byte) bool { return strings.Contains(string(g[:80]), "run-a-") })
	of := openBuffer(t, t.TempDir(), o)
	appendGames(t, of, others)
	if err := without.restart(of.counts()); err != nil {
		t.Fatal(err)
	}
	appendGames(t, without, only(games))
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	appendGames(t, b, games)
	like := func(b, other *Buffer) {
		t.Helper()
		x, y := b.Stats(), other.Stats()
		if x.Games != y.Games || x.Plies != y.Plies || x.HeldOutGames != y.HeldOutGames || x.WindowPlies != y.WindowPlies || x.WindowGames != y.WindowGames {
			t.Fatalf("found %+v, expected as %+v", x, y)
		}
		s, r := make([]sample.Sample, 500), make([]sample.Sample, 500)
		if err := errors.Join(b.Draw(newRand(1), Drawing{PerGame: 3}, s), other.Draw(newRand(1), Drawing{PerGame: 3}, r)); err != nil || !reflect.DeepEqual(s, r) {
			t.Fatalf("other samples are drawn, error %v", err)
		}
		if !reflect.DeepEqual(b.HeldOut(sample.Filter{}, s), other.HeldOut(sample.Filter{}, r)) {
			t.Fatal("other samples are held out")
		}
	}
	if err := b.Exclude("b", "a game is not what its seed gives"); err != nil {
		t.Fatal(err)
	}
	like(b, without)
	if before, now := all.counts(), b.counts(); before != now {
		t.Errorf("counted %+v, before the exclusion %+v", now, before)
	}
	if st := b.Stats(); st.Excluded != 100 || b.Known([]string{"run-b-1-0-000001"})[0] != Stored {
		t.Errorf("%+v", st)
	}
	rep := appendGames(t, b, more)
	if rep.Stored != 20 || len(rep.Rejected) != 20 || !errors.Is(rep.Rejected[0].Err, ErrExcluded) || !strings.Contains(rep.Rejected[0].Err.Error(), "seed") {
		t.Fatalf("%+v", rep)
	}
	if kept, err := os.ReadDir(filepath.Join(dir, "quarantine")); len(kept) != 0 || err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%d files of games of an excluded actor are kept, error %v", len(kept), err)
	}
	if got := b.Known([]string{"run-b-1-0-000200", "run-a-1-0-000201", "run-a-1-0-000999"}); !reflect.DeepEqual(got, []State{Refused, Stored, Unknown}) {
		t.Errorf("states %v", got)
	}
	appendGames(t, without, only(more))
	appendGames(t, all, only(more))
	like(b, without)
	crash(t, b)
	b = openBuffer(t, dir, o)
	like(b, without)
	if got := b.Known([]string{"run-b-1-0-000200"}); got[0] != Unknown {
		t.Errorf("a game refused before the restart is %v", got)
	}
	if got := b.Excluded(); len(got) != 1 || got[0].Actor != "b" || !strings.Contains(got[0].Why, "seed") {
		t.Errorf("excluded %v", got)
	}
	visited := 0
	left, err := VisitGames(dir, func(g *game.Game) bool {
		if visited++; ActorOf(g.ID, "run") != "a" {
			t.Errorf("visited %s", g.ID)
		}
		return true
	}, nil)
	if err != nil || visited != 120 || left != 100 {
		t.Errorf("%d games visited, %d left out, error %v", visited, left, err)
	}
	if r := audit(t, dir); r.Excluded != 1 || r.Wrong() || r.Games != 220 {
		t.Errorf("audit: %+v", r)
	}
	if err := b.Include("b"); err != nil {
		t.Fatal(err)
	}
	like(b, all)
	crash(t, b)
	b = openBuffer(t, dir, o)
	like(b, all)
	if len(b.Excluded()) != 0 || len(b.Damage()) != 0 {
		t.Errorf("excluded %v, damage %v", b.Excluded(), b.Damage())
	}
}

// Games of an excluded actor do not take the room in quarantine of others in their batch.
func TestExcludedLeaveRoomInQuarantine(t *testing.T) {
	o := testOptions()
	o.Run = "run"
	dir := t.TempDir()
	b := openBuffer(t, dir, o)
	if err := b.Exclude("a", "why"); err != nil {
		t.Fatal(err)
	}
	batch := append(actorGames(t, 0, QuarantineBatch, "a"), []byte("garbage"))
	rep, err := b.Append(batch)
	if err != nil || len(rep.Rejected) != len(batch) || rep.Rejected[0].Kept || !rep.Rejected[QuarantineBatch].Kept {
		t.Fatalf("%+v, %v", rep, err)
	}
	if kept, err := filepath.Glob(filepath.Join(dir, "quarantine", "*.game")); err != nil || len(kept) != 1 {
		t.Errorf("found %d games in quarantine, %v, expected the one of nobody", len(kept), err)
	}
}

func TestExcludeNeedsNames(t *testing.T) {
	b := openBuffer(t, t.TempDir(), testOptions())
	if err := b.Exclude("a", "why"); !errors.Is(err, ErrConfig) {
		t.Errorf("no run: got %v, want ErrConfig", err)
	}
	o := testOptions()
	o.Run = "run"
	b = openBuffer(t, t.TempDir(), o)
	if err := b.Exclude("", "why"); !errors.Is(err, ErrConfig) {
		t.Errorf("no actor: got %v, want ErrConfig", err)
	}
	if err := b.Include("a"); err != nil {
		t.Errorf("not excluded: %v", err)
	}
}

func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	for id := range uint64(maxRefused + 100) {
		r.add(id)
		r.add(id)
	}
	if _, oldest := r.ids[99]; oldest || len(r.ids) != maxRefused || len(r.ring) != maxRefused {
		t.Errorf("%d ids, the oldest among them: %t", len(r.ids), oldest)
	}
	if _, newest := r.ids[maxRefused+99]; !newest {
		t.Error("the newest is forgotten")
	}
}

// A buffer keeps its id, and another one has another.
func TestID(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	id := b.ID()
	crash(t, b)
	if again := openBuffer(t, dir, testOptions()).ID(); again != id || len(id) != idLength || strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") != "" {
		t.Errorf("id %q, then %q", id, again)
	}
	if other := openBuffer(t, t.TempDir(), testOptions()).ID(); other == id {
		t.Errorf("two buffers are called %s", id)
	}
	old := copyDir(t, filepath.Join("testdata", "v1"))
	b = openBuffer(t, old, goldenOptions())
	id = b.ID()
	crash(t, b)
	if again := openBuffer(t, old, goldenOptions()).ID(); again != id || len(id) != idLength {
		t.Errorf("older buffer: id %q, then %q", id, again)
	}
}
