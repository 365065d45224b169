package game

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Both gives both sides the same limits.
func Both(l search.Limits) [2]search.Limits { return [2]search.Limits{l, l} }

// LimitsText returns the limits of a search in the words of UCI's go command,
// as game records and PGN tags carry them.
func LimitsText(l search.Limits) string {
	var words []string
	add := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	if l.Depth > 0 {
		add("depth %d", l.Depth)
	}
	if l.Nodes > 0 {
		add("nodes %d", l.Nodes)
	}
	if l.MoveTime > 0 {
		add("movetime %d", l.MoveTime.Milliseconds())
	}
	for c, side := range []string{"w", "b"} {
		if l.Time[c] > 0 || l.Inc[c] > 0 {
			add("%stime %d %sinc %d", side, l.Time[c].Milliseconds(), side, l.Inc[c].Milliseconds())
		}
	}
	if l.Mate > 0 {
		add("mate %d", l.Mate)
	}
	return strings.Join(words, " ")
}

// limitsText returns the limits of both sides in words, once if they are equal.
func limitsText(l [2]search.Limits) string {
	white, black := LimitsText(l[chess.White]), LimitsText(l[chess.Black])
	if white == black {
		return white
	}
	return white + " against " + black
}

// QuickText returns the limits text of a game played by the limits text play, with
// nodes for the searches that Config.QuickNodes ends; play if they are 0.
func QuickText(play string, nodes uint64) string {
	if nodes == 0 {
		return play
	}
	return fmt.Sprintf("%s quick nodes %d", play, nodes)
}

// TimeControl returns the time side c has under l as the PGN tag TimeControl
// says it: "60+0.6" for a clock of a minute with 0.6 s a move, "0.05/move" for a
// time for the move, "-" for neither.
func TimeControl(l search.Limits, c chess.Color) string {
	seconds := func(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) }
	switch {
	case l.Clock(c) && l.Inc[c] > 0:
		return seconds(l.Time[c]) + "+" + seconds(l.Inc[c])
	case l.Clock(c):
		return seconds(l.Time[c])
	case l.MoveTime > 0:
		return seconds(l.MoveTime) + "/move"
	}
	return "-"
}
