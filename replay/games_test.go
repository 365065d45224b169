package replay

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
)

func TestVisitGames(t *testing.T) {
	dir := t.TempDir()
	b := openBuffer(t, dir, testOptions())
	defer b.Close()
	appendGames(t, b, testGames(t, 0, 40))
	var damage []Damage
	visit := func(most int) (ids []string) {
		t.Helper()
		damage = nil
		_, err := VisitGames(dir, func(g *game.Game) bool {
			ids = append(ids, g.ID)
			return len(ids) < most
		}, func(d Damage) { damage = append(damage, d) })
		if err != nil {
			t.Fatal(err)
		}
		return ids
	}
	var want []string
	for i := range 40 {
		want = append(want, gameID(i))
	}
	if ids := visit(1000); !slices.Equal(ids, want) {
		t.Errorf("found games %q, expected %q", ids, want)
	}
	if ids := visit(7); !slices.Equal(ids, want[:7]) {
		t.Errorf("found games %q before the end asked for, expected %q", ids, want[:7])
	}
	if len(damage) > 0 {
		t.Errorf("found damage %v, expected none", damage)
	}

	path := segmentFiles(t, dir)[0]
	data := readFile(t, path)
	data[headerBytes+frameBytes+5] ^= 1 // in the first game
	writeFile(t, path, data)
	if ids := visit(1000); !slices.Equal(ids, want[1:]) {
		t.Errorf("found games %q beside a damaged one, expected %q", ids, want[1:])
	}
	if len(damage) != 1 || damage[0].Segment != filepath.Base(path) || damage[0].Offset != headerBytes || damage[0].Reason != "no whole record" {
		t.Errorf("found damage %v, expected the first record of %s", damage, filepath.Base(path))
	}
	if _, err := VisitGames(filepath.Join(dir, "none"), func(*game.Game) bool { return true }, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: error %v", err)
	}
}
