package lab

import (
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// Rows that won or lost nearly all of their games are warned of, wherever the scale has its zero.
func TestNearlyAllGames(t *testing.T) {
	const elo = 2000 // of the anchor
	warned := func(even bool) (names []string) {
		anchor := float64(elo)
		f := &Field{Rows: 2, Players: 3, Seeds: 1, Given: []*float64{nil, nil, &anchor}, SD: make([]float64, 3)}
		for _, m := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
			s := Scores{A: m[0], B: m[1]}
			for k := range 100 {
				result := rating.Win // of row 0
				if even {
					result = rating.Outcome(2 * (k % 2))
				}
				if m[0] == 1 { // who loses what row 0 wins
					result = rating.Win - result
				}
				s.Pairs = append(s.Pairs, [2]rating.Outcome{result, result})
			}
			f.Scores = append(f.Scores, s)
		}
		ratings, err := Rate(t.Context(), f, 1)
		if err != nil {
			t.Fatal(err)
		}
		r := &Results{Rows: []Row{{Name: "a"}, {Name: "b"}}, Stages: []StageResult{{Stage: AtNodes, Ratings: ratings, shares: []float64{f.share(0), f.share(1)}}}}
		r.warn(&Plan{Compare: configs.Compare{Seeds: 3}})
		for _, w := range r.Warnings {
			if name, ok := strings.CutSuffix(w, " won or lost nearly all games, so its rating says little more than that"); ok {
				names = append(names, strings.TrimPrefix(name, "At fixed nodes: "))
			}
		}
		return names
	}
	if found := warned(true); len(found) > 0 {
		t.Errorf("even games against one of %d Elo: warned of %q", elo, found)
	}
	if found := warned(false); !slices.Equal(found, []string{"a", "b"}) {
		t.Errorf("games all won and all lost: warned of %q, expected both rows", found)
	}
}
