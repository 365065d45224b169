package planesfit

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/trainer"
)

// BenchmarkFit measures steps on one worker.
func BenchmarkFit(b *testing.B) {
	for _, text := range []string{"5x64", "4x48", "2x32", "mobile 5x64"} {
		b.Run(text, func(b *testing.B) {
			cfg := DefaultConfig()
			cfg.Workers = 1
			m := newTestModel(b, text, cfg, 1)
			batch := randomSamples(1, 64)
			fit(b, m, batch, 0.01)
			for b.Loop() {
				if _, err := m.Fit(batch, trainer.Hyper{LearningRate: 0.01, Lambda: 0.5}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(batch)*b.N)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}
