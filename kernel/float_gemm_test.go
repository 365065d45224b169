package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// randomMatrix returns a matrix whose rows or columns are contiguous, or with
// gaps between the elements if there may be. Its data end with its last element.
func randomMatrix(r *rand.Rand, rows, cols int, gaps bool, random randomSlice) FloatMatrix {
	inner, transposed := 1, r.IntN(2) == 0
	if gaps {
		inner += r.IntN(3)
	}
	if transposed {
		rows, cols = cols, rows
	}
	m := FloatMatrix{Rows: rows, Cols: cols, RowStride: inner*cols + r.IntN(5), ColStride: inner}
	if rows > 0 && cols > 0 {
		m.Data = random(r, (rows-1)*m.RowStride+(cols-1)*inner+1)
	}
	if transposed {
		return m.T()
	}
	return m
}

// gemmCall makes a product with one dimension of the size.
func gemmCall(r *rand.Rand, size int, random randomSlice) *floatCall {
	dims := [3]int{1 + r.IntN(30), 1 + r.IntN(50), 1 + r.IntN(20)}
	dims[r.IntN(3)] = size
	m, n, k := dims[0], dims[1], dims[2]
	return productCall(randomMatrix(r, m, n, false, random), randomMatrix(r, m, k, true, random), randomMatrix(r, k, n, true, random))
}

func productCall(c, a, b FloatMatrix) *floatCall {
	return &floatCall{name: fmt.Sprintf("FloatGemm of %d×%d×%d", c.Rows, c.Cols, a.Cols), args: [][]float32{c.Data, a.Data, b.Data},
		run: func(args [][]float32) {
			c, a, b := c, a, b
			c.Data, a.Data, b.Data = args[0], args[1], args[2]
			FloatGemm(c, a, b)
		},
		twin: func(args [][]float64) [][]float64 {
			tolerance := make([]float64, len(args[0]))
			for i := range c.Rows {
				for j := range c.Cols {
					at := i*c.RowStride + j*c.ColStride
					magnitude := math.Abs(args[0][at])
					for q := range a.Cols {
						product := args[1][i*a.RowStride+q*a.ColStride] * args[2][q*b.RowStride+j*b.ColStride]
						args[0][at] += product
						magnitude += math.Abs(product)
					}
					tolerance[at] = sumTolerance(a.Cols, magnitude)
				}
			}
			return [][]float64{tolerance, nil, nil}
		}}
}

// gemmClipBackCall makes a product as gemmCall does. About a third of C lies within
// 0 and 1.
func gemmClipBackCall(r *rand.Rand, size int, random randomSlice) *floatCall {
	m, n, k := 1+r.IntN(30), size, 1+r.IntN(20)
	return clipBackOf(randomMatrix(r, m, n, false, random), randomMatrix(r, m, k, true, random), randomMatrix(r, k, n, true, random))
}

func clipBackOf(c, a, b FloatMatrix) *floatCall {
	product := productCall(c, a, b)
	return &floatCall{name: fmt.Sprintf("FloatGemmClipBack of %d×%d×%d", c.Rows, c.Cols, a.Cols), args: product.args,
		run: func(args [][]float32) {
			c, a, b := c, a, b
			c.Data, a.Data, b.Data = args[0], args[1], args[2]
			FloatGemmClipBack(c, a, b)
		},
		twin: func(args [][]float64) [][]float64 {
			before := slices.Clone(args[0])
			for i := range c.Rows {
				for j := range c.Cols {
					args[0][i*c.RowStride+j*c.ColStride] = 0
				}
			}
			tolerance := product.twin(args)
			for i := range c.Rows {
				for j := range c.Cols {
					if at := i*c.RowStride + j*c.ColStride; !(before[at] > 0 && before[at] < 1) {
						args[0][at], tolerance[0][at] = 0, 0
					}
				}
			}
			return tolerance
		}}
}

// TestFloatGemmShapes goes through all small shapes, so all tiles, and over the
// borders of the blocks.
func TestFloatGemmShapes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	check := func(m, n, k int) {
		c, a, b := randomMatrix(r, m, n, false, randomFloats), randomMatrix(r, m, k, true, randomFloats), randomMatrix(r, k, n, true, randomFloats)
		productCall(c, a, b).check(t, true)
		if k <= gemmDepth {
			clipBackOf(c, a, b).check(t, true)
		}
	}
	for m := range 26 {
		for n := range 35 {
			check(m, n, 1+r.IntN(9))
		}
	}
	for _, shape := range [][3]int{
		{gemmRows + 3, 20, 5}, {70, 48, gemmDepth}, {70, 48, gemmDepth + 1}, {20, 2*gemmWidth + 5, 2*gemmDepth + 7}, {5, gemmRows + 40, 3},
	} {
		check(shape[0], shape[1], shape[2])
	}
}

// TestFloatGemmRefuses wants a panic for shapes that do not fit.
func TestFloatGemmRefuses(t *testing.T) {
	refuses := func(name string, call func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
		}()
		call()
	}
	rows := func(rows, cols int) FloatMatrix { return NewFloatMatrix(make([]float32, rows*cols), rows, cols) }
	short := rows(4, 5)
	short.Data = short.Data[:19]
	sparse := FloatMatrix{Data: make([]float32, 100), Rows: 2, Cols: 3, RowStride: 10, ColStride: 2}
	for name, m := range map[string][3]FloatMatrix{
		"inner dimension":  {rows(2, 3), rows(2, 4), rows(5, 3)},
		"rows of C":        {rows(3, 3), rows(2, 4), rows(4, 3)},
		"columns of C":     {rows(2, 4), rows(2, 4), rows(4, 3)},
		"data too short":   {rows(3, 5), rows(3, 4), short},
		"C without stride": {sparse, rows(2, 4), rows(4, 3)},
		"negative stride":  {rows(2, 3), {Data: make([]float32, 100), Rows: 2, Cols: 4, RowStride: -4, ColStride: 1}, rows(4, 3)},
	} {
		refuses(name, func() { FloatGemm(m[0], m[1], m[2]) })
	}
	refuses("too many products", func() {
		FloatGemmClipBack(rows(2, 3), rows(2, gemmDepth+1), rows(gemmDepth+1, 3))
	})
}
