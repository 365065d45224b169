package native_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// widened returns a net whose input is doubled ten times, to 34,816 images, before what more
// appends, which takes the name of a value and returns that of its result.
func widened(more func(g *onnx.Graph, node func(op string, in []string, out string, a ...onnx.Attribute), from string) string) *onnx.Model {
	m := &onnx.Model{IRVersion: 8, Opsets: []onnx.Opset{{Version: 13}}}
	g := &m.Graph
	node := func(op string, in []string, out string, a ...onnx.Attribute) {
		g.Nodes = append(g.Nodes, onnx.Node{Op: op, Inputs: in, Outputs: []string{out}, Attributes: a})
	}
	shape := func(sizes ...int) []onnx.Dim {
		dims := []onnx.Dim{{Size: onnx.Any, Name: "n"}}
		for _, n := range sizes {
			dims = append(dims, onnx.Dim{Size: n})
		}
		return dims
	}
	whole := func(name string, n int64) {
		g.Initializers = append(g.Initializers, onnx.Tensor{Name: name, Type: onnx.Int64, Dims: []int{1}, Ints: []int64{n}})
	}
	g.Inputs = []onnx.Value{{Name: "data", Type: onnx.Float, Shape: shape(34, 8, 8)}}
	at := "data"
	for i := range 10 {
		node("Concat", []string{at, at}, fmt.Sprint("wide", i), onnx.IntAttribute("axis", 1))
		at = fmt.Sprint("wide", i)
	}
	at = more(g, node, at)
	whole("zero", 0)
	whole("one", 1)
	whole("moves", 5184)
	node("Slice", []string{at, "zero", "one", "one"}, "value_out")
	node("Slice", []string{at, "zero", "moves", "one"}, "policy_out")
	g.Outputs = []onnx.Value{{Name: "value_out", Type: onnx.Float, Shape: shape(1)}, {Name: "policy_out", Type: onnx.Float, Shape: shape(5184)}}
	return m
}

// A small file cannot ask for much memory.
func TestMemoryIsBounded(t *testing.T) {
	for want, m := range map[string]*onnx.Model{
		"in 17408 groups, expected at most": widened(func(g *onnx.Graph, node func(string, []string, string, ...onnx.Attribute), from string) string {
			const out = 34 << 10
			g.Initializers = append(g.Initializers, onnx.Tensor{Name: "w", Type: onnx.Float, Dims: []int{out, 2, 1, 1}, Floats: make([]float32, 2*out)})
			node("Conv", []string{from, "w"}, "conv", onnx.IntAttribute("group", out/2))
			node("Flatten", []string{"conv"}, "flat", onnx.IntAttribute("axis", 1))
			return "flat"
		}),
		"elements a position, expected at most": widened(func(_ *onnx.Graph, node func(string, []string, string, ...onnx.Attribute), from string) string {
			node("Flatten", []string{from}, "flat0", onnx.IntAttribute("axis", 1))
			for i := range 20 {
				node("Tanh", []string{fmt.Sprint("flat", i)}, fmt.Sprint("flat", i+1))
			}
			return "flat20"
		}),
	} {
		if _, err := native.New(m, native.Options{}); !errors.Is(err, onnx.ErrUnsupported) || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, expected one with %q", err, want)
		}
	}
}
