package nnuefit

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/check"
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
	// σ((score in raw units − ScoreOffset) / ScoreScale). FitScale measures both.
	// The offset is what the side to move must have for an even chance: above 0 where
	// searches favour it.
	ScoreScale, ScoreOffset float64
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
	// Beta1, Beta2 and Epsilon are those of Adam and its variants. Epsilon is added
	// to √v before its bias correction and measured against gradients that are
	// summed, not averaged, over a batch. It damps the steps of rows that occur
	// seldom, which otherwise overfit to single games.
	Beta1, Beta2, Epsilon float64
	// Factorise gives rows that differ in the own king's place only a virtual
	// row in common, for feature sets that have such rows, and in sums with such a
	// set every other row one of its own.
	Factorise bool
	// RowRate is the learning rate of the transformer's real rows as a share of
	// everything else's. The factoriser's rows see every position, a real row
	// only those with its king square: below 1 it learns what is particular to
	// that square more slowly, and overfits less to a small data set. Without a
	// factoriser it has no effect: the real rows are all there are.
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

// ConfigOf returns what settings mean for a Model. RankingLoss, which is not
// a Model's but a Ranker's, leaves PowerLoss for the target beside it; see PQROf.
func ConfigOf(s trainer.Settings) Config {
	c := DefaultConfig()
	c.NetScale, c.Power = s.NetScale, s.Power
	// Unless scores are fitted the net learns to say what they do.
	c.ScoreScale = cmp.Or(s.ScoreScale, s.NetScale, c.ScoreScale)
	if c.Loss = Loss(s.Loss); c.Loss == RankingLoss {
		c.Loss = PowerLoss
	}
	c.LambdaLimit, c.LambdaBeyond = s.ScoreLimit(), s.Lambda2
	c.Optimiser, c.Momentum, c.Nesterov = trainer.Optimiser(s.Optimiser), s.Momentum, s.Nesterov
	c.HiddenLimit, c.OutputLimit, c.TransformerLimit = s.HiddenLimit, s.OutputLimit, s.TransformerLimit
	c.GradientNorm, c.Quantise = s.GradientNorm, s.Quantise
	c.WeightDecay, c.MeanDecay = s.WeightDecay, s.MeanDecay
	c.RowRate, c.Epsilon, c.Factorise = s.RowRate, s.Epsilon, s.Factorise
	c.PSQTStart = PSQTStart(s.PSQTStart)
	if s.Workers != 0 {
		c.Workers = s.Workers
	}
	return c
}

// Validate reports all settings that are out of range, by their names in
// trainer.Settings where they have one. Errors wrap trainer.ErrConfig.
func (c Config) Validate() error {
	wrong := check.Of(trainer.ErrConfig)
	check.Above(wrong, "net_scale", c.NetScale, 0, math.MaxFloat32)
	check.Above(wrong, "score_scale", c.ScoreScale, 0, math.MaxFloat32)
	check.Within(wrong, "score_offset", c.ScoreOffset, -math.MaxFloat32, math.MaxFloat32)
	wrong.That(slices.Contains(Losses(), c.Loss), "loss", c.Loss, fmt.Sprintf("one of %s, %s or %s", PowerLoss, CrossEntropy, RankingLoss))
	check.Above(wrong, "power", c.Power, 1, 10)
	check.Within(wrong, "lambda2", c.LambdaBeyond, 0, 1)
	check.Within(wrong, "lambda_limit", c.LambdaLimit, 0, search.Infinite)
	check.OneOf(wrong, "psqt_start", c.PSQTStart, PSQTStarts()...)
	check.OneOf(wrong, "optimiser", c.Optimiser, trainer.Optimisers()...)
	check.Within(wrong, "momentum", c.Momentum, 0, 0.999)
	check.Above(wrong, "beta1", c.Beta1, 0, 0.999)
	check.Above(wrong, "beta2", c.Beta2, 0, 0.999999)
	wrong.That(c.Beta1*c.Beta1 < c.Beta2, "beta1", c.Beta1, "a number whose square is less than beta2")
	check.Above(wrong, "epsilon", c.Epsilon, 0, 1)
	check.Above(wrong, "row_rate", c.RowRate, 0, 1)
	check.Within(wrong, "mean_decay", c.MeanDecay, 0, 0.999999)
	check.Within(wrong, "weight_decay", c.WeightDecay, 0, 1)
	check.Within(wrong, "gradient_norm", c.GradientNorm, 0, math.MaxFloat32)
	check.Within(wrong, "hidden_limit", c.HiddenLimit, 0, maxHidden)
	check.Within(wrong, "output_limit", c.OutputLimit, 0, math.MaxFloat32)
	check.Within(wrong, "transformer_limit", c.TransformerLimit, 0, math.MaxFloat32)
	check.Within(wrong, "workers", c.Workers, 1, 1<<16)
	return wrong.Err()
}
