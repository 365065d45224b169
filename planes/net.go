package planes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrOutput reports numbers from a runtime that no net may return.
var ErrOutput = errors.New("bad output of a net")

// Net evaluates positions of one variant with a Runtime. It implements
// mcts.Evaluator. It is for one goroutine at a time.
type Net struct {
	runtime Runtime
	meta    Meta
	variant *chess.Variant
	in      []float32
	out     Output
}

// NewNet returns the net that r runs, whose inputs and outputs mean what m states.
// The net owns the runtime and closes it. The error wraps ErrMeta; the runtime is
// then still the caller's.
func NewNet(r Runtime, m Meta) (*Net, error) {
	v, err := m.check()
	if err != nil {
		return nil, err
	}
	return &Net{runtime: r, meta: m, variant: v}, nil
}

// Meta returns what the net's numbers mean.
func (n *Net) Meta() Meta { return n.meta }

// Close closes the runtime.
func (n *Net) Close() error { return n.runtime.Close() }

// Evaluate fills Priors, Value, Draw and PliesLeft of the leaves, in one batch, all
// from the point of view of the side to move.
//
// Priors are the softmax of the logits of the legal moves alone, one for each of
// Moves; they sum to 1. Value, from -1 to 1, is the probability of winning less that
// of losing if the net has an output for them, else its value output. Draw is a
// probability, PliesLeft a number of plies; both are 0 if the net has no such output.
// After its largest batch Evaluate allocates nothing but room for Priors in leaves
// that have none.
//
// The error is that of the context if it has ended before, else of the runtime, or
// it wraps ErrMeta (a position of another variant), search.ErrNoLegalMoves or
// ErrOutput; the leaves are then not to be used.
func (n *Net) Evaluate(ctx context.Context, leaves []search.Leaf) error {
	if err := ctx.Err(); err != nil || len(leaves) == 0 {
		return err
	}
	size := len(leaves) * Size
	n.in = slices.Grow(n.in[:0], size)[:size]
	for i := range leaves {
		l := &leaves[i]
		if err := n.checkLeaf(l); err != nil {
			return err
		}
		Encode(n.in[i*Size:], l.Pos, l.Repetitions)
	}
	if n.meta.Normalisation == ScaledClamped {
		Clamp(n.in)
	}
	if err := n.runtime.Run(n.in, len(leaves), &n.out); err != nil {
		return err
	}
	if err := n.checkOutput(len(leaves)); err != nil {
		return err
	}
	for i := range leaves {
		if err := n.fill(&leaves[i], i, len(leaves)); err != nil {
			return err
		}
	}
	return nil
}

func (n *Net) checkLeaf(l *search.Leaf) error {
	if v := l.Pos.Variant(); v != n.variant {
		return fmt.Errorf("%w: found a position of %s, expected one of %s", ErrMeta, v, n.variant)
	}
	if len(l.Moves) == 0 {
		return fmt.Errorf("%w: %s", search.ErrNoLegalMoves, l.Pos.FEN())
	}
	return nil
}

// checkOutput reports whether the slices of the output are as long as they must
// be for count positions.
func (n *Net) checkOutput(count int) error {
	o := &n.out
	cells := len(o.Policy) == count*PolicySize && n.meta.PolicyMap != PolicyLabels
	flat := len(o.Policy) == count*Labels && n.meta.PolicyMap != PolicyCells
	if !cells && !flat {
		return fmt.Errorf("%w: policy map %q: found %d numbers for %d positions, expected %d or %d each",
			ErrOutput, n.meta.PolicyMap, len(o.Policy), count, PolicySize, Labels)
	}
	fits := len(o.WDL) == 3*count || len(o.WDL) == 0 && len(o.Value) == count
	if !fits || len(o.PliesLeft) != 0 && len(o.PliesLeft) != count {
		return fmt.Errorf("%w: found %d values, %d results, %d plies left for %d positions", ErrOutput, len(o.Value), len(o.WDL), len(o.PliesLeft), count)
	}
	return nil
}

// fill copies the part of leaf i of count from the output.
func (n *Net) fill(l *search.Leaf, i, count int) error {
	o := &n.out
	l.Draw, l.PliesLeft = 0, 0
	if len(o.WDL) != 0 {
		wdl := o.WDL[3*i:][:3]
		l.Value, l.Draw = wdl[2]-wdl[0], wdl[1]
	} else {
		l.Value = o.Value[i]
	}
	if len(o.PliesLeft) != 0 {
		l.PliesLeft = o.PliesLeft[i] * PliesScale
	}
	// A softmax of single precision may sum to a little more than 1. The
	// comparison is false for NaN as well.
	if !(math.Abs(float64(l.Value)) <= 1+1e-4) {
		return fmt.Errorf("%w: value: found %v, expected -1 to 1", ErrOutput, l.Value)
	}
	l.Value = min(max(l.Value, -1), 1)
	return n.priors(l, o.Policy[i*(len(o.Policy)/count):][:len(o.Policy)/count])
}

// priors turns one position's policy output into the probabilities of its legal
// moves.
func (n *Net) priors(l *search.Leaf, policy []float32) error {
	l.Priors = slices.Grow(l.Priors[:0], len(l.Moves))[:len(l.Moves)]
	for j, m := range l.Moves {
		at := Cell(l.Pos, m)
		if len(policy) == Labels {
			at = CellLabel(at)
		}
		v := policy[at]
		if n.meta.Probabilities {
			v = float32(math.Log(float64(v)))
		}
		if v != v || v > math.MaxFloat32 {
			return fmt.Errorf("%w: policy of %s: found %v, expected a finite number", ErrOutput, l.Pos.UCI(m), policy[at])
		}
		l.Priors[j] = v
	}
	Softmax(l.Priors)
	return nil
}

// Softmax replaces logits by probabilities in the same proportions as their
// exponentials: a distribution even where those overflow or all vanish. There must
// be at least one logit, none NaN or +Inf.
func Softmax(x []float32) {
	most := float32(math.Inf(-1))
	for _, v := range x { // slices.Max looks for NaN, too
		if v > most {
			most = v
		}
	}
	largest := float64(most)
	if math.IsInf(largest, -1) { // all are equally likely
		for i := range x {
			x[i] = 1 / float32(len(x))
		}
		return
	}
	sum := 0.0
	for i, v := range x {
		e := math.Exp(float64(v) - largest)
		x[i] = float32(e)
		sum += e
	}
	scale := 1 / sum
	for i, v := range x {
		x[i] = float32(float64(v) * scale)
	}
}
