package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match/book"
)

func TestOpenings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "book.epd")
	if err := os.WriteFile(path, []byte("4k3/8/8/8/8/8/8/4K3[Q] w - - id \"lone\";\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, manifest, err := book.Default(chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	own := "book " + manifest.SHA256[:16]
	for i, c := range []struct {
		variant *chess.Variant
		book    string
		want    string
	}{
		{chess.Crazyhouse, "", own},
		{chess.Crazyhouse, "default", own},
		{chess.Crazyhouse, "none", "random 4-9 seed 7"},
		{chess.Chess, "", "random 4-9 seed 7"},
		{chess.Crazyhouse, path, "book "},
	} {
		o := Openings{book: c.book, min: 4, max: 9}
		got, err := o.Openings(c.variant, 7)
		if err != nil || !strings.HasPrefix(got.ID, c.want) {
			t.Errorf("case %d: %s, %v; expected %s", i, got.ID, err, c.want)
		}
	}
	o := Openings{book: "default", min: 4, max: 9}
	if got, err := o.Openings(chess.Chess, 7); err == nil {
		t.Errorf("default book of chess: %s", got.ID)
	}
}
