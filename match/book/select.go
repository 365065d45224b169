package book

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrTooFew says that walks gave fewer positions than a book was to have.
var ErrTooFew = errors.New("book: too few positions")

// Selection says which walks make a book. All fields are required but
// Oversample and MaxWalks.
type Selection struct {
	Count int // positions of the book
	// Lo and Hi are the band: the scores, in centipawns from White's side, that
	// a position may have.
	Lo, Hi search.Score
	// Scores is the number of strata of equal width the band is cut into.
	Scores int
	// Hands are the strata of pieces in hand, both sides' together: the least
	// number of each, from 0 and rising. In a variant without hands it is {0}.
	Hands []int
	// Oversample is how many different positions within the band are awaited
	// for each one kept, 1 at least, for the strata to come out even.
	Oversample float64
	// MaxWalks bounds the walks looked at; 0 means 50 for each position
	// awaited.
	MaxWalks int
}

func (s *Selection) validate() error {
	switch {
	case s.Count < 1 || s.Count > maxBook:
		return fmt.Errorf("%w: a book of %d positions, expected 1 to %d", ErrSettings, s.Count, maxBook)
	case s.Lo > s.Hi || s.Lo.IsMate() || s.Hi.IsMate():
		return fmt.Errorf("%w: a band from %d to %d centipawns, expected a range without mates", ErrSettings, s.Lo, s.Hi)
	case s.Scores < 1 || s.Scores > int(s.Hi-s.Lo)+1:
		return fmt.Errorf("%w: %d strata of score, expected 1 to %d", ErrSettings, s.Scores, s.Hi-s.Lo+1)
	case len(s.Hands) == 0 || s.Hands[0] != 0 || !rising(s.Hands):
		return fmt.Errorf("%w: strata of pieces in hand begin at %v, expected rising numbers from 0", ErrSettings, s.Hands)
	case !(s.Oversample >= 1) || s.Oversample > 1000:
		return fmt.Errorf("%w: oversampling by %v, expected 1 to 1000", ErrSettings, s.Oversample)
	case s.MaxWalks < 0:
		return fmt.Errorf("%w: at most %d walks, expected 0 or more", ErrSettings, s.MaxWalks)
	}
	return nil
}

func rising(a []int) bool {
	for i, n := range a[1:] {
		if n <= a[i] {
			return false
		}
	}
	return true
}

// Stratum is one kind of position of a book.
type Stratum struct {
	Score [2]search.Score `json:"score"` // from and to, centipawns from White's side
	Hands [2]int          `json:"hands"` // from and to, pieces in both hands; to is -1 for any number
	Side  string          `json:"side"`  // to move, "white" or "black"
	Found int             `json:"found"` // different positions
	Taken int             `json:"taken"` // of these in the book
}

// strata lists the kinds of positions of a selection, nothing found yet.
func (s *Selection) strata() []Stratum {
	var all []Stratum
	for i := range s.Scores {
		for j, hands := range s.Hands {
			to := -1
			if j+1 < len(s.Hands) {
				to = s.Hands[j+1] - 1
			}
			for side := chess.White; side <= chess.Black; side++ {
				all = append(all, Stratum{
					Score: [2]search.Score{s.edge(i), s.edge(i+1) - 1},
					Hands: [2]int{hands, to},
					Side:  side.String(),
				})
			}
		}
	}
	return all
}

// edge returns the least score of stratum i of scores.
func (s *Selection) edge(i int) search.Score {
	return s.Lo + search.Score(i)*(s.Hi+1-s.Lo)/search.Score(s.Scores)
}

// stratum returns the index in strata of a position whose score is in the band.
func (s *Selection) stratum(w *Walk) int {
	score := 0
	for score+1 < s.Scores && w.Score >= s.edge(score+1) {
		score++
	}
	inHand, hands := piecesInHand(&w.End), 0
	for hands+1 < len(s.Hands) && inHand >= s.Hands[hands+1] {
		hands++
	}
	return (score*len(s.Hands)+hands)*2 + int(w.End.SideToMove())
}

// piecesInHand counts the pieces in both hands.
func piecesInHand(p *chess.Position) int {
	return p.Hand(chess.White).Total() + p.Hand(chess.Black).Total()
}

// Census counts what became of the walks a selection looked at.
type Census struct {
	Walks      int `json:"walks"`
	Ended      int `json:"ended"`       // the game
	Lopsided   int `json:"lopsided"`    // given up on the way
	Check      int `json:"check"`       // ended in check
	OutOfBand  int `json:"out_of_band"` // by the judge's score
	Duplicates int `json:"duplicates"`  // of a position found before, or of it with the colours reversed
	Found      int `json:"found"`       // what is left to choose from
}

// Selector chooses the positions of a book from walks that come in order. The
// choice depends on the selection, the walks and the seed alone.
type Selector struct {
	selection Selection
	seed      uint64
	seen      map[uint64]bool
	found     [][]Walk // by stratum
	Census    Census
}

// NewSelector returns a selector that has seen no walks. The seed is that of the
// order of the book. Errors wrap [ErrSettings].
func NewSelector(s Selection, seed uint64) (*Selector, error) {
	if err := s.validate(); err != nil {
		return nil, err
	}
	if s.MaxWalks == 0 {
		s.MaxWalks = int(50 * float64(s.Count) * s.Oversample)
	}
	return &Selector{selection: s, seed: seed, seen: map[uint64]bool{}, found: make([][]Walk, len(s.strata()))}, nil
}

// Add looks at the next walk and reports whether more are wanted: until there
// are enough of every stratum, enough altogether, or too many walks.
func (s *Selector) Add(w Walk) (more bool, err error) {
	c := &s.Census
	c.Walks++
	switch {
	case w.Verdict == Ended:
		c.Ended++
	case w.Verdict == Lopsided:
		c.Lopsided++
	case w.Verdict == Check:
		c.Check++
	case w.Score < s.selection.Lo || w.Score > s.selection.Hi:
		c.OutOfBand++
	default:
		id, err := identity(&w.End)
		if err != nil {
			return false, err
		}
		if s.seen[id] {
			c.Duplicates++
			break
		}
		s.seen[id] = true
		i := s.selection.stratum(&w)
		s.found[i] = append(s.found[i], w)
		c.Found++
	}
	return c.Walks < s.selection.MaxWalks && !s.enough(), nil
}

// enough reports whether there are as many positions as were awaited, or as many
// of every stratum as an even book would have.
func (s *Selector) enough() bool {
	if float64(s.Census.Found) >= float64(s.selection.Count)*s.selection.Oversample {
		return true
	}
	share := (s.selection.Count + len(s.found) - 1) / len(s.found)
	return !slices.ContainsFunc(s.found, func(f []Walk) bool { return len(f) < share })
}

// Select returns the positions of the book in the order they have there, and
// what was found and taken of each stratum. Strata come out as even as what was
// found allows. The error is [ErrTooFew].
func (s *Selector) Select() ([]Walk, []Stratum, error) {
	if s.Census.Found < s.selection.Count {
		return nil, nil, fmt.Errorf("%w: found %d within the band after %d walks, expected %d",
			ErrTooFew, s.Census.Found, s.Census.Walks, s.selection.Count)
	}
	strata := s.selection.strata()
	var book []Walk
	for len(book) < s.selection.Count {
		for i := range strata {
			if taken := &strata[i].Taken; *taken < len(s.found[i]) && len(book) < s.selection.Count {
				book = append(book, s.found[i][*taken])
				*taken++
			}
		}
	}
	for i := range strata {
		strata[i].Found = len(s.found[i])
	}
	rng := rand.New(rand.NewPCG(s.seed, shuffleStream))
	rng.Shuffle(len(book), func(i, j int) { book[i], book[j] = book[j], book[i] })
	return book, strata, nil
}

// shuffleStream is the stream of random numbers that orders a book; those below
// belong to the walks.
const shuffleStream = 1 << 63
