package cli

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/book"
)

// Openings are the flags that say where games begin.
type Openings struct {
	book      string
	bookPlies int
	min, max  int
	flags     *pflag.FlagSet
}

// AddFlags declares the flags and sets their defaults.
func (o *Openings) AddFlags(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.book, "book", "", `openings: an EPD, FEN or PGN file, "default" for the program's own book or "none"
for random ones; default the program's own, which crazyhouse has, else random ones`)
	f.IntVar(&o.bookPlies, "book-plies", 0, "plies of each game of a PGN book, at most; 0: all")
	f.IntVar(&o.min, "opening-min", 4, "random plies of an opening at least")
	f.IntVar(&o.max, "opening-max", 9, "random plies of an opening at most")
}

// Openings gives the openings of a book, or random ones.
func (o *Openings) Openings(v *chess.Variant, seed uint64) (match.Openings, error) {
	random := o.book == "none" || o.book == "" && !book.HasDefault(v)
	if err := Needs(o.flags, "--book none", random, "opening-min", "opening-max"); err != nil {
		return match.Openings{}, err
	}
	ofFile := o.book != "" && o.book != "default" && o.book != "none"
	if err := Needs(o.flags, "a --book of PGN", ofFile, "book-plies"); err != nil {
		return match.Openings{}, err
	}
	if o.min < 0 || o.max < o.min || o.max >= game.MaxGamePlies {
		return match.Openings{}, fmt.Errorf("%w: found --opening-min %d --opening-max %d, expected a range within 0 to %d", ErrUsage, o.min, o.max, game.MaxGamePlies-1)
	}
	if random {
		return match.RandomOpenings(v, seed, o.min, o.max), nil
	}
	b, err := book.Open(o.book, v, book.Options{Plies: o.bookPlies})
	if err != nil {
		return match.Openings{}, err
	}
	return match.FromBook(b, seed), nil
}
