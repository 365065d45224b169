package native_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

// tolerance is what outputs may be off: fp32 against float64.
const tolerance = 1e-4

// nets cover every architecture package arch can describe.
var nets = []string{
	"residual 1x16", "residual 2x24 policy=3 value=3/0 heads=value", "residual 2x16 gates=1/4", "residual 1x8 gates=1/2 heads=wdl",
	"mobile 2x16 gates=1/2", "mobile 1x20 expansion=12+0 heads=value,plies",
}

func open(o native.Options) planestest.Open {
	return func(model []byte) (planes.Runtime, error) {
		m, err := onnx.Decode(model)
		if err != nil {
			return nil, err
		}
		return native.New(m, o)
	}
}

func encode(t testing.TB, m *onnx.Model) []byte {
	t.Helper()
	b, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestConformance(t *testing.T) {
	var all []planestest.Net
	for i, text := range nets {
		all = append(all, planestest.Net{Name: text, Model: encode(t, archtest.Net(t, text, uint64(i)))})
	}
	planestest.Test(t, open(native.Options{}), all, tolerance)
}

// TestLevels compares the other levels with the one that TestConformance uses.
func TestLevels(t *testing.T) {
	const n = 2
	in := planestest.Inputs(n, 3)
	for i, text := range nets {
		r, err := native.New(archtest.Net(t, text, uint64(i)), native.Options{Threads: 1 + i%2})
		if err != nil {
			t.Fatal(err)
		}
		want := new(planes.Output)
		for l := kernel.Best(); l >= kernel.Generic; l-- {
			restore, err := kernel.Force(l)
			if err != nil {
				t.Fatal(err)
			}
			out := new(planes.Output)
			err = r.Run(in, n, out)
			restore()
			if err != nil {
				t.Fatal(err)
			}
			if l == kernel.Best() {
				want = out
			} else if err := planestest.Compare(out, want, tolerance); err != nil {
				t.Errorf("%s at level %v: %v", text, l, err)
			}
		}
		r.Close()
	}
}

// TestAnyNumbers feeds squares marked by any numbers, as no encoder does yet.
func TestAnyNumbers(t *testing.T) {
	m := archtest.Net(t, "residual 1x16", 1)
	in := planestest.Inputs(1, 2)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range in {
		if !planes.Constant(i/64) && rng.IntN(5) == 0 {
			in[i] = 2*rng.Float32() - 1
		}
	}
	want, err := planestest.Reference(encode(t, m), in, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := native.New(m, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := new(planes.Output)
	if err := r.Run(in, 1, out); err != nil {
		t.Fatal(err)
	}
	if err := planestest.Compare(out, want, tolerance); err != nil {
		t.Error(err)
	}
}

// TestSameBits: the batch around a position and the number of threads change
// nothing of its results.
func TestSameBits(t *testing.T) {
	m := archtest.Net(t, "residual 2x32 gates=1/2", 1)
	const n = 37
	in := planestest.Inputs(n, 2)
	run := func(threads, each int) *planes.Output {
		r, err := native.New(m, native.Options{Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		all := new(planes.Output)
		for first := 0; first < n; first += each {
			k := min(each, n-first)
			out := new(planes.Output)
			if err := r.Run(in[first*planes.Size:(first+k)*planes.Size], k, out); err != nil {
				t.Fatal(err)
			}
			all.Value, all.Policy = append(all.Value, out.Value...), append(all.Policy, out.Policy...)
			all.WDL, all.PliesLeft = append(all.WDL, out.WDL...), append(all.PliesLeft, out.PliesLeft...)
		}
		return all
	}
	want := run(1, 1)
	for _, c := range []struct{ threads, each int }{{1, n}, {1, 8}, {2, n}, {3, 5}, {7, n}, {16, 3}} {
		got := run(c.threads, c.each)
		if !slices.Equal(got.Value, want.Value) || !slices.Equal(got.Policy, want.Policy) ||
			!slices.Equal(got.WDL, want.WDL) || !slices.Equal(got.PliesLeft, want.PliesLeft) {
			t.Errorf("%d threads, batches of %d: results differ from those of single positions", c.threads, c.each)
		}
	}
}

func TestRunDoesNotAllocate(t *testing.T) {
	for _, text := range nets {
		for _, threads := range []int{1, 3} {
			r, err := native.New(archtest.Net(t, text, 1), native.Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			in, out := planestest.Inputs(9, 1), new(planes.Output)
			run := func() {
				if err := r.Run(in, 9, out); err != nil {
					t.Fatal(err)
				}
			}
			run()
			if allocs := testing.AllocsPerRun(5, run); allocs != 0 {
				t.Errorf("%s, %d threads: %v allocations per run, want none", text, threads, allocs)
			}
			r.Close()
		}
	}
}

// TestCloseAtOnce: goroutines that had not begun when Close came end too; a bubble
// that keeps one fails.
func TestCloseAtOnce(t *testing.T) {
	model := archtest.Net(t, "residual 1x16", 1)
	synctest.Test(t, func(t *testing.T) {
		r, err := native.New(model, native.Options{Threads: 4})
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
	})
}

// TestRefuses wants errors that name the node and its operator.
func TestRefuses(t *testing.T) {
	node := func(m *onnx.Model, op string) *onnx.Node {
		i := slices.IndexFunc(m.Graph.Nodes, func(n onnx.Node) bool { return n.Op == op })
		return &m.Graph.Nodes[i]
	}
	for name, c := range map[string]struct {
		change func(m *onnx.Model)
		want   string
	}{
		"operator":   {func(m *onnx.Model) { node(m, "Relu").Op = "Celu" }, "(Celu): found an operator that is not known"},
		"domain":     {func(m *onnx.Model) { node(m, "Relu").Domain = "elsewhere" }, `(Relu): found operator set "elsewhere"`},
		"strides":    {func(m *onnx.Model) { setInts(node(m, "Conv"), "strides", 2, 2) }, "(Conv): found strides [2 2], expected [1 1]"},
		"pads":       {func(m *onnx.Model) { setInts(node(m, "Conv"), "pads", 0, 0, 0, 0) }, "(Conv): found pads [0 0 0 0]"},
		"no weights": {func(m *onnx.Model) { node(m, "Conv").Inputs[1] = m.Graph.Inputs[0].Name }, "(Conv): found no constant of floats as input 1"},
		"no policy":  {func(m *onnx.Model) { m.Graph.Outputs = m.Graph.Outputs[:1] }, `found no output "policy_out"`},
		"input":      {func(m *onnx.Model) { m.Graph.Inputs[0].Shape[1].Size = 35 }, "[-1 35 8 8]"},
	} {
		m := archtest.Net(t, "residual 1x16", 1)
		c.change(m)
		_, err := native.New(m, native.Options{})
		if !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%s: found error %v, expected %v with %q", name, err, onnx.ErrUnsupported, c.want)
		}
	}
	for _, threads := range []int{-1, 1 << 20} {
		if _, err := native.New(archtest.Net(t, "residual 1x16", 1), native.Options{Threads: threads}); err == nil {
			t.Errorf("%d threads: no error", threads)
		}
	}
}

func setInts(n *onnx.Node, name string, values ...int64) {
	n.Attributes = slices.DeleteFunc(n.Attributes, func(a onnx.Attribute) bool { return a.Name == name })
	n.Attributes = append(n.Attributes, onnx.IntsAttribute(name, values...))
}
