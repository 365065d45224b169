package native

import (
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
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
		"Concat": (*graph).concat, "Expand": (*graph).expand,
		"Gather": (*graph).gather, "Slice": (*graph).slice, "Transpose": (*graph).transposed,
		"Conv": (*graph).conv,
		"Gemm": (*graph).gemm, "MatMul": (*graph).matMul,
		"GlobalAveragePool": (*graph).globalAveragePool,
		"Flatten":           (*graph).flatten, "Reshape": (*graph).reshape,
		"ReduceMean": (*graph).reduceMean,
		"Squeeze":    (*graph).squeeze, "Unsqueeze": (*graph).unsqueeze,
		"Identity": (*graph).identity, "Dropout": (*graph).identity, "Cast": (*graph).cast,
		"Elu": (*graph).elu, "Gelu": (*graph).gelu, "HardSigmoid": (*graph).hardSigmoid, "LeakyRelu": (*graph).leakyRelu, "PRelu": (*graph).pRelu,
		"Softmax": (*graph).softmax, "LogSoftmax": (*graph).softmax,
	}
	for name, f := range functions {
		operators[name] = func(g *graph, n *onnx.Node) (*value, error) { return g.apply(n, f) }
	}
}

// functions are operators without attributes that compute elements alone.
var functions = map[string]func(float64) float64{
	"Erf":       math.Erf,
	"HardSwish": func(x float64) float64 { return x * min(max(x/6+0.5, 0), 1) },
	"Mish":      func(x float64) float64 { return x * math.Tanh(logistic.Softplus(x)) },
	"Neg":       func(x float64) float64 { return -x },
	"Sigmoid":   logistic.Sigmoid,
	"Softplus":  logistic.Softplus,
	"Tanh":      math.Tanh,
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

// cast is of numbers to numbers, all of which are float32 here.
func (g *graph) cast(n *onnx.Node) (*value, error) {
	if !castsToFloat(n) {
		return nil, refuse(n, "found a type other than float")
	}
	return g.value(n, 0)
}

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
	case a.images() && isChannels(b.dims, a.dims[0]):
		return g.ofTwo(n, a, g.spread(b, a.dims[0]))
	case b.images() && isChannels(a.dims, b.dims[0]):
		return g.ofTwo(n, g.spread(a, b.dims[0]), b)
	}
	return nil, refuse(n, "found dimensions %v and %v", a.dims, b.dims)
}

// isChannels reports whether dims are those of one number per channel of images.
func isChannels(dims []int, channels int) bool { return slices.Equal(dims, []int{channels, 1, 1}) }

func (g *graph) scale(images, factors *value) *value {
	return g.emit(op{kind: scale, in: []*value{images, factors}}, images.dims...)
}

// ofTwo combines two values of the same dimensions.
func (g *graph) ofTwo(n *onnx.Node, a, b *value) (*value, error) {
	switch {
	case n.Op == "Add":
		return g.plus(a, b), nil
	case n.Op == "Sub" && a.maker != b.maker:
		return g.plus(a, g.affine(b, repeat(-1, g.channels(b)), repeat(0, g.channels(b)))), nil
	case n.Op == "Mul" && a.maker.kind == spread:
		return g.scale(b, a.maker.in[0]), nil
	case n.Op == "Mul" && b.maker.kind == spread:
		return g.scale(a, b.maker.in[0]), nil
	case n.Op == "Mul":
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
	c, ok := broadcast(t, v, g.channels(v))
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

// broadcast returns a constant's element for each channel of a value, if its
// dimensions broadcast so.
func broadcast(t *onnx.Tensor, v *value, channels int) ([]float32, bool) {
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

// softmax translates LogSoftmax too.
func (g *graph) softmax(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	if axis, err := n.Int("axis", 1); err != nil || len(v.dims) != 1 || axis != 1 && axis != -1 {
		return nil, refuse(n, "found axis %d of dimensions %v, expected a vector", axis, v.dims)
	}
	o := op{kind: softmax, in: []*value{v}}
	if n.Op == "LogSoftmax" {
		o.kind = logSoftmax
	}
	return g.emit(o, v.dims...), nil
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

func (g *graph) elu(n *onnx.Node) (*value, error) {
	alpha, err := n.Float("alpha", 1)
	if err != nil {
		return nil, err
	}
	return g.apply(n, func(x float64) float64 { return max(x, 0) + float64(alpha)*math.Expm1(min(x, 0)) })
}

// gelu is x·Φ(x), Φ that of the normal distribution or near it.
func (g *graph) gelu(n *onnx.Node) (*value, error) {
	switch mode, err := n.Text("approximate", "none"); {
	case err != nil:
		return nil, err
	case mode == "none":
		return g.apply(n, func(x float64) float64 { return x / 2 * (1 + math.Erf(x/math.Sqrt2)) })
	case mode == "tanh":
		return g.apply(n, func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
		})
	default:
		return nil, refuse(n, "found approximate %q", mode)
	}
}

// pRelu is LeakyRelu with a constant slope for each channel.
func (g *graph) pRelu(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	t, err := g.constant(n, 1, false)
	if err != nil {
		return nil, err
	}
	channels := g.channels(v)
	slopes, ok := broadcast(t, v, channels)
	if !ok {
		return nil, refuse(n, "found slopes of dimensions %v beside %v", t.Dims, v.dims)
	}
	v.maker.uses++ // two read it, so that neither may change what the other sees
	ones, zeros := repeat(1, channels), repeat(0, channels)
	above := g.clamp(g.affine(v, ones, zeros), kernel.ReLU)
	below := g.clamp(g.affine(v, ones, zeros), kernel.Bounds{Low: kernel.Unbounded.Low, High: 0})
	return g.plus(above, g.affine(below, slopes, zeros)), nil
}

func (g *graph) apply(n *onnx.Node, f func(float64) float64) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	return g.emit(op{kind: apply, in: []*value{v}, of: func(x float32) float32 { return float32(f(float64(x))) }}, v.dims...), nil
}
