package onnxgo

import (
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// rewriter rewrites a model to one that onnx-go runs correctly.
type rewriter struct {
	constants map[string]*onnx.Tensor
	rank      map[string]int  // dimensions of the values made so far
	used      map[string]bool // values that nodes take
	out       onnx.Graph
	given     map[string]bool // constants that out has
}

// rewriters rewrite the nodes of the operators that onnx-go runs.
var rewriters = map[string]func(*rewriter, *onnx.Node) error{
	"Add":                (*rewriter).add,
	"BatchNormalization": (*rewriter).normalisation,
	"Conv":               (*rewriter).conv,
	"Dropout":            (*rewriter).identity,
	"Flatten":            (*rewriter).flatten,
	"Gemm":               (*rewriter).gemm,
	"GlobalAveragePool":  (*rewriter).keep,
	"Identity":           (*rewriter).identity,
	"MatMul":             (*rewriter).matMul,
	"Relu":               (*rewriter).keep,
	"Reshape":            (*rewriter).reshape,
	"Sigmoid":            (*rewriter).keep,
	"Softmax":            (*rewriter).softmax,
	"Tanh":               (*rewriter).keep,
}

// reasons say why some operators are refused; the others are not in onnx-go.
var reasons = map[string]string{
	"LeakyRelu": "onnx-go's changes its input",
	"Mul":       "onnx-go does not broadcast [N, C, 1, 1], the gates of squeeze and excitation",
}

func rewrite(m *onnx.Model) (*onnx.Model, error) {
	g := &m.Graph
	if len(g.Inputs) != 1 || g.Inputs[0].Name != planes.InputName {
		return nil, fmt.Errorf("%w: found inputs %v, expected %q", onnx.ErrUnsupported, names(g.Inputs), planes.InputName)
	}
	w := &rewriter{
		constants: g.Constants(), rank: map[string]int{planes.InputName: 4},
		used: make(map[string]bool), given: make(map[string]bool),
	}
	for i := range g.Nodes {
		n := &g.Nodes[i]
		if w.constants[n.Outputs[0]] != nil {
			continue
		}
		rewrite := rewriters[n.Op]
		if rewrite == nil || n.Domain != "" {
			reason, ok := reasons[n.Op]
			if !ok {
				reason = "onnx-go has no such operator"
			}
			return nil, refuse(n, "%s", reason)
		}
		if len(n.Inputs) == 0 || w.rank[n.Inputs[0]] == 0 {
			return nil, refuse(n, "found inputs %q, expected something computed as the first", n.Inputs)
		}
		if err := rewrite(w, n); err != nil {
			return nil, err
		}
	}
	w.out.Name, w.out.Inputs = g.Name, g.Inputs
	if err := w.outputs(g.Outputs); err != nil {
		return nil, err
	}
	return &onnx.Model{IRVersion: 7, Opsets: []onnx.Opset{{Version: 13}}, Producer: "selfplay", Graph: w.out}, nil
}

func names(values []onnx.Value) []string {
	var list []string
	for _, v := range values {
		list = append(list, v.Name)
	}
	return list
}

func refuse(n *onnx.Node, format string, args ...any) error {
	return fmt.Errorf("%w: %s: %s", onnx.ErrUnsupported, n, fmt.Sprintf(format, args...))
}

// outputs adds a node for each output that is another node's input too: onnx-go
// returns only values that are no node's input.
func (w *rewriter) outputs(outputs []onnx.Value) error {
	for _, o := range outputs {
		if w.rank[o.Name] == 0 {
			return fmt.Errorf("%w: output %q is constant or the input", onnx.ErrUnsupported, o.Name)
		}
		if !w.used[o.Name] {
			w.out.Outputs = append(w.out.Outputs, o)
			continue
		}
		hidden := o.Name + ".taken"
		for i := range w.out.Nodes {
			rename(w.out.Nodes[i].Inputs, o.Name, hidden)
			rename(w.out.Nodes[i].Outputs, o.Name, hidden)
		}
		w.node("Identity", o.Name, w.rank[o.Name], []string{hidden})
		w.out.Outputs = append(w.out.Outputs, o)
	}
	return nil
}

func rename(list []string, from, to string) {
	for i := range list {
		if list[i] == from {
			list[i] = to
		}
	}
}

// node adds a node and notes how many dimensions it makes.
func (w *rewriter) node(op, out string, rank int, in []string, attributes ...onnx.Attribute) {
	for _, name := range in {
		w.used[name] = true
	}
	w.rank[out] = rank
	w.out.Nodes = append(w.out.Nodes, onnx.Node{Name: out, Op: op, Inputs: in, Outputs: []string{out}, Attributes: attributes})
}

// constant adds a tensor and returns its name, which differs for other dimensions.
func (w *rewriter) constant(name string, t *onnx.Tensor, dims ...int) string {
	if !slices.Equal(dims, t.Dims) {
		name = fmt.Sprintf("%s.%v", name, dims)
	}
	if !w.given[name] {
		w.given[name] = true
		w.out.Initializers = append(w.out.Initializers, onnx.Tensor{Name: name, Type: onnx.Float, Dims: dims, Floats: t.Floats})
	}
	return name
}

// float returns a constant input of numbers, nil if it is something else.
func (w *rewriter) float(n *onnx.Node, i int) *onnx.Tensor {
	if i >= len(n.Inputs) {
		return nil
	}
	t := w.constants[n.Inputs[i]]
	if t == nil || !t.Type.Fractional() || t.Len() == 0 {
		return nil
	}
	return t
}

// keep is for operators on one value, element by element, without attributes.
func (w *rewriter) keep(n *onnx.Node) error {
	w.node(n.Op, n.Outputs[0], w.rank[n.Inputs[0]], n.Inputs[:1])
	return nil
}

// identity is also Dropout, which does nothing at inference.
func (w *rewriter) identity(n *onnx.Node) error {
	w.node("Identity", n.Outputs[0], w.rank[n.Inputs[0]], n.Inputs[:1])
	return nil
}

func (w *rewriter) conv(n *onnx.Node) error {
	t := w.float(n, 1)
	if t == nil || len(t.Dims) != 4 || w.rank[n.Inputs[0]] != 4 {
		return refuse(n, "expected constant weights of four dimensions")
	}
	group, err := n.Int("group", 1)
	if err != nil {
		return err
	}
	mode, err := n.Text("auto_pad", "NOTSET")
	if err != nil {
		return err
	}
	if group != 1 || mode != "NOTSET" {
		return refuse(n, "found group %d, auto_pad %s; onnx-go computes group 1 with explicit pads", group, mode)
	}
	lists := map[string][]int64{"strides": {1, 1}, "dilations": {1, 1}, "pads": {0, 0, 0, 0}}
	for name := range lists {
		if v, err := n.Ints(name); err != nil {
			return err
		} else if v != nil {
			lists[name] = v
		}
	}
	if pads := lists["pads"]; slices.Min(pads) != slices.Max(pads) {
		return refuse(n, "found pads %v; onnx-go computes equal ones", pads)
	}
	in := []string{n.Inputs[0], w.constant(n.Inputs[1], t, t.Dims...)}
	if len(n.Inputs) > 2 && n.Inputs[2] != "" {
		bias := w.float(n, 2)
		if bias == nil {
			return refuse(n, "expected a constant bias")
		}
		in = append(in, w.constant(n.Inputs[2], bias, bias.Len()))
	}
	w.node("Conv", n.Outputs[0], 4, in, onnx.IntAttribute("group", 1),
		onnx.IntsAttribute("kernel_shape", int64(t.Dims[2]), int64(t.Dims[3])), onnx.IntsAttribute("pads", lists["pads"]...),
		onnx.IntsAttribute("strides", lists["strides"]...), onnx.IntsAttribute("dilations", lists["dilations"]...))
	return nil
}

func (w *rewriter) normalisation(n *onnx.Node) error {
	epsilon, err := n.Float("epsilon", 1e-5)
	if err != nil {
		return err
	}
	training, err := n.Int("training_mode", 0)
	if err != nil {
		return err
	}
	if training != 0 || w.rank[n.Inputs[0]] != 4 || len(n.Outputs) != 1 {
		return refuse(n, "expected inference on four dimensions")
	}
	in := n.Inputs[:1:1]
	for i := 1; i <= 4; i++ {
		t := w.float(n, i)
		if t == nil {
			return refuse(n, "expected constant parameters")
		}
		in = append(in, w.constant(n.Inputs[i], t, t.Len()))
	}
	w.node("BatchNormalization", n.Outputs[0], 4, in, onnx.FloatAttribute("epsilon", epsilon))
	return nil
}

func (w *rewriter) flatten(n *onnx.Node) error {
	axis, err := n.Int("axis", 1)
	if err != nil {
		return err
	}
	if axis != 1 {
		return refuse(n, "found axis %d, expected 1", axis)
	}
	w.node("Flatten", n.Outputs[0], 2, n.Inputs[:1], onnx.IntAttribute("axis", 1))
	return nil
}

// reshape is refused where it does not only flatten: onnx-go's differs.
func (w *rewriter) reshape(n *onnx.Node) error {
	if len(n.Inputs) < 2 {
		return refuse(n, "found no shape")
	}
	shape := w.constants[n.Inputs[1]]
	if shape == nil || len(shape.Ints) != 2 || shape.Ints[0] > 0 || shape.Ints[1] == 0 {
		return refuse(n, "expected a constant shape that flattens all but the batch")
	}
	w.node("Flatten", n.Outputs[0], 2, n.Inputs[:1], onnx.IntAttribute("axis", 1))
	return nil
}

func (w *rewriter) softmax(n *onnx.Node) error {
	axis, err := n.Int("axis", 1)
	if err != nil {
		return err
	}
	if axis != 1 && axis != -1 || w.rank[n.Inputs[0]] != 2 {
		return refuse(n, "found axis %d of %d dimensions, expected the last of two", axis, w.rank[n.Inputs[0]])
	}
	w.node("Softmax", n.Outputs[0], 2, n.Inputs[:1], onnx.IntAttribute("axis", 1))
	return nil
}

func (w *rewriter) matMul(n *onnx.Node) error {
	t := w.float(n, 1)
	if t == nil || len(t.Dims) != 2 || w.rank[n.Inputs[0]] != 2 {
		return refuse(n, "expected a constant matrix at the right of two dimensions")
	}
	w.node("MatMul", n.Outputs[0], 2, []string{n.Inputs[0], w.constant(n.Inputs[1], t, t.Dims...)})
	return nil
}

func (w *rewriter) add(n *onnx.Node) error {
	if len(n.Inputs) != 2 || n.Inputs[0] == n.Inputs[1] {
		return refuse(n, "found inputs %q, expected two that differ; onnx-go counts equal ones once", n.Inputs)
	}
	x, y := n.Inputs[0], n.Inputs[1]
	rank := w.rank[x]
	if t := w.float(n, 1); t != nil {
		dims := biasDims(t, rank)
		if dims == nil {
			return refuse(n, "found a constant %v for %d dimensions, expected one of the last of two or the second of four", t.Dims, rank)
		}
		y = w.constant(y, t, dims...)
	} else if w.rank[y] != rank {
		return refuse(n, "found %d and %d dimensions, expected as many", rank, w.rank[y])
	}
	w.node("Add", n.Outputs[0], rank, []string{x, y})
	return nil
}

// biasDims returns dimensions for a constant with which onnx-go adds it along the
// features of [N, features] or the channels of [N, channels, 8, 8]; nil if it
// cannot be added so.
func biasDims(t *onnx.Tensor, rank int) []int {
	dims := t.Dims
	if len(dims) == rank && dims[0] == 1 {
		dims = dims[1:]
	}
	switch {
	case rank == 2 && len(dims) == 1:
		return []int{1, dims[0]}
	case rank == 4 && len(dims) == 3 && dims[1] == 1 && dims[2] == 1:
		return dims
	}
	return nil
}

// gemm becomes MatMul and Add.
func (w *rewriter) gemm(n *onnx.Node) error {
	t := w.float(n, 1)
	if t == nil || len(t.Dims) != 2 || w.rank[n.Inputs[0]] != 2 {
		return refuse(n, "expected a constant matrix at the right of two dimensions")
	}
	for name, want := range map[string]float32{"alpha": 1, "beta": 1} {
		if v, err := n.Float(name, 1); err != nil {
			return err
		} else if v != want {
			return refuse(n, "found %s %v, expected 1", name, v)
		}
	}
	transA, err := n.Int("transA", 0)
	if err != nil {
		return err
	}
	transB, err := n.Int("transB", 0)
	if err != nil {
		return err
	}
	if transA != 0 {
		return refuse(n, "found transA %d, expected 0", transA)
	}
	name, dims := n.Inputs[1], t.Dims
	if transB != 0 {
		name, t = name+".transposed", transposed(t)
		dims = t.Dims
	}
	matrix := w.constant(name, t, dims...)
	bias := w.float(n, 2)
	if bias == nil {
		if len(n.Inputs) > 2 && n.Inputs[2] != "" {
			return refuse(n, "expected a constant bias")
		}
		w.node("MatMul", n.Outputs[0], 2, []string{n.Inputs[0], matrix})
		return nil
	}
	if bias.Len() != dims[1] {
		return refuse(n, "found a bias %v, expected %d numbers", bias.Dims, dims[1])
	}
	product := n.Outputs[0] + ".product"
	w.node("MatMul", product, 2, []string{n.Inputs[0], matrix})
	w.node("Add", n.Outputs[0], 2, []string{product, w.constant(n.Inputs[2], bias, 1, bias.Len())})
	return nil
}

func transposed(t *onnx.Tensor) *onnx.Tensor {
	rows, columns := t.Dims[0], t.Dims[1]
	y := &onnx.Tensor{Type: onnx.Float, Dims: []int{columns, rows}, Floats: make([]float32, len(t.Floats))}
	for i := range rows {
		for j := range columns {
			y.Floats[j*rows+i] = t.Floats[i*columns+j]
		}
	}
	return y
}
