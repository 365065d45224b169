package planestest

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// reference is a runtime that runs nets as Reference does.
type reference struct{ model []byte }

// Run runs the net on one position after the other, as some models accept only one.
func (r reference) Run(in []float32, n int, out *planes.Output) error {
	*out = planes.Output{}
	for i := range n {
		o, err := Reference(r.model, in[i*planes.Size:(i+1)*planes.Size], 1)
		if err != nil {
			return err
		}
		out.Value, out.Policy = append(out.Value, o.Value...), append(out.Policy, o.Policy...)
		out.WDL, out.PliesLeft = append(out.WDL, o.WDL...), append(out.PliesLeft, o.PliesLeft...)
	}
	return nil
}

func (r reference) Close() error { return nil }

// TestForeignReference compares the reference itself with ONNX Runtime.
func TestForeignReference(t *testing.T) {
	for _, n := range Foreign(t) {
		t.Run(n.Name, func(t *testing.T) {
			b, err := onnx.Encode(n.Model)
			if err != nil {
				t.Fatal(err)
			}
			n.Test(t, reference{b}, 1e-5)
		})
	}
}
