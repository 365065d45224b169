package planestest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

// smallNet is a convolution to the policy, and the mean of the board to the value
// and, if heads is set, to results and plies left.
func smallNet(t *testing.T, heads bool) []byte {
	t.Helper()
	rng := rand.New(rand.NewPCG(5, 6))
	random := func(name string, dims ...int) onnx.Tensor {
		n := 1
		for _, d := range dims {
			n *= d
		}
		c := onnx.Tensor{Name: name, Type: onnx.Float, Dims: dims, Floats: make([]float32, n)}
		for i := range c.Floats {
			c.Floats[i] = float32(rng.NormFloat64()) / 4
		}
		return c
	}
	node := func(op, out string, in ...string) onnx.Node {
		return onnx.Node{Op: op, Inputs: in, Outputs: []string{out}}
	}
	batch := onnx.Dim{Size: onnx.Any, Name: "batch"}
	value := func(name string, dims ...int) onnx.Value {
		v := onnx.Value{Name: name, Type: onnx.Float, Shape: []onnx.Dim{batch}}
		for _, d := range dims {
			v.Shape = append(v.Shape, onnx.Dim{Size: d})
		}
		return v
	}
	conv := node("Conv", "cells", planes.InputName, "kernel")
	conv.Attributes = []onnx.Attribute{onnx.IntsAttribute("kernel_shape", 1, 1)}
	g := onnx.Graph{
		Name:    "small",
		Inputs:  []onnx.Value{value(planes.InputName, planes.Channels, 8, 8)},
		Outputs: []onnx.Value{value(planes.ValueName, 1), value(planes.PolicyName, planes.PolicySize)},
		Nodes: []onnx.Node{
			conv, node("Flatten", planes.PolicyName, "cells"), node("GlobalAveragePool", "pool", planes.InputName), node("Flatten", "mean", "pool"),
			node("MatMul", "sum", "mean", "value"), node("Tanh", planes.ValueName, "sum"),
		},
		Initializers: []onnx.Tensor{random("kernel", planes.PolicyPlanes, planes.Channels, 1, 1), random("value", planes.Channels, 1)},
	}
	if heads {
		g.Outputs = append(g.Outputs, value(planes.WDLName, 3), value(planes.PliesLeftName, 1))
		g.Nodes = append(g.Nodes, node("MatMul", "results", "mean", "three"), node("Softmax", planes.WDLName, "results"), node("Sigmoid", planes.PliesLeftName, "sum"))
		g.Initializers = append(g.Initializers, random("three", planes.Channels, 3))
	}
	file, err := onnx.Encode(&onnx.Model{IRVersion: 8, Opsets: []onnx.Opset{{Version: 13}}, Graph: g})
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// plain is the reference as a runtime.
type plain struct{ model []byte }

func openPlain(model []byte) (planes.Runtime, error) {
	if _, err := onnx.Decode(model); err != nil {
		return nil, err
	}
	return &plain{model}, nil
}

func (r *plain) Run(in []float32, n int, out *planes.Output) error {
	if n < 1 || len(in) != n*planes.Size {
		return fmt.Errorf("found %d numbers for %d positions", len(in), n)
	}
	o, err := planestest.Reference(r.model, in, n)
	if err != nil {
		return err
	}
	out.Value, out.Policy = append(out.Value[:0], o.Value...), append(out.Policy[:0], o.Policy...)
	out.WDL, out.PliesLeft = append(out.WDL[:0], o.WDL...), append(out.PliesLeft[:0], o.PliesLeft...)
	return nil
}

func (r *plain) Close() error { return nil }

func TestReferencePasses(t *testing.T) {
	planestest.Test(t, openPlain, []planestest.Net{{"value", smallNet(t, false)}, {"all heads", smallNet(t, true)}}, 1e-6)
}

func TestReference(t *testing.T) {
	in := planestest.Inputs(2, 3)
	o, err := planestest.Reference(smallNet(t, true), in, 2)
	if err != nil {
		t.Fatal(err)
	}
	if len(o.Value) != 2 || len(o.Policy) != 2*planes.PolicySize || len(o.WDL) != 6 || len(o.PliesLeft) != 2 {
		t.Errorf("found %d values, %d cells, %d results, %d plies left", len(o.Value), len(o.Policy), len(o.WDL), len(o.PliesLeft))
	}
	if sum := o.WDL[3] + o.WDL[4] + o.WDL[5]; math.Abs(float64(sum)-1) > 1e-6 {
		t.Errorf("found results that sum to %v, expected 1", sum)
	}
}

func TestCompare(t *testing.T) {
	output := func() *planes.Output {
		return &planes.Output{Value: []float32{0.5}, Policy: []float32{1, -200}, WDL: []float32{0, 0, 1}, PliesLeft: []float32{0.25}}
	}
	for _, tc := range []struct {
		name   string
		change func(*planes.Output)
		want   string // "" if within 1e-3
	}{
		{"equal", func(*planes.Output) {}, ""},
		{"near", func(o *planes.Output) { o.Value[0] += 5e-4 }, ""},
		{"relatively near", func(o *planes.Output) { o.Policy[1] += 0.1 }, ""},
		{"value", func(o *planes.Output) { o.Value[0] += 2e-3 }, "value: number 0"},
		{"policy", func(o *planes.Output) { o.Policy[1] += 1 }, "policy: number 1"},
		{"NaN", func(o *planes.Output) { o.WDL[2] = float32(math.NaN()) }, "WDL: number 2: found NaN"},
		{"missing", func(o *planes.Output) { o.PliesLeft = nil }, "plies left: found 0 numbers, expected 1"},
		{"too many", func(o *planes.Output) { o.Value = append(o.Value, 0) }, "value: found 2 numbers, expected 1"},
	} {
		got := output()
		tc.change(got)
		err := planestest.Compare(got, output(), 1e-3)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: found error %v, expected %q", tc.name, err, tc.want)
		}
	}
}

// TestInputs: positions differ, come again with the seed, and use every plane.
func TestInputs(t *testing.T) {
	const n = 300
	in := planestest.Inputs(n, 1)
	if !slices.Equal(in[:5*planes.Size], planestest.Inputs(5, 1)) || slices.Equal(in[:planes.Size], planestest.Inputs(1, 2)) {
		t.Error("positions do not depend on the seed alone")
	}
	for plane := range planes.Channels {
		used := false
		for i := range n {
			used = used || slices.Max(in[i*planes.Size+plane*64:][:64]) > 0
		}
		if !used {
			t.Errorf("plane %d (%s) is 0 in all of %d positions", plane, planes.Name(plane), n)
		}
	}
}
