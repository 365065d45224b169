package selfplay

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/allocator"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Settings of the allocator that nobody has had to change yet.
const (
	leastShare = 0.02 // of every consumer but play
	tryShare   = 0.5  // of a consumer's share, more or less in experiments
	stepShare  = 0.15 // of it, by a move
	sureErrors = 2.5  // standard errors that a finding is from zero before a share moves
	errors95   = 1.96 // standard errors in half of the 95 % interval

	showCores = 5 * time.Second // between updates of the status
)

// firstShares are those before anything is known; play has the rest. Training has about
// what it takes in a loop without the allocator.
var firstShares = [consumers]float64{labelling: 0.1, training: 0.2, gating: 0.1}

// allocation divides the cores of a loop by what rounds earn: by how much the model's
// loss falls on games that it was not trained on, the newest when the round begins.
type allocation struct {
	run    *Run
	rules  allocator.Rules
	who    []consumer // that the settings have, play first
	first  []float64  // shares, in that order
	length time.Duration
	now    func() time.Time

	measured run.Model  // whose loss the round began with; nil: none is under way
	scores   run.Scores // what scores stood for then
	lambda   float64
	fresh    []sample.Sample
	loss     float64
	began    time.Time
	catching bool // the round began while the model had samples in advance to draw

	shown  time.Time
	used   [consumers]float64 // core-seconds, when last shown
	recent [consumers]float64 // shares used between the last two times
}

// Share is a consumer's part of the cores.
type Share struct {
	Name  string
	Share float64 // that the allocator gives it, 0 to 1
	Used  float64 // of what was computed in the last seconds, 0 to 1
	// Earning is by how much the loss would fall faster, in units of its logarithm an
	// hour, with so much of the cores going from play to this consumer as experiments
	// try; not known of play.
	Earning allocator.Earning
}

// divideCores has the loop's roles share the cores, if the settings say so.
func (r *Run) divideCores() {
	if r.cfg.Allocator.Enabled {
		r.cores = newCores(runtime.GOMAXPROCS(0))
	}
}

// newAllocation returns the allocation of a loop, nil if there is none.
func newAllocation(r *Run) *allocation {
	if r.cores == nil {
		return nil
	}
	c := r.cfg.Allocator
	a := &allocation{run: r, length: time.Duration(c.Minutes * float64(time.Minute)), now: time.Now}
	a.rules = allocator.Rules{Try: tryShare, Step: stepShare, Sure: sureErrors, Seed: mix(r.cfg.Seed, consumers)}
	has := [consumers]bool{playing: true, training: true, labelling: r.cfg.Train.Relabel != configs.RelabelOff, gating: r.cfg.Gate.Enabled}
	for who, has := range has {
		if !has {
			continue
		}
		least := leastShare
		if consumer(who) == playing {
			least = c.LeastPlay
		}
		a.who, a.rules.Least = append(a.who, consumer(who)), append(a.rules.Least, least)
	}
	a.first = make([]float64, len(a.who))
	a.first[0] = 1
	for i, who := range a.who[1:] {
		a.first[i+1] = max(leastShare, firstShares[who]*min(1, (1-c.LeastPlay)/0.5))
		a.first[0] -= a.first[i+1]
	}
	return a
}

// perRow returns the samples for each new position that training draws with shares: with
// the first ones as many as without the allocator, so that time is the same thing to it
// as without, however scarce positions are.
func (a *allocation) perRow(shares []float64) float64 {
	c, i := a.run.cfg, slices.Index(a.who, training)
	return min(c.Train.SamplesPerRow*shares[i]/a.first[i], c.Allocator.SamplesPerRow)
}

// allocate ends a round of the allocator when its time has come, and begins another.
func (l *learner) allocate() (err error) {
	a := l.allocation
	if a == nil {
		return nil
	}
	s := l.state.Allocator
	if s == nil || !a.rules.Fits(s) || len(s.Shares) != len(a.who) {
		first, err := a.rules.Start(a.first)
		if err != nil {
			return err
		}
		s, l.state.Allocator = &first, &first
	}
	switch {
	case a.measured == nil && a.now().Sub(a.began) < min(a.length, showCores): // nothing could be measured
		a.show(s)
		return nil
	case a.measured == nil: // at a start: the experiment under way was interrupted
		s.BreakOff()
	case a.measured != l.model:
		s.BreakOff() // a fresh net learns faster at first
	case a.now().Sub(a.began) < a.length:
		a.show(s)
		return nil
	case a.catching:
		s.BreakOff() // its loss falls in a curve that differences of rounds would show
	default:
		after, err := a.measure()
		if err != nil {
			return err
		}
		if i := a.rules.Next(s, math.Log(a.loss/after)/a.now().Sub(a.began).Hours()); i > 0 {
			a.run.event("share of the cores moved", "part", a.who[i].String(), "shares", a.text(s.Shares))
		}
	}
	return a.begin(l, s)
}

// begin begins a round.
func (a *allocation) begin(l *learner, s *allocator.State) (err error) {
	division := a.rules.Division(s)
	l.state.Ratio.PerRow = a.perRow(division)
	if a.catching = l.state.Ratio.InAdvance(); a.catching {
		l.state.Ratio.PerRow, division = a.perRow(s.Shares), a.even()
	}
	var shares [consumers]float64
	for i, share := range division {
		shares[a.who[i]] = share
	}
	a.run.cores.divide(shares)
	a.show(s)
	a.measured, a.scores, a.lambda, a.began = nil, run.ScoresOf(l.model), l.trainer.Hyper().Lambda, a.now()
	a.fresh = slices.Grow(a.fresh[:0], l.run.cfg.Train.HeldOut)
	if a.fresh = l.source.HeldOut(a.fresh[:l.run.cfg.Train.HeldOut]); len(a.fresh) == 0 || l.trainer.Steps() == 0 {
		return nil // a round later
	}
	a.measured = l.model
	a.loss, err = a.measure()
	return err
}

// even returns the division while a fresh net has samples in advance to draw: the same for
// everybody, as far as play has its least. Before the net has drawn them play goes on with
// an older one.
func (a *allocation) even() []float64 {
	n := float64(len(a.who))
	play := max(a.rules.Least[0], 1/n)
	division := slices.Repeat([]float64{(1 - play) / (n - 1)}, len(a.who))
	division[0] = play
	return division
}

// measure returns the loss on the games of the round with the target that it began with.
func (a *allocation) measure() (float64, error) {
	now := run.ScoresOf(a.measured)
	if err := a.scores.Set(a.measured); err != nil {
		return 0, fmt.Errorf("allocator: %w", err)
	}
	found, err := a.measured.Loss(a.fresh, a.lambda)
	if e := now.Set(a.measured); err == nil {
		err = e
	}
	if err != nil {
		return 0, fmt.Errorf("allocator: %w", err)
	}
	return found.Mean, nil
}

// text names shares.
func (a *allocation) text(shares []float64) string {
	var parts []string
	for i, s := range shares {
		parts = append(parts, fmt.Sprintf("%v %.1f %%", a.who[i], 100*s))
	}
	return strings.Join(parts, ", ")
}

// show puts the division into the status, every few seconds.
func (a *allocation) show(s *allocator.State) {
	if now := a.now(); now.Sub(a.shown) >= showCores {
		used, sum := a.run.cores.used(), 0.0
		for i := range used {
			a.recent[i] = used[i] - a.used[i]
			sum += a.recent[i]
		}
		for i := range used {
			a.recent[i] /= max(sum, 1e-9)
		}
		a.used, a.shown = used, now
	}
	shares, division := s.Shares, make([]Share, len(a.who))
	if a.catching {
		shares = a.even()
	}
	for i, who := range a.who {
		division[i] = Share{Name: who.String(), Share: shares[i], Used: a.recent[who]}
		if i > 0 {
			division[i].Earning = s.Earning(i)
		}
	}
	a.run.status.update(func(s *Status) { s.Division = division })
}

// sharing is the model as the trainer sees it, whose steps wait for cores.
func (l *learner) sharing() trainer.Model {
	if l.run.cores == nil {
		return l.model
	}
	threads := l.run.cfg.Train.Workers
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &sharingModel{l.model, l.run.cores, threads}
}
