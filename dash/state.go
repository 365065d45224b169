package dash

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// State is what changes from second to second: the data path and who waits for whom.
type State struct {
	Time     time.Time `json:"time"`
	Watch    string    `json:"watch"` // random; another watch counts its versions anew
	Run      Run       `json:"run"`
	Live     bool      `json:"live"`    // the page is served by the process of the run
	Stopped  bool      `json:"stopped"` // the run has been stopped in order
	Elapsed  float64   `json:"elapsed_s"`
	Stages   []Stage   `json:"stages"`   // in the order of the data path
	Links    []Link    `json:"links"`    // the one of a stage leads to the next, the last one's to the first
	Gate     *Progress `json:"gate"`     // nil: no match is being played
	Division []Part    `json:"division"` // of the cores by the allocator, play first; nil: not known, or there is none
	Findings []string  `json:"findings"`
	Events   []Event   `json:"events"` // the newest first
	Versions Versions  `json:"versions"`

	Comparison bool `json:"comparison"` // it is no run, but a comparison
	Servers    bool `json:"servers"`    // the run is seen through its servers alone
	Control    bool `json:"control"`    // who has the token may choose the net
}

// Run says which run it is.
type Run struct {
	Name    string `json:"name"`
	ID      string `json:"id"`
	Build   string `json:"build"` // that began it
	Variant string `json:"variant"`
	Preset  string `json:"preset"`
	Kind    string `json:"kind"` // of its nets
}

// Versions change when what they stand for has changed, so that the page asks for it
// only then; some with time too, where how long ago something was is shown.
type Versions struct {
	Learning int `json:"learning"`
	Games    int `json:"games"`
	Nets     int `json:"nets"`
	Actors   int `json:"actors"`
	Boards   int `json:"boards"`

	Comparison int `json:"comparison"`
}

// What a stage is doing.
const (
	working = "working"
	waiting = "waiting"
	stopped = "stopped"
	unknown = "unknown" // to another process, which sees only files
)

// Stage is one place of the data path.
type Stage struct {
	ID       string   `json:"id"` // play, way, store, train, gate, net
	Name     string   `json:"name"`
	Mode     string   `json:"mode"`
	State    string   `json:"state"`     // in words
	WaitsFor string   `json:"waits_for"` // id of a stage; empty: none
	Figures  []Figure `json:"figures"`
}

// Figure is a number with its name, or a text.
type Figure struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"` // nil: Text
	Unit  string   `json:"unit"`
	Text  string   `json:"text"`
}

// Link is what goes from a stage to the next.
type Link struct {
	From  string   `json:"from"`
	Name  string   `json:"name"`
	Value *float64 `json:"value"` // a rate or a number; nil: not known
	Unit  string   `json:"unit"`
	Flows bool     `json:"flows"`
}

// Progress is how far the gate's match is.
type Progress struct {
	Generation int     `json:"generation"` // 0: not known
	Pairs      int     `json:"pairs"`
	Of         int     `json:"of"`
	LLR        float64 `json:"llr"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
}

// Part is what a part of the loop has of the cores.
type Part struct {
	Name   string   `json:"name"`
	Share  float64  `json:"share"`  // that the allocator gives it, 0 to 1
	Used   float64  `json:"used"`   // of what was computed in the last seconds, 0 to 1
	Earns  *float64 `json:"earns"`  // selfplay.Share.Earning, of more of the cores; nil: not known
	Margin *float64 `json:"margin"` // half of its 95 % interval
}

// quietAfter is how long nothing is written before the page says so.
const quietAfter = 2 * time.Minute

// passing is a version that changes every five seconds.
func passing(now time.Time) int { return int(now.Unix() / 5) }

func number(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

func figure[N int | uint64 | float64](name string, v N, unit string) Figure {
	return Figure{Name: name, Value: number(float64(v)), Unit: unit}
}

// isID tells the id of a net from the name of what plays without one.
func isID(net string) bool { return len(net) == 64 }

func shortID(id string) string {
	if isID(id) {
		return id[:8]
	}
	return id
}

// liveState is the state by the status of the run's own process. Roles are known by the
// names that a loop gives them.
func liveState(s selfplay.Status) State {
	role := func(name string) string {
		for _, r := range s.Roles {
			if r.Name == name {
				return r.State
			}
		}
		return ""
	}
	play := Stage{ID: "play", Name: "Play", State: role("actor"), Figures: []Figure{
		figure("games by this process", s.SessionGames, ""),
	}}
	if s.Nodes > 0 {
		play.Figures = append(play.Figures, figure("nodes a move", s.Nodes, ""))
	}
	if s.MeanBatch > 0 {
		play.Figures = append(play.Figures, figure("evaluations", s.EvaluationsPerS, "/s"), figure("mean batch", s.MeanBatch, ""))
	}
	way := Stage{ID: "way", Name: "On the way", State: "games between actor and replay buffer", Mode: working, Figures: []Figure{figure("spooled", s.Spooled, "games")}}
	if s.StreamLost > 0 {
		way.Figures = append(way.Figures, figure("lost by the stream", s.StreamLost, "messages"))
	}
	store := Stage{ID: "store", Name: "Replay buffer", State: role("replay"), Figures: []Figure{
		figure("games", s.Games, ""), figure("positions", s.Positions, ""), figure("window", s.Window, "positions"),
	}}
	if s.Quarantined > 0 {
		store.Figures = append(store.Figures, figure("quarantined", s.Quarantined, "games"))
	}
	train := Stage{ID: "train", Name: "Trainer", State: role("trainer"), Figures: []Figure{figure("step", s.Step, "")}}
	if s.Step > 0 {
		train.Figures = append(train.Figures, figure("loss", s.TrainLoss, ""))
	}
	if s.HeldOutLoss > 0 {
		train.Figures = append(train.Figures, figure("loss, held out", s.HeldOutLoss, ""))
	}
	if s.StepsToNet > 0 {
		train.Figures = append(train.Figures, figure("next net in", s.StepsToNet, "steps"))
	}
	gate := Stage{ID: "gate", Name: "Gate", State: role("gate")}
	if s.LastGate != "" {
		gate.Figures = append(gate.Figures, Figure{Name: "last", Text: s.LastGate})
	}
	net := Stage{ID: "net", Name: "Net", Mode: working, State: "played with", Figures: []Figure{
		{Name: "net", Text: shortID(s.Net)}, figure("generation", s.Generation, ""),
	}}
	net.Figures = append(net.Figures, reached(s.Curve)...)
	var division []Part
	for _, p := range s.Division {
		of := map[string]*Stage{"play": &play, "label": &train, "train": &train, "gate": &gate}[p.Name]
		if of != nil {
			of.Figures = append(of.Figures, Figure{Name: "share of the cores, " + p.Name, Text: fmt.Sprintf("%.0f %%, used %.0f %%", 100*p.Share, 100*p.Used)})
		}
		part := Part{Name: p.Name, Share: p.Share, Used: p.Used}
		if p.Earning.Known {
			part.Earns, part.Margin = number(p.Earning.Median), number(p.Margin())
		}
		division = append(division, part)
	}
	out := State{Live: true, Elapsed: s.Elapsed.Seconds(), Stages: []Stage{play, way, store, train, gate, net}, Division: division}
	for i := range out.Stages {
		out.Stages[i].judge()
	}
	out.Links = []Link{
		{From: "play", Name: "positions", Value: number(s.PositionsPerS), Unit: "/s", Flows: s.PositionsPerS > 0},
		{From: "way", Name: "waiting games", Value: number(float64(s.Spooled)), Flows: s.PositionsPerS > 0},
		{From: "store", Name: "samples", Value: number(s.SamplesPerS), Unit: "/s", Flows: s.SamplesPerS > 0},
		{From: "train", Name: "offered generation", Value: number(float64(s.Candidate))},
		{From: "gate", Name: "passed generation", Value: number(float64(s.Generation))},
		{From: "net", Name: "playing generation", Value: number(float64(s.ActorGeneration)), Flows: s.PositionsPerS > 0},
	}
	if g := s.Gate; g.Of > 0 {
		out.Gate = &Progress{g.Generation, g.Pairs, g.Of, g.LLR, g.Low, g.High}
		out.Links[3].Flows = true
	}
	if s.FailedNet != "" {
		out.Findings = append(out.Findings, fmt.Sprintf("net %s cannot be loaded: %s", shortID(s.FailedNet), s.FailedWhy))
	}
	if s.BufferLost > 0 {
		out.Findings = append(out.Findings, fmt.Sprintf("the replay buffer has lost %d games; selfplay replay audit says where", s.BufferLost))
	}
	return out
}

// waitsFor has the stage that a role waits for, by what its state begins with.
var waitsFor = []struct{ words, stage string }{
	{"waiting for games", "play"},
	{"waiting for the games of the replay role", "store"}, // those that a copy of the window lacks
	{"waiting for the replay buffer", "store"},
	{"waiting for a candidate", "train"},
	{"waiting for the gate", "gate"},
}

// judge tells from the words of a stage's state what it does, and for whom it waits.
func (s *Stage) judge() {
	if s.Mode != "" {
		return
	}
	s.Mode = working
	switch {
	case s.State == "stopped":
		s.Mode = stopped
	case s.State == "starting":
		s.Mode = waiting
	case strings.HasPrefix(s.State, "waiting"):
		s.Mode = waiting
		for _, w := range waitsFor {
			if strings.HasPrefix(s.State, w.words) {
				s.WaitsFor = w.stage
			}
		}
	}
}

// fileState is the state of a run in another process, by its files.
func (w *Watch) fileState(now time.Time) State {
	games, rows, known := w.buffer.total()
	mode, idle := unknown, now.Sub(w.changed())
	if w.events.stopped {
		mode = stopped
	}
	word := func(text string) string {
		if mode == stopped {
			return "stopped"
		}
		return text
	}
	store := Stage{ID: "store", Name: "Replay buffer", Mode: mode, State: word("games on disk"), Figures: []Figure{figure("games", games, "")}}
	if known {
		store.Figures = append(store.Figures, figure("positions", rows, ""), figure("window", w.windowRows(rows), "positions"))
	}
	train := Stage{ID: "train", Name: "Trainer", Mode: mode, State: word("by the newest net offered")}
	gate := Stage{ID: "gate", Name: "Gate", Mode: mode, State: word("by its logs")}
	links := []Link{
		{From: "play", Name: "games", Value: number(w.gameRate.perSecond(now)), Unit: "/s"},
		{From: "way", Name: "waiting games"},
		{From: "store", Name: "samples"},
		{From: "train", Name: "offered generation"},
		{From: "gate", Name: "passed generation"},
		{From: "net", Name: "generation"},
	}
	links[0].Flows = *links[0].Value > 0
	links[1].Flows = links[0].Flows
	way := Stage{ID: "way", Name: "On the way", Mode: mode, State: word("games that are not stored yet")}
	if n, err := countFiles(w.path("spool")); err == nil {
		way.Figures = append(way.Figures, figure("spooled", n, "games"))
		links[1].Value = number(float64(n))
	}
	if n := len(w.events.curve.Offered); n > 0 {
		o := w.events.curve.Offered[n-1]
		train.Figures = []Figure{figure("step", o.Step, "")}
		if o.HeldOutLoss > 0 {
			train.Figures = append(train.Figures, figure("loss, held out", o.HeldOutLoss, ""))
		}
		links[3].Value = number(float64(o.Generation))
	}
	out := State{}
	gate.Figures = w.lastJudged()
	if p := w.match(); p != nil && mode != stopped && idle < quietAfter {
		out.Gate, gate.Mode, gate.State = p, working, "playing"
		links[3].Flows = true
	}
	net := Stage{ID: "net", Name: "Net", Mode: mode, State: "played with", Figures: []Figure{{Name: "net", Text: "none yet"}}}
	if r, ok := w.current(); ok {
		net.Figures = []Figure{{Name: "net", Text: shortID(r.Net)}, figure("generation", r.Generation, "")}
		links[4].Value, links[5].Value = number(float64(r.Generation)), number(float64(r.Generation))
	}
	net.Figures = append(net.Figures, reached(w.events.curve.Passed)...)
	play := Stage{ID: "play", Name: "Play", Mode: mode, State: word("seen by the games that are stored")}
	out.Stages = []Stage{play, way, store, train, gate, net}
	out.Links = links
	out.Stopped = w.events.stopped
	if !out.Stopped && !w.changed().IsZero() && idle > quietAfter {
		out.Findings = append(out.Findings, fmt.Sprintf("nothing has been written for %s: the run stands still, or its process has ended", minutes(idle)))
	}
	return out
}

// minutes says a time in whole minutes: a page that is read aloud says what changes.
func minutes(d time.Duration) string {
	return strings.TrimSuffix(d.Truncate(time.Minute).String(), "0s")
}

// lastJudged is the newest verdict of the gate, if there is one.
func (w *Watch) lastJudged() []Figure {
	judged := w.events.curve.Judged
	if len(judged) == 0 {
		return nil
	}
	j := judged[len(judged)-1]
	return []Figure{{Name: "last", Text: fmt.Sprintf("generation %d %s", j.Generation, verdictText(j.Passed))}}
}

// reached is what the newest net that passed has come to, if there is one.
func reached(curve []selfplay.PassedNet) []Figure {
	if len(curve) == 0 {
		return nil
	}
	return []Figure{{Name: "sum of the gate's matches", Text: curve[len(curve)-1].Reached()}}
}

// match is how far the newest match is, nil if it has its verdict.
func (w *Watch) match() *Progress {
	m := w.matches()
	if len(m) == 0 || m[0].Verdict != "" {
		return nil
	}
	p := Progress{Generation: m[0].Generation, Pairs: len(m[0].Path), Of: m[0].Of, Low: m[0].Low, High: m[0].High}
	if n := len(m[0].Path); n > 0 {
		p.LLR = m[0].Path[n-1]
	}
	return &p
}

func verdictText(passed bool) string {
	if passed {
		return "passed"
	}
	return "failed"
}

// state is the state now.
func (w *Watch) state(now time.Time) State {
	var s State
	if c := w.compared; c != nil {
		s = State{
			Time: now, Watch: w.id, Run: w.run, Comparison: true, Stopped: c.over(), Stages: []Stage{}, Links: []Link{}, Events: []Event{},
			Findings: append([]string{}, w.problems...), Versions: Versions{Comparison: c.version},
		}
		if !s.Stopped { // that nothing comes is to be seen
			s.Versions.Comparison += passing(now)
		}
		return s
	}
	if w.onServers() {
		s = w.busState(now)
	} else if w.cfg.Status != nil {
		s = liveState(w.cfg.Status())
	} else {
		s = w.fileState(now)
	}
	s.Time, s.Watch, s.Run, s.Control = now, w.id, w.run, w.cfg.Control != nil
	s.Findings = append(append([]string{}, s.Findings...), w.problems...)
	s.Events = slices.Clone(w.events.recent)
	slices.Reverse(s.Events)
	if s.Events == nil {
		s.Events = []Event{}
	}
	for i := range s.Stages {
		if s.Stages[i].Figures == nil {
			s.Stages[i].Figures = []Figure{}
		}
	}
	s.Versions = Versions{Learning: w.events.version + w.logs.version + w.ratings.version + w.changes + w.buffer.seldom, Games: w.buffer.version, Nets: w.events.version + w.changes, Boards: w.buffer.version,
		Actors: w.buffer.version + w.refused.version + w.servers.version}
	if w.cfg.Ask == nil { // no answers of servers come while actors stand still
		s.Versions.Actors += passing(now)
	}
	if w.cfg.Boards != nil { // they change all the time
		s.Versions.Boards = int(now.Unix())
	}
	return s
}
