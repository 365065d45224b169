package nnue

import (
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// checkRaw panics if raw is not the network's plain value of p.
func (a *Accumulator) checkRaw(p *chess.Position, raw int) {
	if want := a.net.Evaluate(p).Raw; raw != want {
		panic(fmt.Sprintf("nnue: %s: found %d from the accumulator, expected %d by %v",
			p.FEN(), raw, want, a.net.arch))
	}
}

// checkRow panics if a row is not what a rebuild for p gives.
func (a *Accumulator) checkRow(row kernel.Row, p *chess.Position, c chess.Color) {
	lanes, sums := a.net.transform(a.net.set.Active(p, c, nil))
	if slices.Equal(row.Lanes(), lanes) && slices.Equal(row.Sums(), sums) {
		return
	}
	panic(fmt.Sprintf("nnue: %s: found sums %v and %v for %v, expected %v and %v by %v",
		p.FEN(), row.Lanes(), row.Sums(), c, lanes, sums, a.net.arch))
}
