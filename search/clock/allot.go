package clock

import (
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// leastTime is what a search gets when nothing is left: enough for a move.
const leastTime = time.Millisecond

// Allowance is the time a search may take: past Soft it begins nothing that is
// likely to last beyond Hard, and at Hard it stops.
type Allowance struct{ Soft, Hard time.Duration }

// Allot returns the allowance for a move of side us, and whether the limits hold
// any limit of time. A clock gives the increment and a fiftieth of what remains
// (or an equal share of it until the next control), less the overhead; this is
// never exceeded, nor is what remains.
func Allot(lim *search.Limits, us chess.Color) (Allowance, bool) {
	a, timed := Allowance{Soft: 1<<63 - 1, Hard: 1<<63 - 1}, false
	if lim.Clock(us) {
		timed = true
		left := lim.Time[us] - lim.Overhead
		share := lim.Time[us] / 50
		if lim.MovesToGo > 0 {
			share = lim.Time[us] / time.Duration(lim.MovesToGo+1)
		}
		a.Hard = max(leastTime, min(share+lim.Inc[us]-lim.Overhead, left))
		// An iteration of iterative deepening takes longer than all before it
		// together: one begun past this point would hardly finish.
		a.Soft = a.Hard * 6 / 10
	}
	if lim.MoveTime > 0 {
		timed = true
		a.Hard = min(a.Hard, max(leastTime, lim.MoveTime-lim.Overhead))
	}
	return a, timed
}
