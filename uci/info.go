package uci

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// AppendInfo appends one "info" line, without its end, that reports i about a
// search of p, whose castling notation its moves follow.
func AppendInfo(dst []byte, p *chess.Position, i *search.Info) []byte {
	field := func(name string, v uint64) {
		dst = append(append(append(dst, ' '), name...), ' ')
		dst = strconv.AppendUint(dst, v, 10)
	}
	dst = append(dst, "info"...)
	field("depth", uint64(i.Depth))
	field("seldepth", uint64(i.SelDepth))
	field("multipv", uint64(max(i.MultiPV, 1)))
	dst = i.Score.AppendTo(append(dst, " score "...))
	if i.Bound != search.Exact {
		dst = append(append(dst, ' '), i.Bound.String()...)
	}
	if w := i.WDL; w != (search.WDL{}) {
		dst = fmt.Appendf(dst, " wdl %d %d %d", w.Win, w.Draw, w.Loss)
	}
	field("nodes", i.Nodes)
	field("nps", PerSecond(i.Nodes, i.Elapsed))
	field("hashfull", uint64(i.Hashfull))
	field("time", uint64(i.Elapsed.Milliseconds()))
	if len(i.PV) > 0 {
		dst = AppendMoves(append(dst, " pv"...), p, i.PV)
	}
	return dst
}

// AppendMoves appends moves made one after the other from p, each after a
// space.
func AppendMoves(dst []byte, p *chess.Position, moves []chess.Move) []byte {
	at := *p
	for _, m := range moves {
		dst = at.AppendUCI(append(dst, ' '), m)
		at.Make(m)
	}
	return dst
}

// PerSecond returns the rate of n events in d, 0 if d is not positive.
func PerSecond(n uint64, d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64(float64(n) / d.Seconds())
}

// infoLine is what an engine's "info" line says. Fields the line lacks, or
// says wrongly, are zero.
type infoLine struct {
	depth, selDepth int
	multiPV         int // 1 if the line does not say
	score           search.Score
	scored          bool // score is present
	bound           search.Bound
	nodes           uint64
	elapsed         time.Duration
	hashfull        int
	pv              []string // moves as written, not checked
}

// parseInfo reads the fields after the word "info". Unknown and faulty fields
// are skipped, as engines print much that is their own; the free text of
// "info string" is not looked at. The PV ends the line, as everywhere in
// practice.
func parseInfo(fields []string) infoLine {
	l := infoLine{multiPV: 1}
	for i := 0; i < len(fields); i++ {
		switch fields[i] {
		case "string":
			return l
		case "pv":
			l.pv = fields[i+1:]
			return l
		case "score":
			l.parseScore(fields[i+1:])
		case "depth":
			l.depth = int(number(fields, i+1, search.MaxPly))
		case "seldepth":
			l.selDepth = int(number(fields, i+1, search.MaxPly))
		case "multipv":
			l.multiPV = int(max(number(fields, i+1, 1<<16), 1))
		case "nodes":
			l.nodes = number(fields, i+1, 1<<63)
		case "time":
			l.elapsed = time.Duration(number(fields, i+1, maxMillis)) * time.Millisecond
		case "hashfull":
			l.hashfull = int(number(fields, i+1, 1000))
		}
	}
	return l
}

// number returns fields[i] as a number of at most limit, 0 if it is none.
func number(fields []string, i int, limit uint64) uint64 {
	if i >= len(fields) {
		return 0
	}
	v, err := strconv.ParseUint(fields[i], 10, 64)
	if err != nil {
		return 0
	}
	return min(v, limit)
}

// parseScore reads "cp 12", "mate -3" and the bound that may follow.
func (l *infoLine) parseScore(fields []string) {
	if len(fields) < 2 {
		return
	}
	v, err := strconv.Atoi(fields[1])
	if err != nil {
		return
	}
	switch fields[0] {
	case "cp":
		l.score = centipawns(v)
	case "mate":
		l.score = mateScore(v, strings.HasPrefix(fields[1], "-"))
	default:
		return
	}
	l.scored = true
	if len(fields) > 2 {
		switch fields[2] {
		case "lowerbound":
			l.bound = search.Lower
		case "upperbound":
			l.bound = search.Upper
		}
	}
}

// centipawns returns v as a score, cut to the range that says no mate.
func centipawns(v int) search.Score {
	const limit = int(search.MateScore) - search.MaxPly - 1
	return search.Score(max(-limit, min(v, limit)))
}

// mateScore returns the score of "mate moves", in which 0 (Stockfish's
// checkmate on the board) and every negative number say that the side to move
// is mated.
func mateScore(moves int, negative bool) search.Score {
	const limit = search.MaxPly / 2
	if moves <= 0 || negative {
		return search.MatedAfter(2 * min(-max(moves, -limit), limit))
	}
	return search.MateAfter(2*min(moves, limit) - 1)
}
