package lab

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// A comparison plays no opening of a book twice, and says so before anything is trained.
func TestSmallBook(t *testing.T) {
	dir := t.TempDir()
	book, rungs := filepath.Join(dir, "book.epd"), filepath.Join(dir, "rungs.yaml")
	err := errors.Join(
		os.WriteFile(book, []byte(strings.Repeat("4k3/8/8/8/8/8/8/4K3[Q] w - -\n", 2)+"4k3/8/8/8/8/8/8/4K3[Q] b - -\n"), 0o644),
		os.WriteFile(rungs, []byte(`{schema: 1, variant: crazyhouse, games: 2, seed: 1, nodes: 20, anchors: [{name: m, player: "material,nodes=10", elo: 0}]}`), 0o644))
	if err != nil {
		t.Fatal(err)
	}
	data := games(t, 1, 12)
	for _, tc := range []struct {
		book          string
		pairs, ladder int
		want          string
	}{
		{book, 2, 0, ""},
		{book, 2, 2, ""},
		{"none", 3, 0, ""},
		{book, 3, 0, "games.pairs: found 3, expected at most 2"},
		{book, 2, 3, "games.ladder: found 3, expected at most 2"},
		{"", 5001, 0, "games.pairs: found 5001, expected at most 5000"},
	} {
		c := comparison(t, data)
		c.Games.Book, c.Games.Pairs, c.Games.Ladder, c.Games.Rungs = tc.book, tc.pairs, tc.ladder, rungs
		_, err := NewPlan(t.Context(), c, options(t.TempDir()), false)
		if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, configs.ErrInvalid) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: error %v", tc, err)
		}
	}
}
