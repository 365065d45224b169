package nnuefit

import (
	"fmt"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
)

func BenchmarkFit(b *testing.B) {
	samples := randomSamples(30, 4*16384)
	for _, width := range []int{64, 512} {
		for _, batch := range []int{4096, 16384} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("width=%d/batch=%d/workers=%d", width, batch, workers), func(b *testing.B) {
					cfg := DefaultConfig()
					cfg.Workers = workers
					m, err := New(nnue.Narrow(width), cfg, 1)
					if err != nil {
						b.Fatal(err)
					}
					fit(b, m, samples, batch, 2)
					at := 0
					for b.Loop() {
						if _, err := m.Fit(samples[at:at+batch], testHyper); err != nil {
							b.Fatal(err)
						}
						at = (at + batch) % len(samples)
					}
					b.ReportMetric(float64(b.N)*float64(batch)/b.Elapsed().Seconds(), "positions/s")
				})
			}
		}
	}
}
