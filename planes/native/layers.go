package native

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
)

// This file translates the operators with weights and those that change the
// dimensions.

func (g *graph) conv(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	w, err := g.constant(n, 1, false)
	if err != nil {
		return nil, err
	}
	bias, err := g.constant(n, 2, true)
	if err != nil {
		return nil, err
	}
	groups, err := n.Int("group", 1)
	if err != nil {
		return nil, err
	}
	if len(w.Dims) == 3 {
		return g.conv1(n, v, w, bias, int(groups))
	}
	if len(w.Dims) != 4 || w.Len() == 0 || len(v.dims) != 3 || w.Dims[2] != w.Dims[3] || w.Dims[2]%2 == 0 || groups < 1 ||
		w.Dims[1]*int(groups) != v.dims[0] || w.Dims[0]%int(groups) != 0 || bias != nil && bias.Len() != w.Dims[0] {
		return nil, refuse(n, "found weights of dimensions %v in %d groups for an input of %v", w.Dims, groups, v.dims)
	}
	if err := checkWindow(n, w.Dims[2]); err != nil {
		return nil, err
	}
	each := v.images() && groups > 1 && int(groups) == v.dims[0] && w.Dims[0] == v.dims[0] // channel has a window of its own
	if groups > 1 && !each && w.Dims[0] > mostWeights/(v.dims[0]*w.Dims[2]*w.Dims[3]) {
		return nil, refuse(n, "found weights of dimensions %v in %d groups, expected at most %d without groups", w.Dims, groups, mostWeights)
	}
	o := op{kind: convolve, in: []*value{v}, size: w.Dims[2], weights: w.Floats, bias: make([]float32, w.Dims[0])}
	if bias != nil {
		o.bias = bias.Floats
	}
	dims := slices.Clone(v.dims)
	dims[0] = w.Dims[0]
	switch {
	case each:
		o.kind = depthwise
	case v.images():
		o.weights = ungroup(w, int(groups))
	case isChannels(v.dims, v.dims[0]) && o.size == 1:
		o.kind, o.weights = dense, ungroup(w, int(groups))
	default:
		return nil, refuse(n, "found a window of %d for dimensions %v", o.size, v.dims)
	}
	return g.emit(o, dims...), nil
}

// mostWeights is how many weights a layer may have that a file says shorter.
const mostWeights = 1 << 24

// conv1 is a convolution along a vector of [channels, length], as the matrix that
// it is.
func (g *graph) conv1(n *onnx.Node, v *value, w, bias *onnx.Tensor, groups int) (*value, error) {
	if len(v.dims) != 2 || w.Len() == 0 || groups < 1 || w.Dims[1]*groups != v.dims[0] || w.Dims[0]%groups != 0 || w.Dims[2]%2 == 0 ||
		bias != nil && bias.Len() != w.Dims[0] || w.Dims[0] > mostWeights/v.size()/v.dims[1] {
		return nil, refuse(n, "found weights of dimensions %v in %d groups for an input of %v", w.Dims, groups, v.dims)
	}
	out, in, size, length := w.Dims[0], w.Dims[1], w.Dims[2], v.dims[1]
	if err := checkLine(n, size); err != nil {
		return nil, err
	}
	o := op{kind: dense, in: []*value{v}, weights: make([]float32, out*length*v.size()), bias: make([]float32, out*length)}
	for i := range o.bias {
		channel, at := i/length, i%length
		if bias != nil {
			o.bias[i] = bias.Floats[channel]
		}
		first := channel / (out / groups) * in
		for c := range in {
			for k := range size {
				if from := at + k - size/2; from >= 0 && from < length {
					o.weights[i*v.size()+(first+c)*length+from] = w.Floats[(channel*in+c)*size+k]
				}
			}
		}
	}
	return g.emit(o, out, length), nil
}

// checkLine is checkWindow for one dimension.
func checkLine(n *onnx.Node, size int) error {
	auto, err := n.Text("auto_pad", "NOTSET")
	if err != nil {
		return err
	}
	half, same := int64(size/2), auto == "SAME_UPPER" || auto == "SAME_LOWER"
	if auto != "NOTSET" && !same {
		return refuse(n, "found auto_pad %q", auto)
	}
	for name, values := range map[string][]int64{"kernel_shape": {int64(size)}, "strides": {1}, "dilations": {1}, "pads": {half, half}} {
		found, err := n.Ints(name)
		if err != nil {
			return err
		}
		if found == nil && (name != "pads" || half == 0 || same) {
			continue
		}
		if !slices.Equal(found, values) {
			return refuse(n, "found %s %v, expected %v", name, found, values)
		}
	}
	return nil
}

// checkWindow refuses convolutions whose outputs do not lie where their inputs do.
func checkWindow(n *onnx.Node, size int) error {
	const largest = 2*kernel.ImageSide - 1 // from any square it sees all
	if size > largest {
		return refuse(n, "found a window of %d squares, expected at most %d", size, largest)
	}
	want := map[string][]int64{
		"kernel_shape": {int64(size), int64(size)}, "strides": {1, 1}, "dilations": {1, 1},
		"pads": slices.Repeat([]int64{int64(size / 2)}, 4),
	}
	auto, err := n.Text("auto_pad", "NOTSET")
	if err != nil {
		return err
	}
	if auto == "SAME_UPPER" || auto == "SAME_LOWER" || auto == "VALID" && size == 1 {
		delete(want, "pads")
	} else if auto != "NOTSET" {
		return refuse(n, "found auto_pad %q", auto)
	}
	for name, values := range want {
		found, err := n.Ints(name)
		if err != nil {
			return err
		}
		if found == nil && (name != "pads" || size == 1) {
			continue
		}
		if !slices.Equal(found, values) {
			return refuse(n, "found %s %v, expected %v", name, found, values)
		}
	}
	return nil
}

// ungroup returns the weights of a convolution in groups as one of all inputs.
func ungroup(w *onnx.Tensor, groups int) []float32 {
	if groups == 1 {
		return w.Floats
	}
	out, in, each := w.Dims[0], w.Dims[1], w.Dims[2]*w.Dims[3]
	all := make([]float32, out*in*groups*each)
	for o := range out {
		first := o / (out / groups) * in
		copy(all[(o*in*groups+first)*each:], w.Floats[o*in*each:(o+1)*in*each])
	}
	return all
}

func (g *graph) gemm(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	transA, errA := n.Int("transA", 0)
	transB, errB := n.Int("transB", 0)
	alpha, errAlpha := n.Float("alpha", 1)
	beta, errBeta := n.Float("beta", 1)
	for _, err := range []error{errA, errB, errAlpha, errBeta} {
		if err != nil {
			return nil, err
		}
	}
	if transA != 0 || alpha != 1 || beta != 1 {
		return nil, refuse(n, "found transA %d, alpha %v, beta %v, expected 0, 1, 1", transA, alpha, beta)
	}
	y, err := g.matrix(n, v, transB != 0)
	if err != nil {
		return nil, err
	}
	c, err := g.constant(n, 2, true)
	if c == nil || err != nil {
		return y, err
	}
	bias, ok := broadcast(c, y, y.size())
	if !ok {
		return nil, refuse(n, "found a constant of dimensions %v to add to %v", c.Dims, y.dims)
	}
	y.maker.bias = bias
	return y, nil
}

func (g *graph) matMul(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	return g.matrix(n, v, false)
}

// matrix multiplies a vector with the node's second input, a constant whose rows
// are its inputs unless transposed.
func (g *graph) matrix(n *onnx.Node, v *value, transposed bool) (*value, error) {
	w, err := g.constant(n, 1, false)
	if err != nil {
		return nil, err
	}
	if len(w.Dims) != 2 || w.Len() == 0 || len(v.dims) != 1 {
		return nil, refuse(n, "found dimensions %v and a constant of %v, expected a vector and a matrix", v.dims, w.Dims)
	}
	in, out, weights := w.Dims[0], w.Dims[1], w.Floats
	if transposed {
		in, out = out, in
	} else {
		weights = transpose(weights, in, out)
	}
	if in != v.dims[0] {
		return nil, refuse(n, "found a matrix for %d inputs, expected %d", in, v.dims[0])
	}
	return g.emit(op{kind: dense, in: []*value{v}, weights: weights, bias: make([]float32, out)}, out), nil
}

// transpose returns a matrix of rows·columns elements column by column.
func transpose(x []float32, rows, columns int) []float32 {
	y := make([]float32, len(x))
	for i := range rows {
		for j := range columns {
			y[j*rows+i] = x[i*columns+j]
		}
	}
	return y
}

func (g *graph) flatten(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	if axis, err := n.Int("axis", 1); err != nil || axis != 1 && axis != -int64(len(v.dims)) {
		return nil, refuse(n, "found axis %d, expected 1", axis)
	}
	return g.reshaped(n, v, v.size())
}

func (g *graph) reshape(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	var shape []int64
	if len(n.Inputs) > 1 {
		extents, _ := g.known(n.Inputs[1])
		for i, e := range extents {
			if e.batch && i > 0 {
				return nil, refuse(n, "found the number of positions as dimension %d", i)
			}
			if i == 0 && e.n == int64(g.batch) {
				e.n = 0 // the one that the model was exported for
			}
			shape = append(shape, e.n)
		}
	}
	// The number of positions must be kept: it, 0, or inferred.
	if len(shape) < 2 || shape[0] != 0 && shape[0] != -1 {
		return nil, refuse(n, "found shape %v, expected a known one that begins with the number of positions, 0 or -1", shape)
	}
	if zeros, err := n.Int("allowzero", 0); err != nil || zeros != 0 && slices.Contains(shape[1:], 0) {
		return nil, refuse(n, "found allowzero and shape %v", shape)
	}
	dims, rest := make([]int, len(shape)-1), v.size()
	for i, s := range shape[1:] {
		if s == 0 && i < len(v.dims) {
			s = int64(v.dims[i])
		}
		if s > 0 && s <= int64(rest) {
			rest /= int(s)
		}
		dims[i] = int(s)
	}
	if i := slices.Index(dims, -1); i >= 0 && shape[0] == 0 {
		dims[i] = rest
	}
	return g.reshaped(n, v, dims...)
}

// reshaped returns a value with other dimensions.
func (g *graph) reshaped(n *onnx.Node, v *value, dims ...int) (*value, error) {
	to := &value{dims: dims}
	if len(dims) == 0 || slices.ContainsFunc(dims, func(d int) bool { return d <= 0 }) || to.size() != v.size() || to.images() && !slices.Equal(dims, v.dims) {
		return nil, refuse(n, "found dimensions %v from %v", dims, v.dims)
	}
	if v.images() && !to.images() {
		v = g.flat(v)
	}
	return &value{dims: dims, maker: v.maker}, nil
}

// integers returns the i-th input of a node, a known list of integers.
func (g *graph) integers(n *onnx.Node, i int) ([]int64, error) {
	if i < len(n.Inputs) {
		list, ok := g.known(n.Inputs[i])
		all := make([]int64, len(list))
		for j, e := range list {
			ok, all[j] = ok && !e.batch, e.n
		}
		if ok {
			return all, nil
		}
	}
	return nil, refuse(n, "found no constant of integers as input %d", i)
}

// axisList returns the axes of a node, an input or, in older operator sets, an
// attribute.
func (g *graph) axisList(n *onnx.Node) ([]int64, error) {
	list, err := n.Ints("axes")
	if list == nil && err == nil {
		list, err = g.integers(n, 1)
	}
	return slices.Clone(list), err
}

// axes returns the axes of a node. Those counted from the end of rank dimensions
// are resolved.
func (g *graph) axes(n *onnx.Node, rank int) ([]int, error) {
	list, err := g.axisList(n)
	if err != nil {
		return nil, err
	}
	var all []int
	for _, a := range list {
		if a < 0 {
			a += int64(rank)
		}
		if a < 1 || a >= int64(rank) {
			return nil, refuse(n, "found axes %v of %d dimensions, the first that of the positions", list, rank)
		}
		all = append(all, int(a))
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

func (g *graph) squeeze(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	axes, err := g.axes(n, 1+len(v.dims))
	if err != nil {
		return nil, err
	}
	dims := slices.Clone(v.dims)
	for _, a := range slices.Backward(axes) {
		dims = slices.Delete(dims, a-1, a)
	}
	return g.reshaped(n, v, dims...)
}

func (g *graph) unsqueeze(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	list, err := g.axisList(n)
	if err != nil {
		return nil, err
	}
	axes, err := g.axes(n, 1+len(v.dims)+len(list))
	if err != nil {
		return nil, err
	}
	dims := slices.Clone(v.dims)
	for _, a := range axes {
		if a-1 > len(dims) {
			return nil, refuse(n, "found axes %v of dimensions %v", list, v.dims)
		}
		dims = slices.Insert(dims, a-1, 1)
	}
	return g.reshaped(n, v, dims...)
}

// reduceMean over the squares of images is a pool.
func (g *graph) reduceMean(n *onnx.Node) (*value, error) {
	v, err := g.value(n, 0)
	if err != nil {
		return nil, err
	}
	axes, err := g.axes(n, 1+len(v.dims))
	if err != nil {
		return nil, err
	}
	if !v.images() || !slices.Equal(axes, []int{2, 3}) {
		return nil, refuse(n, "found axes %v of dimensions %v, expected 2 and 3 of 8×8 images", axes, v.dims)
	}
	dims := []int{v.dims[0], 1, 1}
	if keep, err := n.Int("keepdims", 1); err != nil {
		return nil, err
	} else if keep == 0 {
		dims = dims[:1]
	}
	return g.emit(op{kind: pool, in: []*value{v}}, dims...), nil
}
