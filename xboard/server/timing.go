package server

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// timing is how long the engine may think.
type timing struct {
	moves      int // to a time control; 0: one for the whole game
	base, inc  time.Duration
	perMove    time.Duration // in place of the clock, if not 0
	depth      int           // 0: any
	perSecond  uint64        // nodes that stand for a second; 0: time is time
	own, other time.Duration // the clocks
}

// maxTime bounds every time, so that sums of times cannot overflow.
const maxTime = 1000 * time.Hour

// newTiming is five minutes for the game.
func newTiming() timing {
	t := timing{base: 5 * time.Minute}
	t.newGame()
	return t
}

// newGame resets the clocks, and forgets depth and nodes as the protocol wants it.
func (t *timing) newGame() { t.own, t.other, t.depth, t.perSecond = t.base, t.base, 0, 0 }

// level reads the arguments of "level": MOVES BASE INC.
func (t *timing) level(args []string) error {
	if len(args) != 3 {
		return fmt.Errorf("found %d numbers, expected moves, base and increment", len(args))
	}
	moves, err := strconv.ParseUint(args[0], 10, 16)
	base, ok1 := duration(args[1], time.Minute)
	inc, ok2 := duration(args[2], time.Second)
	if err != nil || !ok1 || !ok2 {
		return fmt.Errorf("found %q, expected MOVES MIN[:SEC] SEC", strings.Join(args, " "))
	}
	t.moves, t.base, t.inc, t.perMove = int(moves), base, inc, 0
	t.own, t.other = base, base
	return nil
}

// duration reads a number of units, with a fraction if it has one, and seconds after
// a colon.
func duration(text string, unit time.Duration) (time.Duration, bool) {
	head, secs, colon := strings.Cut(text, ":")
	v, err := strconv.ParseFloat(head, 64)
	d := v * float64(unit)
	if colon && err == nil {
		v, err = strconv.ParseFloat(secs, 64)
		d += v * float64(time.Second)
	}
	if err != nil || !(v >= 0) || !(d >= 0 && d <= float64(maxTime)) {
		return 0, false
	}
	return time.Duration(d), true
}

// limits are those of a search of the line's last position for the engine's side.
func (t *timing) limits(line *chess.Line, side chess.Color) search.Limits {
	lim := search.Limits{Depth: t.depth}
	switch {
	case t.perSecond > 0:
		seconds := t.perMove.Seconds()
		if t.perMove == 0 { // a share of the clock
			seconds = t.own.Seconds()/40 + t.inc.Seconds()
		}
		lim.Nodes = uint64(max(1, min(seconds*float64(t.perSecond), 1<<62)))
	case t.perMove > 0:
		lim.MoveTime = t.perMove
	default:
		lim.Time[side], lim.Time[side.Other()] = max(t.own, time.Millisecond), max(t.other, time.Millisecond)
		lim.Inc = [2]time.Duration{t.inc, t.inc}
		lim.MovesToGo = t.toGo(line)
	}
	return lim
}

// toGo is how many moves the side to move has to make to its time control, 0 if one is
// for the whole game.
func (t *timing) toGo(line *chess.Line) int {
	if t.moves == 0 {
		return 0
	}
	return t.moves - line.Len()/2%t.moves
}

// used takes the move of the line's last position off the engine's clock, until "time"
// says better.
func (t *timing) used(d time.Duration, line *chess.Line) {
	t.own = max(t.own-d, 0) + t.inc
	if t.toGo(line) == 1 {
		t.own += t.base
	}
}
