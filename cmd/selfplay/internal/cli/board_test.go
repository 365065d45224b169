package cli

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

func TestBoard(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/8/8/8/8/3Q~K3[QPPn] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	const empty = "  .  .  .  .  .  .  .  . \n"
	want := "     black: n\n" +
		"  8  .  .  .  .  k  .  .  . \n  7" + empty + "  6" + empty + "  5" + empty + "  4" + empty + "  3" + empty + "  2" + empty +
		"  1  .  .  .  Q~ K  .  .  . \n     a  b  c  d  e  f  g  h \n     white: Q 2xP\n"
	if got := Board(&p, false); got != want {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
	want = "     white: Q 2xP\n" +
		"  1  .  .  .  K  Q~ .  .  . \n  2" + empty + "  3" + empty + "  4" + empty + "  5" + empty + "  6" + empty + "  7" + empty +
		"  8  .  .  .  k  .  .  .  . \n     h  g  f  e  d  c  b  a \n     black: n\n"
	if got := Board(&p, true); got != want {
		t.Errorf("flipped: found\n%s\nexpected\n%s", got, want)
	}
}
