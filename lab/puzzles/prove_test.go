package puzzles

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// The prover finds the moves that the definition does, in positions of random games.
func TestProver(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	prover := Prover{Budget: 1 << 20}
	found := [3]int{}
	for range 40 {
		p := chess.Crazyhouse.Start()
		for range 200 {
			if !p.HasLegalMove() {
				break
			}
			if p.CountLegal() <= 50 { // for the definition to end soon
				for n := 1; n <= 2; n++ {
					found[n] += compare(t, &prover, &p, n)
				}
			}
			p.Make(game.RandomMove(&p, rng))
		}
	}
	if found[1] == 0 || found[2] == 0 {
		t.Errorf("mates in one and two in %v positions, expected some", found[1:])
	}
}

// compare compares the moves that mate in n and returns 1 if there are any.
func compare(t *testing.T, prover *Prover, p *chess.Position, n int) int {
	t.Helper()
	var moves chess.MoveList
	p.Legal(&moves)
	var want []chess.Move
	for _, m := range moves.Slice() {
		if slowForced(p, m, n) {
			want = append(want, m)
			continue
		}
		if ok, err := prover.Checks(p, m, n); ok || err != nil {
			t.Errorf("%s: %s by checks in %d: %v, %v", p.FEN(), p.UCI(m), n, ok, err)
		}
	}
	got, err := prover.Mating(p, n, moves.N)
	slices.Sort(got)
	slices.Sort(want)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("%s: %v mate in %d, %v; expected %v", p.FEN(), got, n, err, want)
	}
	return min(1, len(want))
}

// A stalemate is no mate, and a proof ends with its budget.
func TestProverEnds(t *testing.T) {
	p := position(t, "7k/8/6K1/8/8/8/8/5Q2 w - - 0 1")
	prover := Prover{Budget: 10_000}
	mating, err := prover.Mating(p, 1, 9)
	if err != nil || len(mating) != 1 || p.UCI(mating[0]) != "f1f8" {
		t.Errorf("%v, %v", mating, err)
	}
	prover.Budget = 3
	if _, err := prover.Mating(p, 2, 9); !errors.Is(err, ErrBudget) {
		t.Errorf("found %v, expected the budget to end", err)
	}
}
