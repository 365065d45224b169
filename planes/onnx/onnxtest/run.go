// Package onnxtest computes ONNX graphs slowly and plainly, in float64: the
// definition that runtimes are tested against. It follows the text of ONNX's
// operators, one function each, and knows the ones that package onnx lists.
package onnxtest

import (
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// Tensor is an array of numbers, the last dimension varying fastest. Integers
// and booleans are numbers too.
type Tensor struct {
	Dims []int
	Data []float64
}

// New makes a tensor of zeros.
func New(dims ...int) Tensor {
	return Tensor{Dims: dims, Data: make([]float64, product(dims))}
}

// FromFloat32 makes a tensor of these numbers.
func FromFloat32(data []float32, dims ...int) Tensor {
	t := Tensor{Dims: dims, Data: make([]float64, len(data))}
	for i, v := range data {
		t.Data[i] = float64(v)
	}
	return t
}

// Constant makes a tensor of one of a file.
func Constant(c *onnx.Tensor) Tensor {
	t := New(c.Dims...)
	for i := range t.Data {
		if c.Type.Fractional() {
			t.Data[i] = float64(c.Floats[i])
		} else {
			t.Data[i] = float64(c.Ints[i])
		}
	}
	return t
}

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// Run computes the outputs of a model, which must have passed Check, from
// tensors for its inputs, by name. The error names the node that cannot be
// computed. Dimensions of the inputs are not compared with the declared ones.
func Run(m *onnx.Model, in map[string]Tensor) (map[string]Tensor, error) {
	values := make(map[string]Tensor)
	for _, v := range m.Graph.Inputs {
		t, ok := in[v.Name]
		if !ok {
			return nil, fmt.Errorf("onnxtest: found no tensor for input %q", v.Name)
		}
		values[v.Name] = t
	}
	for name, c := range m.Graph.Constants() {
		values[name] = Constant(c)
	}
	for i := range m.Graph.Nodes {
		n := &m.Graph.Nodes[i]
		if _, constant := values[n.Outputs[0]]; constant {
			continue
		}
		if err := apply(n, m.Opset(), values); err != nil {
			return nil, fmt.Errorf("onnxtest: %s: %w", n, err)
		}
	}
	out := make(map[string]Tensor)
	for _, v := range m.Graph.Outputs {
		out[v.Name] = values[v.Name]
	}
	return out, nil
}

// call is one node's computation.
type call struct {
	*onnx.Node
	opset int64
	in    []Tensor // of an optional input left out, the zero Tensor
	err   error    // of the first attribute that could not be read
}

func (c *call) int(name string, absent int64) int {
	v, err := c.Int(name, absent)
	if c.err == nil {
		c.err = err
	}
	return int(v)
}

func (c *call) float(name string, absent float32) float64 {
	v, err := c.Float(name, absent)
	if c.err == nil {
		c.err = err
	}
	return float64(v)
}

func (c *call) text(name, absent string) string {
	v, err := c.Text(name, absent)
	if c.err == nil {
		c.err = err
	}
	return v
}

// ints returns a list attribute, or absent.
func (c *call) ints(name string, absent ...int) []int {
	v, err := c.Ints(name)
	if c.err == nil {
		c.err = err
	}
	if v == nil {
		return absent
	}
	list := make([]int, len(v))
	for i := range v {
		list[i] = int(v[i])
	}
	return list
}

// has reports whether optional input i is there.
func (c *call) has(i int) bool { return i < len(c.in) && c.in[i].Data != nil }

// list returns input i as a list of integers, or the attribute of that name,
// where older operator sets have it; nil if there is neither.
func (c *call) list(i int, attribute string) []int {
	if !c.has(i) {
		return c.ints(attribute)
	}
	list := make([]int, len(c.in[i].Data))
	for j, v := range c.in[i].Data {
		list[j] = int(min(max(v, -1<<53), 1<<53)) // "to the end" is the largest int64
	}
	return list
}

func apply(n *onnx.Node, opset int64, values map[string]Tensor) error {
	f, ok := operators[n.Op]
	if !ok || n.Domain != "" {
		return fmt.Errorf("operator not known")
	}
	c := &call{Node: n, opset: opset}
	for _, name := range n.Inputs {
		c.in = append(c.in, values[name])
	}
	if len(c.in) < f.inputs {
		return fmt.Errorf("found %d inputs, expected %d", len(c.in), f.inputs)
	}
	out, err := f.run(c)
	if c.err != nil {
		return c.err
	}
	if err != nil {
		return err
	}
	for i, name := range n.Outputs {
		if name == "" {
			continue
		}
		if i >= len(out) {
			return fmt.Errorf("found output %d, expected %d outputs", i, len(out))
		}
		values[name] = out[i]
	}
	return nil
}

// operator computes nodes of one kind.
type operator struct {
	inputs int // at least
	run    func(*call) ([]Tensor, error)
}

// Operators returns the names of the operators that Run knows, sorted.
func Operators() []string {
	var names []string
	for name := range operators {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var operators map[string]operator

func init() {
	operators = map[string]operator{
		"Add":                {2, binary(func(a, b float64) float64 { return a + b })},
		"Sub":                {2, binary(func(a, b float64) float64 { return a - b })},
		"Mul":                {2, binary(func(a, b float64) float64 { return a * b })},
		"Div":                {2, binary(func(a, b float64) float64 { return a / b })},
		"PRelu":              {2, binary(func(a, b float64) float64 { return max(a, 0) + b*min(a, 0) })},
		"BatchNormalization": {5, batchNormalization},
		"Cast":               {1, identity},
		"CastLike":           {2, identity},
		"Clip":               {1, clip},
		"Concat":             {1, concat},
		"ConstantOfShape":    {1, constantOfShape},
		"Conv":               {2, conv},
		"Dropout":            {1, identity},
		"Elu":                {1, elu},
		"Equal":              {2, binary(equal)},
		"Erf":                {1, unary(math.Erf)},
		"Exp":                {1, unary(exp)},
		"Expand":             {2, expand},
		"Flatten":            {1, flatten},
		"Gather":             {2, gather},
		"Gelu":               {1, gelu},
		"Gemm":               {2, gemm},
		"GlobalAveragePool":  {1, globalAveragePool},
		"HardSigmoid":        {1, hardSigmoid},
		"HardSwish":          {1, unary(func(x float64) float64 { return x * min(max(x/6+0.5, 0), 1) })},
		"Identity":           {1, identity},
		"LeakyRelu":          {1, leakyRelu},
		"LogSoftmax":         {1, logSoftmax},
		"MatMul":             {2, matMul},
		"Mish":               {1, unary(mish)},
		"Neg":                {1, unary(func(x float64) float64 { return -x })},
		"ReduceMean":         {1, reduceMean},
		"Relu":               {1, unary(func(x float64) float64 { return max(x, 0) })},
		"Reshape":            {2, reshape},
		"Shape":              {1, shape},
		"Sigmoid":            {1, unary(sigmoid)},
		"Slice":              {1, slice},
		"Softmax":            {1, softmax},
		"Softplus":           {1, unary(softplus)},
		"Split":              {1, split},
		"Squeeze":            {1, squeeze},
		"Tanh":               {1, unary(tanh)},
		"Transpose":          {1, transpose},
		"Unsqueeze":          {1, unsqueeze},
		"Where":              {3, where},
	}
}
