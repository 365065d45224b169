package game

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

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
