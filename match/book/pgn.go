package book

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// readPGN reads the openings of a PGN text: the first plies of every game, all
// if plies is 0. A game without the tag Variant is of the book's variant.
func (b *Book) readPGN(text []byte, plies int) error {
	r := game.NewPGNReader(bytes.NewReader(text))
	for {
		rec, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBad, err)
		}
		opening, err := b.pgnOpening(rec, plies)
		if err == nil {
			err = b.add(Entry{Opening: opening})
		}
		if err != nil {
			return fmt.Errorf("%w: game of line %d: %w", ErrBad, rec.Line, err)
		}
	}
}

// pgnOpening returns the opening of a game.
func (b *Book) pgnOpening(rec *game.PGNRecord, plies int) (game.Opening, error) {
	if rec.Tags["Variant"] == "" {
		rec.Tags["Variant"] = b.Variant.Name
	}
	rec.Result = chess.Ongoing // how the game went on is no matter of the book
	if plies > 0 && len(rec.Moves) > plies {
		rec.Moves = rec.Moves[:plies]
	}
	g, err := rec.Game()
	if err != nil {
		return game.Opening{}, err
	}
	if g.Variant != b.Variant {
		return game.Opening{}, fmt.Errorf("found variant %s, expected %s", g.Variant.Name, b.Variant.Name)
	}
	return game.Opening{Start: g.Start, Moves: g.Line().Moves()}, nil
}
