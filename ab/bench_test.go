package ab

import (
	"context"
	"errors"
	"testing"
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
