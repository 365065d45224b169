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
	if lim.Infinite || !bounded(lim, p.SideToMove()) {
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

// bounded reports whether lim ends a search for side c by itself.
func bounded(lim *search.Limits, c chess.Color) bool {
	return lim.Clock(c) || lim.Depth > 0 || lim.Nodes > 0 || lim.Mate > 0 || lim.MoveTime > 0
}

// millis returns d in whole milliseconds, at least one: engines read 0 as "no
// clock".
func millis(d time.Duration) int64 { return max(d.Milliseconds(), 1) }

// GoCommand is a parsed "go".
type GoCommand struct {
	Limits search.Limits
	Perft  int     // depth of "go perft", 0 for a search
	Faults []error // fields left out of the limits, and why
}

// ParseGo reads the fields after the word "go" for position p. Without any
// limit the search is infinite.
func ParseGo(fields []string, p *chess.Position) GoCommand {
	var g GoCommand
	lim := &g.Limits
	for i := 0; i < len(fields); i++ {
		switch name := fields[i]; name {
		case "infinite":
			lim.Infinite = true
		case "ponder":
			lim.Ponder = true
		case "searchmoves":
			i += g.searchMoves(fields[i+1:], p)
		case "wtime", "btime", "winc", "binc", "movestogo", "depth", "nodes", "mate", "movetime", "perft":
			i++
			if i == len(fields) {
				g.fault("go %s: found nothing, expected a number", name)
				break
			}
			v, err := strconv.ParseInt(fields[i], 10, 64)
			if err != nil {
				g.fault("go %s: found %q, expected a whole number", name, fields[i])
				break
			}
			g.set(name, v)
		}
	}
	lim.Infinite = lim.Infinite || !bounded(lim, p.SideToMove())
	return g
}

func (g *GoCommand) fault(format string, args ...any) {
	g.Faults = append(g.Faults, fmt.Errorf(format, args...))
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
		g.Perft = max(count, 1)
	}
}

// searchMoves reads moves until a word that is none and returns how many
// fields it took.
func (g *GoCommand) searchMoves(fields []string, p *chess.Position) int {
	for n, f := range fields {
		m, err := p.ParseUCI(f)
		switch {
		case err == nil && p.IsLegal(m):
			g.Limits.SearchMoves = append(g.Limits.SearchMoves, m)
		case looksLikeMove(f):
			g.fault("go searchmoves: found %q, expected a legal move", f)
		default:
			return n
		}
	}
	return len(fields)
}

// looksLikeMove reports whether s has the form of a UCI move or drop, legal or
// not.
func looksLikeMove(s string) bool {
	square := func(s string) bool {
		return s[0] >= 'a' && s[0] <= 'h' && s[1] >= '1' && s[1] <= '8'
	}
	switch len(s) {
	case 4:
		return square(s[2:]) && (s[1] == '@' || square(s))
	case 5:
		return square(s) && square(s[2:])
	}
	return false
}
