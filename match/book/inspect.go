package book

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Facts are what Inspect finds in a book, about the positions that games begin
// from.
type Facts struct {
	SHA256     string
	Openings   int
	Duplicates int         // of others, or of them with the colours reversed
	ToMove     [2]int      // by colour
	InCheck    int         // the side to move
	Hands      map[int]int // openings by pieces in both hands
	Scored     int         // openings the book gives a score
	// Scores are the least, the quartiles and the greatest of these, in centipawns
	// from White's side.
	Scores [5]search.Score
}

// Inspect counts what is in a book.
func Inspect(b *Book) (*Facts, error) {
	f := &Facts{SHA256: b.SHA256, Openings: len(b.Entries), Hands: map[int]int{}}
	seen := map[uint64]bool{}
	var scores []search.Score
	for _, e := range b.Entries {
		line := chess.NewLine(e.Start)
		for _, m := range e.Moves {
			line.Push(m)
		}
		p := line.Pos()
		id, err := identity(p)
		if err != nil {
			return nil, err
		}
		if seen[id] {
			f.Duplicates++
		}
		seen[id] = true
		f.ToMove[p.SideToMove()]++
		if p.InCheck() {
			f.InCheck++
		}
		f.Hands[piecesInHand(p)]++
		if e.HasScore {
			scores = append(scores, e.Score)
		}
	}
	f.Scored = len(scores)
	slices.Sort(scores)
	for i := range f.Scores {
		if len(scores) > 0 {
			f.Scores[i] = scores[i*(len(scores)-1)/(len(f.Scores)-1)]
		}
	}
	return f, nil
}

// String returns the facts as lines of text.
func (f *Facts) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "openings: %d, SHA-256 %s\n", f.Openings, f.SHA256)
	fmt.Fprintf(&b, "duplicates: %d; in check: %d\n", f.Duplicates, f.InCheck)
	fmt.Fprintf(&b, "to move: White %d, Black %d\n", f.ToMove[chess.White], f.ToMove[chess.Black])
	b.WriteString("pieces in hand:")
	most := 0
	for n := range f.Hands {
		most = max(most, n)
	}
	for n := range most + 1 {
		if f.Hands[n] > 0 {
			fmt.Fprintf(&b, " %d: %d", n, f.Hands[n])
		}
	}
	if f.Scored > 0 {
		fmt.Fprintf(&b, "\nquartiles of %d scores, centipawns from White's side:", f.Scored)
		for _, s := range f.Scores {
			fmt.Fprintf(&b, " %d", int(s))
		}
	}
	b.WriteByte('\n')
	return b.String()
}

// String says what White scored, in words.
func (s WhiteScore) String() string {
	return fmt.Sprintf("White scores %.2f +/- %.2f %% in %d games (%d won, %d drawn) of %s, %s",
		s.Percent, s.Error, s.Games, s.Wins, s.Draws, s.Player.Name, s.Player.Limits)
}
