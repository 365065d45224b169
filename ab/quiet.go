package ab

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Quiet returns the static evaluation of the last position of line, whose side
// to move is not in check, and what quiescence search makes of it, both from the
// side to move. How far they are apart says how little of the position's worth
// can be seen without a search.
func (e *Engine) Quiet(line *chess.Line) (static, settled search.Score) {
	p := line.Pos()
	w := e.workers[0]
	w.begin(line, newControl(&search.Limits{}, p, 1), e.tuning(p.Variant()))
	static = search.Score(w.evaluate(0)) // there need not be a quiescence search, which leaves it behind
	settled = search.Score(w.quiesce(0, 0, -int(search.Infinite), int(search.Infinite)))
	return static, settled
}
