package clock

import (
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestAllot(t *testing.T) {
	const never = time.Duration(1<<63 - 1)
	black := func(left, inc time.Duration) (lim search.Limits) {
		lim.Time[chess.Black], lim.Inc[chess.Black] = left, inc
		lim.Overhead = 50 * time.Millisecond
		return lim
	}
	toGo := black(10*time.Second, 0)
	toGo.MovesToGo = 4
	both := black(100*time.Second, time.Second)
	both.MoveTime = time.Second
	for _, tc := range []struct {
		name  string
		lim   search.Limits
		hard  time.Duration
		timed bool
	}{
		{"none", search.Limits{Depth: 5}, never, false},
		{"the other side's clock", search.Limits{Time: [2]time.Duration{time.Second}}, never, false},
		{"increment and a fiftieth", black(100*time.Second, time.Second), 2950 * time.Millisecond, true},
		{"no increment", black(100*time.Second, 0), 1950 * time.Millisecond, true},
		{"never more than is left", black(300*time.Millisecond, 5*time.Second), 250 * time.Millisecond, true},
		{"nothing left", black(20*time.Millisecond, 0), leastTime, true},
		{"increment only", black(0, time.Second), leastTime, true},
		{"moves to go", toGo, 1950 * time.Millisecond, true},
		{"move time", search.Limits{MoveTime: time.Second, Overhead: 50 * time.Millisecond}, 950 * time.Millisecond, true},
		{"move time below the clock's share", both, 950 * time.Millisecond, true},
	} {
		a, timed := Allot(&tc.lim, chess.Black)
		if a.Hard != tc.hard || timed != tc.timed {
			t.Errorf("%s: hard bound %v, timed %v; want %v, %v", tc.name, a.Hard, timed, tc.hard, tc.timed)
		}
		if a.Soft > a.Hard && a.Hard != tc.lim.MoveTime-tc.lim.Overhead {
			t.Errorf("%s: soft bound %v beyond hard bound %v", tc.name, a.Soft, a.Hard)
		}
	}
}
