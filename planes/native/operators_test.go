package native_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/native"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/planes/planestest"
)

// drawing builds models node by node.
type drawing struct {
	rng   *rand.Rand
	graph onnx.Graph
}

func newDrawing() *drawing {
	d := &drawing{rng: rand.New(rand.NewPCG(1, 2))}
	d.graph.Inputs = []onnx.Value{value(planes.InputName, planes.Channels, kernel.ImageSide, kernel.ImageSide)}
	d.graph.Outputs = []onnx.Value{value(planes.ValueName, 1), value(planes.PolicyName, planes.PolicySize)}
	return d
}

func value(name string, dims ...int) onnx.Value {
	v := onnx.Value{Name: name, Type: onnx.Float, Shape: []onnx.Dim{{Size: onnx.Any}}}
	for _, d := range dims {
		v.Shape = append(v.Shape, onnx.Dim{Size: d})
	}
	return v
}

// node adds a node and returns its output, which has its name.
func (d *drawing) node(op, name string, in []string, attributes ...onnx.Attribute) string {
	d.graph.Nodes = append(d.graph.Nodes, onnx.Node{Name: name, Op: op, Inputs: in, Outputs: []string{name}, Attributes: attributes})
	return name
}

// random adds a constant of small numbers.
func (d *drawing) random(name string, dims ...int) string {
	t := onnx.Tensor{Name: name, Type: onnx.Float, Dims: dims, Floats: make([]float32, product(dims))}
	for i := range t.Floats {
		t.Floats[i] = float32(d.rng.NormFloat64()) / 3
	}
	d.graph.Initializers = append(d.graph.Initializers, t)
	return name
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// integers adds a constant list of integers.
func (d *drawing) integers(name string, list ...int64) string {
	d.graph.Initializers = append(d.graph.Initializers, onnx.Tensor{Name: name, Type: onnx.Int64, Dims: []int{len(list)}, Ints: list})
	return name
}

// number adds a constant without dimensions.
func (d *drawing) number(name string, x float32) string {
	d.graph.Initializers = append(d.graph.Initializers, onnx.Tensor{Name: name, Type: onnx.Float, Dims: []int{}, Floats: []float32{x}})
	return name
}

func (d *drawing) conv(name, x string, out, in, size, groups int, bias bool) string {
	inputs := []string{x, d.random(name+".w", out, in/groups, size, size)}
	if bias {
		inputs = append(inputs, d.random(name+".b", out))
	}
	pad := int64(size / 2)
	return d.node("Conv", name, inputs, onnx.IntAttribute("group", int64(groups)), onnx.IntsAttribute("pads", pad, pad, pad, pad))
}

// heads ends a drawing: policy from x, value from the vector y.
func (d *drawing) heads(x, y string, channels, width int) *onnx.Model {
	d.node("Flatten", planes.PolicyName, []string{d.conv("policy", x, planes.PolicyPlanes, channels, 1, 1, true)})
	d.node("Tanh", planes.ValueName, []string{d.node("Gemm", "last", []string{y, d.random("last.w", 1, width), d.random("last.b", 1)}, onnx.IntAttribute("transB", 1))})
	return &onnx.Model{IRVersion: 8, Opsets: []onnx.Opset{{Version: 13}}, Graph: d.graph}
}

// drawings have what no architecture of package arch has, but nets of other
// programs do.
func drawings() map[string]func(d *drawing) *onnx.Model {
	const c = 20
	return map[string]func(d *drawing) *onnx.Model{
		"wide depthwise, ReLU6, hard gate": func(d *drawing) *onnx.Model {
			x := d.conv("stem", planes.InputName, c, planes.Channels, 5, 1, true)
			x = d.node("Clip", "relu6", []string{x, d.number("zero", 0), d.number("six", 6)})
			x = d.conv("wide", x, c, c, 5, c, true)
			mean := d.node("ReduceMean", "mean", []string{x}, onnx.IntsAttribute("axes", 2, 3), onnx.IntAttribute("keepdims", 0))
			gate := d.node("HardSigmoid", "hard", []string{mean}, onnx.FloatAttribute("alpha", 0.25))
			gate = d.node("Unsqueeze", "unsqueeze", []string{gate, d.integers("axes", 2, 3)})
			x = d.node("Mul", "gate", []string{gate, x})
			return d.heads(x, mean, c, c)
		},
		"grouped, before activation": func(d *drawing) *onnx.Model {
			x := d.conv("stem", planes.InputName, c, planes.Channels, 1, 1, false)
			y := d.node("Relu", "relu1", []string{d.node("Mul", "scale", []string{x, d.random("factors", c, 1, 1)})})
			y = d.conv("groups", y, c, c, 3, 2, false)
			y = d.node("Sub", "shift", []string{y, d.random("terms", 1, c, 1, 1)})
			x = d.node("Add", "add", []string{x, y})
			x = d.node("HardSwish", "swish", []string{d.node("Add", "twice", []string{x, x})})
			mean := d.node("Flatten", "mean", []string{d.node("GlobalAveragePool", "pool", []string{d.node("LeakyRelu", "leaky", []string{x})})})
			return d.heads(x, mean, c, c)
		},
		"vectors": func(d *drawing) *onnx.Model {
			x := d.node("Relu", "relu", []string{d.conv("stem", planes.InputName, c, planes.Channels, 3, 1, true)})
			a := d.node("Reshape", "reshape", []string{d.node("GlobalAveragePool", "pool", []string{x}), d.integers("shape", 0, -1)})
			b := d.node("Squeeze", "squeeze", []string{d.node("GlobalAveragePool", "pool2", []string{planes.InputName}), d.integers("axes", 2, -1)})
			y := d.node("Concat", "concat", []string{a, b}, onnx.IntAttribute("axis", 1))
			y = d.node("Sigmoid", "sigmoid", []string{d.node("MatMul", "matmul", []string{y, d.random("m", c+planes.Channels, c)})})
			z := d.node("Div", "div", []string{d.node("Mul", "mul", []string{y, a}), d.number("four", 4)})
			z = d.node("Sub", "sub", []string{z, d.node("Dropout", "dropout", []string{y})})
			z = d.node("Add", "add", []string{d.node("Softmax", "softmax", []string{z}, onnx.IntAttribute("axis", -1)), d.node("Sub", "less", []string{d.number("one", 1), z})})
			z = d.node("Relu", "relu2", []string{z})
			return d.heads(x, z, c, c)
		},
		"added to its own input, depthwise": addedToInput(c, 3, c),
		"added to its own input, 1×1":       addedToInput(64, 1, 1),
		"added to its own input, 3×3":       addedToInput(c, 3, 1),
		"added to its own input, 5×5":       addedToInput(c, 5, 1),
	}
}

// addedToInput draws x + Conv(x), where nothing else reads x.
func addedToInput(channels, size, groups int) func(d *drawing) *onnx.Model {
	return func(d *drawing) *onnx.Model {
		x := d.node("Relu", "relu", []string{d.conv("stem", planes.InputName, channels, planes.Channels, 3, 1, true)})
		x = d.node("Add", "add", []string{x, d.conv("branch", x, channels, channels, size, groups, true)})
		return d.heads(x, d.node("Flatten", "mean", []string{d.node("GlobalAveragePool", "pool", []string{x})}), channels, channels)
	}
}

// TestValuesInside: what is named like an output and is none is not taken for one, such
// as the logits wdl_out of CrazyAra's nets.
func TestValuesInside(t *testing.T) {
	for _, listed := range []bool{false, true} {
		d := newDrawing()
		x := d.node("Relu", "relu", []string{d.conv("stem", planes.InputName, 16, planes.Channels, 3, 1, true)})
		d.node("Flatten", planes.PolicyName, []string{d.conv("policy", x, planes.PolicyPlanes, 16, 1, 1, true)})
		mean := d.node("Flatten", "mean", []string{d.node("GlobalAveragePool", "pool", []string{x})})
		wdl := d.node("Gemm", planes.WDLName, []string{mean, d.random("w", 3, 16), d.random("b", 3)}, onnx.IntAttribute("transB", 1))
		d.node("Softmax", "softmax", []string{wdl}, onnx.IntAttribute("axis", 1))
		d.graph.Nodes = append(d.graph.Nodes, onnx.Node{
			Name: "split", Op: "Split", Inputs: []string{"softmax"}, Outputs: []string{"loss", "draw", "win"},
			Attributes: []onnx.Attribute{onnx.IntAttribute("axis", 1)},
		})
		d.node("Add", planes.ValueName, []string{d.node("Neg", "neg", []string{"loss"}), "win"})
		if listed {
			d.graph.Outputs = append(d.graph.Outputs, value(planes.WDLName, 3))
		}
		m := &onnx.Model{IRVersion: 8, Opsets: []onnx.Opset{{Version: 13}}, Graph: d.graph}
		if _, err := planes.Adopt(m); err != nil {
			t.Fatal(err)
		}
		compareWithReference(t, m)
	}
}

func TestOperators(t *testing.T) {
	for name, draw := range drawings() {
		t.Run(name, func(t *testing.T) { compareWithReference(t, draw(newDrawing())) })
	}
}

// FuzzNew edits models: each is compiled or refused, and what is compiled runs.
func FuzzNew(f *testing.F) {
	var names []string
	for name := range drawings() {
		names = append(names, name)
	}
	slices.Sort(names)
	var files [][]byte
	for _, name := range names {
		files = append(files, encode(f, drawings()[name](newDrawing())))
	}
	for _, n := range planestest.Foreign(f) {
		files = append(files, encode(f, n.Model))
	}
	for i := range files {
		f.Add(uint8(i), []byte{})
		f.Add(uint8(i), []byte{3, 0, 200, 7, 1, 4, 2, 2, 77, 5, 3, 1})
	}
	in := planestest.Inputs(1, 1)
	f.Fuzz(func(t *testing.T, which uint8, edits []byte) {
		m, err := onnx.Decode(files[int(which)%len(files)])
		if err != nil {
			t.Fatal(err)
		}
		for ; len(edits) >= 3; edits = edits[3:] {
			edit(&m.Graph, int(edits[0]), int(edits[1]), int(edits[2]))
		}
		if m.Check() != nil {
			return
		}
		r, err := native.New(m, native.Options{Calibration: in})
		if err != nil {
			return
		}
		if err := r.Run(in, 1, new(planes.Output)); err != nil {
			t.Error(err)
		}
	})
}

// edit changes one thing about a node or a constant.
func edit(g *onnx.Graph, at, what, to int) {
	n, c := &g.Nodes[at%len(g.Nodes)], &g.Initializers[at%len(g.Initializers)]
	other := g.Nodes[to%len(g.Nodes)]
	if len(n.Inputs) == 0 {
		return // of a constant
	}
	switch what % 7 {
	case 0:
		n.Op = other.Op
	case 1:
		n.Inputs[to%len(n.Inputs)] = other.Outputs[0]
	case 2:
		n.Inputs[to%len(n.Inputs)] = g.Initializers[to%len(g.Initializers)].Name
	case 3:
		n.Inputs = n.Inputs[:max(1, to%(1+len(n.Inputs)))]
	case 4:
		n.Attributes = other.Attributes
	case 5:
		slices.Reverse(c.Dims)
	case 6: // other dimensions of as many elements, or none
		c.Dims = [][]int{{c.Len()}, {1, c.Len()}, {c.Len(), 1, 1}, {1, c.Len(), 1, 1}, {c.Len(), 1, 1, 1}}[to%5]
		if to >= 250 {
			c.Dims, c.Floats, c.Ints = []int{0}, nil, nil
		}
	}
}

func compareWithReference(t *testing.T, m *onnx.Model) {
	t.Helper()
	const n = 2
	in := planestest.Inputs(n, 4)
	want, err := planestest.Reference(encode(t, m), in, n)
	if err != nil {
		t.Fatal(err)
	}
	r, err := native.New(m, native.Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := new(planes.Output)
	if err := r.Run(in, n, out); err != nil {
		t.Fatal(err)
	}
	if err := planestest.Compare(out, want, tolerance); err != nil {
		t.Error(err)
	}
}
