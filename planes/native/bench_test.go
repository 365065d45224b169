package native_test

import (
	"fmt"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		net, as     string
		calibration []float32
	}{{"4x48", "", nil}, {"5x64", "", nil}, {"5x64", "/int8", planestest.Inputs(64, 2)}, {"mobile 6x64", "", nil}} {
		r, err := native.New(archtest.Net(b, c.net, 1), native.Options{Calibration: c.calibration})
		if err != nil {
			b.Fatal(err)
		}
		for _, n := range []int{1, 8, 64} {
			in, out := planestest.Inputs(n, 1), new(planes.Output)
			b.Run(fmt.Sprintf("%s%s/batch=%d", c.net, c.as, n), func(b *testing.B) {
				for b.Loop() {
					if err := r.Run(in, n, out); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "positions/s")
			})
		}
	}
}
