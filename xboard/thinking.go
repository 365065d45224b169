package xboard

import (
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/uci"
)

// mateBase is the score of mate: mate in N moves is mateBase+N, being mated in N
// moves −mateBase−N.
const mateBase = 100000

// AppendThinking appends one line of thinking, without its end, that reports i about
// a search of p: depth, score in centipawns from the engine's point of view, time
// in centiseconds, nodes, then greatest depth, speed and table hits, of which there
// are none, a tab, and the principal variation in SAN.
func AppendThinking(dst []byte, p *chess.Position, i *search.Info) []byte {
	score := int64(i.Score)
	if i.Score.IsMate() {
		if score = mateBase + int64(i.Score.MateIn()); i.Score < 0 {
			score = int64(i.Score.MateIn()) - mateBase
		}
	}
	dst = strconv.AppendInt(dst, int64(i.Depth), 10)
	for _, v := range []int64{score, i.Elapsed.Milliseconds() / 10, int64(i.Nodes), int64(i.SelDepth), int64(uci.PerSecond(i.Nodes, i.Elapsed)), 0} {
		dst = strconv.AppendInt(append(dst, ' '), v, 10)
	}
	dst = append(dst, '\t')
	at := *p
	for n, m := range i.PV {
		if n > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, at.SAN(m)...)
		at.Make(m)
	}
	switch i.Bound {
	case search.Lower:
		dst = append(dst, " !"...)
	case search.Upper:
		dst = append(dst, " ?"...)
	}
	return dst
}

// thinking is what a line of thinking says. Numbers that it has wrongly are zero.
type thinking struct {
	depth, selDepth int
	score           search.Score
	bound           search.Bound
	nodes           uint64
	pv              []string // moves as written, not checked
}

// parseThinking reads a line of thinking: four numbers and a principal variation. In
// front of a tab more numbers may stand. A mark of failing high (!) or low (?) at the end
// makes the score a bound. It reports whether it is such a line.
func parseThinking(line string) (thinking, bool) {
	numbers, text, tab := strings.Cut(line, "\t")
	fields := strings.Fields(numbers)
	if len(fields) < 4 {
		return thinking{}, false
	}
	var n [5]int64
	for i := range n[:min(5, len(fields))] {
		if i == 4 && !tab {
			break
		}
		v, err := strconv.ParseInt(strings.TrimRight(fields[i], ".&+-"), 10, 64)
		if err != nil {
			if i < 4 {
				return thinking{}, false
			}
			break
		}
		n[i] = v
	}
	t := thinking{depth: ply(n[0]), selDepth: ply(n[4]), score: score(n[1]), nodes: uint64(max(n[3], 0))}
	t.pv = strings.Fields(text)
	if !tab {
		t.pv = fields[4:]
	}
	if len(t.pv) > 0 {
		switch last := t.pv[len(t.pv)-1]; {
		case last == "":
		case strings.Trim(last, "!") == "":
			t.bound = search.Lower
		case strings.Trim(last, "?") == "":
			t.bound = search.Upper
		}
	}
	return t, true
}

func ply(v int64) int { return int(max(0, min(v, search.MaxPly))) }

// score reads the score of a line. Beyond what says a mate, engines have scores of
// their own for it, whose distance is not known: these are cut to the range that
// says no mate.
func score(v int64) search.Score {
	const moves = search.MaxPly / 2
	switch {
	case v > mateBase && v <= mateBase+moves:
		return search.MateAfter(int(2*(v-mateBase) - 1))
	case v <= -mateBase && v >= -mateBase-moves:
		return search.MatedAfter(int(2 * (-mateBase - v)))
	}
	const limit = int64(search.MateScore) - search.MaxPly - 1
	return search.Score(max(-limit, min(v, limit)))
}

// ParseMove reads a move of p as engines write it, in coordinates or in standard
// algebraic notation. Errors are those of [chess.Position.ParseSAN].
func ParseMove(p *chess.Position, text string) (chess.Move, error) {
	coordinates := text
	switch {
	case len(text) == 5 && text[2] != '@':
		coordinates = strings.ToLower(text)
	case len(text) == 4 && text[1] == '@':
		coordinates = strings.ToUpper(text[:1]) + text[1:]
	}
	if _, ok := p.ReadUCI(coordinates); ok {
		return p.ParseUCI(coordinates)
	}
	return p.ParseSAN(text)
}

// parsePV returns the moves of a principal variation up to the first that is not
// legal. Numbers of moves and marks between them are passed over, and so are the
// brackets around moves that come from a table.
func parsePV(p chess.Position, pv []string) []chess.Move {
	var moves []chess.Move
	for _, text := range pv[:min(len(pv), 4*search.MaxPly)] {
		if number, after, ok := strings.Cut(text, "."); ok && strings.Trim(number, "0123456789") == "" {
			text = after
		}
		text = strings.Trim(text, "<>(){}!?,.")
		if strings.Trim(text, "0123456789") == "" {
			continue
		}
		m, err := ParseMove(&p, text)
		if err != nil || len(moves) == search.MaxPly {
			break
		}
		p.Make(m)
		moves = append(moves, m)
	}
	return moves
}

// centiseconds returns d as clocks are told, at least one.
func centiseconds(d time.Duration) int64 { return max(d.Milliseconds()/10, 1) }
