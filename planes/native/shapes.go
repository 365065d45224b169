package native

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// This file computes what a graph computes of the dimensions of its values, which
// exporters write out node by node where the number of positions is left open, and
// of constants.

// extent is an integer that nodes compute of dimensions.
type extent struct {
	n     int64
	batch bool // instead of n, the number of positions, whatever it is
}

// arithmetic computes nodes on extents; a scalar counts as a list of one.
var arithmetic = map[string]func(g *graph, n *onnx.Node, in [][]extent) ([]extent, bool){
	"Identity": (*graph).sameExtents, "Cast": (*graph).sameExtents, "Reshape": (*graph).sameExtents,
	"Unsqueeze": (*graph).sameExtents, "Squeeze": (*graph).sameExtents,
	"Concat": func(_ *graph, _ *onnx.Node, in [][]extent) ([]extent, bool) { return slices.Concat(in...), true },
	"Expand": (*graph).expandExtents,
	"Gather": (*graph).gatherExtents, "Slice": (*graph).sliceExtents, "ConstantOfShape": (*graph).repeatedExtents,
	"Add": (*graph).combineExtents, "Sub": (*graph).combineExtents, "Mul": (*graph).combineExtents, "Div": (*graph).combineExtents,
	"Equal": (*graph).combineExtents, "Where": (*graph).chooseExtents,
}

// maxExtents is how many extents a node may make; a shape has a few.
const maxExtents = 64

// shape notes the dimensions of a value or a constant.
func (g *graph) shape(n *onnx.Node) error {
	var all []extent
	var dims []int
	if t := g.constants[n.Inputs[0]]; t != nil {
		dims = t.Dims
	} else {
		v, err := g.value(n, 0)
		if err != nil {
			return err
		}
		all, dims = []extent{{batch: true}}, v.dims
	}
	for _, d := range dims {
		all = append(all, extent{n: int64(d)})
	}
	start, err := n.Int("start", 0)
	if err != nil {
		return err
	}
	end, err := n.Int("end", int64(len(all)))
	if err != nil {
		return err
	}
	from, to := within(start, len(all)), within(end, len(all))
	g.extents[n.Outputs[0]] = all[from:max(from, to)]
	return nil
}

// within resolves an index counted from the end and limits it to a list of that length.
func within(i int64, count int) int {
	if i < 0 {
		i += int64(count)
	}
	return int(min(max(i, 0), int64(count)))
}

// known returns a value's extents, if it has any or is a constant of integers.
func (g *graph) known(name string) ([]extent, bool) {
	if e, ok := g.extents[name]; ok {
		return e, true
	}
	t := g.constants[name]
	if t == nil || t.Type.Fractional() || len(t.Ints) > maxExtents {
		return nil, false
	}
	all := make([]extent, len(t.Ints))
	for i, x := range t.Ints {
		all[i].n = x
	}
	return all, true
}

// compute notes what a node makes of extents or constants alone. It returns false
// for other nodes.
func (g *graph) compute(n *onnx.Node) (bool, error) {
	if len(n.Outputs) != 1 || n.Domain != "" {
		return false, nil
	}
	if n.Op == "Shape" && len(n.Inputs) == 1 {
		return true, g.shape(n)
	}
	if t := g.fold(n); t != nil {
		g.constants[n.Outputs[0]] = t
		return true, nil
	}
	do := arithmetic[n.Op]
	if do == nil {
		return false, nil
	}
	var in [][]extent
	for _, name := range n.Inputs {
		e, ok := g.known(name)
		if !ok && name != "" {
			return false, nil
		}
		in = append(in, e)
	}
	if len(in) == 0 {
		return false, nil
	}
	out, ok := do(g, n, in)
	if !ok || len(out) > maxExtents {
		return false, refuse(n, "found dimensions that it cannot be computed of")
	}
	g.extents[n.Outputs[0]] = out
	return true, nil
}

func (g *graph) sameExtents(_ *onnx.Node, in [][]extent) ([]extent, bool) { return in[0], true }

// expandExtents makes a list of one element longer.
func (g *graph) expandExtents(_ *onnx.Node, in [][]extent) ([]extent, bool) {
	if len(in) != 2 || len(in[1]) != 1 || in[1][0].batch || in[1][0].n < 1 || in[1][0].n > maxExtents {
		return nil, false
	}
	if count := int(in[1][0].n); len(in[0]) == 1 {
		return slices.Repeat(in[0], count), true
	} else if count > 1 && count != len(in[0]) {
		return nil, false
	}
	return in[0], true
}

func (g *graph) gatherExtents(n *onnx.Node, in [][]extent) ([]extent, bool) {
	axis, err := n.Int("axis", 0)
	if err != nil || axis != 0 || len(in) != 2 {
		return nil, false
	}
	var out []extent
	for _, i := range in[1] {
		if i.n < 0 {
			i.n += int64(len(in[0]))
		}
		if i.batch || i.n < 0 || i.n >= int64(len(in[0])) {
			return nil, false
		}
		out = append(out, in[0][i.n])
	}
	return out, true
}

// sliceExtents knows the form of operator set 10 and later: starts, ends, axes and
// steps are inputs.
func (g *graph) sliceExtents(_ *onnx.Node, in [][]extent) ([]extent, bool) {
	if len(in) < 3 || len(in[1]) != 1 || len(in[2]) != 1 || len(in) > 3 && !only(in[3], 0) || len(in) > 4 && !only(in[4], 1) || in[1][0].batch || in[2][0].batch {
		return nil, false
	}
	from, to := within(in[1][0].n, len(in[0])), within(in[2][0].n, len(in[0]))
	return in[0][from:max(from, to)], true
}

// only says whether extents are left out or the one number x.
func only(e []extent, x int64) bool { return e == nil || slices.Equal(e, []extent{{n: x}}) }

func (g *graph) repeatedExtents(n *onnx.Node, in [][]extent) ([]extent, bool) {
	of := extent{}
	if a := n.Attribute("value"); a != nil {
		if a.Tensor == nil || len(a.Tensor.Ints) != 1 {
			return nil, false
		}
		of.n = a.Tensor.Ints[0]
	}
	if len(in[0]) != 1 || in[0][0].batch || in[0][0].n < 0 || in[0][0].n > maxExtents {
		return nil, false
	}
	return slices.Repeat([]extent{of}, int(in[0][0].n)), true
}

// pair returns element i of two lists, of which one may have a single element.
func pair(a, b []extent, i int) (x, y extent) { return a[min(i, len(a)-1)], b[min(i, len(b)-1)] }

// combineExtents computes Add, Sub, Mul, Div and Equal.
func (g *graph) combineExtents(n *onnx.Node, in [][]extent) ([]extent, bool) {
	if len(in) != 2 || len(in[0]) == 0 || len(in[1]) == 0 || len(in[0]) != len(in[1]) && len(in[0]) != 1 && len(in[1]) != 1 {
		return nil, false
	}
	out := make([]extent, max(len(in[0]), len(in[1])))
	for i := range out {
		x, y := pair(in[0], in[1], i)
		ok := true
		if n.Op == "Equal" {
			if x == y {
				out[i].n = 1
			}
		} else if out[i], ok = combine(n.Op, x, y); !ok {
			return nil, false
		}
	}
	return out, true
}

// combine computes with two extents. The number of positions only stays as it is.
func combine(op string, x, y extent) (extent, bool) {
	const largest = 1 << 30 // so that nothing overflows
	if x.batch || y.batch {
		switch {
		case y == extent{n: 1} && (op == "Mul" || op == "Div"), y == extent{} && (op == "Add" || op == "Sub"):
			return x, true
		case x == extent{n: 1} && op == "Mul", x == extent{} && op == "Add":
			return y, true
		}
		return extent{}, false
	}
	if max(x.n, -x.n, y.n, -y.n) > largest {
		return extent{}, false
	}
	switch op {
	case "Add":
		return extent{n: x.n + y.n}, true
	case "Sub":
		return extent{n: x.n - y.n}, true
	case "Mul":
		return extent{n: x.n * y.n}, true
	}
	if y.n == 0 {
		return extent{}, false
	}
	return extent{n: x.n / y.n}, true
}

// chooseExtents is Where.
func (g *graph) chooseExtents(_ *onnx.Node, in [][]extent) ([]extent, bool) {
	if len(in) != 3 || slices.ContainsFunc(in, func(e []extent) bool { return len(e) == 0 }) {
		return nil, false
	}
	out := make([]extent, max(len(in[0]), len(in[1]), len(in[2])))
	for i := range out {
		x, y := pair(in[1], in[2], i)
		condition, _ := pair(in[0], in[0], i)
		if out[i] = y; condition.n != 0 {
			out[i] = x
		}
	}
	return out, true
}

// fold returns what a node makes of a constant of numbers by moving its elements
// alone, nil if it does something else.
func (g *graph) fold(n *onnx.Node) *onnx.Tensor {
	if len(n.Inputs) == 0 {
		return nil
	}
	t := g.constants[n.Inputs[0]]
	if t == nil || !t.Type.Fractional() {
		return nil
	}
	to := *t
	switch n.Op {
	case "Identity", "CastLike": // all numbers with a fraction are alike
	case "Expand":
		return g.repeated(n, t)
	case "Cast":
		if !castsToFloat(n) {
			return nil
		}
	case "Transpose":
		perm, err := n.Ints("perm")
		if err != nil || len(t.Dims) != 2 || perm != nil && !slices.Equal(perm, []int64{1, 0}) {
			return nil
		}
		to.Dims, to.Floats = []int{t.Dims[1], t.Dims[0]}, transpose(t.Floats, t.Dims[0], t.Dims[1])
	case "Reshape", "Unsqueeze", "Squeeze":
		return g.reshapedConstant(n, t)
	default:
		return nil
	}
	return &to
}

// repeated returns a list of equal numbers, nil if Expand makes something else.
func (g *graph) repeated(n *onnx.Node, t *onnx.Tensor) *onnx.Tensor {
	shape, err := g.integers(n, 1)
	if err != nil || t.Len() != 1 || len(shape) != 1 || shape[0] < 1 || shape[0] > maxSize {
		return nil
	}
	return &onnx.Tensor{Name: t.Name, Type: onnx.Float, Dims: []int{int(shape[0])}, Floats: repeat(t.Floats[0], int(shape[0]))}
}

func castsToFloat(n *onnx.Node) bool {
	to, err := n.Int("to", 0)
	return err == nil && (onnx.DataType(to) == onnx.Float || onnx.DataType(to) == onnx.Double)
}

// reshapedConstant returns a constant with other dimensions, nil if they are not
// plain.
func (g *graph) reshapedConstant(n *onnx.Node, t *onnx.Tensor) *onnx.Tensor {
	to := *t
	if n.Op != "Reshape" {
		axes, err := g.axisList(n)
		if err != nil {
			return nil
		}
		slices.Sort(axes)
		to.Dims = slices.Clone(t.Dims)
		for i, a := range axes {
			if n.Op == "Unsqueeze" && a >= 0 && int(a) <= len(to.Dims) {
				to.Dims = slices.Insert(to.Dims, int(a), 1)
			} else if at := int(a) - i; n.Op == "Squeeze" && at >= 0 && at < len(to.Dims) && to.Dims[at] == 1 {
				to.Dims = slices.Delete(to.Dims, at, at+1)
			} else {
				return nil
			}
		}
		return &to
	}
	shape, err := g.integers(n, 1)
	if err != nil || len(shape) == 0 {
		return nil
	}
	to.Dims = nil
	rest, inferred := t.Len(), -1
	for k, d := range shape {
		switch {
		case d == -1 && inferred < 0:
			inferred, d = k, 1
		case d < 1 || d > maxSize || rest%int(d) != 0:
			return nil
		}
		rest /= int(d)
		to.Dims = append(to.Dims, int(d))
	}
	if inferred >= 0 {
		to.Dims[inferred], rest = rest, 1
	}
	if rest != 1 {
		return nil
	}
	return &to
}
