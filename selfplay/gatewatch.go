package selfplay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// gateWatch is the service of the referee by which others see what it does.
const gateWatch = "gate.watch"

const (
	watchedMatches  = 12  // that the referee remembers
	watchedVerdicts = 500 // in an answer
	maxWatchedPath  = 2000
)

// WatchedMatch is a match of the gate, from the candidate's side, as its referee saw it.
type WatchedMatch struct {
	Candidate  string    `json:"candidate"`  // id of the net
	Incumbent  string    `json:"incumbent"`  // id, or what plays before the first net
	Generation int       `json:"generation"` // of the candidate
	Verdict    string    `json:"verdict"`    // "passed", "failed" or "" while it is played
	Reason     string    `json:"reason"`     // of the verdict
	Of         int       `json:"of"`         // pairs at most
	Path       []float64 `json:"path"`       // log-likelihood ratio after each pair
	Low        float64   `json:"low"`        // H0 is accepted at or below it
	High       float64   `json:"high"`       // H1 at or above it
	Elo0       float64   `json:"elo0"`       // of H0
	Elo1       float64   `json:"elo1"`       // of H1
	Wins       int       `json:"wins"`       // games
	Draws      int       `json:"draws"`
	Losses     int       `json:"losses"`
	Written    time.Time `json:"written"` // when its newest pair ended
}

// Judging is what the referee of a run has judged and plays.
type Judging struct {
	First    int            `json:"first"`    // verdicts before those of Verdicts
	Verdicts []JudgedNet    `json:"verdicts"` // in their order, as many as fit
	Total    int            `json:"total"`    // verdicts that the referee knows of
	Matches  []WatchedMatch `json:"matches"`  // since the referee began, the newest first
}

// watchRequest asks what the referee has judged after so many verdicts.
type watchRequest struct {
	Schema int `json:"schema"`
	After  int `json:"after"`
}

// watchReply is the answer.
type watchReply struct {
	Schema int    `json:"schema"`
	Fence  uint64 `json:"fence"` // of the referee
	Judging
}

func (m *watchRequest) check() error {
	if m.After < 0 {
		return fmt.Errorf("verdicts after %d, expected 0 or more", m.After)
	}
	return checkSchema(m.Schema)
}

func (m *watchReply) check() error {
	switch {
	case m.First < 0 || len(m.Verdicts) > watchedVerdicts || m.First+len(m.Verdicts) > m.Total:
		return fmt.Errorf("%d verdicts after %d of %d, expected at most %d", len(m.Verdicts), m.First, m.Total, watchedVerdicts)
	case len(m.Matches) > watchedMatches:
		return fmt.Errorf("%d matches, expected at most %d", len(m.Matches), watchedMatches)
	}
	for _, w := range m.Matches {
		if len(w.Path) > maxWatchedPath || !(w.Low < w.High) {
			return fmt.Errorf("a match of %d pairs between %v and %v, expected at most %d and rising bounds", len(w.Path), w.Low, w.High, maxWatchedPath)
		}
	}
	return checkSchema(m.Schema)
}

// judgings is what the referee tells of its work.
type judgings struct {
	mu       sync.Mutex
	before   int            // verdicts that are not kept any more
	verdicts []JudgedNet    // the newest
	matches  []WatchedMatch // the newest last
}

// load takes the verdicts of earlier starts from the run's events.
func (w *judgings) load(r *Run) {
	c, err := r.readCurve()
	if err != nil {
		if !errors.Is(err, os.ErrNotExist) {
			r.log.Debug("earlier verdicts are not told", "error", err)
		}
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.before = 0
	w.keep(c.told) // as they were told to those who listened
}

// keep keeps as many of the verdicts as an answer has, the newest. w.mu is held.
func (w *judgings) keep(verdicts []JudgedNet) {
	over := max(0, len(verdicts)-watchedVerdicts)
	w.before += over
	w.verdicts = slices.Clone(verdicts[over:])
}

// begin notes that a match begins.
func (w *judgings) begin(candidate, incumbent *net, pairs int, test *rating.SPRT) {
	m := WatchedMatch{
		Candidate: candidate.ID, Incumbent: incumbent.ID, Generation: candidate.generation, Of: pairs, Path: []float64{},
		Elo0: test.Elo0, Elo1: test.Elo1, Written: time.Now().UTC(),
	}
	m.Low, m.High = test.Bounds()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.matches = append(w.matches[max(0, len(w.matches)+1-watchedMatches):], m)
}

// pair notes how the match stands after a pair.
func (w *judgings) pair(r match.Result) {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := &w.matches[len(w.matches)-1]
	games := r.Encounters[0].Games
	m.Wins, m.Draws, m.Losses, m.Written = games[rating.Wins], games[rating.Draws], games[rating.Losses], time.Now().UTC()
	if len(m.Path) < maxWatchedPath && !math.IsNaN(r.LLR) && !math.IsInf(r.LLR, 0) {
		m.Path = append(m.Path, math.Round(1e4*r.LLR)/1e4) // short, so that an answer has room
	}
}

// end notes a verdict.
func (w *judgings) end(v JudgedNet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.keep(append(w.verdicts, v))
	m := &w.matches[len(w.matches)-1]
	m.Verdict, m.Reason = passedText(v.Passed), v.Reason
}

// answer tells what was judged after so many verdicts, the newest if there are too many,
// and all if the asker knows of more than there are.
func (w *judgings) answer(after int) Judging {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.before + len(w.verdicts)
	if after > n {
		after = 0
	}
	out := Judging{First: max(after, w.before), Total: n}
	out.Verdicts = slices.Clone(w.verdicts[out.First-w.before:])
	for _, m := range slices.Backward(w.matches) {
		m.Path = slices.Clone(m.Path)
		out.Matches = append(out.Matches, m)
	}
	return out
}

// Judging asks the referee of the run what it has judged after so many verdicts. The error
// wraps bus.ErrNobody if there is no referee, or one of an earlier build.
func (r *Run) Judging(ctx context.Context, after int) (Judging, error) {
	text, err := r.bus.Ask(ctx, gateWatch, encodeMessage(&watchRequest{messageSchema, after}))
	if err != nil {
		return Judging{}, err
	}
	var reply watchReply
	err = decodeMessage(text, &reply)
	return reply.Judging, err
}

// WatchGames calls visit with every game that the run's actors publish from now on, as
// bus.WatchGames does.
func (r *Run) WatchGames(visit func(encoded []byte)) (stop func(), err error) {
	return r.bus.WatchGames(func(games [][]byte) {
		for _, g := range games {
			visit(g)
		}
	})
}
