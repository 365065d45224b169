package nnuefit

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// ErrOverflow says that a weight does not fit the integer net.
var ErrOverflow = errors.New("weight does not fit the integer net")

// Config holds what training may vary. Start from DefaultConfig.
//
// Raw units are the integer net's: 600 per 1.0 of float output, 208 per pawn.
type Config struct {
	// NetScale turns the net's output into a win probability:
	// q = σ(output in raw units / NetScale).
	NetScale float64
	// ScoreScale does the same for the scores of samples:
	// σ(score in raw units / ScoreScale). FitScale measures it.
	ScoreScale float64
	// Loss measures how far the net's win probability lies from the target.
	Loss Loss
	// Power is the exponent of PowerLoss, more than 1.
	Power float64
	// LambdaBeyond takes the place of the step's λ where a sample's score is
	// beyond ±LambdaLimit: one so high says little more than that the game is
	// won. A limit of 0 is none.
	LambdaBeyond float64
	LambdaLimit  search.Score

	// PSQTStart is where the PSQT weights begin. It has no effect on a net
	// without PSQT columns.
	PSQTStart PSQTStart

	// Optimiser is the rule by which parameters follow their gradients.
	Optimiser trainer.Optimiser
	// Momentum is SGD's, 0 for none; Nesterov says to look one step ahead.
	Momentum float64
	Nesterov bool
	// Beta1, Beta2 and Epsilon are those of Adam and its kin. Epsilon is added to √v before its
	// bias correction and measured against gradients that are summed, not
	// averaged, over a batch. It damps the steps of rows that occur seldom,
	// which otherwise learn single games by heart.
	Beta1, Beta2, Epsilon float64
	// Factorise gives rows that differ in the own king's square only a virtual
	// row in common, for feature sets that have such rows.
	Factorise bool
	// RowRate is the learning rate of the transformer's real rows as a share of
	// everything else's. The factoriser's rows see every position, a real row
	// only those with its king square: below 1 it learns what is particular to
	// that square more slowly, and a small data set is not learned by heart.
	RowRate float64
	// MeanDecay is the share that the averaged net keeps per step; what is
	// measured and exported is that average. 0 exports the parameters as they
	// are.
	MeanDecay float64
	// WeightDecay per step and unit of learning rate, decoupled from the
	// gradient; Adam has none. RowRate does not lessen it. Biases, PSQT weights and
	// rows that never occurred do not decay.
	WeightDecay float64
	// GradientNorm is the largest norm of a batch's mean gradient; a larger one
	// is scaled down. 0 is no limit.
	GradientNorm float64

	// HiddenLimit, OutputLimit and TransformerLimit are the largest magnitudes
	// of weights of layers 1 and 2, of the output and of the transformer: the
	// most the integer net holds or, above 0, less. With a HiddenLimit of 1 no
	// engine build that adds products in 16 bits can saturate.
	HiddenLimit, OutputLimit, TransformerLimit float64
	// Quantise lets the net compute as its integer net does, weights and
	// activations rounded, while derivatives ignore the rounding: it learns to
	// do without the fractions that export takes away.
	Quantise bool

	// Workers is the number of goroutines that share a batch. It does not
	// influence results.
	Workers int
}

// maxHidden is the largest layer weight an int8 in units of 1/64 can hold.
const maxHidden = 127.0 / 64

// DefaultConfig returns the usual settings, with one worker per CPU.
func DefaultConfig() Config {
	return Config{
		NetScale: 361, ScoreScale: 410, Loss: PowerLoss, Power: 2.5,
		PSQTStart: StartPieces,
		Optimiser: trainer.AdamW, Momentum: 0.9, Beta1: 0.9, Beta2: 0.999, Epsilon: 3e-3,
		Factorise: true, RowRate: 0.2, MeanDecay: 0.995, WeightDecay: 0.01,
		Workers: runtime.GOMAXPROCS(0),
	}
}

// Validate reports the first setting that is out of range. The error wraps
// trainer.ErrConfig.
func (c Config) Validate() error {
	for _, f := range []struct {
		name               string
		value, above, most float64 // more than above
	}{
		{"NetScale", c.NetScale, 0, math.MaxFloat32},
		{"ScoreScale", c.ScoreScale, 0, math.MaxFloat32},
		{"Power", c.Power, 1, 10},
		{"Beta1", c.Beta1, 0, 0.999},
		{"Beta2", c.Beta2, 0, 0.999999},
		{"Epsilon", c.Epsilon, 0, 1},
		{"RowRate", c.RowRate, 0, 1},
		{"Workers", float64(c.Workers), 0, 1 << 16},
	} {
		if !(f.value > f.above && f.value <= f.most) {
			return fmt.Errorf("%w: %s is %g, expected more than %g and at most %g", trainer.ErrConfig, f.name, f.value, f.above, f.most)
		}
	}
	for _, f := range []struct {
		name        string
		value, most float64 // from 0
	}{
		{"LambdaBeyond", c.LambdaBeyond, 1},
		{"LambdaLimit", float64(c.LambdaLimit), float64(search.Infinite)},
		{"Momentum", c.Momentum, 0.999},
		{"MeanDecay", c.MeanDecay, 0.999999},
		{"WeightDecay", c.WeightDecay, 1},
		{"GradientNorm", c.GradientNorm, math.MaxFloat32},
		{"HiddenLimit", c.HiddenLimit, maxHidden},
		{"OutputLimit", c.OutputLimit, math.MaxFloat32},
		{"TransformerLimit", c.TransformerLimit, math.MaxFloat32},
	} {
		if !(f.value >= 0 && f.value <= f.most) {
			return fmt.Errorf("%w: %s is %g, expected 0 to %g", trainer.ErrConfig, f.name, f.value, f.most)
		}
	}
	if !slices.Contains(trainer.Optimisers(), c.Optimiser) {
		return fmt.Errorf("%w: Optimiser is %q, expected one of %q", trainer.ErrConfig, c.Optimiser, trainer.Optimisers())
	}
	if !c.Loss.known() {
		return fmt.Errorf("%w: Loss is %q, expected one of %q", trainer.ErrConfig, c.Loss, Losses())
	}
	if !c.PSQTStart.known() {
		return fmt.Errorf("%w: PSQTStart is %q, expected one of %q", trainer.ErrConfig, c.PSQTStart, PSQTStarts())
	}
	if c.Beta1*c.Beta1 >= c.Beta2 {
		return fmt.Errorf("%w: Beta1 %g is too large for Beta2 %g, expected Beta1² < Beta2", trainer.ErrConfig, c.Beta1, c.Beta2)
	}
	return nil
}
