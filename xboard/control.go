package xboard

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrLimits says that the protocol, or the engine, has no way to ask for the limits
// of a search.
var ErrLimits = errors.New("xboard: limits that cannot be asked for")

// control is how an engine was told to limit its searches: what "level", "st", "sd"
// and "nps" have said. The clock's present state is not part of it.
type control struct {
	clock    bool
	inc      time.Duration
	moveTime time.Duration
	depth    int
	nodes    uint64
}

// newControl returns what limits have to say for a side, or why they cannot.
func newControl(lim *search.Limits, side chess.Color) (control, error) {
	refuse := func(format string, args ...any) (control, error) {
		return control{}, fmt.Errorf("%w: %s", ErrLimits, fmt.Sprintf(format, args...))
	}
	c := control{clock: lim.Clock(side), moveTime: lim.MoveTime, depth: lim.Depth, nodes: lim.Nodes}
	if c.clock {
		c.inc = lim.Inc[side]
	}
	switch {
	case c.moveTime%time.Second != 0:
		return refuse("found %v a move, expected whole seconds, as st has no fractions, or a clock (tc)", c.moveTime)
	case c.moveTime > 0 && c.clock, c.nodes > 0 && (c.moveTime > 0 || c.clock):
		return refuse("found two of a clock, a time and a number of nodes a move, expected one of them")
	case lim.MovesToGo > 0:
		return refuse("found moves to a time control, expected one time for the whole game")
	case lim.Mate > 0, len(lim.SearchMoves) > 0, lim.Ponder:
		return refuse("found a search for mate, of some moves only or on the opponent's time, expected none of them")
	}
	return c, nil
}

// limited reports whether the engine must be started again before it may search by
// next: what sd and nps have said cannot be unsaid.
func (c control) limited(next control) bool {
	return c.depth > 0 && next.depth == 0 || c.nodes > 0 && next.nodes == 0
}

// append appends the commands that say it. Clocks begin with base; patience is the
// time for a move where no limit of time is asked for.
func (c control) append(dst []byte, base, patience time.Duration) []byte {
	switch {
	case c.clock:
		dst = fmt.Appendf(dst, "level 0 %s %s\n", minutes(base), seconds(c.inc))
	case c.nodes > 0: // a second of so many nodes
		dst = fmt.Appendf(dst, "nps %d\nst 1\n", c.nodes)
	case c.moveTime > 0:
		dst = fmt.Appendf(dst, "st %d\n", c.moveTime/time.Second)
	default:
		dst = fmt.Appendf(dst, "st %d\n", wholeSeconds(patience))
	}
	if c.depth > 0 {
		dst = fmt.Appendf(dst, "sd %d\n", c.depth)
	}
	return dst
}

// minutes writes the base time of a clock, whole minutes without seconds. A fraction
// of a second counts as one: "time" says what is left.
func minutes(d time.Duration) string {
	s := wholeSeconds(d)
	if s%60 == 0 {
		return fmt.Sprint(s / 60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// seconds writes an increment, with a fraction only if it has one.
func seconds(d time.Duration) string {
	text := fmt.Sprintf("%.3f", max(d, 0).Seconds())
	return strings.TrimRight(strings.TrimRight(text, "0"), ".")
}

// wholeSeconds rounds up, to at least one.
func wholeSeconds(d time.Duration) int64 {
	return max(int64((d+time.Second-1)/time.Second), 1)
}
