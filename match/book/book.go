package book

import (
	"errors"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrBad is wrapped by every error about the content of a book.
var ErrBad = errors.New("bad opening book")

// maxBook bounds the number of openings in a book.
const maxBook = 1 << 20

// Entry is one opening of a book.
type Entry struct {
	// Opening has an ID: the id the book gives it, else its number in the book,
	// from 1.
	game.Opening
	// Score, in centipawns from White's side, is how the book values the
	// opening's end, if HasScore.
	Score    search.Score
	HasScore bool
}

// Book is a list of openings in the order of its file.
type Book struct {
	Variant *chess.Variant
	Entries []Entry
	// SHA256 is the hash of the text, unpacked, in hexadecimal.
	SHA256 string
}

// appendEPD appends the line a book has for a walk: the first four fields of a
// FEN, the two others as hmvc and fmvn, the score as ce, which is from the side to
// move's view, and the walk's number as id.
func appendEPD(dst []byte, w *Walk) []byte {
	fen := w.End.FEN()
	for range 2 {
		fen = fen[:lastSpace(fen)]
	}
	dst = append(append(dst, fen...), " hmvc "...)
	dst = strconv.AppendInt(dst, int64(w.End.HalfmoveClock()), 10)
	dst = strconv.AppendInt(append(dst, "; fmvn "...), int64(w.End.FullmoveNumber()), 10)
	dst = strconv.AppendInt(append(dst, "; ce "...), int64(whiteScore(&w.End, w.Score)), 10)
	dst = strconv.AppendInt(append(dst, `; id "w`...), int64(w.Number), 10)
	return append(dst, "\";\n"...)
}

func lastSpace(s string) int {
	i := len(s) - 1
	for s[i] != ' ' {
		i--
	}
	return i
}

// EPD returns the text of a book of these positions.
func EPD(walks []Walk) []byte {
	var text []byte
	for i := range walks {
		text = appendEPD(text, &walks[i])
	}
	return text
}
