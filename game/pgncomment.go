package game

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// readComment sets what the comment after a ply says of its search, in the
// form of match runners, "+0.31/8 0.123s, n=5000", or of lichess, "[%eval 0.31]
// [%clk 0:01:00]". Anything else is passed over.
func (p *Ply) readComment(comment string, mover chess.Color) {
	if strings.Contains(comment, "[%") {
		p.readLichess(comment, mover)
		return
	}
	parts := strings.Split(comment, ",")
	words := strings.Fields(parts[0])
	if len(words) == 0 {
		return
	}
	score, depth, _ := strings.Cut(words[0], "/")
	if s, ok := scoreOf(score); ok && (score[0] == '+' || score[0] == '-' || depth != "") {
		p.Score, p.HasScore = s, true
		p.Depth = smallNumber(depth)
	}
	if len(words) > 1 {
		p.Elapsed = seconds(words[1])
	}
	for _, part := range parts[1:] {
		name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		switch name {
		case "n":
			p.Nodes, _ = strconv.ParseUint(value, 10, 64) // 0 if it is no number
		case "sd":
			p.SelDepth = smallNumber(value)
		case "tl":
			p.Clock = seconds(value)
		}
	}
}

// readLichess reads the commands eval and clk.
func (p *Ply) readLichess(comment string, mover chess.Color) {
	if value, ok := command(comment, "[%eval "); ok {
		score, depth, _ := strings.Cut(value, ",")
		if s, ok := scoreOf(score); ok {
			if mover == chess.Black {
				s = -s
			}
			p.Score, p.HasScore = s, true
			p.Depth = smallNumber(depth)
		}
	}
	if value, ok := command(comment, "[%clk "); ok {
		p.Clock = clock(value)
	}
}

// command returns what stands between the name of a command and its bracket.
func command(comment, name string) (string, bool) {
	_, rest, ok := strings.Cut(comment, name)
	if !ok {
		return "", false
	}
	value, _, ok := strings.Cut(rest, "]")
	return strings.TrimSpace(value), ok
}

// scoreOf reads a score in pawns, or of a mate in moves: +M3, -M3, #3 or #-3.
func scoreOf(text string) (search.Score, bool) {
	mate := strings.TrimPrefix(strings.Replace(text, "M", "", 1), "#")
	if mate != text {
		if len(text)-len(mate) != 1 {
			return 0, false
		}
		moves, err := strconv.Atoi(mate)
		switch most := int(search.MaxPly) / 2; {
		case err != nil || moves > most || moves < -most:
			return 0, false
		case moves > 0:
			return search.MateAfter(2*moves - 1), true
		case moves < 0 || strings.HasPrefix(mate, "-"):
			return search.MatedAfter(-2 * moves), true
		}
		return search.MateAfter(0), true
	}
	if strings.Trim(text, "+-.0123456789") != "" {
		return 0, false // a number to Go, but in no form of a score
	}
	pawns, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, false
	}
	limit := float64(search.MateScore - search.MaxPly - 1) // beyond are mates
	return search.Score(math.Round(min(max(search.CentipawnsPerPawn*pawns, -limit), limit))), true
}

// smallNumber reads a number up to 255, 0 if it is none.
func smallNumber(text string) uint8 {
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		return 0
	}
	return uint8(n)
}

// maxClock bounds times read from comments.
const maxClock = 1e6 * time.Second

// seconds reads a time such as 0.123s, 0 if it is none.
func seconds(text string) time.Duration {
	number, ok := strings.CutSuffix(text, "s")
	s, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil || !(s >= 0 && s <= maxClock.Seconds()) {
		return 0
	}
	return time.Duration(math.Round(s*1e6)) * time.Microsecond
}

// clock reads a time such as 1:02:03 or 0:00:01.5, 0 if it is none.
func clock(text string) time.Duration {
	var total float64
	for _, part := range strings.SplitN(text, ":", 4) {
		n, err := strconv.ParseFloat(part, 64)
		if err != nil || !(n >= 0) {
			return 0
		}
		if total = 60*total + n; total > maxClock.Seconds() {
			return 0
		}
	}
	return time.Duration(math.Round(total*1e6)) * time.Microsecond
}
