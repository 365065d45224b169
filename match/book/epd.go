package book

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// parseEPD reads a line of [chess.ParseEPD]. Of the operations ce (centipawns, side
// to move) and id are kept.
func parseEPD(v *chess.Variant, line string) (Entry, error) {
	start, operations, err := chess.ParseEPD(v, line)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Opening: game.Opening{ID: operations["id"], Start: start}}
	if ce := operations["ce"]; ce != "" {
		score, err := strconv.Atoi(ce)
		if err != nil || score > int(search.MateScore) || score < -int(search.MateScore) {
			return Entry{}, fmt.Errorf("found ce %.20q, expected centipawns within %d", ce, search.MateScore)
		}
		e.Score, e.HasScore = whiteScore(&e.Start, search.Score(score)), true
	}
	return e, nil
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
