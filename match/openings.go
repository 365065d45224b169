package match

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// ErrBadBook is wrapped by every error about the content of an opening book.
var ErrBadBook = errors.New("match: bad opening book")

// maxBook bounds the number of positions in a book.
const maxBook = 1 << 20

// Openings gives every pair its opening.
type Openings struct {
	// ID names the way openings are chosen, for records: two Openings with
	// the same ID give every pair the same opening.
	ID string
	// Opening returns the opening of a pair, always the same for the same
	// number. It is called from several goroutines. An error ends the match.
	Opening func(pair int) (game.Opening, error)
}

// openingText writes an opening as UCI's position command does: "fen FEN", or
// "fen FEN moves …".
func openingText(o game.Opening) (string, error) {
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

// RandomOpenings plays between minPlies and maxPlies random legal moves from
// the start of the variant, other ones for every seed and pair, as
// [game.RandomOpening] does.
func RandomOpenings(v *chess.Variant, seed uint64, minPlies, maxPlies int) Openings {
	return Openings{
		ID: fmt.Sprintf("random %d-%d seed %d", minPlies, maxPlies, seed),
		Opening: func(pair int) (game.Opening, error) {
			return game.RandomOpening(v, rand.New(rand.NewPCG(seed, uint64(pair))), minPlies, maxPlies, nil)
		},
	}
}

// BookOpenings reads a book of positions, one a line, as FEN or as EPD, whose
// operations are ignored. Empty lines and lines that start with # are skipped.
// The positions are shuffled by the seed; a match with more pairs than the book
// has positions goes through it again. Errors wrap [ErrBadBook] and name the
// line.
func BookOpenings(v *chess.Variant, r io.Reader, seed uint64) (Openings, error) {
	hash := sha256.New()
	lines := bufio.NewScanner(io.TeeReader(r, hash))
	var book []chess.Position
	for n := 1; lines.Scan(); n++ {
		text := strings.TrimSpace(lines.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		if len(book) == maxBook {
			return Openings{}, fmt.Errorf("%w: line %d: more than %d positions", ErrBadBook, n, maxBook)
		}
		p, err := parseBookLine(v, text)
		if err != nil {
			return Openings{}, fmt.Errorf("%w: line %d: %w", ErrBadBook, n, err)
		}
		book = append(book, p)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return Openings{}, fmt.Errorf("%w: a line of more than %d bytes", ErrBadBook, bufio.MaxScanTokenSize)
	} else if err != nil {
		return Openings{}, fmt.Errorf("match: opening book: %w", err)
	}
	if len(book) == 0 {
		return Openings{}, fmt.Errorf("%w: no positions", ErrBadBook)
	}
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(book), func(i, j int) { book[i], book[j] = book[j], book[i] })
	return Openings{
		ID: fmt.Sprintf("book %s seed %d", hex.EncodeToString(hash.Sum(nil)[:8]), seed),
		Opening: func(pair int) (game.Opening, error) {
			return game.Opening{Start: book[pair%len(book)]}, nil
		},
	}, nil
}

// parseBookLine reads one position, in which the game must not be over.
func parseBookLine(v *chess.Variant, text string) (chess.Position, error) {
	fields := strings.Fields(text)
	if len(fields) < 4 {
		return chess.Position{}, fmt.Errorf("%d fields, expected a FEN or at least the 4 of an EPD", len(fields))
	}
	fen := strings.Join(fields[:4], " ") + " 0 1"
	if len(fields) == 6 && isNumber(fields[4]) && isNumber(fields[5]) {
		fen = text
	}
	p, err := chess.ParseFEN(v, fen)
	if err != nil {
		return chess.Position{}, err
	}
	if outcome, reason := chess.NewLine(p).Outcome(); outcome != chess.Ongoing {
		return chess.Position{}, fmt.Errorf("the game is over before it begins: %s", game.ReasonText(reason))
	}
	return p, nil
}

func isNumber(s string) bool {
	_, err := strconv.ParseUint(s, 10, 32)
	return err == nil
}
