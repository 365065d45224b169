package native

import (
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// operators translate nodes: each returns the value that a node makes.
var operators map[string]func(g *graph, n *onnx.Node) (*value, error)

func init() {
	operators = map[string]func(g *graph, n *onnx.Node) (*value, error){
		"Add": (*graph).elementwise, "Sub": (*graph).elementwise, "Mul": (*graph).elementwise, "Div": (*graph).elementwise,
		"BatchNormalization": (*graph).batchNormalization,
		"Clip":               (*graph).clip, "Relu": (*graph).relu,
		"Concat": (*graph).concat,
		"Conv":   (*graph).conv,
		"Gemm":   (*graph).gemm, "MatMul": (*graph).matMul,
		"GlobalAveragePool": (*graph).globalAveragePool,
		"Flatten":           (*graph).flatten, "Reshape": (*graph).reshape,
		"ReduceMean": (*graph).reduceMean,
		"Squeeze":    (*graph).squeeze, "Unsqueeze": (*graph).unsqueeze,
		"Identity": (*graph).identity, "Dropout": (*graph).identity,
		"HardSigmoid": (*graph).hardSigmoid, "HardSwish": (*graph).function, "LeakyRelu": (*graph).leakyRelu,
		"Sigmoid": (*graph).function, "Tanh": (*graph).function,
		"Softmax": (*graph).softmax,
	}
}

// value returns the i-th input of a node, made by another.
func (g *graph) value(n *onnx.Node, i int) (*value, error) {
	if i >= len(n.Inputs) || g.values[n.Inputs[i]] == nil {
		return nil, refuse(n, "found no input %d that depends on the position", i)
	}
	return g.values[n.Inputs[i]], nil
}

// constant returns the i-th input of a node, which must be known and of numbers
// with a fraction; nil if optional and missing.
func (g *graph) constant(n *onnx.Node, i int, optional bool) (*onnx.Tensor, error) {
	if optional && (i >= len(n.Inputs) || n.Inputs[i] == "") {
		return nil, nil
	}
	if i < len(n.Inputs) {
		if t := g.constants[n.Inputs[i]]; t != nil && t.Type.Fractional() {
			return t, nil
		}
	}
	return nil, refuse(n, "found no constant of floats as input %d", i)
}

func (g *graph) identity(n *onnx.Node) (*value, error) { return g.value(n, 0) }

func (g *graph) relu(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	return g.clamp(v, kernel.ReLU), nil
}

// clip has its limits as inputs, before operator set 11 as attributes.
func (g *graph) clip(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	b := kernel.Unbounded
	for i, limit := range []*float32{&b.Low, &b.High} {
		t, err := g.constant(n, 1+i, true)
		if err != nil {
			return nil, err
		}
		if t != nil && t.Len() == 1 {
			*limit = t.Floats[0]
		} else if *limit, err = n.Float([]string{"min", "max"}[i], *limit); err != nil {
			return nil, err
		}
	}
	if !(b.Low <= b.High) {
		return nil, refuse(n, "found limits %v and %v", b.Low, b.High)
	}
	return g.clamp(v, b), nil
}

// batchNormalization is that of inference: a factor and a term per channel.
func (g *graph) batchNormalization(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	var p [4][]float32 // scale, bias, mean, variance
	for i := range p {
		t, err := g.constant(n, 1+i, false)
		if err != nil {
			return nil, err
		}
		if t.Len() != v.dims[0] || v.dims[0] != g.channels(v) {
			return nil, refuse(n, "found %d parameters for dimensions %v", t.Len(), v.dims)
		}
		p[i] = t.Floats
	}
	epsilon, err := n.Float("epsilon", 1e-5)
	if err != nil {
		return nil, err
	}
	if training, err := n.Int("training_mode", 0); err != nil || training != 0 {
		return nil, refuse(n, "found training_mode, expected inference")
	}
	factors, terms := make([]float32, v.dims[0]), make([]float32, v.dims[0])
	for i := range factors {
		f := float64(p[0][i]) / math.Sqrt(float64(p[3][i])+float64(epsilon))
		factors[i], terms[i] = float32(f), float32(float64(p[1][i])-float64(p[2][i])*f)
	}
	return g.affine(v, factors, terms), nil
}

// elementwise translates Add, Sub, Mul and Div.
func (g *graph) elementwise(n *onnx.Node) (*value, error) {
	if len(n.Inputs) != 2 {
		return nil, refuse(n, "found %d inputs, expected 2", len(n.Inputs))
	}
	a, b := g.values[n.Inputs[0]], g.values[n.Inputs[1]]
	switch {
	case a == nil && b == nil:
		return nil, refuse(n, "found no input that depends on the position")
	case b == nil:
		return g.withConstant(n, a, 1)
	case a == nil:
		return g.withConstant(n, b, 0)
	case slices.Equal(a.dims, b.dims):
		return g.ofTwo(n, a, b)
	case n.Op == "Mul" && a.images() && isChannels(b.dims, a.dims[0]):
		return g.scale(a, b), nil
	case n.Op == "Mul" && b.images() && isChannels(a.dims, b.dims[0]):
		return g.scale(b, a), nil
	}
	return nil, refuse(n, "found dimensions %v and %v", a.dims, b.dims)
}

// isChannels says whether dims are those of one number per channel of images.
func isChannels(dims []int, channels int) bool { return slices.Equal(dims, []int{channels, 1, 1}) }

func (g *graph) scale(images, factors *value) *value {
	return g.emit(op{kind: scale, in: []*value{images, factors}}, images.dims...)
}

// ofTwo combines two values of the same dimensions.
func (g *graph) ofTwo(n *onnx.Node, a, b *value) (*value, error) {
	switch {
	case n.Op == "Add":
		return g.plus(a, b), nil
	case n.Op == "Sub" && !a.images():
		minus := g.affine(b, repeat(-1, b.size()), repeat(0, b.size()))
		return g.plus(a, minus), nil
	case n.Op == "Mul" && !a.images():
		return g.emit(op{kind: multiply, in: []*value{a, b}}, a.dims...), nil
	}
	return nil, refuse(n, "found two inputs of dimensions %v", a.dims)
}

// withConstant combines v with a constant, input at of the node.
func (g *graph) withConstant(n *onnx.Node, v *value, at int) (*value, error) {
	t, err := g.constant(n, at, false)
	if err != nil {
		return nil, err
	}
	c, ok := spread(t, v, g.channels(v))
	if !ok {
		return nil, refuse(n, "found a constant of dimensions %v beside %v", t.Dims, v.dims)
	}
	factors, terms := repeat(1, len(c)), repeat(0, len(c))
	switch {
	case n.Op == "Mul":
		factors = c
	case n.Op == "Add":
		terms = c
	case n.Op == "Sub" && at == 1:
		for i, x := range c {
			terms[i] = -x
		}
	case n.Op == "Sub":
		factors, terms = repeat(-1, len(c)), c
	case at == 1: // Div
		for i, x := range c {
			factors[i] = 1 / x
		}
	default:
		return nil, refuse(n, "found a constant to divide")
	}
	return g.affine(v, factors, terms), nil
}

// spread returns a constant's element for each channel of a value, if its
// dimensions broadcast so.
func spread(t *onnx.Tensor, v *value, channels int) ([]float32, bool) {
	if t.Len() == 1 {
		return repeat(t.Floats[0], channels), true
	}
	dims := t.Dims
	for len(dims) > len(v.dims) && dims[0] == 1 { // of the batch
		dims = dims[1:]
	}
	fits := slices.Equal(dims, v.dims)
	if v.images() {
		fits = isChannels(dims, channels)
	}
	return t.Floats, fits
}

func (g *graph) globalAveragePool(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	if !v.images() {
		return nil, refuse(n, "found dimensions %v, expected 8×8 images", v.dims)
	}
	return g.emit(op{kind: pool, in: []*value{v}}, v.dims[0], 1, 1), nil
}

func (g *graph) concat(n *onnx.Node) (*value, error) {
	o, dims := op{kind: concat}, []int(nil)
	for i := range n.Inputs {
		v, err := g.value(n, i)
		if err != nil {
			return nil, err
		}
		if v.images() || dims != nil && !slices.Equal(v.dims[1:], dims[1:]) {
			return nil, refuse(n, "found dimensions %v and %v, expected vectors", dims, v.dims)
		}
		if dims == nil {
			dims = append(slices.Clone(v.dims), 0)[:len(v.dims)]
			dims[0] = 0
		}
		dims[0] += v.dims[0]
		o.in = append(o.in, v)
	}
	if axis, err := n.Int("axis", 1); err != nil || axis != 1 && axis != -int64(len(dims)) {
		return nil, refuse(n, "found axis %d, expected 1", axis)
	}
	return g.emit(o, dims...), nil
}

func (g *graph) softmax(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	if axis, err := n.Int("axis", 1); err != nil || len(v.dims) != 1 || axis != 1 && axis != -1 {
		return nil, refuse(n, "found axis %d of dimensions %v, expected a vector", axis, v.dims)
	}
	return g.emit(op{kind: softmax, in: []*value{v}}, v.dims...), nil
}

// function translates activations without attributes.
func (g *graph) function(n *onnx.Node) (*value, error) {
	return g.apply(n, map[string]func(float64) float64{
		"HardSwish": func(x float64) float64 { return x * min(max(x/6+0.5, 0), 1) },
		"Sigmoid":   func(x float64) float64 { return 1 / (1 + math.Exp(-x)) },
		"Tanh":      math.Tanh,
	}[n.Op])
}

func (g *graph) hardSigmoid(n *onnx.Node) (*value, error) {
	alpha, err := n.Float("alpha", 0.2)
	if err != nil {
		return nil, err
	}
	beta, err := n.Float("beta", 0.5)
	if err != nil {
		return nil, err
	}
	return g.apply(n, func(x float64) float64 { return min(max(float64(alpha)*x+float64(beta), 0), 1) })
}

func (g *graph) leakyRelu(n *onnx.Node) (*value, error) {
	alpha, err := n.Float("alpha", 0.01)
	if err != nil {
		return nil, err
	}
	return g.apply(n, func(x float64) float64 { return max(x, 0) + float64(alpha)*min(x, 0) })
}

func (g *graph) apply(n *onnx.Node, f func(float64) float64) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	return g.emit(op{kind: apply, in: []*value{v}, of: func(x float32) float32 { return float32(f(float64(x))) }}, v.dims...), nil
}
