package nnuefit

import (
	"math"
)

// rawPerCentipawn converts centipawns to the net's raw units: 208 raw units are
// one pawn.
const rawPerCentipawn = 208.0 / 100

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// objective is the loss of one position: |q − t|^power with
// q = σ(gain·output), t the wanted win probability.
type objective struct{ power, gain float64 }

// at returns the loss and its derivative with respect to the output.
func (o objective) at(output, target float64) (loss, derivative float64) {
	q := sigmoid(o.gain * output)
	e := q - target
	f := math.Pow(math.Abs(e), o.power-1)
	return math.Abs(e) * f, math.Copysign(o.power*f, e) * q * (1 - q) * o.gain
}
