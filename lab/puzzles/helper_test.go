package puzzles

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/player"
)

// Positions of crazyhouse with one best move.
const (
	mateIn1 = `7k/8/5K2/8/8/8/8/6Q1[r] w - - hmvc 0; fmvn 1; bm Qg7#; dm 1; acn 100; acd 2; id "a/0";`
	ladder  = `k7/8/8/8/8/8/8/1R4K1[R] w - - hmvc 0; fmvn 1; bm R@a1#; dm 1; id "b/1";`
	aWin    = `4k3/8/8/8/8/8/3KP3/R6q[] b - - hmvc 3; fmvn 9; bm Qxa1; ce 900; acn 10000; acd 5; id "c; of all/2";`
	smother = `6rk/6pp/8/8/8/8/8/K7[Np] w - - hmvc 0; fmvn 1; bm N@f7#; dm 1;`
)

func puzzle(t *testing.T, line string) Puzzle {
	t.Helper()
	p, err := Parse(chess.Crazyhouse, line)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func position(t *testing.T, fen string) *chess.Position {
	t.Helper()
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

func maker(t *testing.T, text string) *player.Maker {
	t.Helper()
	spec, err := player.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	m, err := spec.Load(t.Context(), chess.Crazyhouse, player.Defaults{HashMB: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// slowMates is what a Prover proves, by its definition: a move of the side to move
// after which every reply leaves a mate in fewer moves.
func slowMates(p *chess.Position, n int) bool {
	var moves chess.MoveList
	p.Legal(&moves)
	for _, m := range moves.Slice() {
		if slowForced(p, m, n) {
			return true
		}
	}
	return false
}

// slowForced is slowMates for one move.
func slowForced(p *chess.Position, m chess.Move, n int) bool {
	after := *p
	after.Make(m)
	var replies chess.MoveList
	after.Legal(&replies)
	if replies.N == 0 {
		return after.InCheck()
	}
	if n == 1 {
		return false
	}
	for _, reply := range replies.Slice() {
		next := after
		next.Make(reply)
		if !slowMates(&next, n-1) {
			return false
		}
	}
	return true
}
