package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/book"
)

// openingOptions say where games begin.
type openingOptions struct {
	book      string
	bookPlies int
	min, max  int
}

func (o *openingOptions) addFlags(f *pflag.FlagSet) {
	f.StringVar(&o.book, "book", "", `openings: an EPD, FEN or PGN file, "default" for the program's own book or "none"
for random ones; default the program's own, which crazyhouse has, else random ones`)
	f.IntVar(&o.bookPlies, "book-plies", 0, "plies of each game of a PGN book, at most; 0: all")
	f.IntVar(&o.min, "opening-min", 4, "random plies of an opening, at least")
	f.IntVar(&o.max, "opening-max", 9, "and at most")
}

// openings gives the openings of a book, or random ones.
func (o *openingOptions) openings(v *chess.Variant, seed uint64) (match.Openings, error) {
	if o.book == "none" || o.book == "" && !book.HasDefault(v) {
		return match.RandomOpenings(v, seed, o.min, o.max), nil
	}
	b, err := openBook(o.book, v, book.Options{Plies: o.bookPlies})
	if err != nil {
		return match.Openings{}, err
	}
	return match.FromBook(b, seed), nil
}

// openBook reads a book, which is the program's own without a name.
func openBook(name string, v *chess.Variant, o book.Options) (*book.Book, error) {
	if name == "" || name == "default" {
		b, _, err := book.Default(v)
		return b, err
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := book.Read(f, v, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}
