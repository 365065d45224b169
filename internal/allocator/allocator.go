// Package allocator divides the cores of a machine among consumers by what a second
// of each is found to earn.
//
// Time is divided into rounds. Four rounds make an experiment with one consumer: in two
// of them it has more than its share, in the other two less, and the first consumer,
// the reference, has the rest. The rounds are in the order more, less, less, more, or
// the other way round, so that earnings that rise or fall evenly with time do not count.
// The difference of what the rounds earned says whether a second is worth more to the
// consumer than to the reference. Of what the experiments with each consumer have found
// the median counts: a few findings far from the others change little, such as those of
// a net that has just begun to learn. Once it is sure enough, the share of that consumer
// is moved by a step, and what was found with the old share is forgotten: no share moves
// twice by the same evidence, which keeps shares from going to and fro by chance.
//
// Where each consumer's earnings diminish with its share the division comes to rest
// where a second is worth the same to all of them, or to the bounds.
package allocator

import (
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/median"
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
	rounds     = 4  // of an experiment
	kept       = 16 // newest findings of a consumer
	deviations = 32 // newest, of all consumers
	fewest     = 2  // findings by which a share may move
	scatters   = 6  // deviations likewise
)

// Of the normal distribution.
const (
	scatterOfMedian = 1.4826 // standard deviation by the median of absolute deviations
	errorOfMedian   = 1.2533 // standard error of the median by that of the mean
)

// State is what an allocator has found.
type State struct {
	Shares     []float64       `json:"shares"`
	Round      uint64          `json:"round"`      // rounds finished, those of experiments broken off left out
	Earned     [rounds]float64 `json:"earned"`     // in the rounds of the present experiment
	Found      [][]float64     `json:"found"`      // by consumer since its share was last moved, see Next
	Deviations []float64       `json:"deviations"` // how far findings were from the median of those before
}

// Earning is what is known of a consumer for people: by how much a round earns more
// with more for the consumer, its standard error, and whether anything is known.
type Earning struct {
	Median, Error float64
	Known         bool
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
	return State{Shares: slices.Clone(shares), Found: make([][]float64, len(shares))}, nil
}

// Fits reports whether a state that was stored is one of as many consumers, with shares
// within the rules.
func (r *Rules) Fits(s *State) bool {
	if len(s.Found) != len(s.Shares) {
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
// has moved, 0 if none has. What is not finite breaks the experiment off. A finding is by
// how much a round earns more with as much of the consumer's share added as is tried.
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
	if n := float64(len(s.Found[i])); n > 0 {
		// Normally distributed findings are as far from the median of others as their
		// standard deviation, times this root.
		far := math.Abs(found-median.Of(s.Found[i])) / math.Sqrt((n+1)/n)
		s.Deviations = newest(append(s.Deviations, far), deviations)
	}
	s.Found[i] = newest(append(s.Found[i], found), kept)
}

// newest returns the last n of values, or all if there are fewer.
func newest(values []float64, n int) []float64 { return values[max(0, len(values)-n):] }

// Earning returns what is known of a consumer but the reference.
func (s *State) Earning(i int) Earning {
	found := s.Found[i]
	if len(found) < fewest || len(s.Deviations) < scatters {
		return Earning{}
	}
	scatter := scatterOfMedian * median.Of(s.Deviations)
	return Earning{Median: median.Of(found), Error: errorOfMedian * scatter / math.Sqrt(float64(len(found))), Known: true}
}

// move moves the share of a consumer if what is known of it is sure enough.
func (r *Rules) move(s *State, i int) bool {
	e := s.Earning(i)
	if !e.Known || math.Abs(e.Median) < r.Sure*e.Error || e.Median == 0 {
		return false
	}
	share := s.Shares[i] * (1 + r.Step)
	if e.Median < 0 {
		share = s.Shares[i] / (1 + r.Step)
	}
	share = max(r.Least[i], min(share, s.Shares[i]+s.Shares[0]-r.Least[0]))
	s.Found[i] = nil
	if share == s.Shares[i] {
		return false
	}
	s.Shares[0] = max(r.Least[0], s.Shares[0]+s.Shares[i]-share) // rounding may take it below
	s.Shares[i] = share
	return true
}
