package native_test

import (
	"math"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

// What a quantised net may be off, as its documentation states.
const (
	policyError = 0.03 // root mean square, of that of the logits' deviations from their mean
	valueError  = 0.01 // largest
)

// TestBytes compares a quantised net with the same net in float32 on positions
// that it was not calibrated with. Its bits depend no more on threads than others'.
func TestBytes(t *testing.T) {
	const n = 16
	in, calibration := planestest.Inputs(n, 5), planestest.Inputs(32, 6)
	for _, text := range []string{"residual 3x32", "2x32 gates=1/2", "residual 2x24 policy=3 value=3/0 heads=value", "mobile 3x32 gates=1/2"} {
		m := archtest.Net(t, text, 1)
		run := func(o native.Options) *planes.Output {
			r, err := native.New(m, o)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			out := new(planes.Output)
			if err := r.Run(in, n, out); err != nil {
				t.Fatal(err)
			}
			if allocs := testing.AllocsPerRun(1, func() { _ = r.Run(in, n, out) }); allocs != 0 {
				t.Errorf("%s: %v allocations per run, want none", text, allocs)
			}
			return out
		}
		want, got := run(native.Options{}), run(native.Options{Calibration: calibration})
		if slices.Equal(got.Policy, want.Policy) {
			t.Errorf("%s: found the policy of float32, expected a quantised one", text)
		}
		if e := relativeError(got.Policy, want.Policy); !(e <= policyError) {
			t.Errorf("%s: policy: found an error of %.4f, expected at most %v", text, e, policyError)
		}
		for i, v := range want.Value {
			if e := math.Abs(float64(got.Value[i]) - float64(v)); !(e <= valueError) {
				t.Errorf("%s: value of position %d: found %v, expected %v ± %v", text, i, got.Value[i], v, valueError)
			}
		}
		if again := run(native.Options{Calibration: calibration}); !slices.Equal(again.Policy, got.Policy) || !slices.Equal(again.Value, got.Value) {
			t.Errorf("%s: the same net quantised twice says different things", text)
		}
		if threads := run(native.Options{Calibration: calibration, Threads: 3}); !slices.Equal(threads.Policy, got.Policy) {
			t.Errorf("%s: the policy depends on the number of threads", text)
		}
	}
	if _, err := native.New(archtest.Net(t, "residual 1x16", 1), native.Options{Calibration: calibration[1:]}); err == nil {
		t.Error("part of a position for calibration: no error")
	}
}

// relativeError is the root mean square of the differences over that of the
// deviations from the mean.
func relativeError(got, want []float32) float64 {
	mean := 0.0
	for _, x := range want {
		mean += float64(x) / float64(len(want))
	}
	off, spread := 0.0, 0.0
	for i, x := range want {
		off += (float64(got[i]) - float64(x)) * (float64(got[i]) - float64(x))
		spread += (float64(x) - mean) * (float64(x) - mean)
	}
	return math.Sqrt(off / spread)
}
