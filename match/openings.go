package match

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/book"
)

// Openings gives every pair its opening.
type Openings struct {
	// ID names the way openings are chosen, for records: two Openings with
	// the same ID give every pair the same opening.
	ID string
	// Distinct is how many different openings there are, after which they come again;
	// 0 is without end. See [Config.Bound].
	Distinct int
	// Opening returns the opening of a pair, always the same for the same
	// number. It is called from several goroutines. An error ends the match.
	Opening func(pair int) (game.Opening, error)
}

// OpeningText writes an opening as UCI's position command does: "fen FEN", or
// "fen FEN moves …". The error wraps [game.ErrOpening].
func OpeningText(o game.Opening) (string, error) {
	line := chess.NewLine(o.Start)
	text := []byte("fen " + o.Start.FEN())
	for i, m := range o.Moves {
		p := line.Pos()
		if !p.IsLegal(m) {
			return "", fmt.Errorf("%w: ply %d: move %04x is not legal in %s", game.ErrOpening, i, uint16(m), p.FEN())
		}
		if i == 0 {
			text = append(text, " moves"...)
		}
		text = p.AppendUCI(append(text, ' '), m)
		line.Push(m)
	}
	return string(text), nil
}

// maxOpeningText bounds the text of an opening, in bytes: a FEN and the moves of
// the longest game.
const maxOpeningText = 32 << 10

// ParseOpening reads what [OpeningText] writes; the ID is not part of it. The error
// wraps [game.ErrOpening].
func ParseOpening(v *chess.Variant, text string) (game.Opening, error) {
	bad := func(err error) (game.Opening, error) {
		return game.Opening{}, fmt.Errorf("%w: %.200q: %w", game.ErrOpening, text, err)
	}
	fen, ok := strings.CutPrefix(text, "fen ")
	if !ok || len(text) > maxOpeningText {
		return bad(fmt.Errorf("%d bytes, expected \"fen \" and a position, in at most %d", len(text), maxOpeningText))
	}
	fen, moves, _ := strings.Cut(fen, " moves ")
	start, err := chess.ParseFEN(v, fen)
	if err != nil {
		return bad(err)
	}
	o := game.Opening{Start: start}
	line := chess.NewLine(start)
	for _, move := range strings.Fields(moves) {
		m, err := line.Pos().ParseUCI(move)
		if err != nil {
			return bad(err)
		}
		if len(o.Moves) == game.MaxGamePlies {
			return bad(fmt.Errorf("more than %d moves", game.MaxGamePlies))
		}
		o.Moves = append(o.Moves, m)
		line.Push(m)
	}
	return o, nil
}

// RandomOpenings plays between minPlies and maxPlies random legal moves from
// the start of the variant, other ones for every seed and pair, as
// [game.RandomOpening] does.
func RandomOpenings(v *chess.Variant, seed uint64, minPlies, maxPlies int) Openings {
	return Openings{
		ID: fmt.Sprintf("random %d-%d seed %d", minPlies, maxPlies, seed),
		Opening: func(pair int) (game.Opening, error) {
			o, err := game.RandomOpening(v.Start(), rand.New(rand.NewPCG(seed, uint64(pair))), minPlies, maxPlies, nil)
			o.ID = strconv.Itoa(pair)
			return o, err
		},
	}
}

// FromBook gives the openings of a book in an order shuffled by the seed, those that it has
// once more behind all that differ, and after the last goes through it again.
func FromBook(b *book.Book, seed uint64) Openings {
	entries, distinct := b.Shuffled(seed)
	id := fmt.Sprintf("book %s seed %d", b.SHA256[:16], seed)
	if b.Plies > 0 {
		id += fmt.Sprintf(" plies %d", b.Plies)
	}
	if distinct < len(entries) { // older logs have them in another order
		id += " repeats last"
	}
	return Openings{
		ID: id, Distinct: distinct,
		Opening: func(pair int) (game.Opening, error) {
			return entries[pair%len(entries)].Opening, nil
		},
	}
}
