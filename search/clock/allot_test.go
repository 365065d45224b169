package clock

import (
	"fmt"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// blackToMove returns a position of v in which Black has the given move to make.
func blackToMove(t *testing.T, v *chess.Variant, move int) *chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(v, fmt.Sprintf("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 %d", move))
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func TestAllot(t *testing.T) {
	const never = time.Duration(1<<63 - 1)
	black := func(left, inc time.Duration) (lim search.Limits) {
		lim.Time[chess.Black], lim.Inc[chess.Black] = left, inc
		lim.Overhead = 50 * time.Millisecond
		return lim
	}
	toGo := black(10*time.Second, 0)
	toGo.MovesToGo = 4
	last := black(10*time.Second, 0)
	last.MovesToGo = 1
	both := black(100*time.Second, time.Second)
	both.MoveTime = time.Second
	ms := func(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }
	for _, tc := range []struct {
		name       string
		lim        search.Limits
		soft, hard time.Duration
		timed      bool
	}{
		{"none", search.Limits{Depth: 5}, never, never, false},
		{"the other side's clock", search.Limits{Time: [2]time.Duration{time.Second}}, never, never, false},
		{"a twenty-fifth and most of the increment", black(100*time.Second, time.Second), ms(4698), ms(4 * 4698), true},
		{"no increment", black(100*time.Second, 0), ms(3948), ms(4 * 3948), true},
		{"no more than half of what is left", black(300*time.Millisecond, 5*time.Second), ms(125), ms(125), true},
		{"little left for the overhead", black(450*time.Millisecond, 0), ms(4), ms(16), true},
		{"nothing left", black(20*time.Millisecond, 0), leastTime, leastTime, true},
		{"increment only", black(0, time.Second), leastTime, leastTime, true},
		{"moves to go", toGo, ms(2437.5), ms(4975), true},
		{"last move before the control", last, ms(9900), ms(9950), true},
		{"move time", search.Limits{MoveTime: time.Second, Overhead: 50 * time.Millisecond}, never, ms(950), true},
		{"move time below the clock's share", both, ms(4698), ms(950), true},
	} {
		a, timed := Allot(&tc.lim, blackToMove(t, chess.Chess, 20))
		if a != (Allowance{tc.soft, tc.hard}) || timed != tc.timed {
			t.Errorf("%s: %v, timed %v; want %v and %v, %v", tc.name, a, timed, tc.soft, tc.hard, tc.timed)
		}
	}
}

// TestHorizon: in crazyhouse the share of the clock grows with the number of the move,
// until games are long.
func TestHorizon(t *testing.T) {
	for _, tc := range []struct {
		variant *chess.Variant
		move    int
		share   time.Duration // of 216 s
	}{
		{chess.Crazyhouse, 1, 9000 * time.Millisecond},
		{chess.Crazyhouse, 16, 14400 * time.Millisecond},
		{chess.Crazyhouse, 26, 24 * time.Second},
		{chess.Crazyhouse, 100, 24 * time.Second},
		{chess.Chess, 1, 8640 * time.Millisecond},
		{chess.Chess, 100, 8640 * time.Millisecond},
	} {
		lim := search.Limits{Time: [2]time.Duration{0, 216 * time.Second}}
		a, _ := Allot(&lim, blackToMove(t, tc.variant, tc.move))
		if d := a.Soft - tc.share; d < -time.Microsecond || d > time.Microsecond {
			t.Errorf("%s, move %d: %v; want %v", tc.variant, tc.move, a.Soft, tc.share)
		}
	}
}

// TestClockLasts: a side that takes all it may for every move, and loses the overhead
// beside, never oversteps its clock until it has less than the overhead for a move.
func TestClockLasts(t *testing.T) {
	for _, start := range []time.Duration{100 * time.Millisecond, time.Second, time.Hour} {
		for _, inc := range []time.Duration{0, 10 * time.Millisecond, 5 * time.Second} {
			lim := search.Limits{Time: [2]time.Duration{start, start}, Inc: [2]time.Duration{inc, inc}}
			for move := range 300 {
				a, _ := Allot(&lim, blackToMove(t, chess.Crazyhouse, 1+move))
				if a.Soft > a.Hard || a.Hard < leastTime {
					t.Fatalf("%v + %v, move %d: %v", start, inc, move, a)
				}
				if lim.Time[1] < 2*leastTime && inc == 0 {
					break
				}
				if lim.Time[1] -= a.Hard; lim.Time[1] <= 0 {
					t.Fatalf("%v + %v: the clock ran out at move %d", start, inc, move)
				}
				lim.Time[1] += inc
			}
		}
	}
}
