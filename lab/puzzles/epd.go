package puzzles

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/bounded"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrBad is wrapped by every error about the content of a file of puzzles.
var ErrBad = errors.New("bad puzzles")

// Bounds of what is read.
const (
	maxText    = 64 << 20 // bytes, unpacked
	maxLine    = 2048     // bytes
	maxPuzzles = 500_000
	maxID      = 250
)

// AppendEPD appends the line of p, without its end: four fields of the FEN, the other
// two as hmvc and fmvn, and the operations bm, dm (moves to mate), ce (centipawns),
// acn and acd (nodes and depth of the search that finds and holds it), id. What is 0
// or empty is left out. Source: PGN standard of 1994, section 16.2.5.
func (p *Puzzle) AppendEPD(dst []byte) []byte {
	fields := strings.Fields(p.Position.FEN())
	dst = append(dst, strings.Join(fields[:4], " ")...)
	dst = fmt.Appendf(dst, " hmvc %s; fmvn %s; bm %s;", fields[4], fields[5], p.Position.SAN(p.Best))
	for _, o := range []struct {
		name  string
		value int64
	}{{"dm", int64(p.Mate)}, {"ce", int64(p.Score)}, {"acn", int64(p.Nodes)}, {"acd", int64(p.Depth)}} {
		if o.value != 0 {
			dst = fmt.Appendf(dst, " %s %d;", o.name, o.value)
		}
	}
	if p.ID != "" {
		dst = fmt.Appendf(dst, " id \"%s\";", p.ID)
	}
	return dst
}

// Parse reads a line of AppendEPD, or what another program wrote of the kind: bm must
// name one legal move, as SAN or UCI. Other operations are passed over. Errors wrap
// [ErrBad].
func Parse(v *chess.Variant, line string) (Puzzle, error) {
	p, err := parse(v, line)
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrBad, err)
	}
	return p, err
}

func parse(v *chess.Variant, line string) (p Puzzle, err error) {
	if len(line) > maxLine {
		return p, fmt.Errorf("found a line of %d bytes, expected at most %d", len(line), maxLine)
	}
	pos, operations, err := chess.ParseEPD(v, line)
	if err != nil {
		return p, err
	}
	pos.SetChess960(false) // stays where it is needed; else a FEN would not keep it
	p.Position = pos
	moves := strings.Fields(operations["bm"])
	if len(moves) != 1 {
		return p, fmt.Errorf("found %d best moves (bm), expected one", len(moves))
	}
	if p.Best, err = pos.ParseSAN(moves[0]); err != nil {
		var uciErr error
		if p.Best, uciErr = pos.ParseUCI(moves[0]); uciErr != nil {
			return p, fmt.Errorf("bm: %w", err)
		}
	}
	var mate, score, nodes, depth int64
	for _, o := range []struct {
		name      string
		value     *int64
		low, high int64
	}{
		{"dm", &mate, 1, search.MaxPly / 2},
		{"ce", &score, -int64(search.MateScore), int64(search.MateScore)},
		{"acn", &nodes, 0, 1 << 53},
		{"acd", &depth, 0, search.MaxPly},
	} {
		text, given := operations[o.name]
		if !given {
			continue
		}
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < o.low || n > o.high {
			return p, fmt.Errorf("%s: found %.40q, expected a number from %d to %d", o.name, text, o.low, o.high)
		}
		*o.value = n
	}
	p.Mate, p.Score, p.Nodes, p.Depth = int(mate), search.Score(score), uint64(nodes), int(depth)
	if p.ID = operations["id"]; !goodID(p.ID) {
		return p, fmt.Errorf("id: found %.40q, expected at most %d printable characters without quotation marks", p.ID, maxID)
	}
	return p, nil
}

// goodID reports whether an id can stand in an EPD and come back from it.
func goodID(id string) bool {
	if len(id) > maxID || strings.TrimSpace(id) != id {
		return false
	}
	for _, r := range id {
		if r < ' ' || r == '"' || r == 0x7f || r == '\uFFFD' {
			return false
		}
	}
	return true
}

// Read reads a file of puzzles, one a line, plain or packed by gzip. Empty lines and
// those that begin with # are skipped. A position may stand once only. Errors wrap
// [ErrBad] and name the line, or are those of r.
func Read(r io.Reader, v *chess.Variant) ([]Puzzle, error) {
	text, err := bounded.Unpack(r, maxText, ErrBad)
	if err != nil {
		return nil, err
	}
	var list []Puzzle
	lines := make(map[uint64]int) // by position
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		p, err := Parse(v, line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if before, found := lines[p.Position.Key()]; found {
			return nil, fmt.Errorf("line %d: %w: found the position of line %d, expected each once", number, ErrBad, before)
		}
		if len(list) == maxPuzzles {
			return nil, fmt.Errorf("line %d: %w: expected at most %d puzzles", number, ErrBad, maxPuzzles)
		}
		lines[p.Position.Key()] = number
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: found no puzzles, expected one a line", ErrBad)
	}
	return list, nil
}

// EPD returns the text of a file of puzzles.
func EPD(list []Puzzle) []byte {
	var text []byte
	for i := range list {
		text = append(list[i].AppendEPD(text), '\n')
	}
	return text
}
