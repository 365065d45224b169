package mcts

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// prior is a probability in sixteen bits: the lower five bits of a single
// precision exponent and the upper eleven of its mantissa. Their order as
// integers is that of the probabilities. What is below 2^-31 becomes 2^-31; the
// relative error of the others is at most 2^-12.
type prior uint16

const (
	priorShift = 12         // bits of the mantissa that are dropped
	priorBias  = 0x60 << 23 // 2^-31 as the bits of a float32
	priorHalf  = 1 << (priorShift - 1)
)

func newPrior(p float32) prior {
	bits := math.Float32bits(max(p, 0x1p-31))
	return prior((bits - priorBias + priorHalf) >> priorShift)
}

func (p prior) float() float32 { return math.Float32frombits(uint32(p)<<priorShift + priorBias) }

// choice is a legal move of a node.
type choice struct {
	move  chess.Move
	prior prior
}

// order puts the likeliest of the choices from index first on in their order at
// first to last. Of equally likely ones the first comes first, and the others keep
// their order. Few moves of most nodes are ever tried, so this is cheaper than
// sorting all of them.
func order(choices []choice, first, last int) {
	for i := first; i <= min(last, len(choices)-1); i++ {
		rest := choices[i:]
		best, most := 0, prior(0)
		for j := range rest {
			if p := rest[j].prior; p > most {
				best, most = j, p
			}
		}
		c := rest[best]
		copy(rest[1:best+1], rest[:best])
		rest[0] = c
	}
}
