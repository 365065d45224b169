package dash

import (
	"runtime"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	mostPoints   = 1500 // of a curve
	mostJudged   = 200
	mostByWindow = 60 // nets of the window
)

// Learning is how the run learns.
type Learning struct {
	Strength []Strength            `json:"strength"` // after every net that passed; of many, some
	Offered  []selfplay.OfferedNet `json:"offered"`  // of many, some
	Judged   []selfplay.JudgedNet  `json:"judged"`   // the newest first
	Matches  []Match               `json:"matches"`  // the newest first
	Ladder   Ladder                `json:"ladder"`
	Window   *Window               `json:"window"` // nil: not known
	Counts   Counts                `json:"counts"`
	Untold   string                `json:"untold"` // why the referee of a run on servers tells no verdicts; empty: it does
	Cores    *Cores                `json:"cores"`  // nil: not known
}

// Cores says how the run's settings divide a machine's cores.
type Cores struct {
	Actor   int `json:"actor"`   // games at the same time
	Gate    int `json:"gate"`    // the same, while a match is played
	Trainer int `json:"trainer"` // threads; 0: one for each core
	CPUs    int `json:"cpus"`    // of the machine, as the run's process sees them; 0: it is another's

	Allocator bool `json:"allocator"` // it divides the cores; State.Division says how
}

// Counts are of the whole run.
type Counts struct {
	Offered int `json:"offered"`
	Judged  int `json:"judged"`
	Passed  int `json:"passed"`
	Missed  int `json:"missed"` // verdicts that the referee of a run on servers had given before, and does not tell
}

// Strength is the sum of the Elo of each net over the one it was matched with, and what the
// errors of the matches, which are independent, add up to.
type Strength struct {
	Time       time.Time `json:"time"`
	Generation int       `json:"generation"`
	Games      *float64  `json:"games"`  // stored when it was offered; nil: not known
	Elo        float64   `json:"elo"`    // of this net over the one it was matched with
	Margin     *float64  `json:"margin"` // half of its 95 % interval; nil: not finite
	Sum        float64   `json:"sum"`
	Error      float64   `json:"error"`    // half of the sum's 95 % interval, of the matches whose margin is finite
	Matches    int       `json:"matches"`  // that the sum is of
	NoError    int       `json:"no_error"` // of these the ones whose margin is not finite
}

// Window is what the trainer draws from.
type Window struct {
	Rows  uint64      `json:"rows"`  // positions
	Whole bool        `json:"whole"` // By has all of it
	By    []WindowNet `json:"by"`    // by the net that played, the oldest first
	Mean  *float64    `json:"mean"`  // generations between the net that played a position and the current one, on average
}

// WindowNet is the part of the window that a net has played.
type WindowNet struct {
	Net        string `json:"net"`        // id; of several nets "earlier"
	Generation int    `json:"generation"` // as generations.of has it
	Games      uint64 `json:"games"`
	Rows       uint64 `json:"rows"`
}

// strength is the nets that passed.
func strength(c *selfplay.Curve) []Strength {
	points := make([]Strength, 0, len(c.Passed))
	offered := map[int]bool{}
	for _, o := range c.Offered {
		offered[o.Generation] = true
	}
	for _, p := range c.Passed {
		s := Strength{Time: p.Time, Generation: p.Generation, Elo: p.Elo, Margin: number(p.Margin), Sum: p.Sum, Error: p.Error, Matches: p.Matches, NoError: p.NoError}
		if offered[p.Generation] {
			s.Games = number(p.Games)
		}
		points = append(points, s)
	}
	return points
}

// thin returns at most n of the values, the last among them.
func thin[T any](values []T, n int) []T {
	if len(values) <= n {
		return append([]T{}, values...)
	}
	out := make([]T, n)
	for i := range out {
		out[i] = values[(i+1)*len(values)/n-1]
	}
	return out
}

// unknownGeneration stands for that of a net of which neither an offer nor a verdict is known:
// one that the servers have pruned, or in the directory of a role that hears of neither.
const unknownGeneration = -1

// generations are those of the nets that were offered or judged, by id.
type generations map[string]int

// of is the generation of a net that has played: 0 of what plays before the first net, which
// has a name in place of an id, and unknownGeneration of a net that is not known.
func (known generations) of(net string) int {
	if g, ok := known[net]; ok || !isID(net) {
		return g
	}
	return unknownGeneration
}

func (w *Watch) generations() generations {
	known := make(generations, len(w.events.curve.Offered))
	for _, j := range w.events.curve.Judged {
		known[j.Net] = j.Generation
	}
	for _, o := range w.events.curve.Offered {
		known[o.Net] = o.Generation
	}
	return known
}

// matches are those of the logs, with what the events say of them.
func (w *Watch) matches() []Match {
	generation := w.generations()
	out := append([]Match{}, w.logs.matches...)
	for i := range out {
		m := &out[i]
		if g, ok := generation[m.Candidate]; ok {
			m.Generation = g
		}
		for _, j := range slices.Backward(w.events.curve.Judged) {
			if j.Net == m.Candidate && j.Incumbent == m.Incumbent {
				m.Verdict, m.Reason = verdictText(j.Passed), j.Reason
				break
			}
		}
	}
	return out
}

// learning is how the run learns.
func (w *Watch) learning() Learning {
	c := &w.events.curve
	l := Learning{
		Strength: thin(strength(c), mostPoints), Offered: thin(c.Offered, mostPoints),
		Matches: w.matches(), Ladder: w.ladder(), Window: w.window(),
		Counts: Counts{Offered: len(c.Offered), Judged: len(c.Judged), Passed: len(c.Passed), Missed: w.servers.missed},
		Untold: w.servers.untold,
	}
	if s := w.settings; s.Actor.Workers > 0 {
		l.Cores = &Cores{Actor: s.Actor.Workers, Gate: s.Gate.Concurrency, Trainer: s.Train.Workers, Allocator: s.Allocator.Enabled}
		if w.cfg.Status != nil {
			l.Cores.CPUs = runtime.NumCPU()
		}
	}
	l.Judged = append([]selfplay.JudgedNet{}, c.Judged[max(0, len(c.Judged)-mostJudged):]...)
	slices.Reverse(l.Judged)
	return l
}

// window is what the trainer draws from, by the net that played it.
func (w *Watch) window() *Window {
	if w.onServers() {
		return nil
	}
	_, rows, known := w.buffer.total()
	out := &Window{Rows: w.windowRows(rows), By: []WindowNet{}}
	if w.cfg.Status != nil {
		out.Rows = w.cfg.Status().Window
	} else if !known {
		return nil
	}
	by, whole := w.buffer.window(out.Rows)
	out.Whole = whole
	generation := w.generations()
	present, known := w.generation()
	sum, weight := 0.0, 0.0
	for i, s := range by {
		g := generation.of(s.net)
		if g != unknownGeneration {
			sum += float64(present-g) * float64(s.rows)
			weight += float64(s.rows)
		}
		if i > 0 && len(by)-i >= mostByWindow { // the oldest nets are one
			out.By[0].Net = "earlier"
			out.By[0].Games += s.games
			out.By[0].Rows += s.rows
			continue
		}
		out.By = append(out.By, WindowNet{s.net, g, s.games, s.rows})
	}
	if known && weight > 0 {
		out.Mean = number(sum / weight)
	}
	return out
}

// generation is that of the net that is played with.
func (w *Watch) generation() (int, bool) {
	if w.cfg.Status != nil {
		return w.cfg.Status().Generation, true
	}
	r, ok := w.current()
	return r.Generation, ok
}
