package ab

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// used reports whether any move is being searched.
func used(b *busyMoves) bool {
	for i := range b {
		for j := range b[i] {
			if b[i][j].Load() != 0 {
				return true
			}
		}
	}
	return false
}

// checkIdle checks that no thread has left anything behind that would mislead the
// next search.
func checkIdle(t *testing.T, e *Engine) {
	t.Helper()
	if used(&e.team.busy) {
		t.Fatal("after the search a move is still being searched")
	}
	for i, w := range e.workers {
		if len(w.keys)-1 != w.root {
			t.Fatalf("thread %d is not back at the root", i)
		}
	}
}

func TestThreads(t *testing.T) {
	e := New(newMaterial, Options{HashMB: 4, Threads: 3})
	for i, b := range benchPositions {
		mustSearch(t, e, mustLine(t, b.variant, b.fen, ""), search.Limits{Depth: 6 + i%3, MultiPV: 1 + i%3})
		checkIdle(t, e)
	}
}

// A search by several threads ends at its limit and not before, whatever they find of
// each other's nodes. One search in a hundred would tell if what threads share of a node
// outlived a search of it.
func TestThreadsReachDepth(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	e := New(newMaterial, Options{HashMB: 4, Threads: 2})
	for range 300 {
		l := chess.NewLine(chess.Crazyhouse.Start())
		for range 6 + rng.IntN(30) {
			var moves chess.MoveList
			if l.Pos().Legal(&moves); moves.N == 0 {
				break
			}
			l.Push(moves.Moves[rng.IntN(moves.N)])
		}
		if !l.Pos().HasLegalMove() {
			continue
		}
		e.Clear()
		depth := 10 + rng.IntN(4)
		if r := mustSearch(t, e, l, search.Limits{Depth: depth}); r.Depth != depth {
			t.Errorf("%s: the search ended at depth %d, expected %d", l.Pos().FEN(), r.Depth, depth)
		}
	}
}

// Threads that divide a search without selective rules find its minimax value.
func TestThreadsFindMinimax(t *testing.T) {
	e := New(newMaterial, Options{HashMB: 1, Threads: 3, Params: onlyRules(nil)})
	for _, tc := range minimaxPositions {
		if tc.depth <= shareDepth-1 {
			continue
		}
		l := chess.NewLine(mustFEN(t, tc.variant, tc.fen))
		twin := minimax{quiet: true}
		want := twin.negamax(l, 0, tc.depth)
		for range 5 {
			e.Clear()
			if r := mustSearch(t, e, l, search.Limits{Depth: tc.depth}); int(r.Score) != want {
				t.Errorf("%s depth %d: score %d, minimax %d", tc.fen, tc.depth, int(r.Score), want)
			}
		}
	}
}

// Several threads together stay within a limit of nodes, and stop in the middle of
// whatever they do.
func TestThreadsStopAnywhere(t *testing.T) {
	e := New(newMaterial, Options{HashMB: 1, Threads: 4})
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 40 {
		b := benchPositions[i%len(benchPositions)]
		limit := 1 + rng.Uint64N(30000)
		r := mustSearch(t, e, mustLine(t, b.variant, b.fen, ""), search.Limits{Nodes: limit})
		if r.Nodes > limit {
			t.Errorf("visited %d nodes, the limit is %d", r.Nodes, limit)
		}
		checkIdle(t, e)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := e.Search(ended, mustLine(t, chess.Crazyhouse, startFEN, ""), search.Limits{}); err != nil {
		t.Error(err)
	}
	checkIdle(t, e)
}

// A move is claimed by one thread at a time, and free again once released.
func TestBusyMoves(t *testing.T) {
	var b busyMoves
	rng := rand.New(rand.NewPCG(2, 2))
	var claims []uint64
	for range 100 {
		h := busyHash(rng.Uint64(), chess.Move(rng.Uint32()), rng.IntN(30))
		if mine, taken := b.claim(h); !mine || taken {
			t.Fatalf("a free move: mine %v, taken %v", mine, taken)
		}
		if mine, taken := b.claim(h); mine || !taken {
			t.Fatalf("a claimed move: mine %v, taken %v", mine, taken)
		}
		claims = append(claims, h)
	}
	for _, h := range claims {
		b.release(h)
	}
	if used(&b) {
		t.Error("claims are left after all were released")
	}
}
