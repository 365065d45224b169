package lab

import (
	"encoding/json"
	"path/filepath"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

const (
	// ProgressFile lies in the directory of a comparison: SoFar as JSON, written anew
	// every ten seconds if something happens.
	ProgressFile = "progress.json"
	// ResultsFile is Results as JSON, TimesFile the Times of its rows.
	ResultsFile = "results.json"
	TimesFile   = "times.json"
	// PlanFile is the comparison, as YAML, from its beginning.
	PlanFile = planFile
)

// SoFar is what a comparison has come to before it is over.
type SoFar struct {
	Time time.Time `json:"time"`
	Progress
	Rows     []RowSoFar     `json:"rows"`     // by name
	Meetings []MeetingSoFar `json:"meetings"` // of all stages begun
}

// RowSoFar is a row whose nets are being trained.
type RowSoFar struct {
	Name       string  `json:"name"`
	Expression string  `json:"expression"`
	Nets       int     `json:"nets"` // trained
	NetsOf     int     `json:"nets_of"`
	Loss       float64 `json:"loss"` // held out, mean over the nets trained; 0: none, or nothing was held out
}

// MeetingSoFar is the games of two players, over all seeds.
type MeetingSoFar struct {
	Stage   Stage              `json:"stage"`
	A       string             `json:"a"`
	B       string             `json:"b"`
	Pairs   rating.Pentanomial `json:"pairs"` // from A's side
	PairsOf int                `json:"pairs_of"`
}

// meetings are those that a tracker knows of, in the order in which they began.
type meetings struct {
	plan  *Plan
	list  []MeetingSoFar
	index map[[3]string]int
}

// of returns the entry of a meeting.
func (b *meetings) of(m *Meeting) *MeetingSoFar {
	key := [3]string{string(m.Stage), m.players[0].Name, m.players[1].Name}
	i, there := b.index[key]
	if !there {
		if b.index == nil {
			b.index = map[[3]string]int{}
		}
		i = len(b.list)
		b.index[key] = i
		b.list = append(b.list, MeetingSoFar{Stage: m.Stage, A: m.players[0].Name, B: m.players[1].Name})
	}
	return &b.list[i]
}

// meets enters a meeting with the pairs of its log, those of no game among them.
func (t *tracker) meets(m *Meeting, pairs []match.Pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	entry := t.meetings.of(m)
	entry.PairsOf += m.Pairs
	for i := range pairs {
		if pairs[i].Games[0].Result != "" {
			entry.Pairs.Add(m.outcomes(&pairs[i]))
		}
	}
}

// pair counts a pair that was played.
func (t *tracker) pair(m *Meeting, p *match.Pair) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.meetings.of(m).Pairs.Add(m.outcomes(p))
}

// outcomes are the results of a pair from the side of A, its game as White first.
func (m *Meeting) outcomes(p *match.Pair) (white, black rating.Outcome) {
	white, black = p.Outcome(0), p.Outcome(1)
	if m.swapped { // A had Black first
		white, black = rating.Win-black, rating.Win-white
	}
	return white, black
}

// save writes how far the comparison is. A failure is no error: the next one may do.
func (b *meetings) save(now time.Time, at Progress) {
	if b.plan == nil {
		return
	}
	s := SoFar{Time: now.UTC(), Progress: at, Rows: []RowSoFar{}, Meetings: append([]MeetingSoFar{}, b.list...)}
	for i, nets := range b.plan.Nets {
		row := RowSoFar{Name: b.plan.Rows[i].Name, Expression: expression(&nets[0].Config), NetsOf: len(nets)}
		var losses []float64
		for k := range nets {
			if sum, done, err := b.plan.trained(&nets[k]); err == nil && done {
				row.Nets++
				if sum.HeldOut.Positions > 0 {
					losses = append(losses, sum.HeldOut.Mean)
				}
			}
		}
		if len(losses) > 0 {
			row.Loss = mean(losses)
		}
		s.Rows = append(s.Rows, row)
	}
	if data, err := json.Marshal(s); err == nil {
		_ = durable.WriteFile(filepath.Join(b.plan.Dir, ProgressFile), data)
	}
}
