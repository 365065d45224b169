package clock

import (
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// leastTime is what a search gets when nothing is left: enough for a move.
const leastTime = time.Millisecond

// Allowance is the time a search may take. Soft is what a usual move should take:
// a search ends there, earlier if its move is beyond doubt and later if it is not. At
// Hard it stops. Without a game's clock Soft is beyond Hard: time saved is not gained.
type Allowance struct{ Soft, Hard time.Duration }

// A game's clock is shared out as if it had to last for horizon moves more, each of
// which gains most of its increment. A move that is in doubt takes up to stretch
// times its share, and no more than half of what is left.
const (
	horizon = 25
	stretch = 4
)

// Allot returns the allowance for a move of side us, and whether the limits hold
// any limit of time. What remains on a clock, less the overhead, is never exceeded.
func Allot(lim *search.Limits, us chess.Color) (Allowance, bool) {
	a, timed := Allowance{Soft: 1<<63 - 1, Hard: 1<<63 - 1}, false
	if lim.Clock(us) {
		timed = true
		moves := time.Duration(horizon)
		if lim.MovesToGo > 0 {
			moves = min(moves, time.Duration(lim.MovesToGo))
		}
		left := max(leastTime, lim.Time[us]-lim.Overhead)
		share := left/moves + lim.Inc[us]*3/4
		// Every move loses the overhead too, but where little is left most of the
		// share still has to go into searching.
		share -= min(lim.Overhead, share*3/4)
		a.Hard = min(stretch*share, left/2)
		if moves == 1 { // the control is reached by this move
			a.Hard = left
		}
		a.Hard = max(leastTime, a.Hard)
		a.Soft = min(max(leastTime, share), a.Hard)
	}
	if lim.MoveTime > 0 {
		timed = true
		a.Hard = min(a.Hard, max(leastTime, lim.MoveTime-lim.Overhead))
	}
	return a, timed
}
