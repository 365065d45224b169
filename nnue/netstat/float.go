package netstat

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// Float is a network computed in float64 from its integer parameters, without
// rounding anything on the way: neither activations nor the result. Against it
// the integer network shows what its activations of a byte cost; what the
// rounding of the weights cost, only the float network shows that they come
// from.
type Float struct {
	net    *nnue.Network
	stacks [][]nnue.Layer
}

// NewFloat returns the float twin of a network.
func NewFloat(n *nnue.Network) *Float {
	f := &Float{net: n}
	for i := range n.Stacks {
		f.stacks = append(f.stacks, n.Architecture().Layers(&n.Stacks[i]))
	}
	return f
}

// Evaluate returns the value of p in raw units, seen by the side to move.
func (f *Float) Evaluate(p *chess.Position) float64 {
	a := f.net.Architecture()
	bucket := a.Bucket(p)
	us := p.SideToMove()
	own, material := f.perspective(p, us, bucket)
	enemy, theirs := f.perspective(p, us.Other(), bucket)
	x := append(own, enemy...)
	list := f.stacks[bucket]
	for i := range list {
		x = floatLayer(&list[i], x)
		if i < len(list)-1 {
			for j := range x {
				x[j] = clip(x[j])
			}
		}
	}
	return (material-theirs)/2/float64(a.OutputScale) + x[0]*float64(a.Units)
}

// perspective returns the activations of the transformer and the piece-square
// sum of a bucket, as the latter is stored.
func (f *Float) perspective(p *chess.Position, c chess.Color, bucket int) (x []float64, psqt float64) {
	for _, b := range f.net.FTBias {
		x = append(x, float64(b))
	}
	for _, feature := range f.net.Features().Active(p, c, nil) {
		for i, w := range f.net.FTRow(int(feature)) {
			x[i] += float64(w)
		}
		if columns := f.net.PSQTRow(int(feature)); len(columns) > 0 {
			psqt += float64(columns[bucket])
		}
	}
	for i := range x {
		x[i] = clip(x[i] / nnue.ActivationScale)
	}
	a := f.net.Architecture()
	second := x // factors
	if a.Activation == nnue.Pairwise {
		second = x[a.Outputs():]
	}
	x = x[:a.Outputs()]
	if a.Activation != nnue.ClippedReLU {
		for i := range x {
			x[i] *= second[i]
		}
	}
	return x, psqt
}

// floatLayer runs a layer on activations from 0 to 1.
func floatLayer(l *nnue.Layer, x []float64) []float64 {
	y := make([]float64, len(l.Bias))
	for o := range y {
		y[o] = float64(l.Bias[o]) / l.BiasOne
		for i, w := range l.Row(o) {
			y[o] += float64(w) / l.WeightOne * x[i]
		}
	}
	return y
}

func clip(x float64) float64 { return min(max(x, 0), 1) }
