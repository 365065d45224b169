// Package allocator divides the cores of a machine among consumers by what a second
// of each is found to earn.
//
// Time is divided into rounds. Four rounds make an experiment with one consumer: in two
// of them it has more than its share, in the other two less, and the first consumer,
// the reference, has the rest. The rounds are in the order more, less, less, more, or
// the other way round, so that earnings that rise or fall evenly with time do not count.
// The difference of what the rounds earned says whether a second is worth more to the
// consumer than to the reference. What the experiments with each consumer have found is
// kept with its error. Once it is sure enough, the share of that consumer is moved by a
// step, and what was found with the old share is forgotten: no share moves twice by the
// same evidence, which keeps shares from going to and fro by chance.
//
// Where each consumer's earnings diminish with its share the division comes to rest
// where a second is worth the same to all of them, or to the bounds.
package allocator

import (
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
)

// Rules say how shares are found.
type Rules struct {
	// Least are the shares that consumers always keep, the reference first, each
	// above 0, and all together less than 1.
	Least []float64
	Try   float64 // part of its share that a consumer has more or less in an experiment, above 0, below 1
	Step  float64 // part of a share that is added by a move up, and taken back by one down, above 0
	Sure  float64 // standard errors that a finding must be from zero before a share moves
	Seed  uint64  // of the order of the rounds
}

const (
	rounds   = 4    // of an experiment
	memory   = 0.9  // part of the weight of a consumer's findings that is left after the next
	noise    = 0.97 // the same of the scatter of findings
	fewest   = 1.5  // weight of findings by which a share may move: two experiments
	scatters = 4    // weight of the scatter by which a share may move
)

// State is what an allocator has found.
type State struct {
	Shares   []float64       `json:"shares"`
	Round    uint64          `json:"round"`  // rounds finished, those of experiments broken off left out
	Earned   [rounds]float64 `json:"earned"` // in the rounds of the present experiment
	Findings []Finding       `json:"findings"`
	Scatter  Scatter         `json:"scatter"`
}

// Finding is what the experiments with a consumer have found since its share was last
// moved: how much more a round earns with as much of its share added as is tried.
type Finding struct {
	Weight float64 `json:"weight"` // experiments, older ones counted less
	Sum    float64 `json:"sum"`
}

// Scatter is how far findings are from the mean of those before.
type Scatter struct {
	Weight  float64 `json:"weight"`
	Squares float64 `json:"squares"`
}

// Earning is what is known of a consumer for people: by how much a round earns more
// with more for the consumer, its standard error, and whether anything is known.
type Earning struct {
	Mean, Error float64
	Known       bool
}

// Start returns the state before the first round. The shares must be at least those of
// the rules and make 1 together.
func (r *Rules) Start(shares []float64) (State, error) {
	sum := 0.0
	for i, s := range shares {
		if i >= len(r.Least) || !(s >= r.Least[i]) {
			return State{}, fmt.Errorf("allocator: found shares %v, expected at least %v", shares, r.Least)
		}
		sum += s
	}
	if len(shares) != len(r.Least) || len(shares) < 2 || math.Abs(sum-1) > 1e-9 {
		return State{}, fmt.Errorf("allocator: found shares %v, expected %d that make 1, two at least", shares, len(r.Least))
	}
	return State{Shares: slices.Clone(shares), Findings: make([]Finding, len(shares))}, nil
}

// Fits reports whether a state that was stored is one of as many consumers, with shares
// within the rules.
func (r *Rules) Fits(s *State) bool {
	if len(s.Findings) != len(s.Shares) {
		return false
	}
	_, err := r.Start(s.Shares)
	return err == nil
}

// consumer returns whom the present experiment is with.
func (s *State) consumer() int { return 1 + int(s.Round/rounds%uint64(len(s.Shares)-1)) }

// more reports whether the consumer has more than its share in the present round.
func (r *Rules) more(s *State) bool {
	first := splitmix.Hash(r.Seed^splitmix.Hash(s.Round/rounds))&1 == 0
	outer := s.Round%rounds == 0 || s.Round%rounds == rounds-1
	return first == outer
}

// Division returns the shares of the present round.
func (r *Rules) Division(s *State) []float64 {
	division, i := slices.Clone(s.Shares), s.consumer()
	d := min(r.Try*s.Shares[i], s.Shares[i]-r.Least[i]/2, s.Shares[0]-r.Least[0]/2)
	if !r.more(s) {
		d = -d
	}
	division[i] += d
	division[0] -= d
	return division
}

// BreakOff begins the present experiment anew.
func (s *State) BreakOff() { s.Round -= s.Round % rounds }

// Next ends the present round, which earned as much, and returns the consumer whose share
// has moved, 0 if none has. What is not finite breaks the experiment off.
func (r *Rules) Next(s *State, earned float64) (moved int) {
	if math.IsNaN(earned) || math.IsInf(earned, 0) {
		s.BreakOff()
		return 0
	}
	i := s.consumer()
	if !r.more(s) {
		earned = -earned
	}
	s.Earned[s.Round%rounds] = earned
	s.Round++
	if s.Round%rounds != 0 {
		return 0
	}
	found := 0.0
	for _, e := range s.Earned {
		found += e / rounds
	}
	s.add(i, found)
	if !r.move(s, i) {
		return 0
	}
	return i
}

// add adds the finding of an experiment.
func (s *State) add(i int, found float64) {
	f := &s.Findings[i]
	if f.Weight > 0 {
		far := found - f.Sum/f.Weight
		s.Scatter.Squares = noise*s.Scatter.Squares + far*far*f.Weight/(f.Weight+1)
		s.Scatter.Weight = noise*s.Scatter.Weight + 1
	}
	f.Sum, f.Weight = memory*f.Sum+found, memory*f.Weight+1
}

// Earning returns what is known of a consumer but the reference.
func (s *State) Earning(i int) Earning {
	f := s.Findings[i]
	if f.Weight < fewest || s.Scatter.Weight < scatters {
		return Earning{}
	}
	return Earning{Mean: f.Sum / f.Weight, Error: math.Sqrt(s.Scatter.Squares / s.Scatter.Weight / f.Weight), Known: true}
}

// move moves the share of a consumer if what is known of it is sure enough.
func (r *Rules) move(s *State, i int) bool {
	e := s.Earning(i)
	if !e.Known || math.Abs(e.Mean) < r.Sure*e.Error || e.Mean == 0 {
		return false
	}
	share := s.Shares[i] * (1 + r.Step)
	if e.Mean < 0 {
		share = s.Shares[i] / (1 + r.Step)
	}
	share = max(r.Least[i], min(share, s.Shares[i]+s.Shares[0]-r.Least[0]))
	s.Findings[i] = Finding{}
	if share == s.Shares[i] {
		return false
	}
	s.Shares[0] += s.Shares[i] - share
	s.Shares[i] = share
	return true
}
