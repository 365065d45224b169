package ab

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func BenchmarkMaterial(b *testing.B) {
	var nodes uint64
	for b.Loop() {
		n, err := Bench(context.Background(), newMaterial, BenchDepth)
		if err != nil {
			b.Fatal(err)
		}
		nodes += n
	}
	b.ReportMetric(float64(nodes)/b.Elapsed().Seconds(), "nodes/s")
	b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
}

func TestBenchIsASignature(t *testing.T) {
	first, err := Bench(context.Background(), newMaterial, 5)
	if err != nil || first == 0 {
		t.Fatalf("%d nodes, error %v", first, err)
	}
	if again, err := Bench(context.Background(), newMaterial, 5); again != first || err != nil {
		t.Errorf("%d nodes, then %d, error %v", first, again, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Bench(ctx, newMaterial, 5); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v with a cancelled context", err)
	}
}

// BenchmarkSmallSearch measures what self-play asks for: a few hundred nodes a
// move, and now and then a new game.
func BenchmarkSmallSearch(b *testing.B) {
	l := mustLine(b, chess.Crazyhouse, middleFEN, "")
	e := New(newMaterial, Options{HashMB: 4})
	for _, nodes := range []uint64{1, 400} {
		b.Run(strconv.FormatUint(nodes, 10), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				mustSearch(b, e, l, search.Limits{Nodes: nodes})
			}
		})
	}
	b.Run("NewGame", func(b *testing.B) {
		for b.Loop() {
			if err := e.NewGame(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkGames plays games from random openings with small searches, as self-play does.
func BenchmarkGames(b *testing.B) {
	for _, nodes := range []uint64{250, 2500} {
		b.Run(strconv.FormatUint(nodes, 10), func(b *testing.B) {
			e := New(newMaterial, Options{HashMB: 16})
			rng := rand.New(rand.NewPCG(1, 2))
			var l *chess.Line
			searched := uint64(0)
			for b.Loop() {
				if l == nil || l.Len() > 120 || isOver(l) {
					if err := e.NewGame(); err != nil {
						b.Fatal(err)
					}
					l = chess.NewLine(chess.Crazyhouse.Start())
					for range 8 {
						var moves chess.MoveList
						l.Pos().Legal(&moves)
						l.Push(moves.Moves[rng.IntN(moves.N)])
					}
					if isOver(l) {
						continue
					}
				}
				r := mustSearch(b, e, l, search.Limits{Nodes: nodes})
				searched += r.Nodes
				l.Push(r.Move)
			}
			b.ReportMetric(float64(searched)/b.Elapsed().Seconds(), "nodes/s")
		})
	}
}

func isOver(l *chess.Line) bool {
	o, _ := l.Outcome()
	return o != chess.Ongoing
}
