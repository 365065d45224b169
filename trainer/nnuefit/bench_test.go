package nnuefit

import (
	"fmt"
	"testing"

	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

func BenchmarkFit(b *testing.B) {
	samples := randomSamples(30, 4*16384)
	small := nnue.Narrow(128)
	small.Features = "All + Hand"
	for _, net := range []struct {
		name string
		nnue.Architecture
	}{{"HalfKAv2-64", nnue.Narrow(64)}, {"HalfKAv2-512", nnue.Narrow(512)}, {"All+Hand-128", small}} {
		for _, batch := range []int{4096, 16384} {
			for _, workers := range []int{1, 2} {
				b.Run(fmt.Sprintf("net=%s/batch=%d/workers=%d", net.name, batch, workers), func(b *testing.B) {
					cfg := DefaultConfig()
					cfg.Workers = workers
					m, err := New(net.Architecture, cfg, 1)
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

// BenchmarkSettings shows what optimisers and other settings cost a step.
func BenchmarkSettings(b *testing.B) {
	const batch = 16384
	samples := randomSamples(30, batch)
	settings := map[string]func(*Config){
		"cross-entropy": func(c *Config) { c.Loss = CrossEntropy },
		"gradient norm": func(c *Config) { c.GradientNorm = 1e-9 },
		"quantise":      func(c *Config) { c.Quantise = true },
		"no factoriser": func(c *Config) { c.Factorise = false },
	}
	for _, o := range trainer.Optimisers() {
		settings[string(o)] = func(c *Config) { c.Optimiser = o }
	}
	for name, set := range settings {
		b.Run(name, func(b *testing.B) {
			cfg := testConfig()
			set(&cfg)
			m, err := New(nnue.Narrow(512), cfg, 1)
			if err != nil {
				b.Fatal(err)
			}
			fit(b, m, samples, batch, 2)
			for b.Loop() {
				fit(b, m, samples, batch, 1)
			}
			b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "positions/s")
		})
	}
}
