package search_test

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestAdvance counts the clock through moves of every kind; in all else the
// position is the one Make gives.
func TestAdvance(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/3n4/8/8/P7/R3K3[QPp] w Q - 5 9")
	if err != nil {
		t.Fatal(err)
	}
	l := chess.NewLine(p)
	for _, step := range []struct {
		move  string
		clock int
	}{
		{"e1c1", 6}, {"d5f4", 7}, {"Q@h8", 8}, {"e8e7", 9}, {"P@g3", 0}, {"f4e6", 1}, {"h8g8", 2}, {"P@f2", 0}, {"g8e6", 0}, {"e7e6", 0}, {"c1b1", 1}, {"Q@h1", 2},
	} {
		m, err := p.ParseUCI(step.move)
		if err != nil {
			t.Fatal(err)
		}
		search.Advance(&p, m)
		l.Push(m)
		if p.HalfmoveClock() != step.clock {
			t.Errorf("after %s: found clock %d, expected %d", step.move, p.HalfmoveClock(), step.clock)
		}
		if got := search.Current(l); got != p {
			t.Errorf("after %s: found current position %s, expected %s", step.move, got.FEN(), p.FEN())
		}
		plain := *l.Pos()
		plain.SetClocks(p.HalfmoveClock(), plain.FullmoveNumber())
		if plain != p {
			t.Errorf("after %s: found %s, expected %s", step.move, p.FEN(), plain.FEN())
		}
	}
}
