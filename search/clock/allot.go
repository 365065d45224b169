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

// A move that is in doubt takes up to stretch times its share, and no more than half
// of what is left.
const stretch = 4

// horizon returns for how many moves more a game's clock is shared out at p, each of
// which gains most of its increment. As a rule a search takes less than its share, so
// these are fewer than the moves that are to come on average: in crazyhouse 30 at move
// 10, 13 at move 30 and 9 at move 50. By a fixed number time was left over at the end.
func horizon(p *chess.Position) float64 {
	if !p.Variant().CapturesToHand {
		return 25
	}
	return max(9, 24.6-0.6*float64(p.FullmoveNumber()))
}

// Allot returns the allowance for the move to be made at p, and whether the limits
// hold any limit of time. What remains on a clock, less the overhead, is never exceeded.
func Allot(lim *search.Limits, p *chess.Position) (Allowance, bool) {
	us := p.SideToMove()
	a, timed := Allowance{Soft: 1<<63 - 1, Hard: 1<<63 - 1}, false
	if lim.Clock(us) {
		timed = true
		moves := horizon(p)
		if lim.MovesToGo > 0 {
			moves = min(moves, float64(lim.MovesToGo))
		}
		left := max(leastTime, lim.Time[us]-lim.Overhead)
		share := time.Duration(float64(left)/moves) + lim.Inc[us]*3/4
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
