package nnue_test

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// starts are positions from which random games meet every kind of move.
func starts(t testing.TB, v *chess.Variant) []chess.Position {
	list := []chess.Position{v.Start()}
	if v == chess.Crazyhouse {
		for _, fen := range []string{
			"r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R[QNqn] w KQkq - 0 1",
			"k7/3PPP2/8/8/8/8/3ppp2/K7[] w - - 0 1",
			"4k3/1p1p1p1p/8/P1P1P1P1/1p1p1p1p/8/P1P1P1P1/4K3[] w - - 0 1",
			"r2q1rk1/ppp2pp1/1bnpbn1p/4p3/2B1P3/2NP1N1P/PPP2PP1/R1BQ1RK1[QPPnbrr] w - - 0 10",
		} {
			list = append(list, position(t, v, fen))
		}
	}
	for _, fen := range []string{
		"rk2b1nr/pppppppp/8/8/8/8/PPPPPPPP/RK2B1NR w KQkq - 0 1",
		"1r4kr/8/8/8/8/8/8/1R4KR w KQkq - 0 1",
	} {
		p, err := chess.ParseFEN960(v, fen)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	return list
}

// randomMove prefers the moves that are rare among crazyhouse's many drops. It
// returns false if there is no legal move.
func randomMove(rng *rand.Rand, p *chess.Position) (chess.Move, bool) {
	if rng.IntN(20) == 0 && !p.InCheck() {
		return chess.NoMove, true // a null move
	}
	var list chess.MoveList
	p.Legal(&list)
	if list.N == 0 {
		return chess.NoMove, false
	}
	m := list.Moves[rng.IntN(list.N)]
	for range 3 {
		if p.IsCapture(m) || m.IsPromotion() || m.IsCastle() {
			break
		}
		m = list.Moves[rng.IntN(list.N)]
	}
	return m, true
}

// after returns p with m made; NoMove is a null move.
func after(p *chess.Position, m chess.Move) chess.Position {
	child := *p
	if m == chess.NoMove {
		child.MakeNull()
	} else {
		child.Make(m)
	}
	return child
}

func architectures() []nnue.Architecture {
	odd := nnue.Narrow(48)
	odd.Stacks, odd.PSQT, odd.Buckets, odd.L2, odd.L3 = 3, 3, nnue.BoardPieces, 33, 7
	plain := nnue.Narrow(16)
	plain.Variant = chess.Chess.Name
	square := nnue.Narrow(32)
	square.Activation, square.LayerScale, square.OutputScale, square.Units = nnue.SCReLU, 128, 33, 400
	one := nnue.Narrow(64)
	one.PSQT, one.L2, one.L3, one.LayerScale = 0, 32, 0, 16
	none := nnue.Narrow(80)
	none.L2, none.L3, none.Activation = 0, 0, nnue.SCReLU
	pairs := nnue.Narrow(64)
	pairs.Activation, pairs.Features = nnue.Pairwise, "All + Hand + Threats + DropCheckSquares + DropZone"
	return []nnue.Architecture{nnue.Narrow(32), odd, plain, square, one, none, pairs}
}

// TestIncrementalEqualsRebuilt: after every move of random games, and along
// random walks up and down the tree with evaluations here and there, the
// accumulator says what a rebuild says.
func TestIncrementalEqualsRebuilt(t *testing.T) {
	for i, a := range architectures() {
		t.Run(a.String(), func(t *testing.T) {
			v, err := chess.ParseVariant(a.Variant)
			if err != nil {
				t.Fatal(err)
			}
			n := random(t, a, uint64(i))
			eachLevel(t, func(t *testing.T) {
				acc := nnue.NewAccumulator(n)
				rng := rand.New(rand.NewPCG(uint64(i), 7))
				for _, start := range starts(t, v) {
					playGame(t, n, acc, rng, start)
					walkTree(t, n, acc, rng, start)
				}
			})
		})
	}
}

func compare(t *testing.T, n *nnue.Network, acc *nnue.Accumulator, p *chess.Position) {
	t.Helper()
	want := n.Evaluate(p)
	if got := acc.Raw(p); got != want.Raw {
		t.Fatalf("%s: incremental %d, rebuilt %d", p.FEN(), got, want.Raw)
	}
	if got, want := acc.Evaluate(p), min(max(want.Raw*100/208, -20000), 20000); got != want {
		t.Fatalf("%s: %d centipawns, want %d", p.FEN(), got, want)
	}
}

// playGame evaluates after every move of a game.
func playGame(t *testing.T, n *nnue.Network, acc *nnue.Accumulator, rng *rand.Rand, p chess.Position) {
	t.Helper()
	acc.Reset(&p)
	for range 80 {
		m, ok := randomMove(rng, &p)
		if !ok {
			return
		}
		acc.Push(&p, m)
		p = after(&p, m)
		compare(t, n, acc, &p)
	}
}

// walkTree makes and takes back moves at random and evaluates one time in
// three, so that chains of several moves are brought up to date at once.
func walkTree(t *testing.T, n *nnue.Network, acc *nnue.Accumulator, rng *rand.Rand, start chess.Position) {
	t.Helper()
	path := []chess.Position{start}
	acc.Reset(&start)
	for range 300 {
		p := &path[len(path)-1]
		if len(path) > 1 && rng.IntN(5) < 2 {
			acc.Pop()
			path = path[:len(path)-1]
		} else if m, ok := randomMove(rng, p); ok {
			acc.Push(p, m)
			path = append(path, after(p, m))
		}
		if rng.IntN(3) == 0 {
			compare(t, n, acc, &path[len(path)-1])
		}
	}
	for len(path) > 1 {
		acc.Pop()
		path = path[:len(path)-1]
		compare(t, n, acc, &path[len(path)-1])
	}
}

// TestDeepLine: the stack grows as a line gets longer than any search's, and
// what was on it stays.
func TestDeepLine(t *testing.T) {
	n := random(t, nnue.Narrow(16), 1)
	acc := nnue.NewAccumulator(n)
	rng := rand.New(rand.NewPCG(1, 1))
	path := []chess.Position{chess.Crazyhouse.Start()}
	acc.Reset(&path[0])
	for len(path) < 1000 {
		p := &path[len(path)-1]
		m, ok := randomMove(rng, p)
		if !ok {
			acc.Pop()
			path = path[:len(path)-1]
			continue
		}
		acc.Push(p, m)
		path = append(path, after(p, m))
	}
	for len(path) > 1 {
		compare(t, n, acc, &path[len(path)-1])
		acc.Pop()
		path = path[:len(path)-1]
	}
}

// TestShared: accumulators of several goroutines share a network.
func TestShared(t *testing.T) {
	n := random(t, nnue.Narrow(32), 1)
	p := chess.Crazyhouse.Start()
	want := n.Evaluate(&p).Raw
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			acc := nnue.NewAccumulator(n)
			acc.Reset(&p)
			if got := acc.Raw(&p); got != want {
				t.Errorf("accumulator says %d, want %d", got, want)
			}
		})
	}
	wg.Wait()
}

// benchLine is a game with the positions before and after each move.
type benchLine struct {
	positions []chess.Position
	moves     []chess.Move
}

// benchmarkLine returns a random game of 64 moves from a middle game.
func benchmarkLine(t testing.TB) benchLine {
	rng := rand.New(rand.NewPCG(5, 5))
	line := benchLine{positions: []chess.Position{starts(t, chess.Crazyhouse)[4]}}
	for len(line.moves) < 64 {
		p := &line.positions[len(line.moves)]
		m, ok := randomMove(rng, p)
		if !ok {
			t.Fatal("benchmark game has ended")
		}
		line.moves = append(line.moves, m)
		line.positions = append(line.positions, after(p, m))
	}
	return line
}

// run makes all moves and evaluates after each; the game is then taken back.
func (l benchLine) run(acc *nnue.Accumulator) {
	acc.Reset(&l.positions[0])
	for i, m := range l.moves {
		acc.Push(&l.positions[i], m)
		acc.Evaluate(&l.positions[i+1])
	}
	for range l.moves {
		acc.Pop()
	}
}
