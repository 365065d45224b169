package search_test

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/search"
)

func TestScoreString(t *testing.T) {
	for _, tc := range []struct {
		score search.Score
		want  string
		moves int
	}{
		{0, "cp 0", 0},
		{12, "cp 12", 0},
		{-317, "cp -317", 0},
		{search.MateScore - search.MaxPly - 1, "cp 31871", 0},
		{search.MateAfter(1), "mate 1", 1},
		{search.MateAfter(2), "mate 1", 1},
		{search.MateAfter(3), "mate 2", 2},
		{search.MateAfter(5), "mate 3", 3},
		{search.MateAfter(search.MaxPly), "mate 64", 64},
		{search.MatedAfter(0), "mate 0", 0},
		{search.MatedAfter(2), "mate -1", -1},
		{search.MatedAfter(6), "mate -3", -3},
		{search.MatedAfter(search.MaxPly), "mate -64", -64},
	} {
		if got := tc.score.String(); got != tc.want {
			t.Errorf("Score(%d).String() = %q, want %q", tc.score, got, tc.want)
		}
		if got := tc.score.MateIn(); got != tc.moves {
			t.Errorf("Score(%d).MateIn() = %d, want %d", tc.score, got, tc.moves)
		}
	}
}

func TestScoreIsMate(t *testing.T) {
	for n := 0; n <= search.MaxPly; n++ {
		if s := search.MateAfter(n); !s.IsMate() || -s != search.MatedAfter(n) {
			t.Errorf("MateAfter(%d) = %d: not a mate score, or not the opposite of MatedAfter", n, s)
		}
	}
	for _, s := range []search.Score{0, 10000, -10000, search.MateScore - search.MaxPly - 1} {
		if s.IsMate() {
			t.Errorf("Score(%d).IsMate() = true, want false", s)
		}
	}
}

func TestBoundString(t *testing.T) {
	for b, want := range map[search.Bound]string{
		search.Exact: "exact", search.Lower: "lowerbound", search.Upper: "upperbound", 7: "Bound(7)",
	} {
		if got := b.String(); got != want {
			t.Errorf("Bound(%d).String() = %q, want %q", b, got, want)
		}
	}
}
