package native

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// This file translates the operators that take values apart, put them together or
// repeat them.

// part returns channels of images, or elements of a vector whose dimensions but the
// first are 1.
func (g *graph) part(n *onnx.Node, v *value, first, count int) (*value, error) {
	dims := slices.Clone(v.dims)
	if first < 0 || count < 1 || len(dims) == 0 || first+count > dims[0] || !v.images() && v.size() != dims[0] {
		return nil, refuse(n, "found %d elements from %d of dimensions %v", count, first, v.dims)
	}
	dims[0] = count
	return g.emit(op{kind: part, in: []*value{v}, first: first}, dims...), nil
}

// axisOne refuses an axis that is not the one after that of the positions.
func (g *graph) axisOne(n *onnx.Node, v *value, axis int64) error {
	if axis != 1 && axis != -int64(len(v.dims)) {
		return refuse(n, "found axis %d of dimensions %v behind the positions, expected 1", axis, v.dims)
	}
	return nil
}

// split has several outputs, whose sizes are an attribute, from operator set 13 on
// an input, or equal.
func (g *graph) split(n *onnx.Node) ([]*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	axis, err := n.Int("axis", 0)
	if err != nil {
		return nil, err
	}
	if err := g.axisOne(n, v, axis); err != nil {
		return nil, err
	}
	sizes, err := n.Ints("split")
	if err != nil {
		return nil, err
	}
	if len(n.Inputs) > 1 && n.Inputs[1] != "" {
		if sizes, err = g.integers(n, 1); err != nil {
			return nil, err
		}
	}
	if sizes == nil { // equal, but for the last where it does not divide
		each := int64((v.dims[0] + len(n.Outputs) - 1) / len(n.Outputs))
		sizes = slices.Repeat([]int64{each}, len(n.Outputs))
		sizes[len(sizes)-1] = int64(v.dims[0]) - each*int64(len(sizes)-1)
	}
	if len(sizes) != len(n.Outputs) {
		return nil, refuse(n, "found %d sizes for %d outputs", len(sizes), len(n.Outputs))
	}
	var all []*value
	first := 0
	for _, size := range sizes {
		if size < 1 || size > maxSize {
			return nil, refuse(n, "found sizes %v", sizes)
		}
		p, err := g.part(n, v, first, int(size))
		if err != nil {
			return nil, err
		}
		all, first = append(all, p), first+int(size)
	}
	return all, nil
}

// slice has its limits as inputs, before operator set 10 as attributes.
func (g *graph) slice(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	var list [4]int64 // start, end, axis, step
	list[3] = 1
	for i, name := range []string{"starts", "ends", "axes", "steps"} {
		found, err := n.Ints(name)
		if err == nil && found == nil && i+1 < len(n.Inputs) && n.Inputs[i+1] != "" {
			found, err = g.integers(n, i+1)
		}
		if err != nil {
			return nil, err
		}
		if found == nil && i == 3 {
			continue
		}
		if len(found) != 1 {
			return nil, refuse(n, "found %s %v, expected one number", name, found)
		}
		list[i] = found[0]
	}
	if err := g.axisOne(n, v, list[2]); err != nil {
		return nil, err
	}
	if list[3] != 1 {
		return nil, refuse(n, "found steps of %d, expected 1", list[3])
	}
	from := within(list[0], v.dims[0])
	return g.part(n, v, from, within(list[1], v.dims[0])-from)
}

// gather takes one element.
func (g *graph) gather(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	at, err := g.integers(n, 1)
	if err != nil {
		return nil, err
	}
	axis, err := n.Int("axis", 0)
	if err != nil {
		return nil, err
	}
	if err := g.axisOne(n, v, axis); err != nil {
		return nil, err
	}
	if len(at) != 1 || len(v.dims) != 1 {
		return nil, refuse(n, "found indices %v of dimensions %v, expected one of a vector", at, v.dims)
	}
	return g.part(n, v, within(at[0], v.dims[0]), 1)
}

// concat joins vectors, or the channels of images.
func (g *graph) concat(n *onnx.Node) (*value, error) {
	o, dims := op{kind: concat}, []int(nil)
	for i := range n.Inputs {
		v, err := g.value(n, i)
		if err != nil {
			return nil, err
		}
		if len(v.dims) == 0 || dims != nil && !slices.Equal(v.dims[1:], dims[1:]) {
			return nil, refuse(n, "found dimensions %v and %v", dims, v.dims)
		}
		if dims == nil {
			dims = slices.Clone(v.dims)
			dims[0] = 0
		}
		dims[0] += v.dims[0]
		o.in = append(o.in, v)
	}
	if len(o.in) == 0 {
		return nil, refuse(n, "found no inputs")
	}
	axis, err := n.Int("axis", 1)
	if err != nil {
		return nil, err
	}
	if err := g.axisOne(n, o.in[0], axis); err != nil {
		return nil, err
	}
	return g.emit(o, dims...), nil
}

// spread repeats one number per channel over the squares of images.
func (g *graph) spread(v *value, channels int) *value {
	return g.emit(op{kind: spread, in: []*value{v}}, imageDims(channels)...)
}

// expand repeats elements where dimensions are 1; only images can come of it.
func (g *graph) expand(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	var to []extent
	if len(n.Inputs) > 1 {
		to, _ = g.known(n.Inputs[1])
	}
	if len(to) != 1+len(v.dims) {
		return nil, refuse(n, "found a shape of %d dimensions for %v, expected one more", len(to), v.dims)
	}
	dims := slices.Clone(v.dims)
	for i, e := range to[1:] {
		if e.batch || e.n < 1 || e.n != 1 && dims[i] != 1 && e.n != int64(dims[i]) {
			return nil, refuse(n, "found dimensions %v to become %v", v.dims, to)
		}
		dims[i] = max(dims[i], int(min(e.n, maxSize)))
	}
	switch {
	case !to[0].batch && to[0].n != 1 && to[0].n != int64(g.batch):
		return nil, refuse(n, "found %d positions", to[0].n)
	case slices.Equal(dims, v.dims):
		return v, nil
	case areImages(dims) && isChannels(v.dims, dims[0]):
		return g.spread(v, dims[0]), nil
	}
	return nil, refuse(n, "found dimensions %v to become %v, expected one number per channel and images", v.dims, dims)
}

// transposed only takes what moves dimensions of 1 about.
func (g *graph) transposed(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	perm, err := n.Ints("perm")
	if err != nil {
		return nil, err
	}
	if len(perm) != 1+len(v.dims) || perm[0] != 0 || v.images() {
		return nil, refuse(n, "found perm %v for dimensions %v behind the positions", perm, v.dims)
	}
	dims, last := make([]int, len(v.dims)), int64(0)
	for i, p := range perm[1:] {
		if p < 1 || p > int64(len(v.dims)) || slices.Contains(perm[:i+1], p) {
			return nil, refuse(n, "found perm %v", perm)
		}
		if dims[i] = v.dims[p-1]; dims[i] == 1 {
			continue
		}
		if p < last {
			return nil, refuse(n, "found perm %v for dimensions %v, expected only such of 1 to move", perm, v.dims)
		}
		last = p
	}
	return g.reshaped(n, v, dims...)
}
