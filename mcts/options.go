package mcts

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// ErrOptions is wrapped by the error of New about options out of range.
var ErrOptions = errors.New("mcts: bad options")

// MaxBatch bounds Options.Batch.
const MaxBatch = 1024

// Options are the resources and the parameters of an engine. Values are in units
// of the expected result, from -1 (lost) to 1 (won).
type Options struct {
	// MemoryMB bounds the memory of the graph, in MiB. A search that fills it
	// forgets what was visited least and goes on.
	MemoryMB int
	// Batch is how many positions the evaluator is given at once at most. While
	// the root is young it is given fewer: one for every eight visits.
	Batch int

	// CPuct and CPuctBase give the weight of priors against values in a node of
	// N tried moves, CPuct + ln((N + CPuctBase + 1) / CPuctBase).
	CPuct, CPuctBase float64
	// FPU is how far below its parent's mean a move that was never tried is
	// valued, times the square root of the sum of the priors of those that were.
	FPU float64
	// PolicyTemperature T raises priors to the power 1/T.
	PolicyTemperature float64
	// MateProbe is the length of the mates that are looked for at every new
	// position before the evaluator is asked, in plies, with nothing but checks:
	// 0 (none), 1 or 3.
	MateProbe int
	// Reuse keeps of the graph, from one search to the next, what lies behind
	// the moves made since.
	Reuse bool

	// LCB prefers the move whose mean, less so many standard errors, is
	// greatest, among those tried at least 0.15 times as often as the most
	// tried; 0 is the most tried move.
	LCB float64
	// QVeto prefers any move tried more than once whose mean is better by
	// more than this; 0 never.
	QVeto float64

	// Rand is where everything random comes from. Without it nothing is random
	// and Noise and Temperature must be zero.
	Rand *rand.Rand
	// Noise is the share of Dirichlet noise in the root's priors, from 0 to 1.
	// Its concentration is NoiseTotal divided by the number of legal moves.
	Noise, NoiseTotal float64
	// Temperature samples the move played by the number of visits.
	Temperature Temperature
	// Gumbel, if it has Actions, chooses the root's moves by sequential halving
	// wherever the number of playouts is limited.
	Gumbel Gumbel
	// PlayoutCap makes some searches cheap.
	PlayoutCap PlayoutCap
}

// Temperature says how the move played is sampled: in proportion to its visits
// to the power 1/T, with T falling from First to Last by half of their difference
// every HalfLife plies of the game. The zero Temperature samples nothing.
type Temperature struct{ First, Last, HalfLife float64 }

// Gumbel are the parameters of a root that plans by sequential halving, of
// Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with
// Gumbel", ICLR 2022.
type Gumbel struct {
	// Actions is the number of moves considered at first; 0 turns it off. They
	// are sampled without replacement, or are the likeliest if Options.Rand is
	// nil.
	Actions int
	// Visit and Scale weigh values against logits: a mean q in [0, 1] counts
	// (Visit + greatest number of visits) · Scale · q.
	Visit, Scale float64
}

// PlayoutCap is playout-cap randomisation, of Wu, "Accelerating self-play
// learning in Go", 2019: a search is full with probability Full, otherwise it
// makes only Fast playouts, without noise, and its result has no policy.
// Fast 0 turns it off.
type PlayoutCap struct {
	Full float64
	Fast uint64
}

// DefaultOptions returns the options for play: nothing random, all memory and
// care for the best move.
func DefaultOptions() Options {
	return Options{
		MemoryMB: 256, Batch: 8,
		CPuct: 1.75, CPuctBase: 19652, FPU: 0.3, PolicyTemperature: 1,
		MateProbe: 3, Reuse: true,
		LCB: 5, QVeto: 0.4,
		NoiseTotal: 10,
		Gumbel:     Gumbel{Visit: 50, Scale: 1},
	}
}

// SelfPlayOptions returns the options for making training data with a Gumbel
// root. The games of a batcher make the batches, hence one position at a time.
func SelfPlayOptions(rng *rand.Rand) Options {
	o := DefaultOptions()
	o.MemoryMB, o.Batch = 16, 1
	o.LCB, o.QVeto = 0, 0
	o.Rand = rng
	o.Gumbel.Actions = 16
	return o
}

// Validate reports options out of range. The error wraps ErrOptions.
func (o *Options) Validate() error {
	for _, c := range []struct {
		name     string
		v        float64
		low, top float64
	}{
		{"MemoryMB", float64(o.MemoryMB), 1, 1 << 20},
		{"Batch", float64(o.Batch), 1, MaxBatch},
		{"CPuct", o.CPuct, 0, 100},
		{"CPuctBase", o.CPuctBase, 1, 1e9},
		{"FPU", o.FPU, 0, 2},
		{"PolicyTemperature", o.PolicyTemperature, 0.1, 10},
		{"LCB", o.LCB, 0, 100},
		{"QVeto", o.QVeto, 0, 2},
		{"Noise", o.Noise, 0, 1},
		{"NoiseTotal", o.NoiseTotal, 0.01, 1e4},
		{"Temperature.First", o.Temperature.First, 0, 10},
		{"Temperature.Last", o.Temperature.Last, 0, 10},
		{"Temperature.HalfLife", o.Temperature.HalfLife, 0, 1e4},
		{"Gumbel.Actions", float64(o.Gumbel.Actions), 0, 512},
		{"Gumbel.Visit", o.Gumbel.Visit, 0, 1e4},
		{"Gumbel.Scale", o.Gumbel.Scale, 0, 1e3},
		{"PlayoutCap.Full", o.PlayoutCap.Full, 0, 1},
	} {
		if !(c.v >= c.low && c.v <= c.top) {
			return fmt.Errorf("%w: %s is %v, expected %v to %v", ErrOptions, c.name, c.v, c.low, c.top)
		}
	}
	if o.MateProbe != 0 && o.MateProbe != 1 && o.MateProbe != 3 {
		return fmt.Errorf("%w: MateProbe is %d, expected 0, 1 or 3", ErrOptions, o.MateProbe)
	}
	if o.Rand == nil && (o.Noise > 0 || o.Temperature != Temperature{} || o.PlayoutCap.Fast > 0) {
		return fmt.Errorf("%w: Noise, Temperature or PlayoutCap without Rand", ErrOptions)
	}
	return nil
}
