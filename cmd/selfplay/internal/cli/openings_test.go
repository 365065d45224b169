package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match/book"
)

// openings are those that flags say.
func openings(t *testing.T, args ...string) *Openings {
	t.Helper()
	var o Openings
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	o.AddFlags(f)
	if err := f.Parse(args); err != nil {
		t.Fatal(err)
	}
	return &o
}

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
		o := openings(t, "--book", c.book)
		got, err := o.Openings(c.variant, 7)
		if err != nil || !strings.HasPrefix(got.ID, c.want) {
			t.Errorf("case %d: %s, %v; expected %s", i, got.ID, err, c.want)
		}
	}
	o := openings(t, "--book", "default")
	if got, err := o.Openings(chess.Chess, 7); err == nil {
		t.Errorf("default book of chess: %s", got.ID)
	}
}
