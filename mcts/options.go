package mcts

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/search/option"
)

// ErrOptions is wrapped by the error of New about options out of range.
var ErrOptions = errors.New("mcts: bad options")

// MaxBatch bounds Options.Batch.
const MaxBatch = 1024

// maxMemoryMB bounds Options.MemoryMB.
const maxMemoryMB = 1 << 20

// Options are the resources and the parameters of an engine. Values are in units
// of the expected result, from -1 (lost) to 1 (won). The tags are those of package
// option, which describe each setting once for files, players' texts and UCI.
type Options struct {
	// MemoryMB bounds the memory of the graph, in MiB. A search that fills it
	// forgets what was visited least and goes on.
	MemoryMB int `yaml:"-"`
	// Batch is how many positions the evaluator is given at once at most. While
	// the root is young it is given fewer: one for every eight visits.
	Batch int `yaml:"batch" uci:"Batch Size" range:"1..1024" usage:"positions the net is given at once, at most"`

	// CPuct and CPuctBase give the weight of priors against values in a node of
	// N tried moves, CPuct + ln((N + CPuctBase + 1) / CPuctBase).
	CPuct     float64 `yaml:"cpuct" uci:"CPuct" range:"0..100" usage:"weight of priors against values"`
	CPuctBase float64 `yaml:"cpuct_base" uci:"CPuct Base" range:"1..1000000000" usage:"visits at which that weight has grown by ln 2"`
	// FPU is how far below its parent's mean a move that was never tried is
	// valued, times the square root of the sum of the priors of those that were.
	FPU float64 `yaml:"fpu" uci:"FPU Reduction" range:"0..2" usage:"how much less than its parent an untried move is worth"`
	// PolicyTemperature T raises priors to the power 1/T.
	PolicyTemperature float64 `yaml:"policy_temperature" uci:"Policy Temperature" range:"0.1..10" usage:"T raises priors to the power 1/T"`
	// MateProbe is the length of the mates that are looked for at every new
	// position before the evaluator is asked, in plies, with nothing but checks:
	// 0 (none), 1 or 3.
	MateProbe int `yaml:"mate_probe" alias:"probe" uci:"Mate Probe" values:"0,1,3" usage:"plies of checks looked through for mate at every new position"`
	// Reuse keeps of the graph, from one search to the next, what follows the
	// moves made since.
	Reuse bool `yaml:"reuse" uci:"Reuse Tree" usage:"keep what a search found for the next one"`

	// LCB prefers the move whose mean, less this many standard errors, is
	// greatest, among those tried at least 0.15 times as often as the most
	// tried; 0 is the most tried move.
	LCB float64 `yaml:"lcb" uci:"LCB" range:"0..100" usage:"standard errors taken off a move's mean before moves are compared; 0: the most visited move is played"`
	// QVeto prefers any move tried more than once whose mean is better by
	// more than this; 0 never.
	QVeto float64 `yaml:"q_veto" uci:"Q Veto" range:"0..2" usage:"a move better by more than this is played whatever its visits; 0: never"`

	// Rand is where everything random comes from. Without it nothing is random
	// and Noise and Temperature must be zero.
	Rand *rand.Rand `yaml:"-"`
	// Noise is the share of Dirichlet noise in the root's priors, from 0 to 1.
	// Its concentration is NoiseTotal divided by the number of legal moves.
	Noise      float64 `yaml:"noise" range:"0..1" random:"true" usage:"share of Dirichlet noise in the root's priors"`
	NoiseTotal float64 `yaml:"noise_total" range:"0.01..10000" random:"true" usage:"concentration of that noise times the number of legal moves"`
	// Temperature samples the move played by the number of visits.
	Temperature Temperature `yaml:",inline"`
	// Gumbel, if it has Actions, chooses the root's moves by sequential halving
	// wherever the number of playouts is limited.
	Gumbel Gumbel `yaml:",inline"`
	// PlayoutCap makes some searches cheap.
	PlayoutCap PlayoutCap `yaml:",inline"`
}

// Temperature says how the move played is sampled: in proportion to its visits
// to the power 1/T, with T falling from First to Last by half of their difference
// every HalfLife plies of the game. The zero Temperature samples nothing.
type Temperature struct {
	First    float64 `yaml:"temperature" range:"0..10" random:"true" usage:"of the choice by visits at the start of the game, without gumbel"`
	Last     float64 `yaml:"temperature_final" range:"0..10" random:"true" usage:"and at the end"`
	HalfLife float64 `yaml:"temperature_half_life" range:"0..10000" random:"true" usage:"plies in which half of their difference goes"`
}

// Gumbel are the parameters of a root that plans by sequential halving, of
// Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with
// Gumbel", ICLR 2022.
type Gumbel struct {
	// Actions is the number of moves considered at first; 0 turns it off. They
	// are sampled without replacement, or are the likeliest if Options.Rand is
	// nil.
	Actions int `yaml:"gumbel" uci:"Gumbel Actions" range:"0..512" usage:"root moves that sequential halving begins with; 0: PUCT at the root"`
	// Visit and Scale weigh values against logits: a mean q in [0, 1] counts
	// (Visit + greatest number of visits) · Scale · q.
	Visit float64 `yaml:"gumbel_visit" range:"0..10000" usage:"visits added to the greatest number when values are weighed against logits"`
	Scale float64 `yaml:"gumbel_scale" range:"0..1000" usage:"factor of that weight"`
}

// PlayoutCap is playout-cap randomisation, of Wu, "Accelerating self-play
// learning in Go", 2019: a search is full with probability Full, otherwise it
// makes only Fast playouts, without noise, and its result has no policy.
// Fast 0 turns it off.
type PlayoutCap struct {
	Full float64 `yaml:"full_share" range:"0..1" random:"true" usage:"share of searches that are full"`
	Fast uint64  `yaml:"fast_nodes" range:"0..1000000000000" random:"true" usage:"playouts of a search that is not full, which teaches no moves; 0: all are full"`
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

// Validate reports options out of range. The error wraps ErrOptions.
func (o *Options) Validate() error {
	if o.MemoryMB < 1 || o.MemoryMB > maxMemoryMB {
		return fmt.Errorf("%w: found %d MiB of memory, expected 1 to %d", ErrOptions, o.MemoryMB, maxMemoryMB)
	}
	if err := option.Check(o); err != nil {
		return fmt.Errorf("%w: %w", ErrOptions, err)
	}
	if o.Rand == nil && (o.Noise > 0 || o.Temperature != Temperature{} || o.PlayoutCap.Fast > 0) {
		return fmt.Errorf("%w: found noise, temperature or fast_nodes without a source of randomness", ErrOptions)
	}
	return nil
}
