package puzzles

import (
	"bytes"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/bounded"
)

func shipped(t *testing.T) []Puzzle {
	t.Helper()
	set, err := Default(chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// The program's own set has 1,000 puzzles, each written as it stands, graded, with the
// game it is from, and a choice of moves.
func TestDefault(t *testing.T) {
	set := shipped(t)
	if len(set) != 1000 || len(crazyhousePuzzles) > 200<<10 {
		t.Errorf("%d puzzles in %d bytes", len(set), len(crazyhousePuzzles))
	}
	text, err := bounded.Unpack(bytes.NewReader(crazyhousePuzzles), maxText, ErrBad)
	if err != nil || !bytes.Equal(text, EPD(set)) {
		t.Errorf("the set is not written as AppendEPD writes it: %v", err)
	}
	s := DefaultSettings()
	for i := range set {
		p := &set[i]
		if !p.Position.IsLegal(p.Best) || p.Position.CountLegal() < 2 || p.ID == "" || p.Grade() < 1 || p.Grade() > len(gradeNodes) ||
			p.Mate > s.Mate || p.Mate == 0 && p.Score < s.Win || p.Mate > 0 && p.Score != 0 || len(p.Position.Warnings()) > 0 {
			t.Errorf("puzzle %d: %s", i+1, p.AppendEPD(nil))
		}
	}
	if _, err := Default(chess.Chess); err == nil {
		t.Error("found puzzles of chess")
	}
}

// Mates of the set are what they say, by the definition: no shorter mate, one move
// that mates in so many. Of mates in three, which take long to exhaust, it is shown
// that they mate and that no move mates in two.
func TestDefaultMates(t *testing.T) {
	for i, p := range shipped(t) {
		if p.Mate == 0 || p.Mate > provedMate || testing.Short() && i%8 != 0 {
			continue
		}
		t.Run(p.ID, func(t *testing.T) {
			if p.Mate < provedMate {
				checkMate(t, &p)
				return
			}
			if !slowForced(&p.Position, p.Best, p.Mate) || slowMates(&p.Position, 2) {
				t.Errorf("%s: no mate, or a faster one", p.AppendEPD(nil))
			}
		})
	}
}

// checkMate checks a short mate by the definition.
func checkMate(t *testing.T, p *Puzzle) {
	t.Helper()
	if p.Mate > 1 && slowMates(&p.Position, p.Mate-1) {
		t.Errorf("%s: there is a faster mate", p.AppendEPD(nil))
	}
	var moves chess.MoveList
	p.Position.Legal(&moves)
	for _, m := range moves.Slice() {
		if slowForced(&p.Position, m, p.Mate) != (m == p.Best) {
			t.Errorf("%s: %s mates, or the best move does not", p.AppendEPD(nil), p.Position.SAN(m))
		}
	}
}

// Mates that are too long for the definition are proved by the prover: those in three
// to be the only ones, longer ones by checks.
func TestDefaultLongMates(t *testing.T) {
	for i, p := range shipped(t) {
		if p.Mate < provedMate || testing.Short() && i%20 != 0 {
			continue
		}
		if p.Mate == provedMate {
			mating, err := prover().Mating(&p.Position, p.Mate, 2)
			if err != nil || len(mating) != 1 || mating[0] != p.Best {
				t.Errorf("%s: %v, %v", p.AppendEPD(nil), mating, err)
			}
			continue
		}
		if ok, err := prover().Checks(&p.Position, p.Best, p.Mate); !ok || err != nil {
			t.Errorf("%s: not proved, %v", p.AppendEPD(nil), err)
		}
	}
}
