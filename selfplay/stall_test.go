package selfplay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/await"
)

// A stage is stuck when work waits and nothing comes out, and calm when none waits.
func TestPassage(t *testing.T) {
	start := time.Unix(1000, 0)
	var p passage
	for _, look := range []struct {
		at      int // seconds
		in, out uint64
		want    int
	}{
		{0, 0, 0, 0}, {500, 0, 0, 0}, // nothing to do, however long
		{600, 5, 0, 100}, {700, 5, 0, 200}, {800, 6, 0, 300}, // more goes in, nothing comes out
		{900, 6, 1, 0}, {950, 6, 1, 50}, // something came out
		{960, 6, 6, 0}, {5000, 6, 6, 0}, // all came out
		{5010, 7, 6, 10},
	} {
		if got := p.look(look.in, look.out, start.Add(time.Duration(look.at)*time.Second)); got != time.Duration(look.want)*time.Second {
			t.Errorf("after %d s with %d in and %d out: waited %v, expected %d s", look.at, look.in, look.out, got, look.want)
		}
	}
}

func TestStagesOfStatus(t *testing.T) {
	now := time.Unix(1000, 0)
	s := newSharedStatus()
	s.set(roleActor, "waiting for the replay buffer: 7 games spooled")
	s.set(roleTrainer, "waiting for games: 8 samples a position")
	s.update(func(s *Status) { s.Spooled = 7 })
	if got := s.snapshot(now).Stalled; len(got) != 0 {
		t.Errorf("at first: %v", got)
	}
	got := s.snapshot(now.Add(storeLimit)).Stalled
	if len(got) != 1 || got[0] != (bus.Stall{Stage: StageStore, Waiting: 7, Seconds: 120, Why: "waiting for the replay buffer: 7 games spooled"}) {
		t.Errorf("after %v: %v, expected the games of the spool alone", storeLimit, got)
	}
	s.update(func(s *Status) { s.Spooled, s.Figures.Left = 0, 7 })
	s.set(roleActor, "playing 2 games")
	s.set(roleTrainer, "training")
	s.update(func(s *Status) { s.Unjudged = "0123" })
	now = now.Add(time.Hour)
	if got := s.snapshot(now).Stalled; len(got) != 3 { // each has work since the look before
		t.Errorf("an hour later: %v, expected play, train and gate", got)
	}
	s.update(func(s *Status) { s.SessionGames, s.Figures.Steps, s.Figures.Gated = 1, 1, 1 })
	if got := s.snapshot(now.Add(time.Second)).Stalled; len(got) != 0 {
		t.Errorf("once each has done something: %v", got)
	}
}

// A role that cannot do its work is stuck; one that has none, or waits for what others do, is not.
func TestStatesThatAreStuck(t *testing.T) {
	for _, test := range []struct {
		role   int
		stage  string
		states map[string]bool
	}{
		{roleActor, StagePlay, map[string]bool{
			"starting": false, "stopped": false, "waiting for the replay buffer: 7 games spooled": false,
			"waiting for the gate to judge the net of train.init": false, "waiting for the bus: no answer": false,
			"playing 2 games": true, spoolTakesNone + ": no space left on device": true,
		}},
		{roleTrainer, StageTrain, map[string]bool{
			"starting": false, "stopped": false, "waiting: other@there on there, process 7, does this": false,
			"waiting for games: 0 of 300 positions": false, "waiting for games: 8 samples a position": false,
			"waiting for games: none is in the window; are all actors in quarantine?":         false,
			"waiting for the games of the replay role: 0 of 12.3k positions copied":           false,
			triesAgain + ": the games of the replay role are not copied: no space left":       true,
			waitsForServer + " to say who does this":                                          true,
			waitsForServer + ": no answer":                                                    true,
			"taking over":                                                                     true,
			"training":                                                                        true,
			"exporting generation 3":                                                          true,
			"waiting for the bus: put net 01234567: maximum bytes exceeded, 4 GiB are in use": true,
		}},
		{roleGate, StageGate, map[string]bool{
			"starting": false, "stopped": false, "waiting: other@there on there, process 7, does this": false,
			"waiting for a candidate": false, "waiting for pairs": false, "playing 2 pairs for the referee": false,
			"waiting for the referee: no answer":                           false,
			"waiting to try a pair again: net 01234567 has other settings": false, // its referee is stuck if nobody plays
			triesAgain + ": pointer candidate.crazyhouse.nnue: no right":   true,
			waitsForServer + ": no answer":                                 true,
		}},
	} {
		for state, want := range test.states {
			now := time.Unix(1000, 0)
			s := newSharedStatus()
			s.set(test.role, "%s", state)
			s.snapshot(now)
			early := s.snapshot(now.Add(stageLimits[test.stage] - time.Second)).Stalled
			got := s.snapshot(now.Add(stageLimits[test.stage])).Stalled
			if len(early) > 0 || (len(got) == 1 && got[0].Stage == test.stage && got[0].Why == state) != want || len(got) > 1 {
				t.Errorf("%s: found %v stuck, and %v before its time, expected %s: %t", state, got, early, test.stage, want)
			}
		}
	}
}

// A worker of the gate does not hide what the referee in its process says, nor why there is none.
func TestWorkerLeavesWordsOfReferee(t *testing.T) {
	for _, test := range []struct {
		said    string
		referee bool
		hidden  bool
	}{
		{"waiting: other@there on there, process 7, does this", false, true},
		{"stopped", false, true},
		{waitsForServer + ": no answer", false, false},
		{triesAgain + ": net 01234567: no such net", true, false},
		{"waiting for a candidate", true, false},
	} {
		s := newSharedStatus()
		s.holds(refereeLease, test.referee)
		s.set(roleGate, "%s", test.said)
		s.setWorker("waiting for %s", "pairs")
		if got := s.snapshot(time.Unix(1000, 0)).Roles[roleGate].State; (got == "waiting for pairs") != test.hidden || !test.hidden && got != test.said {
			t.Errorf("after %q of a referee (%t) found %q, expected the worker's words: %t", test.said, test.referee, got, test.hidden)
		}
	}
}

// A worker of the referee's process that cannot play a pair says so until it can.
func TestWorkerOfRefereeFails(t *testing.T) {
	s := newSharedStatus()
	s.holds(refereeLease, true)
	for i, step := range []struct {
		do   func()
		want string
	}{
		{func() { s.set(roleGate, "waiting for a candidate"); s.setWorkerFails("no room") }, "waiting for a candidate"},
		{func() { s.setMatch("playing generation 3") }, "playing generation 3"},
		{func() { s.setWorkerFails("no room") }, triesPair + ": no room"},
		{func() { s.setWorker("playing 1 pair") }, "playing generation 3"},
		{func() { s.setMatch(""); s.setWorkerFails("no room") }, "playing generation 3"},
		{func() {
			s.set(roleGate, waitsForServer+": no answer")
			s.setMatch("playing generation 4")
			s.set(roleGate, waitsForServer)
			s.setWorkerFails("no room")
		}, waitsForServer},
	} {
		step.do()
		if got := s.snapshot(time.Unix(1000, 0)).Roles[roleGate].State; got != step.want {
			t.Errorf("step %d: found %q, expected %q", i, got, step.want)
		}
	}
}

// Games that the replay buffer refuses have left the spool: an actor in quarantine is not stuck.
func TestRefusedGamesAreNotStuck(t *testing.T) {
	t.Parallel()
	ids := []string{"run-local-0-0-000000", "run-local-0-0-000001"}
	r, p := openPublisher(t, ids...)
	stop, err := r.bus.Serve(hasService, func(request []byte) ([]byte, error) {
		var q hasRequest
		if err := decodeMessage(request, &q); err != nil {
			return nil, err
		}
		return encodeMessage(&hasAnswer{Schema: messageSchema, States: strings.Repeat("r", len(q.IDs))}), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := p.once(t.Context()); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	if s := r.status.snapshot(now); s.Spooled != len(ids) {
		t.Fatalf("%d games spooled, expected %d", s.Spooled, len(ids))
	}
	later := "run-local-0-0-000002" // an actor plays on: its spool is never empty
	if err := p.spool.add(encodedGame{id: later, data: shortGame(t, later)}); err != nil {
		t.Fatal(err)
	}
	if err := p.ask(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s := r.status.snapshot(now.Add(storeLimit)); s.Spooled != 1 || s.Figures.Left != uint64(len(ids)) || s.Figures.Confirmed != 0 || len(s.Stalled) != 0 {
		t.Errorf("%d games spooled, %d left, %d confirmed, %v stuck, expected 1, %d, none and nothing", s.Spooled, s.Figures.Left, s.Figures.Confirmed, s.Stalled, len(ids))
	}
}

// A referee that is stopped in a match plays none any more, so it is not stuck with it.
func TestStoppedRefereeIsNotStuck(t *testing.T) {
	t.Parallel()
	r := openGateRun(t)
	j := newReferee(r)
	j.slots = 0
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var played atomic.Bool
	startWorker(ctx, r, &group, "worker", 1, func(ctx context.Context, service string, request []byte) ([]byte, error) {
		if service == gateNext && played.Load() { // so the match goes no further than that
			<-ctx.Done()
		}
		if service == gateResult {
			played.Store(true)
		}
		return j.answer(ctx, service, request)
	})
	stopped := make(chan error, 1)
	go func() { stopped <- j.judgeAll(ctx) }()
	await.True(t, "a pair of the match is played", func() bool { return r.Status().Gate.Pairs > 0 })
	cancel()
	group.Wait()
	if err := <-stopped; err != nil {
		t.Errorf("found error %v, expected none", err)
	}
	now := time.Now()
	s := r.status.snapshot(now)
	if later := r.status.snapshot(now.Add(gateLimit)); s.Gate != (GateProgress{}) || len(later.Stalled) != 0 {
		t.Errorf("found match %+v and %v stuck, expected neither", s.Gate, later.Stalled)
	}
}

func TestProgressTellsCalmFromStuck(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds int, last, floor, pending uint64) Overview {
		return Overview{Time: start.Add(time.Duration(seconds) * time.Second), Members: []bus.Member{{Role: "replay", Instance: "x", State: "waiting for games"}, {Role: "trainer"}, {Role: "gate"}, {Role: "actor"}},
			Stream: bus.Stats{Stream: 7, LastSeq: last, AckFloor: floor, Pending: pending}}
	}
	stalled := at(10, 5, 5, 0)
	stalled.Members[0].Stalled = []bus.Stall{{Stage: StageStore, Waiting: 3, Seconds: 200, Why: "the bus refuses games"}}
	full := at(10, 9, 3, 6)
	full.Members[0].State = "waiting to try again: no space left on device"
	loop := at(10, 9, 3, 6)
	loop.Members = []bus.Member{{Role: "loop", Instance: "x", State: "actor: playing 2 games | replay: waiting to try again: no space left on device"}}
	without := at(10, 5, 5, 0)
	without.Members = without.Members[:2]
	nobody := at(10, 5, 5, 0)
	nobody.Members = nil
	again := at(10, 9, 0, 9)
	again.Stream.Stream = 8
	for _, test := range []struct {
		name        string
		before, now Overview
		want        string
		stuck       bool
	}{
		{"nothing to do", at(0, 5, 5, 0), at(10, 5, 5, 0), "calm: no games came within 10s, and none waits", false},
		{"games get through", at(0, 5, 3, 2), at(10, 9, 6, 3), "games get through: 4 messages came and 3 were stored within 10s, 3 wait", false},
		{"they have just come", at(0, 5, 5, 0), at(10, 9, 5, 4), "games get through: 4 messages came and 0 were stored within 10s, 4 wait", false},
		{"nothing is stored", at(0, 5, 3, 2), at(10, 9, 3, 6), "replay is stuck: 6 messages of games wait and none was stored within 10s", true},
		{"a stage says so", at(0, 5, 5, 0), stalled, "replay x: store is stuck: 3 waiting and nothing came out for 3m20s (the bus refuses games)", true},
		{"a disk is full", at(0, 5, 3, 2), full, "replay is stuck: 6 messages of games wait and none was stored within 10s; it says: waiting to try again: no space left on device", true},
		{"a loop's disk is full", at(0, 5, 3, 2), loop, "replay is stuck: 6 messages of games wait and none was stored within 10s; it says: waiting to try again: no space left on device", true},
		{"two roles are gone", at(0, 5, 5, 0), without, "there is no gate: offered nets are not judged until there is one; there is no actor: no games are played until there is one", true},
		{"all roles have ended", at(0, 5, 5, 0), nobody, "calm: nobody works for the run, and nothing waits", false},
		{"an earlier copy of the stream", at(0, 50, 40, 10), at(10, 29, 20, 9), "games get through: 0 messages came and 0 were stored within 10s, 9 wait", false},
		{"and none waits there", at(0, 50, 50, 0), at(10, 29, 29, 0), "calm: no games came within 10s, and none waits", false},
		{"another stream", at(0, 5, 3, 2), again, "calm: the stream of games is a new one", false},
	} {
		if got, stuck := test.now.Progress(&test.before); got != test.want || stuck != test.stuck {
			t.Errorf("%s: found %q, stuck %v, expected %q", test.name, got, stuck, test.want)
		}
	}
}

// A directory tells what its processes last said, and which of them ended without a word.
func TestLocalOverview(t *testing.T) {
	cfg := smallConfig(t)
	dir := filepath.Join(t.TempDir(), "run")
	r := openRun(t, dir, cfg)
	defer r.Close()
	if err := r.writeStatus("loop", bus.Member{Schema: 1, Role: "loop", Instance: "local", Host: "here", Build: "test", State: "playing"}); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	for _, test := range []struct {
		events, want string
	}{
		{fmt.Sprintf(`{"time":%q,"level":"INFO","msg":"started"}`+"\n"+`{"time":"2026-05-05T05:05:05Z","msg":"started"}`, begun.Format(time.RFC3339)), "begun 2026-01-02 03:04:05 by build"},
		{"", "begun by build"},
		{"\x00\x00\n", "begun by build"},
	} {
		if err := os.WriteFile(filepath.Join(dir, eventsFile), []byte(test.events), 0o644); err != nil {
			t.Fatal(err)
		}
		v, err := LocalOverview(dir, cfg, now)
		var text strings.Builder
		if err == nil {
			err = v.Write(&text)
		}
		if err != nil || !strings.Contains(text.String(), test.want) {
			t.Errorf("events %q: expected %q, error %v, found\n%s", test.events, test.want, err, &text)
		}
	}
	v, err := LocalOverview(dir, cfg, now)
	var text strings.Builder
	if err == nil {
		err = v.Write(&text)
	}
	if err != nil || len(v.Members) != 1 || len(v.Findings) != 0 || v.Run.Name != "run" || !strings.Contains(text.String(), "playing") || strings.Contains(text.String(), "games on the server") {
		t.Errorf("found %+v, error %v\n%s", v, err, &text)
	}
	if says, stuck := v.Progress(&v); stuck || says != "calm: playing" {
		t.Errorf("found %q, stuck %v", says, stuck)
	}
	later, err := LocalOverview(dir, cfg, now.Add(time.Minute))
	if says, stuck := later.Progress(&v); err != nil || !stuck || !strings.Contains(says, "loop (process 0) was seen last at") {
		t.Errorf("a minute later: %q, stuck %v, error %v", says, stuck, err)
	}
	if back, err := LocalOverview(dir, cfg, now.Add(-time.Hour)); err != nil || len(back.Members) != 0 || len(back.Gone) != 1 {
		t.Errorf("with a clock set back by an hour: error %v, members %v, gone %v", err, back.Members, back.Gone)
	}
	if err := r.writeStatus("loop", bus.Member{Schema: 1, Role: "loop", Host: hostname(), State: "playing"}); err != nil {
		t.Fatal(err)
	}
	if here, err := LocalOverview(dir, cfg, now); err != nil || len(here.Members) != 1 || len(here.Gone) != 0 {
		t.Errorf("a process of this machine: error %v, members %v, gone %v", err, here.Members, here.Gone)
	}
	if late, err := LocalOverview(dir, cfg, now.Add(time.Minute)); err != nil || len(late.Gone) != 1 || !strings.Contains(late.Gone[0], "it has the directory, and cannot write") {
		t.Errorf("one that writes nothing: error %v, gone %q", err, late.Gone)
	}
	if err := r.owner.Release(); err != nil { // as the system does for a process that is killed
		t.Fatal(err)
	}
	left := filepath.Join(dir, spoolDir, "run-local-0-0-000000"+spoolExt)
	if err := errors.Join(os.MkdirAll(filepath.Dir(left), 0o755), os.WriteFile(left, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	killed, err := LocalOverview(dir, cfg, now)
	if says, stuck := killed.Progress(&killed); err != nil || !stuck || !strings.Contains(says, "it was killed; 1 game waits in the spool for a process that stores them") || len(killed.Gone) != 2 {
		t.Errorf("a process that was killed: error %v, found %q, stuck %v, findings %q", err, says, stuck, killed.Gone)
	}
	if err := os.WriteFile(filepath.Join(dir, statusFile("loop")), make([]byte, maxStatus+1), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := LocalOverview(dir, cfg, now); err == nil || !strings.Contains(err.Error(), "status-loop.json") {
		t.Errorf("a large file: error %v", err)
	}
}
