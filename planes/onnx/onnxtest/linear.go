package onnxtest

import (
	"fmt"
	"math"
	"slices"
)

// conv is a convolution (as ONNX calls a cross-correlation) over one or two
// spatial dimensions of [N, C, ...] with weights [M, C/group, ...].
func conv(c *call) ([]Tensor, error) {
	x, w := c.in[0], c.in[1]
	rank := len(x.Dims) - 2
	if rank < 1 || rank > 2 || len(w.Dims) != len(x.Dims) {
		return nil, fmt.Errorf("found dimensions %v and weights %v, expected as many, 3 or 4", x.Dims, w.Dims)
	}
	group := c.int("group", 1)
	kernel := c.ints("kernel_shape", w.Dims[2:]...)
	if !slices.Equal(kernel, w.Dims[2:]) || group < 1 || x.Dims[1] != w.Dims[1]*group || w.Dims[0]%group != 0 {
		return nil, fmt.Errorf("found input %v, weights %v, kernel %v, %d groups, which do not fit", x.Dims, w.Dims, kernel, group)
	}
	ones := slices.Repeat([]int{1}, rank)
	strides, dilations := c.ints("strides", ones...), c.ints("dilations", ones...)
	pads, err := c.pads(x.Dims[2:], kernel, strides, dilations)
	if err != nil {
		return nil, err
	}
	if rank == 1 { // one row
		x.Dims, w.Dims = slices.Insert(slices.Clone(x.Dims), 2, 1), slices.Insert(slices.Clone(w.Dims), 2, 1)
		strides, dilations = append([]int{1}, strides...), append([]int{1}, dilations...)
		pads = []int{0, pads[0], 0, pads[1]}
	}
	y := convolve(x, w, group, strides, dilations, pads)
	if c.has(2) {
		inner := y.Dims[2] * y.Dims[3]
		for i := range y.Data {
			y.Data[i] += c.in[2].Data[i/inner%len(c.in[2].Data)]
		}
	}
	if rank == 1 {
		y.Dims = slices.Delete(y.Dims, 2, 3)
	}
	return []Tensor{y}, nil
}

// convolve is conv over two dimensions, without bias.
func convolve(x, w Tensor, group int, strides, dilations, pads []int) Tensor {
	channels, height, width := w.Dims[1], x.Dims[2], x.Dims[3]
	y := Tensor{Dims: []int{x.Dims[0], w.Dims[0], 0, 0}}
	for d := range 2 {
		y.Dims[2+d] = (x.Dims[2+d]+pads[d]+pads[2+d]-(w.Dims[2+d]-1)*dilations[d]-1)/strides[d] + 1
	}
	for n := range y.Dims[0] {
		for m := range y.Dims[1] {
			first := m / (y.Dims[1] / group) * channels
			planes := x.Data[(n*x.Dims[1]+first)*height*width:]
			weights := w.Data[m*product(w.Dims[1:]):]
			for row := range y.Dims[2] {
				for column := range y.Dims[3] {
					sum, top, left := 0.0, row*strides[0]-pads[0], column*strides[1]-pads[1]
					for ch := range channels {
						sum += window(planes[ch*height*width:][:height*width], width, weights[ch*w.Dims[2]*w.Dims[3]:],
							w.Dims[2:], dilations, top, left)
					}
					y.Data = append(y.Data, sum)
				}
			}
		}
	}
	return y
}

// window sums a plane times the weights of a kernel whose first corner is at
// row top and column left; outside the plane are zeros.
func window(plane []float64, width int, weights []float64, kernel, dilations []int, top, left int) float64 {
	sum := 0.0
	for i := range kernel[0] {
		row := top + i*dilations[0]
		if row < 0 || row*width >= len(plane) {
			continue
		}
		for j := range kernel[1] {
			if column := left + j*dilations[1]; column >= 0 && column < width {
				sum += plane[row*width+column] * weights[i*kernel[1]+j]
			}
		}
	}
	return sum
}

// pads returns what is added before each spatial dimension, then after each.
func (c *call) pads(size, kernel, strides, dilations []int) ([]int, error) {
	rank := len(size)
	pads := make([]int, 2*rank)
	switch mode := c.text("auto_pad", "NOTSET"); mode {
	case "NOTSET":
		pads = c.ints("pads", pads...)
	case "VALID":
	case "SAME_UPPER", "SAME_LOWER":
		for i := range rank {
			total := max(((size[i]+strides[i]-1)/strides[i]-1)*strides[i]+(kernel[i]-1)*dilations[i]+1-size[i], 0)
			pads[i], pads[rank+i] = total/2, total-total/2
			if mode == "SAME_LOWER" {
				pads[i], pads[rank+i] = pads[rank+i], pads[i]
			}
		}
	default:
		return nil, fmt.Errorf("found auto_pad %q, expected NOTSET, VALID, SAME_UPPER or SAME_LOWER", mode)
	}
	if len(pads) != 2*rank || len(strides) != rank || len(dilations) != rank || slices.Min(strides) < 1 || slices.Min(dilations) < 1 || slices.Min(pads) < 0 {
		return nil, fmt.Errorf("found pads %v, strides %v, dilations %v, expected them for %d dimensions", pads, strides, dilations, rank)
	}
	return pads, nil
}

// batchNormalization is that of inference: with the stored mean and variance.
func batchNormalization(c *call) ([]Tensor, error) {
	x := c.in[0]
	if c.int("training_mode", 0) != 0 {
		return nil, fmt.Errorf("found training_mode, expected inference")
	}
	epsilon := c.float("epsilon", 1e-5)
	y := New(x.Dims...)
	if len(x.Dims) < 2 {
		return nil, fmt.Errorf("found dimensions %v, expected two or more", x.Dims)
	}
	for i, v := range x.Data {
		ch := i / product(x.Dims[2:]) % x.Dims[1]
		scale, bias, mean, variance := c.in[1].Data[ch], c.in[2].Data[ch], c.in[3].Data[ch], c.in[4].Data[ch]
		y.Data[i] = scale*(v-mean)/math.Sqrt(variance+epsilon) + bias
	}
	return []Tensor{y}, nil
}

// gemm is alpha·A·B + beta·C of matrices.
func gemm(c *call) ([]Tensor, error) {
	a, b := c.in[0], c.in[1]
	if len(a.Dims) != 2 || len(b.Dims) != 2 {
		return nil, fmt.Errorf("found dimensions %v and %v, expected two each", a.Dims, b.Dims)
	}
	if c.int("transA", 0) != 0 {
		a = permute(a, []int{1, 0})
	}
	if c.int("transB", 0) != 0 {
		b = permute(b, []int{1, 0})
	}
	y, err := multiply(a, b)
	if err != nil {
		return nil, err
	}
	alpha, beta := c.float("alpha", 1), c.float("beta", 1)
	for i := range y.Data {
		y.Data[i] *= alpha
		if c.has(2) {
			y.Data[i] += beta * c.in[2].at(indices(i, y.Dims))
		}
	}
	return []Tensor{y}, nil
}

// matMul multiplies the matrices of the last two dimensions and broadcasts over
// those before.
func matMul(c *call) ([]Tensor, error) {
	a, b := c.in[0], c.in[1]
	if len(a.Dims) < 2 || len(b.Dims) < 2 {
		return nil, fmt.Errorf("found dimensions %v and %v, expected two or more", a.Dims, b.Dims)
	}
	la, lb := len(a.Dims)-2, len(b.Dims)-2
	outer, err := broadcast(a.Dims[:la], b.Dims[:lb])
	if err != nil {
		return nil, err
	}
	y := Tensor{Dims: append(slices.Clone(outer), a.Dims[la], b.Dims[lb+1])}
	for i := range product(outer) {
		at := indices(i, outer)
		part, err := multiply(a.matrix(at), b.matrix(at))
		if err != nil {
			return nil, err
		}
		y.Data = append(y.Data, part.Data...)
	}
	return []Tensor{y}, nil
}

// matrix returns the matrix at outer indices, broadcast as by at.
func (t Tensor) matrix(index []int) Tensor {
	outer, last := t.Dims[:len(t.Dims)-2], t.Dims[len(t.Dims)-2:]
	offset := 0
	for i, d := range outer {
		offset *= d
		if d != 1 {
			offset += index[len(index)-len(outer)+i]
		}
	}
	n := product(last)
	return Tensor{Dims: last, Data: t.Data[offset*n:][:n]}
}

func multiply(a, b Tensor) (Tensor, error) {
	if a.Dims[1] != b.Dims[0] {
		return Tensor{}, fmt.Errorf("found matrices %v and %v, which do not multiply", a.Dims, b.Dims)
	}
	y := New(a.Dims[0], b.Dims[1])
	for i := range a.Dims[0] {
		for j := range b.Dims[1] {
			for k := range a.Dims[1] {
				y.Data[i*b.Dims[1]+j] += a.Data[i*a.Dims[1]+k] * b.Data[k*b.Dims[1]+j]
			}
		}
	}
	return y, nil
}
