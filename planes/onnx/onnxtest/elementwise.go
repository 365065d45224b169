package onnxtest

import (
	"fmt"
	"math"
	"slices"
)

func exp(x float64) float64      { return math.Exp(x) }
func tanh(x float64) float64     { return math.Tanh(x) }
func sigmoid(x float64) float64  { return 1 / (1 + math.Exp(-x)) }
func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
func mish(x float64) float64     { return x * math.Tanh(softplus(x)) }

func unary(f func(float64) float64) func(*call) ([]Tensor, error) {
	return func(c *call) ([]Tensor, error) { return each(c.in[0], f), nil }
}

func each(x Tensor, f func(float64) float64) []Tensor {
	y := New(x.Dims...)
	for i, v := range x.Data {
		y.Data[i] = f(v)
	}
	return []Tensor{y}
}

func identity(c *call) ([]Tensor, error) { return c.in[:1], nil }

func leakyRelu(c *call) ([]Tensor, error) {
	alpha := c.float("alpha", 0.01)
	return each(c.in[0], func(x float64) float64 { return max(x, 0) + alpha*min(x, 0) }), nil
}

// gelu is x·Φ(x), or its approximation by tanh.
func gelu(c *call) ([]Tensor, error) {
	if c.text("approximate", "none") == "tanh" {
		return each(c.in[0], func(x float64) float64 {
			return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*math.Pow(x, 3))))
		}), nil
	}
	return each(c.in[0], func(x float64) float64 { return x / 2 * math.Erfc(-x/math.Sqrt2) }), nil
}

func equal(a, b float64) float64 {
	if a == b {
		return 1
	}
	return 0
}

func where(c *call) ([]Tensor, error) {
	dims := c.in[0].Dims
	for _, x := range c.in[1:3] {
		var err error
		if dims, err = broadcast(dims, x.Dims); err != nil {
			return nil, err
		}
	}
	y := New(dims...)
	for i := range y.Data {
		at := indices(i, dims)
		if y.Data[i] = c.in[2].at(at); c.in[0].at(at) != 0 {
			y.Data[i] = c.in[1].at(at)
		}
	}
	return []Tensor{y}, nil
}

func expand(c *call) ([]Tensor, error) {
	dims, err := broadcast(c.in[0].Dims, c.list(1, "shape"))
	if err != nil {
		return nil, err
	}
	y := New(dims...)
	for i := range y.Data {
		y.Data[i] = c.in[0].at(indices(i, dims))
	}
	return []Tensor{y}, nil
}

func constantOfShape(c *call) ([]Tensor, error) {
	y, value := New(c.list(0, "shape")...), 0.0
	if a := c.Attribute("value"); a != nil && a.Tensor != nil && a.Tensor.Len() == 1 {
		value = Constant(a.Tensor).Data[0]
	}
	for i := range y.Data {
		y.Data[i] = value
	}
	return []Tensor{y}, nil
}

func elu(c *call) ([]Tensor, error) {
	alpha := c.float("alpha", 1)
	return each(c.in[0], func(x float64) float64 { return max(x, 0) + alpha*math.Expm1(min(x, 0)) }), nil
}

func hardSigmoid(c *call) ([]Tensor, error) {
	alpha, beta := c.float("alpha", 0.2), c.float("beta", 0.5)
	return each(c.in[0], func(x float64) float64 { return min(max(alpha*x+beta, 0), 1) }), nil
}

// clip has its limits in inputs, before operator set 11 in attributes.
func clip(c *call) ([]Tensor, error) {
	lowest, highest := c.float("min", -math.MaxFloat32), c.float("max", math.MaxFloat32)
	if c.has(1) {
		lowest = c.in[1].Data[0]
	}
	if c.has(2) {
		highest = c.in[2].Data[0]
	}
	return each(c.in[0], func(x float64) float64 { return min(max(x, lowest), highest) }), nil
}

// binary broadcasts: dimensions are aligned at the last, and one of size 1 is
// repeated.
func binary(f func(a, b float64) float64) func(*call) ([]Tensor, error) {
	return func(c *call) ([]Tensor, error) {
		a, b := c.in[0], c.in[1]
		dims, err := broadcast(a.Dims, b.Dims)
		if err != nil {
			return nil, err
		}
		y := New(dims...)
		at := make([]int, len(dims))
		for i := range y.Data {
			setIndices(at, i, dims)
			y.Data[i] = f(a.at(at), b.at(at))
		}
		return []Tensor{y}, nil
	}
}

func broadcast(a, b []int) ([]int, error) {
	dims := make([]int, max(len(a), len(b)))
	for i := range dims {
		da, db := 1, 1
		if j := i - len(dims) + len(a); j >= 0 {
			da = a[j]
		}
		if j := i - len(dims) + len(b); j >= 0 {
			db = b[j]
		}
		switch {
		case da == 1:
			dims[i] = db
		case db == 1 || da == db:
			dims[i] = da
		default:
			return nil, fmt.Errorf("found dimensions %v and %v, which do not broadcast", a, b)
		}
	}
	return dims, nil
}

// at returns the element at these indices, of which the last len(t.Dims) count,
// and none in a dimension of size 1.
func (t Tensor) at(index []int) float64 {
	offset := 0
	for i, d := range t.Dims {
		offset *= d
		if d != 1 {
			offset += index[len(index)-len(t.Dims)+i]
		}
	}
	return t.Data[offset]
}

// indices splits an offset into one index for each dimension.
func indices(offset int, dims []int) []int {
	index := make([]int, len(dims))
	setIndices(index, offset, dims)
	return index
}

func setIndices(index []int, offset int, dims []int) {
	for i := len(dims) - 1; i >= 0; i-- {
		index[i] = offset % dims[i]
		offset /= dims[i]
	}
}

// axis resolves a dimension counted from the end.
func axis(a int, dims []int) (int, error) {
	if a < -len(dims) || a >= len(dims) {
		return 0, fmt.Errorf("found axis %d, expected one of %d dimensions", a, len(dims))
	}
	return (a + len(dims)) % len(dims), nil
}

func softmax(c *call) ([]Tensor, error) { return normalise(c, false) }

func logSoftmax(c *call) ([]Tensor, error) { return normalise(c, true) }

// normalise is over one dimension, before operator set 13 over all from one on.
func normalise(c *call, logarithm bool) ([]Tensor, error) {
	x := c.in[0]
	absent := int64(-1)
	if c.opset < 13 {
		absent = 1
	}
	a, err := axis(c.int("axis", absent), x.Dims)
	if err != nil {
		return nil, err
	}
	count, stride := x.Dims[a], product(x.Dims[a+1:])
	if c.opset < 13 {
		count, stride = count*stride, 1
	}
	y := New(x.Dims...)
	logSums := map[int]float64{} // by the first element summed
	for i := range x.Data {
		first := i - i/stride%count*stride
		if _, ok := logSums[first]; !ok {
			highest, sum := math.Inf(-1), 0.0
			for k := range count {
				highest = max(highest, x.Data[first+k*stride])
			}
			for k := range count {
				sum += math.Exp(x.Data[first+k*stride] - highest)
			}
			logSums[first] = highest + math.Log(sum)
		}
		y.Data[i] = x.Data[i] - logSums[first]
		if !logarithm {
			y.Data[i] = math.Exp(y.Data[i])
		}
	}
	return []Tensor{y}, nil
}

func globalAveragePool(c *call) ([]Tensor, error) {
	x := c.in[0]
	if len(x.Dims) < 3 {
		return nil, fmt.Errorf("found dimensions %v, expected 3 or more", x.Dims)
	}
	dims := slices.Clone(x.Dims)
	for i := 2; i < len(dims); i++ {
		dims[i] = 1
	}
	return mean(x, dims), nil
}

func reduceMean(c *call) ([]Tensor, error) {
	x := c.in[0]
	dims := slices.Clone(x.Dims)
	axes := c.list(1, "axes")
	if axes == nil {
		for i := range dims {
			axes = append(axes, i)
		}
	}
	for _, a := range axes {
		a, err := axis(a, dims)
		if err != nil {
			return nil, err
		}
		dims[a] = 1
	}
	y := mean(x, dims)
	if c.int("keepdims", 1) == 0 {
		var kept []int
		for i, d := range dims {
			if d == x.Dims[i] && !slices.Contains(axes, i) && !slices.Contains(axes, i-len(dims)) {
				kept = append(kept, d)
			}
		}
		y[0].Dims = kept
	}
	return y, nil
}

// mean averages over the dimensions that are 1 in dims.
func mean(x Tensor, dims []int) []Tensor {
	y := New(dims...)
	for i, v := range x.Data {
		at, offset := indices(i, x.Dims), 0
		for j, d := range dims {
			offset = offset*d + at[j]%d
		}
		y.Data[offset] += v * float64(len(y.Data)) / float64(len(x.Data))
	}
	return []Tensor{y}
}
