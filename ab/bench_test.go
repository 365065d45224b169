package ab

import (
	"context"
	"errors"
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
