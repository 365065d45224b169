package book

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/bounded"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrBad is wrapped by every error about the content of a book.
var ErrBad = errors.New("bad opening book")

// Bounds of what Read accepts.
const (
	maxBook = 1 << 20   // openings
	maxText = 256 << 20 // bytes, unpacked
)

// Entry is one opening of a book.
type Entry struct {
	// Opening has an ID: the one the book gives it, else its number in the
	// book, from 1.
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
	// Plies is Options.Plies.
	Plies int
}

// Shuffled returns the openings in an order that the seed gives, and how many of them differ.
// These are the first; behind them are those that the book has once more, as one of games cut
// after a few plies often has.
func (b *Book) Shuffled(seed uint64) (entries []Entry, distinct int) {
	entries = slices.Clone(b.Entries)
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
	seen := make(map[string]bool, len(entries))
	var again []Entry
	for _, e := range entries {
		key := fmt.Sprintf("%s %d", e.Start.FEN(), e.Moves)
		if seen[key] {
			again = append(again, e)
			continue
		}
		seen[key] = true
		entries[distinct] = e
		distinct++
	}
	copy(entries[distinct:], again)
	return entries, distinct
}

// Options say how to read a book.
type Options struct {
	// Plies is how many plies of the games in a PGN book an opening has at
	// most; 0 means all. Positions are refused with it.
	Plies int
}

// Read reads a book of v: PGN if it begins with a tag, else EPD or FEN, one
// position a line; either may be packed by gzip. Empty lines of EPD and those
// that begin with # or % are skipped. In no opening may the game be over.
// Errors wrap [ErrBad], and name the line, or are those of r.
func Read(r io.Reader, v *chess.Variant, o Options) (*Book, error) {
	text, err := bounded.Unpack(r, maxText, ErrBad)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	b := &Book{Variant: v, SHA256: hex.EncodeToString(sum[:]), Plies: o.Plies}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if bytes.HasPrefix(text, []byte("[")) {
		err = b.readPGN(text, o.Plies)
	} else if o.Plies > 0 {
		err = fmt.Errorf("%w: found positions, expected games of PGN, whose plies can be cut", ErrBad)
	} else {
		err = b.readEPD(string(text))
	}
	if err != nil {
		return nil, err
	}
	if len(b.Entries) == 0 {
		return nil, fmt.Errorf("%w: no openings", ErrBad)
	}
	return b, nil
}

// readEPD reads the openings of a text with one position a line.
func (b *Book) readEPD(text string) error {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || line[0] == '%' {
			continue
		}
		e, err := parseEPD(b.Variant, line)
		if err == nil {
			err = b.add(e)
		}
		if err != nil {
			return fmt.Errorf("%w: line %d: %w", ErrBad, number, err)
		}
	}
	return nil
}

// add adds an opening, which gets its number as its ID if it has none.
func (b *Book) add(e Entry) error {
	if len(b.Entries) == maxBook {
		return fmt.Errorf("more than %d openings", maxBook)
	}
	line := chess.NewLine(e.Start)
	for _, m := range e.Moves {
		line.Push(m)
	}
	if outcome, reason := line.Outcome(); outcome != chess.Ongoing {
		return fmt.Errorf("the game is over before it begins: %s", game.ReasonText(reason))
	}
	if e.ID == "" {
		e.ID = strconv.Itoa(len(b.Entries) + 1)
	}
	b.Entries = append(b.Entries, e)
	return nil
}
