package ab

import (
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// leastTime is what a search gets when nothing is left: enough for a move.
const leastTime = time.Millisecond

// allowance is the time a search may take: past soft it begins no further
// iteration, at hard it stops.
type allowance struct{ soft, hard time.Duration }

// allot returns the allowance for a move of side us, and whether the limits hold
// any limit of time. A clock gives the increment and a fiftieth of what remains
// (or an equal share of it until the next control), less the overhead; this is
// never exceeded, nor is what remains.
func allot(lim *search.Limits, us chess.Color) (allowance, bool) {
	a, timed := allowance{soft: 1<<63 - 1, hard: 1<<63 - 1}, false
	if lim.Clock(us) {
		timed = true
		left := lim.Time[us] - lim.Overhead
		share := lim.Time[us] / 50
		if lim.MovesToGo > 0 {
			share = lim.Time[us] / time.Duration(lim.MovesToGo+1)
		}
		a.hard = max(leastTime, min(share+lim.Inc[us]-lim.Overhead, left))
		// An iteration takes longer than all before it together: one begun
		// past this point would hardly finish.
		a.soft = a.hard * 6 / 10
	}
	if lim.MoveTime > 0 {
		timed = true
		a.hard = min(a.hard, max(leastTime, lim.MoveTime-lim.Overhead))
	}
	return a, timed
}
