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

func TestMovesText(t *testing.T) {
	p := chess.Crazyhouse.Start()
	var moves []chess.Move
	at := p
	for _, text := range []string{"e2e4", "d7d5", "e4d5", "d8d5", "P@e4"} {
		m, err := at.ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		at.Make(m)
		moves = append(moves, m)
	}
	if got, want := MovesText(&p, moves), "1. e4 d5 2. exd5 Qxd5 3. P@e4"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
	p.Make(moves[0])
	if got, want := MovesText(&p, moves[1:3]), "1... d5 2. exd5"; got != want {
		t.Errorf("found %q, expected %q", got, want)
	}
}
