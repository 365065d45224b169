package dash

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// A run seen through its servers has who works, its data path and its nets, and nothing of
// the directory that the program happens to be in.
func TestRunOnServers(t *testing.T) {
	t.Chdir(trial(t))
	now := time.Now()
	v := selfplay.Overview{
		Run: bus.RunRecord{Name: "far", ID: "xyz", Build: "b1", Variant: "crazyhouse", Kind: "nnue"},
		Members: []bus.Member{
			{Role: "actor", Instance: "a", State: "playing", Games: 5, Waiting: 2, Seen: now},
			{Role: "actor", Instance: "b", State: "playing", Waiting: 1, Seen: now},
			{Role: "gate", Instance: "c", State: "waiting for a candidate", Seen: now},
			{Role: "loop", Instance: "d", State: "actor: stopped | replay: storing games | trainer: waiting for games | gate: playing", Seen: now},
		},
		Stream:   bus.Stats{Messages: 7, Pending: 4},
		Current:  &nets.Record{Net: firstNet, Generation: 1, Action: "publish"},
		Offered:  &nets.Record{Net: secondNet, Generation: 2, Action: "offer"},
		Findings: []string{"there is no verifier"},
	}
	var failed error
	asked := 0
	w, err := NewWatch(Config{
		refresh: time.Nanosecond,
		Ask:     func(context.Context) (selfplay.Overview, error) { return v, failed },
		Nets: func(context.Context) ([]nets.Manifest, []selfplay.NetChange, error) {
			asked++
			return []nets.Manifest{{ID: firstNet, Generation: 1, Step: 40, HeldOutLoss: 0.03}, {ID: secondNet, Generation: 2, Step: 80, HeldOutLoss: 0.02}},
				[]selfplay.NetChange{{Time: now, Record: nets.Record{Net: firstNet, Generation: 1, Action: "publish"}}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(w)
	if state := read[State](t, s, "/api/state"); !state.Servers || len(state.Stages) != 6 || len(state.Findings) != 0 || state.Run.ID != "" {
		t.Errorf("before an answer: found %+v", state)
	}
	w.questions.Wait()
	state := read[State](t, s, "/api/state")
	got := map[string]string{}
	for _, st := range state.Stages {
		got[st.ID] = st.Mode + ": " + st.State + " " + st.WaitsFor
	}
	for id, want := range map[string]string{
		"play": "working: 3 processes ", "store": "working: storing games ", "train": "waiting: waiting for games play", "gate": "working: 2 processes ", "net": "working: played with ",
	} {
		if got[id] != want {
			t.Errorf("%s: found %q, expected %q", id, got[id], want)
		}
	}
	if state.Run.Name != "far" || state.Run.Kind != "nnue" || state.Findings[0] != "there is no verifier" || *state.Links[1].Value != 4 || *state.Links[3].Value != 2 {
		t.Errorf("found %+v", state)
	}
	n := read[Nets](t, s, "/api/nets")
	if n.Current != firstNet || len(n.List) != 2 || n.List[0].Generation != 2 || n.List[0].Verdict != "" || n.List[1].Verdict != "passed" || n.List[1].HeldOutLoss != 0.03 {
		t.Errorf("found nets %+v", n)
	}
	if l := read[Learning](t, s, "/api/learning"); len(l.Offered) != 2 || l.Window != nil || len(l.Matches) != 0 {
		t.Errorf("found %+v", l)
	}
	if g := read[Games](t, s, "/api/games"); len(g.Games) != 0 {
		t.Errorf("found games %+v, expected none: they are not on the servers", g)
	}
	if o := read[Opponent](t, s, "/api/opponent"); o.Net != "" {
		t.Errorf("found opponent %+v, expected the program's own net", o)
	}
	if _, err := w.Report(1); err == nil {
		t.Error("found a report of a run without a directory")
	}

	// Nets are asked for again only when others are offered or played with, and a server
	// that goes away is a finding.
	again := func() State {
		w.mu.Lock()
		w.servers.asked = time.Time{}
		w.mu.Unlock()
		read[State](t, s, "/api/state")
		w.questions.Wait()
		return read[State](t, s, "/api/state")
	}
	if again(); asked != 1 {
		t.Errorf("asked %d times for the nets, expected once", asked)
	}
	v.Current = v.Offered
	if again(); asked != 2 {
		t.Errorf("asked %d times for the nets, expected twice", asked)
	}
	failed = errors.New("gone")
	if state := again(); !strings.Contains(state.Findings[0], "gone") || state.Run.Name != "far" {
		t.Errorf("found %+v, expected that the servers do not answer", state.Findings)
	}
	if _, err := os.Stat("trainer.key"); err != nil {
		t.Errorf("the test is not where a run is: %v", err)
	}
}
