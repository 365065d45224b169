package onnxgo_test

import (
	"strconv"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/onnxgo"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

func BenchmarkRun(b *testing.B) {
	r, err := onnxgo.New(archtest.Net(b, "5x64", 1))
	if err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 8, 64} {
		in, out := planestest.Inputs(n, 1), new(planes.Output)
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for b.Loop() {
				if err := r.Run(in, n, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "positions/s")
		})
	}
}
