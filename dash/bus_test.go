package dash

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Of a run on servers the page shows the games that are published, once each, a board of
// each actor's newest, and what the referee tells of its matches.
func TestPublished(t *testing.T) {
	now := time.Now()
	v := selfplay.Overview{Run: bus.RunRecord{Name: "far", ID: "abc", Variant: "crazyhouse", Kind: "nnue"}, Current: &nets.Record{Net: firstNet, Generation: 1, Action: "publish"}}
	var visit func([]byte)
	stopped := false
	verdict := selfplay.JudgedNet{Time: now, Generation: 1, Net: firstNet, Incumbent: "material", Passed: true, Reason: "H1", Elo: "80.00 +/- 30.00", Games: 8}
	told := selfplay.Judging{First: 3, Total: 4, Verdicts: []selfplay.JudgedNet{verdict}, Matches: []selfplay.WatchedMatch{
		{Candidate: secondNet, Incumbent: firstNet, Generation: 2, Of: 40, Path: []float64{0.5, -0.25}, Low: -2.9, High: 2.9, Wins: 3, Losses: 1},
	}}
	var after []int
	w, err := NewWatch(Config{
		refresh: time.Nanosecond,
		Ask:     func(context.Context) (selfplay.Overview, error) { return v, nil },
		Nets: func(context.Context) ([]nets.Manifest, []selfplay.NetChange, error) {
			return []nets.Manifest{{ID: firstNet, Generation: 1, Games: 70}}, nil, nil
		},
		Judging: func(_ context.Context, n int) (selfplay.Judging, error) { after = append(after, n); return told, nil },
		Games:   func(f func([]byte)) (func(), error) { visit = f; return func() { stopped = true }, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(w)
	read[State](t, s, "/api/state")
	w.questions.Wait()
	first := record(t, "abc-anna-0-0-1", firstNet, 1)
	visit(first)
	visit(first)
	visit([]byte("no game"))
	visit(record(t, "abc-anna-0-0-2", firstNet, 2))
	state := read[State](t, s, "/api/state")
	if g := state.Gate; g == nil || g.Generation != 2 || g.Pairs != 2 || g.LLR != -0.25 {
		t.Errorf("found gate %+v, expected the match of generation 2 after two pairs", g)
	}
	games := read[Games](t, s, "/api/games")
	if !games.Published || games.Total != 2 || len(games.Games) != 2 || games.Games[0].ID != "abc-anna-0-0-2" || games.Games[0].Generations[0] != 1 {
		t.Errorf("found games %+v, expected two of generation 1", games)
	}
	if g := read[Replayed](t, s, "/api/games/abc-anna-0-0-1"); len(g.Positions) < 2 {
		t.Errorf("found %d positions, expected a game", len(g.Positions))
	}
	if b := read[Boards](t, s, "/api/boards"); b.Live || len(b.List) != 1 || b.List[0].Game != "abc-anna-0-0-2" || b.List[0].FEN == "" {
		t.Errorf("found boards %+v, expected the newest game of the actor", b)
	}
	l := read[Learning](t, s, "/api/learning")
	if len(l.Strength) != 1 || l.Strength[0].Sum != 80 || l.Strength[0].Error != 30 || *l.Strength[0].Games != 70 || len(l.Matches) != 1 || l.Counts.Missed != 3 || l.Untold != "" {
		t.Errorf("found %+v, expected 80 ± 30 Elo, a match, and three verdicts that were not told", l)
	}
	// The verdict of another match comes, then a referee that knows of it alone.
	next := verdict
	next.Generation, next.Net, next.Passed, next.Elo = 2, secondNet, false, "-5.00 +/- 30.00"
	told = selfplay.Judging{First: 4, Total: 5, Verdicts: []selfplay.JudgedNet{next}}
	again := func() Learning {
		askServers(t, w, s)
		return read[Learning](t, s, "/api/learning")
	}
	if l := again(); l.Counts.Judged != 2 || l.Counts.Passed != 1 || len(l.Matches) != 0 {
		t.Errorf("found %+v, expected two verdicts", l.Counts)
	}
	told = selfplay.Judging{Total: 1, Verdicts: []selfplay.JudgedNet{next}}
	if l := again(); l.Counts.Judged != 1 || l.Counts.Passed != 0 || l.Counts.Missed != 0 || len(l.Strength) != 0 {
		t.Errorf("found %+v, expected one verdict", l.Counts)
	}
	if want := []int{0, 4, 5}; !slices.Equal(after, want) {
		t.Errorf("asked for verdicts after %v, expected %v", after, want)
	}
	if w.close(); !stopped {
		t.Error("the games are still followed")
	}
}

// When the referee no longer answers, or no server does, nothing is shown as going on.
func TestSilentServers(t *testing.T) {
	now := time.Now()
	v := selfplay.Overview{Members: []bus.Member{{Role: "actor", Instance: "a", Games: 10, Seen: now}}}
	told := selfplay.Judging{Matches: []selfplay.WatchedMatch{{Candidate: secondNet, Incumbent: firstNet, Generation: 2, Of: 40, Path: []float64{0.5}, Low: -2.9, High: 2.9}}}
	var gone, silent error
	w, err := NewWatch(Config{
		refresh: time.Nanosecond,
		Ask:     func(context.Context) (selfplay.Overview, error) { return v, gone },
		Judging: func(context.Context, int) (selfplay.Judging, error) { return told, silent },
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(w)
	after := func(d time.Duration) State {
		askServers(t, w, s)
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.state(now.Add(d))
	}
	flows := func(s State) (from []string) {
		for _, l := range s.Links {
			if l.Flows {
				from = append(from, l.From)
			}
		}
		return from
	}
	after(0)
	v.Members = []bus.Member{{Role: "actor", Instance: "a", Games: 30, Seen: now.Add(10 * time.Second)}}
	state := after(11 * time.Second)
	if *state.Links[0].Value != 2 || state.Gate == nil || !slices.Equal(flows(state), []string{"play", "way", "train"}) {
		t.Fatalf("found %g games a second, gate %+v, flow from %v, expected 2 and a match", *state.Links[0].Value, state.Gate, flows(state))
	}
	version := state.Versions.Learning
	silent = errors.New("no referee")
	state = after(12 * time.Second)
	if state.Gate != nil || !slices.Equal(flows(state), []string{"play", "way"}) || state.Versions.Learning == version {
		t.Errorf("without a referee: found gate %+v, flow from %v, version %d of Learning, expected no match and another than %d", state.Gate, flows(state), state.Versions.Learning, version)
	}
	silent = nil
	if state = after(13 * time.Second); state.Gate == nil {
		t.Error("found no match, expected the one that the referee tells of again")
	}
	gone = errors.New("gone")
	if state = after(time.Minute); *state.Links[0].Value != 0 || state.Gate != nil || flows(state) != nil {
		t.Errorf("without servers: found %g games a second, gate %+v, flow from %v, expected none", *state.Links[0].Value, state.Gate, flows(state))
	}
}

// The games under way stand on boards with the search's score from White's side.
func TestLiveBoards(t *testing.T) {
	at := selfplay.LiveBoard{Game: "abc-local-1-0-3", Nets: [2]string{firstNet, secondNet}, Plies: 2, FEN: chess.Crazyhouse.StartFEN, UCI: "e7e5", SAN: "e5", Mover: chess.Black, Score: 120, Line: []string{"Nf3", "Nc6"}}
	s := newTestServer(t, Config{Dir: trial(t), Boards: func() []selfplay.LiveBoard { return []selfplay.LiveBoard{at} }})
	b := read[Boards](t, s, "/api/boards")
	if !b.Live || len(b.List) != 1 {
		t.Fatalf("found %+v, expected a game under way", b)
	}
	line := b.List[0]
	if line.Score == nil || *line.Score != -120 || line.Win == nil || *line.Win >= 0.5 || line.Line != "Nf3 Nc6" || line.Result != "*" || line.Generations != [2]int{1, 2} {
		t.Errorf("found %+v, expected that Black is ahead", line)
	}
	if stored := read[Boards](t, newTestServer(t, Config{Dir: trial(t)}), "/api/boards"); stored.Live || len(stored.List) != 1 || stored.List[0].Result == "*" {
		t.Errorf("found %+v, expected the newest game stored", stored)
	}
}

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
				[]selfplay.NetChange{{Time: now, Record: nets.Record{Net: firstNet, Generation: 1, Action: "publish"}},
					{Time: now, Record: nets.Record{Net: secondNet, Generation: 2, Action: "publish", Why: selfplay.GateOff}}}, nil
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
		"play": "working: 3 processes ", "store": "working: storing games ", "train": "waiting: waiting for games play", "gate": "working: 2 processes, 1 waits ", "net": "working: played with ",
	} {
		if got[id] != want {
			t.Errorf("%s: found %q, expected %q", id, got[id], want)
		}
	}
	if state.Run.Name != "far" || state.Run.Kind != "nnue" || state.Findings[0] != "there is no verifier" || *state.Links[1].Value != 4 || *state.Links[3].Value != 2 {
		t.Errorf("found %+v", state)
	}
	n := read[Nets](t, s, "/api/nets")
	if n.Current != firstNet || len(n.List) != 2 || n.List[0].Generation != 2 || n.List[0].Verdict != "" || !n.List[0].Ungated || n.List[1].Verdict != "passed" || n.List[1].Ungated || n.List[1].HeldOutLoss != 0.03 {
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
		askServers(t, w, s)
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

// Several processes of a role work as long as one does, and wait for what they all wait for.
func TestSeveralProcesses(t *testing.T) {
	const full, idle, standby = "waiting for the replay buffer: 3 games spooled", "waiting for games: 8 samples a position", "waiting: x on y, process 7, does this"
	for _, tc := range []struct {
		states []string
		want   string
	}{
		{[]string{full, full}, "waiting: 2 processes, 2 wait store"},
		{[]string{full, "waiting for the bus: gone"}, "waiting: 2 processes, 2 wait store"},
		{[]string{full, idle}, "waiting: 2 processes, 2 wait "},
		{[]string{full, "playing 2 games", "playing 2 games"}, "working: 3 processes, 1 waits "},
		{[]string{idle, standby}, "waiting: 2 processes, 2 wait play"},
		{[]string{"training", standby}, "working: 2 processes, 1 waits "},
		{[]string{"stopped", "stopped"}, "stopped: 2 processes "},
		{[]string{"stopped", full}, "waiting: 2 processes, 1 waits store"},
		{[]string{full}, "waiting: " + full + " store"},
		{nil, "stopped: there is none "},
	} {
		var members []bus.Member
		for _, state := range tc.states {
			members = append(members, bus.Member{Role: "actor", State: state})
		}
		var s Stage
		s.byMembers(members, "actor")
		if found := s.Mode + ": " + s.State + " " + s.WaitsFor; found != tc.want || *s.Figures[0].Value != float64(len(members)) {
			t.Errorf("%q: found %q with figures %+v, expected %q", tc.states, found, s.Figures, tc.want)
		}
	}
}

// askServers has the watch ask the run's servers now, and waits for their answers.
func askServers(t *testing.T, w *Watch, s *Server) {
	t.Helper()
	w.mu.Lock()
	w.servers.asked = time.Time{}
	w.mu.Unlock()
	read[State](t, s, "/api/state")
	w.questions.Wait()
}
