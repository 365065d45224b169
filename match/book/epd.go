package book

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// parseEPD reads a position: the first four fields of a FEN; its clocks, or one
// of them, or none; and operations of EPD. Of these hmvc and fmvn stand for the clocks, ce
// (centipawns, side to move) and id are kept, and all others are passed over.
func parseEPD(v *chess.Variant, line string) (Entry, error) {
	var fields [4]string
	rest := line
	for i := range fields {
		fields[i], rest = cutField(rest)
	}
	if fields[3] == "" {
		return Entry{}, fmt.Errorf("found %.80q, expected a FEN or at least the four fields of an EPD", line)
	}
	clocks := [2]string{"0", "1"}
	for i := range clocks {
		field, after := cutField(rest)
		if n := strings.TrimSuffix(field, ";"); isNumber(n) {
			clocks[i], rest = n, after
		}
	}
	var e Entry
	ce := ""
	for rest != "" {
		var name, value string
		name, value, rest = cutOperation(rest)
		switch name {
		case "hmvc":
			clocks[0] = value
		case "fmvn":
			clocks[1] = value
		case "ce":
			ce = value
		case "id":
			e.ID = value
		}
	}
	var err error
	if e.Start, err = chess.ParseFEN(v, strings.Join(append(fields[:], clocks[:]...), " ")); err != nil {
		return Entry{}, err
	}
	if ce != "" {
		score, err := strconv.Atoi(ce)
		if err != nil || score > int(search.MateScore) || score < -int(search.MateScore) {
			return Entry{}, fmt.Errorf("found ce %.20q, expected centipawns within %d", ce, search.MateScore)
		}
		e.Score, e.HasScore = whiteScore(&e.Start, search.Score(score)), true
	}
	return e, nil
}

// cutField cuts the first field off a line.
func cutField(s string) (field, rest string) {
	s = strings.TrimLeft(s, " \t")
	if i := strings.IndexAny(s, " \t"); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

// cutOperation cuts the first operation off a line: a name, what follows it,
// without quotes, and a semicolon, which may be missing at the end.
func cutOperation(s string) (name, value, rest string) {
	quoted, end := false, len(s)
	for i := range len(s) {
		if s[i] == '"' {
			quoted = !quoted
		}
		if s[i] == ';' && !quoted {
			end = i
			break
		}
	}
	name, value = cutField(s[:end])
	return name, strings.Trim(value, " \t\""), strings.TrimPrefix(s[end:], ";")
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}

// AppendEPD appends the line that a book has for a walk: four fields of the FEN,
// the other two as hmvc and fmvn, the score as ce and "w" with the walk's number
// as id.
func (w *Walk) AppendEPD(dst []byte) []byte {
	fields := strings.Fields(w.End.FEN())
	dst = append(dst, strings.Join(fields[:4], " ")...)
	return fmt.Appendf(dst, " hmvc %s; fmvn %s; ce %d; id \"w%d\";\n", fields[4], fields[5], whiteScore(&w.End, w.Score), w.Number)
}

// EPD returns the text of a book.
func EPD(walks []Walk) []byte {
	var text []byte
	for i := range walks {
		text = walks[i].AppendEPD(text)
	}
	return text
}
