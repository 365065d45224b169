package native

import (
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// kind is the kind of an operation.
type kind int

const (
	load       kind = iota // images from the planes of the input
	convolve               // images
	depthwise              // images, each channel by itself
	scale                  // images, channels times the elements of a vector
	pool                   // vector of the channels' means
	flatten                // vector of an image's elements, channel by channel
	dense                  // vector from a vector by a matrix
	affine                 // vector, elements times weights plus bias
	sum                    // of two vectors
	multiply               // two vectors or images, element by element
	concat                 // vectors one behind the other, or images' channels
	part                   // a vector's elements or images' channels, from a first one
	spread                 // images of the elements of a vector, each all over its channel
	softmax                // of a vector
	logSoftmax             // its logarithm
	apply                  // a function of every element of a vector or images
)

// op is one operation of a graph that is being compiled.
type op struct {
	kind    kind
	dims    []int // of the result
	at      int   // place in the order of operations
	in      []*value
	add     *value    // added to the results of convolutions, before bounds
	uses    int       // of the result, by nodes and outputs of the graph
	slot    int       // where the result lies when the program runs
	size    int       // of a convolution's window
	weights []float32 // [output][input][row][column]; without inputs if depthwise or affine
	bias    []float32 // per output
	bounds  kernel.Bounds
	of      func(float32) float32 // of apply
	first   int                   // of part
	exact   bool                  // not to be computed with bytes
	// How the result is brought to bytes for convolutions, if it has been
	// watched.
	quantisation kernel.Quantisation
}

// value is a view of what an operation makes of one position: images, which have
// the dimensions [channels, 8, 8], or a vector, whatever its dimensions.
type value struct {
	dims  []int
	maker *op
}

func (v *value) images() bool { return areImages(v.dims) }

// size returns the number of elements.
func (v *value) size() int { return product(v.dims) }

func areImages(dims []int) bool {
	return len(dims) == 3 && dims[1] == kernel.ImageSide && dims[2] == kernel.ImageSide
}

// imageDims is the inverse.
func imageDims(channels int) []int { return []int{channels, kernel.ImageSide, kernel.ImageSide} }

func product(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

// graph is a model on its way to a program.
type graph struct {
	constants map[string]*onnx.Tensor
	values    map[string]*value
	extents   map[string][]extent
	uses      map[string]int
	ops       []*op
	batch     int // how many positions the model was exported for, or onnx.Any
}

// refuse is the error of a node that is understood but for something.
func refuse(n *onnx.Node, format string, args ...any) error {
	return fmt.Errorf("native: %w: %s: %s", onnx.ErrUnsupported, n, fmt.Sprintf(format, args...))
}

// translate turns a model's graph into operations and the values of its outputs,
// nil for those it has not.
func translate(m *onnx.Model) (*graph, []*value, error) {
	g := &graph{constants: m.Graph.Constants(), values: map[string]*value{}, extents: map[string][]extent{}, uses: map[string]int{}}
	nodes, err := g.needed(&m.Graph)
	if err != nil {
		return nil, nil, err
	}
	if err := g.input(&m.Graph); err != nil {
		return nil, nil, err
	}
	for _, n := range nodes {
		if err := g.node(n); err != nil {
			return nil, nil, err
		}
	}
	out := make([]*value, len(outputNames))
	for i, name := range outputNames {
		listed := slices.ContainsFunc(m.Graph.Outputs, func(o onnx.Value) bool { return o.Name == name })
		// CrazyAra's nets have values inside by the name of an output.
		if v := g.values[name]; v != nil && listed {
			out[i] = g.flat(v)
			if slices.ContainsFunc(out[:i], func(o *value) bool { return o != nil && o.maker == out[i].maker }) {
				return nil, nil, fmt.Errorf("native: %w: found output %q to be another as well", onnx.ErrUnsupported, name)
			}
		}
	}
	if err := checkOutputs(out); err != nil {
		return nil, nil, err
	}
	g.prune(out)
	return g, out, nil
}

// node translates a node.
func (g *graph) node(n *onnx.Node) error {
	if done, err := g.compute(n); done || err != nil {
		return err
	}
	if n.Domain != "" {
		return refuse(n, "found operator set %q, expected ONNX's own", n.Domain)
	}
	if n.Op == "Split" {
		all, err := g.split(n)
		for i, v := range all {
			v.maker.uses = g.uses[n.Outputs[i]]
			g.values[n.Outputs[i]] = v
		}
		return err
	}
	translate := operators[n.Op]
	if translate == nil {
		return refuse(n, "found an operator that is not known")
	}
	v, err := translate(g, n)
	if err != nil {
		return err
	}
	if v.size() > maxSize {
		return refuse(n, "found %d elements, expected at most %d", v.size(), maxSize)
	}
	// What was made by an earlier node already, this node has used up once.
	if v.maker.uses > 0 {
		v.maker.uses--
	}
	v.maker.uses += g.uses[n.Outputs[0]]
	g.values[n.Outputs[0]] = v
	return nil
}

// prune removes the operations that no output depends on.
func (g *graph) prune(out []*value) {
	live := map[*op]bool{}
	for _, v := range out {
		if v != nil {
			live[v.maker] = true
		}
	}
	for _, o := range slices.Backward(g.ops) {
		if live[o] {
			for _, m := range o.reads() {
				live[m] = true
			}
		}
	}
	g.ops = slices.DeleteFunc(g.ops, func(o *op) bool { return !live[o] })
	for i, o := range g.ops {
		o.at = i
	}
}

// maxSize is how many elements of a position a value may have. Concat could double
// them with every node.
const maxSize = 1 << 22

// needed returns the nodes that the outputs depend on, without constants, and
// counts the uses of their values.
func (g *graph) needed(from *onnx.Graph) ([]*onnx.Node, error) {
	for _, out := range from.Outputs {
		if slices.Contains(outputNames[:], out.Name) {
			g.uses[out.Name]++
		}
	}
	needed := map[string]bool{}
	for name := range g.uses {
		needed[name] = true
	}
	var nodes []*onnx.Node
	for i := len(from.Nodes) - 1; i >= 0; i-- {
		n := &from.Nodes[i]
		if len(n.Outputs) == 0 || !slices.ContainsFunc(n.Outputs, func(name string) bool { return needed[name] }) || g.constants[n.Outputs[0]] != nil {
			continue
		}
		for _, name := range n.Outputs[1:] {
			if needed[name] && n.Op != "Split" {
				return nil, refuse(n, "found a second output, %q, in use", name)
			}
		}
		for j, name := range n.Inputs {
			needed[name] = name != ""
			if n.Op != "Shape" && (n.Op != "CastLike" || j == 0) { // which do not look at elements
				g.uses[name]++
			}
		}
		nodes = append(nodes, n)
	}
	slices.Reverse(nodes)
	return nodes, nil
}

func (g *graph) input(from *onnx.Graph) error {
	if len(from.Inputs) != 1 {
		return fmt.Errorf("native: %w: found %d inputs, expected 1", onnx.ErrUnsupported, len(from.Inputs))
	}
	in := from.Inputs[0]
	var dims []int
	for _, d := range in.Shape {
		dims = append(dims, d.Size)
	}
	if want := imageDims(planes.Channels); len(dims) != 4 || !slices.Equal(dims[1:], want) {
		return fmt.Errorf("native: %w: found input %q of dimensions %v, expected a number of positions and %v", onnx.ErrUnsupported, in.Name, dims, want)
	}
	g.batch = dims[0]
	v := g.emit(op{kind: load}, dims[1:]...)
	v.maker.uses = g.uses[in.Name]
	g.values[in.Name] = v
	return nil
}

// emit appends an operation and returns what it makes.
func (g *graph) emit(o op, dims ...int) *value {
	if o.bounds == (kernel.Bounds{}) {
		o.bounds = kernel.Unbounded
	}
	o.at, o.dims = len(g.ops), dims
	g.ops = append(g.ops, &o)
	return &value{dims: dims, maker: &o}
}

// flat returns a value as a vector.
func (g *graph) flat(v *value) *value {
	if !v.images() {
		return v
	}
	return g.emit(op{kind: flatten, in: []*value{v}}, v.size())
}

func checkOutputs(out []*value) error {
	for i, sizes := range [len(outputNames)][]int{{1}, {planes.PolicySize, planes.Labels}, {3}, {1}} {
		switch {
		case out[i] == nil && i < 2:
			return fmt.Errorf("native: %w: found no output %q", onnx.ErrUnsupported, outputNames[i])
		case out[i] != nil && !slices.Contains(sizes, out[i].size()):
			return fmt.Errorf("native: %w: found %d elements of output %q, expected one of %v", onnx.ErrUnsupported, out[i].size(), outputNames[i], sizes)
		}
	}
	return nil
}

// linear reports whether what a value's maker computes may still be changed by a
// factor and a term per output: nothing else reads the value, and its maker is a
// product with weights that nothing follows yet.
func (v *value) linear() bool {
	return v.unbounded() && v.maker.add == nil
}

// unbounded reports whether an activation may still be added to what makes a value.
func (v *value) unbounded() bool {
	o := v.maker
	return o.uses == 1 && o.weights != nil && o.bounds == kernel.Unbounded
}

// affine returns v with its channels, those of images or the elements of a vector,
// multiplied by factors and then increased by terms.
func (g *graph) affine(v *value, factors, terms []float32) *value {
	if !v.linear() {
		o := op{kind: affine, in: []*value{v}, weights: factors, bias: terms, size: 1}
		if v.images() {
			o.kind = depthwise
		}
		return g.emit(o, v.dims...)
	}
	o := v.maker
	o.weights, o.bias = slices.Clone(o.weights), slices.Clone(o.bias)
	if o.bias == nil {
		o.bias = make([]float32, len(factors))
	}
	each := len(o.weights) / len(factors)
	for i, f := range factors {
		for j := range o.weights[i*each : (i+1)*each] {
			o.weights[i*each+j] *= f
		}
		o.bias[i] = float32(float64(o.bias[i])*float64(f) + float64(terms[i]))
	}
	return v
}

// clamp returns v with its elements clamped.
func (g *graph) clamp(v *value, b kernel.Bounds) *value {
	if !v.unbounded() {
		v = g.affine(v, repeat(1, g.channels(v)), repeat(0, g.channels(v)))
	}
	v.maker.bounds = b
	return v
}

// plus returns the sum of two values of the same dimensions.
func (g *graph) plus(a, b *value) *value {
	if !a.images() {
		return g.emit(op{kind: sum, in: []*value{a, b}}, a.dims...)
	}
	// The sum becomes part of the later operation if that can take it.
	if a.maker.at < b.maker.at {
		a, b = b, a
	}
	if !a.linear() || a == b {
		ones := repeat(1, g.channels(a))
		a = g.emit(op{kind: depthwise, in: []*value{a}, weights: ones, bias: repeat(0, len(ones)), size: 1}, a.dims...)
	}
	a.maker.add = b
	return a
}

// channels returns how many factors affine takes.
func (g *graph) channels(v *value) int {
	if v.images() {
		return v.dims[0]
	}
	return v.size()
}

func repeat(x float32, n int) []float32 {
	all := make([]float32, n)
	for i := range all {
		all[i] = x
	}
	return all
}
