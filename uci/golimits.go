package uci

import (
	"fmt"
	"strconv"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// maxMillis bounds every time on the wire, about four months, so that sums of
// times cannot overflow.
const maxMillis = 1e10

// appendGo appends the command "go" that asks for lim in position p. Limits
// that UCI has as options (MultiPV, Overhead) are not part of it.
func appendGo(dst []byte, p *chess.Position, lim *search.Limits) []byte {
	dst = append(dst, "go"...)
	field := func(name string, v int64) {
		dst = append(append(append(dst, ' '), name...), ' ')
		dst = strconv.AppendInt(dst, v, 10)
	}
	if lim.Clock(p.SideToMove()) {
		field("wtime", millis(lim.Time[chess.White]))
		field("btime", millis(lim.Time[chess.Black]))
		field("winc", max(lim.Inc[chess.White].Milliseconds(), 0))
		field("binc", max(lim.Inc[chess.Black].Milliseconds(), 0))
		if lim.MovesToGo > 0 {
			field("movestogo", int64(lim.MovesToGo))
		}
	}
	if lim.Depth > 0 {
		field("depth", int64(lim.Depth))
	}
	if lim.Nodes > 0 {
		field("nodes", int64(min(lim.Nodes, 1<<62)))
	}
	if lim.Mate > 0 {
		field("mate", int64(lim.Mate))
	}
	if lim.MoveTime > 0 {
		field("movetime", millis(lim.MoveTime))
	}
	if lim.Infinite || !lim.Bounded(p.SideToMove()) {
		dst = append(dst, " infinite"...)
	}
	if len(lim.SearchMoves) > 0 { // last: in UCI all that follows are moves
		dst = append(dst, " searchmoves"...)
		for _, m := range lim.SearchMoves {
			dst = p.AppendUCI(append(dst, ' '), m)
		}
	}
	return dst
}

// millis returns d in whole milliseconds, at least one: engines read 0 as "no
// clock".
func millis(d time.Duration) int64 { return max(d.Milliseconds(), 1) }

// GoCommand is a parsed "go".
type GoCommand struct {
	Limits search.Limits
	Perft  int     // depth of "go perft", 0 for a search
	Faults []error // fields left out of the limits, and why

	// Unbounded says that a limit was asked for and none is left but Infinite, as
	// those that were asked for are faulty, or bound the other side alone.
	Unbounded bool
	// NoSearchMoves says that no field after searchmoves is a legal move.
	NoSearchMoves bool
}

// ParseGo reads the fields after the word "go" for position p. Without any
// limit the search is infinite. Words that are not UCI's are ignored, but for those
// after searchmoves.
func ParseGo(fields []string, p *chess.Position) GoCommand {
	var g GoCommand
	lim := &g.Limits
	asked, faulty := false, false // a limit was asked for, one of them is wrong
	for i := 0; i < len(fields); i++ {
		switch name := fields[i]; {
		case name == "infinite":
			lim.Infinite = true
		case name == "ponder":
			lim.Ponder = true
		case name == "searchmoves":
			i += g.searchMoves(fields[i+1:], p)
		case isLimit(name):
			asked = true
			before := len(g.Faults)
			if i++; i == len(fields) {
				g.fault("go %s: found nothing, expected a number", name)
			} else {
				g.parse(name, fields[i])
			}
			faulty = faulty || len(g.Faults) > before
		}
	}
	side := p.SideToMove()
	none := !lim.Bounded(side)
	g.Unbounded = none && asked && !lim.Infinite && g.Perft == 0
	if g.Unbounded && !faulty {
		g.fault("go: found no limit for %s, expected %.1stime, movetime, depth or nodes", side, side)
	}
	lim.Infinite = lim.Infinite || none
	return g
}

// isLimit reports whether a word is followed by a number.
func isLimit(word string) bool {
	switch word {
	case "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "perft":
		return true
	}
	return false
}

func (g *GoCommand) fault(format string, args ...any) {
	g.Faults = append(g.Faults, fmt.Errorf(format, args...))
}

// parse reads one numeric limit. Clocks may have run out, all else counts from 0.
func (g *GoCommand) parse(name, text string) {
	v, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		g.fault("go %s: found %q, expected a whole number", name, text)
	case v < 0 && name != "wtime" && name != "btime":
		g.fault("go %s: found %d, expected 0 or more", name, v)
	default:
		g.set(name, v)
	}
}

// set sets one numeric limit, cut to a sensible range.
func (g *GoCommand) set(name string, v int64) {
	lim := &g.Limits
	ms := time.Duration(max(min(v, maxMillis), 0)) * time.Millisecond
	// A clock that has run out is still a clock.
	clock := max(ms, time.Millisecond)
	count := int(max(min(v, 1<<20), 0))
	switch name {
	case "wtime":
		lim.Time[chess.White] = clock
	case "btime":
		lim.Time[chess.Black] = clock
	case "winc":
		lim.Inc[chess.White] = ms
	case "binc":
		lim.Inc[chess.Black] = ms
	case "movestogo":
		lim.MovesToGo = count
	case "movetime":
		lim.MoveTime = clock
	case "depth":
		lim.Depth = max(min(count, search.MaxPly), 1)
	case "nodes":
		lim.Nodes = uint64(max(v, 1))
	case "mate":
		lim.Mate = max(count, 1)
	case "perft":
		g.Perft = max(min(count, search.MaxPly), 1)
	}
}

// searchMoves reads moves until a word of "go" and returns how many fields it took.
func (g *GoCommand) searchMoves(fields []string, p *chess.Position) int {
	n := 0
	for ; n < len(fields); n++ {
		f := fields[n]
		if isLimit(f) || f == "infinite" || f == "ponder" || f == "searchmoves" {
			break
		}
		m, err := ParseMove(p, f)
		if err != nil || !p.IsLegal(m) {
			g.fault("go searchmoves: found %q, expected a legal move", f)
			continue
		}
		g.Limits.SearchMoves = append(g.Limits.SearchMoves, m)
	}
	g.NoSearchMoves = len(g.Limits.SearchMoves) == 0
	return n
}
