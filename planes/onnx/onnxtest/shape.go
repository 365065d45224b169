package onnxtest

import (
	"fmt"
	"slices"
)

func (t Tensor) reshaped(dims []int) ([]Tensor, error) {
	if product(dims) != len(t.Data) {
		return nil, fmt.Errorf("found %d elements for dimensions %v", len(t.Data), dims)
	}
	return []Tensor{{Dims: dims, Data: t.Data}}, nil
}

func flatten(c *call) ([]Tensor, error) {
	x, a := c.in[0], c.int("axis", 1)
	if a < 0 {
		a += len(x.Dims)
	}
	if a < 0 || a > len(x.Dims) {
		return nil, fmt.Errorf("found axis %d for dimensions %v", a, x.Dims)
	}
	return x.reshaped([]int{product(x.Dims[:a]), product(x.Dims[a:])})
}

// reshape takes 0 for the size that the dimension has, and one -1 for what is
// left.
func reshape(c *call) ([]Tensor, error) {
	x, dims := c.in[0], c.list(1, "shape")
	rest := -1
	for i, d := range dims {
		switch {
		case d == -1 && rest < 0:
			rest, dims[i] = i, 1
		case d == 0 && i < len(x.Dims) && c.int("allowzero", 0) == 0:
			dims[i] = x.Dims[i]
		case d < 0:
			return nil, fmt.Errorf("found dimensions %v", dims)
		}
	}
	if rest >= 0 && product(dims) > 0 {
		dims[rest] = len(x.Data) / product(dims)
	}
	return x.reshaped(dims)
}

func shape(c *call) ([]Tensor, error) {
	dims := c.in[0].Dims
	y := New(len(dims))
	for i, d := range dims {
		y.Data[i] = float64(d)
	}
	from, to := limits(c.int("start", 0), c.int("end", int64(len(dims))), 1, len(dims))
	return []Tensor{{Dims: []int{max(to-from, 0)}, Data: y.Data[from:max(to, from)]}}, nil
}

// limits resolves the start and end of a slice.
func limits(start, end, step, size int) (int, int) {
	if start < 0 {
		start += size
	}
	if end < 0 {
		end += size
	}
	if step < 0 {
		return min(max(start, 0), size-1), min(max(end, -1), size-1)
	}
	return min(max(start, 0), size), min(max(end, 0), size)
}

func squeeze(c *call) ([]Tensor, error) {
	x, axes := c.in[0], c.list(1, "axes")
	var dims []int
	for i, d := range x.Dims {
		named := slices.Contains(axes, i) || slices.Contains(axes, i-len(x.Dims))
		if !named && (axes != nil || d != 1) {
			dims = append(dims, d)
		}
	}
	return x.reshaped(dims)
}

func unsqueeze(c *call) ([]Tensor, error) {
	x, axes := c.in[0], c.list(1, "axes")
	rest := x.Dims
	rank := len(x.Dims) + len(axes)
	var dims []int
	for i := range rank {
		if slices.Contains(axes, i) || slices.Contains(axes, i-rank) || len(rest) == 0 {
			dims = append(dims, 1)
		} else {
			dims, rest = append(dims, rest[0]), rest[1:]
		}
	}
	return x.reshaped(dims)
}

func transpose(c *call) ([]Tensor, error) {
	x := c.in[0]
	order := c.ints("perm")
	if order == nil {
		for i := range x.Dims {
			order = append(order, len(x.Dims)-1-i)
		}
	}
	sorted := slices.Sorted(slices.Values(order))
	for i := range x.Dims {
		if len(order) != len(x.Dims) || sorted[i] != i {
			return nil, fmt.Errorf("found perm %v, expected an order of %d dimensions", order, len(x.Dims))
		}
	}
	return []Tensor{permute(x, order)}, nil
}

func permute(x Tensor, order []int) Tensor {
	dims := make([]int, len(order))
	for i, from := range order {
		dims[i] = x.Dims[from]
	}
	y := New(dims...)
	for i := range y.Data {
		at, from := indices(i, dims), make([]int, len(dims))
		for j, d := range order {
			from[d] = at[j]
		}
		y.Data[i] = x.at(from)
	}
	return y
}

func concat(c *call) ([]Tensor, error) {
	a, err := axis(c.int("axis", 0), c.in[0].Dims)
	if err != nil {
		return nil, err
	}
	dims := slices.Clone(c.in[0].Dims)
	dims[a] = 0
	for _, t := range c.in {
		if len(t.Dims) != len(dims) {
			return nil, fmt.Errorf("found dimensions %v and %v", dims, t.Dims)
		}
		dims[a] += t.Dims[a]
	}
	y := Tensor{Dims: dims}
	for i := range product(dims[:a]) {
		for _, t := range c.in {
			n := product(t.Dims[a:])
			y.Data = append(y.Data, t.Data[i*n:][:n]...)
		}
	}
	return []Tensor{y}, nil
}

func split(c *call) ([]Tensor, error) {
	x := c.in[0]
	a, err := axis(c.int("axis", 0), x.Dims)
	if err != nil {
		return nil, err
	}
	sizes := c.list(1, "split")
	if sizes == nil {
		n := len(c.Outputs)
		each := (x.Dims[a] + n - 1) / n
		for i := range n {
			sizes = append(sizes, min(each, x.Dims[a]-i*each))
		}
	}
	var out []Tensor
	start := 0
	for _, size := range sizes {
		y, err := x.picked(a, start, size, 1)
		if err != nil {
			return nil, err
		}
		out = append(out, y)
		start += size
	}
	return out, nil
}

// picked returns count slices along a dimension, from start on.
func (t Tensor) picked(a, start, count, step int) (Tensor, error) {
	if count < 0 || count > 0 && (start < 0 || start >= t.Dims[a] || start+(count-1)*step < 0 || start+(count-1)*step >= t.Dims[a]) {
		return Tensor{}, fmt.Errorf("found %d slices from %d by %d of dimension %d of %v", count, start, step, a, t.Dims)
	}
	dims := slices.Clone(t.Dims)
	dims[a] = count
	y := New(dims...)
	for i := range y.Data {
		at := indices(i, dims)
		at[a] = start + at[a]*step
		y.Data[i] = t.at(at)
	}
	return y, nil
}

func slice(c *call) ([]Tensor, error) {
	y := c.in[0]
	starts, ends, axes, steps := c.list(1, "starts"), c.list(2, "ends"), c.list(3, "axes"), c.list(4, "")
	for i, start := range starts {
		a, step := i, 1
		if axes != nil {
			a = axes[i]
		}
		if steps != nil {
			step = steps[i]
		}
		a, err := axis(a, y.Dims)
		if err != nil {
			return nil, err
		}
		from, to := limits(start, ends[i], step, y.Dims[a])
		count := (to - from + step - 1) / step
		if step < 0 {
			count = (from - to - step - 1) / -step
		}
		if y, err = y.picked(a, from, max(count, 0), step); err != nil {
			return nil, err
		}
	}
	return []Tensor{y}, nil
}

// gather picks slices along a dimension by number.
func gather(c *call) ([]Tensor, error) {
	x, index := c.in[0], c.in[1]
	a, err := axis(c.int("axis", 0), x.Dims)
	if err != nil {
		return nil, err
	}
	y := Tensor{Dims: slices.Concat(x.Dims[:a], index.Dims, x.Dims[a+1:])}
	inner := product(x.Dims[a+1:])
	for i := range product(x.Dims[:a]) {
		for _, v := range index.Data {
			k := int(v)
			if k < 0 {
				k += x.Dims[a]
			}
			if k < 0 || k >= x.Dims[a] {
				return nil, fmt.Errorf("found index %v of %d slices", v, x.Dims[a])
			}
			y.Data = append(y.Data, x.Data[(i*x.Dims[a]+k)*inner:][:inner]...)
		}
	}
	return []Tensor{y}, nil
}
