package ab

import (
	"context"
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

func newMaterial() Evaluator { return NewMaterial() }
