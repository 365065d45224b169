package dash

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Without servers the actors are known by the games that are stored and refused.
func TestActorsByTheirGames(t *testing.T) {
	dir := trial(t)
	write(t, dir, "replay/quarantine/0011.txt", "move 3 is not legal\n")
	write(t, dir, "replay/quarantine/0011.game", string(record(t, "abc-e1-0-7", firstNet, 9)))
	write(t, dir, "replay/quarantine/0022.txt", "not a game\n")
	write(t, dir, "replay/quarantine/0022.game", "\x00\xff")
	replaytest.Store(t, filepath.Join(dir, "replay"), record(t, "abc-1-0-1", secondNet, 5))
	s := newTestServer(t, Config{Dir: dir})
	a := read[Actors](t, s, "/api/actors")
	if a.Members != nil || a.Asked != nil || a.Counted != 4 {
		t.Errorf("found %+v, expected 4 games and nobody who was asked", a)
	}
	names := map[string]ActorLine{}
	for _, l := range a.Actors {
		names[l.Name] = l
	}
	if l := names["local"]; l.Games != 1 || l.Generation != 2 || l.Build != "test" || l.Seen != nil || l.Rate != 0 {
		t.Errorf("found %+v, expected a game of generation 2 that was there before", l)
	}
	if l := names[otherActors]; l.Games != 3 || l.Refused == 0 {
		t.Errorf("found %+v, expected three games whose ids name no actor", l)
	}
	if len(a.Refused) != 2 || a.Refused[0].Reason == a.Refused[1].Reason {
		t.Errorf("found refusals %+v, expected two", a.Refused)
	}

	// What comes later has a time, and the state says that there is more to see.
	version := read[State](t, s, "/api/state").Versions.Actors
	replaytest.Store(t, filepath.Join(dir, "replay"), record(t, "abc-1-0-2", secondNet, 6))
	next := read[Actors](t, s, "/api/actors")
	if next.Actors[1].Name != "local" || next.Actors[1].Games != 2 || next.Actors[1].Seen == nil {
		t.Errorf("found %+v, expected a second game, seen now", next.Actors)
	}
	if now := read[State](t, s, "/api/state").Versions.Actors; now == version {
		t.Errorf("found version %d after a game, expected another", now)
	}
}

// With servers, processes are known by their heartbeats; servers that do not answer take
// nothing from the page, which says so.
func TestActorsByTheServers(t *testing.T) {
	seen := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w, err := NewWatch(Config{Dir: trial(t), refresh: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(w)
	answer := func(games uint64, at time.Time, err error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answer(selfplay.Overview{Run: bus.RunRecord{Build: "b1"}, Members: []bus.Member{
			{Role: "actor", Instance: "x", Host: "h", Build: "b2", Games: games, Seen: at, FailedNet: firstNet, FailedWhy: "no room"},
		}}, err, at)
	}
	answer(10, seen, nil)
	answer(30, seen.Add(10*time.Second), nil)
	answer(30, seen.Add(10*time.Second), nil) // the same heartbeat
	w.mu.Lock()
	a := w.actors(seen.Add(11 * time.Second))
	w.mu.Unlock()
	if len(a.Members) != 1 || a.Members[0].Rate != 2 || a.Members[0].Failed != "11111111: no room" || a.Problem != "" || a.Build != "b1" {
		t.Errorf("found %+v, expected an actor of two games a second", a)
	}
	answer(0, seen, errors.New("no servers"))
	if a := read[Actors](t, s, "/api/actors"); len(a.Members) != 1 || a.Problem != "no servers" || a.Asked == nil || !a.Asked.Equal(seen.Add(10*time.Second)) {
		t.Errorf("found %+v, expected what was known before, and the problem", a)
	}
}

// Of very many processes the list leaves out actors, and says how many there are. The rate
// is that of all.
func TestManyMembers(t *testing.T) {
	w, err := NewWatch(Config{})
	if err != nil {
		t.Fatal(err)
	}
	const n = mostMembers + 500
	var v selfplay.Overview
	at := time.Now()
	for _, games := range []uint64{5, 15} {
		at = at.Add(10 * time.Second)
		v.Members = nil
		for i := range n {
			v.Members = append(v.Members, bus.Member{Role: "actor", Instance: fmt.Sprint(i), Games: games, Seen: at})
		}
		v.Members = append(v.Members, bus.Member{Role: "trainer", Instance: "t", Seen: at})
		w.answer(v, nil, at)
	}
	a := w.actors(at)
	if len(a.Members) != mostMembers || a.Members[0].Role != "trainer" || a.Present != n+1 {
		t.Errorf("found %d of %d processes, a %s first, expected %d of %d, the trainer among them", len(a.Members), a.Present, a.Members[0].Role, mostMembers, n+1)
	}
	if rate := *w.busState(at).Links[0].Value; rate != n {
		t.Errorf("found %g games a second, expected %d: one of each actor", rate, n)
	}
}

// What was answered stays as it is while the watch goes on.
func TestActorsAreCopied(t *testing.T) {
	w, err := NewWatch(Config{})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	w.answer(selfplay.Overview{}, nil, at)
	w.buffer.countActor(stored{}, at)
	a := w.actors(at)
	later := at.Add(time.Second)
	w.answer(selfplay.Overview{}, nil, later)
	w.buffer.countActor(stored{}, later)
	if len(a.Actors) != 1 || !a.Actors[0].Seen.Equal(at) || !a.Asked.Equal(at) {
		t.Errorf("found %+v, asked at %v, expected both times to be %v", a.Actors, a.Asked, at)
	}
}

// The servers are asked one question at a time, none that is not wanted, and the question
// under way ends with the page.
func TestServersAreAsked(t *testing.T) {
	asked := make(chan struct{}, 100)
	w, err := NewWatch(Config{Dir: trial(t), refresh: time.Nanosecond, Ask: func(ctx context.Context) (selfplay.Overview, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return selfplay.Overview{}, ctx.Err()
	}})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(w)
	for range 3 {
		read[State](t, s, "/api/state")
	}
	w.close()
	read[State](t, s, "/api/state")
	if n := len(asked); n != 1 {
		t.Errorf("found %d questions, expected one", n)
	}
}

func TestActorsAreBounded(t *testing.T) {
	b := newBuffer(t.TempDir())
	b.run = "abc"
	for i := range mostActors {
		b.actors[fmt.Sprint(i)] = &actorGames{}
	}
	for range 5 {
		b.countActor(stored{}, time.Now())
	}
	if len(b.actors) > mostActors+1 || b.actors[otherActors].games != 5 {
		t.Errorf("found %d actors, expected at most %d and the others", len(b.actors), mostActors)
	}
}
