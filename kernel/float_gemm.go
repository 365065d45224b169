package kernel

import "fmt"

// FloatMatrix is a slice seen as a matrix: element (i, j) is
// Data[i*RowStride+j*ColStride]. Strides are not negative.
type FloatMatrix struct {
	Data                 []float32
	Rows, Cols           int
	RowStride, ColStride int
}

// NewFloatMatrix returns data as a matrix of contiguous rows.
func NewFloatMatrix(data []float32, rows, cols int) FloatMatrix {
	return FloatMatrix{Data: data, Rows: rows, Cols: cols, RowStride: cols, ColStride: 1}
}

// T returns the transpose, over the same data.
func (m FloatMatrix) T() FloatMatrix {
	m.Rows, m.Cols = m.Cols, m.Rows
	m.RowStride, m.ColStride = m.ColStride, m.RowStride
	return m
}

// check panics unless all elements lie in the data.
func (m *FloatMatrix) check(name string) {
	if m.Rows < 0 || m.Cols < 0 || m.RowStride < 0 || m.ColStride < 0 {
		panic(fmt.Sprintf("kernel: matrix %s has %d·%d elements at strides %d and %d", name, m.Rows, m.Cols, m.RowStride, m.ColStride))
	}
	if m.Rows > 0 && m.Cols > 0 {
		_ = m.Data[(m.Rows-1)*m.RowStride+(m.Cols-1)*m.ColStride]
	}
}

// clear sets a matrix whose rows are contiguous to zero.
func (m *FloatMatrix) clear() {
	for i := range m.Rows {
		clear(m.Data[i*m.RowStride:][:m.Cols])
	}
}

// Sizes of the parts of a product that are computed together: A's part,
// gemmRows·gemmDepth, stays in the second-level cache while it meets one panel
// of B after another; a panel, gemmDepth·gemmWidth, stays in or near the first.
// One call of assembly does no more than one panel.
const (
	gemmRows  = 512
	gemmDepth = 256
	gemmWidth = 32
)

// gemmFewRows is up to how many rows of A copying B's panels does not pay.
const gemmFewRows = 64

// FloatGemm adds a product of matrices: C += A·B, for A of m×k, B of k×n and C
// of m×n elements. Products are added to each element of C in the order of k.
//
// One stride of C must be 1. A's strides do not matter, so that A may be a
// transpose; B is read in place where its rows are contiguous, copied otherwise.
// Rows a large power of two apart share few sets of the caches: leave a gap of
// 16 elements between them. C overlaps neither A nor B.
//
// It panics if shapes do not fit or a matrix ends beyond its data.
func FloatGemm(c, a, b FloatMatrix) { product(c, a, b, false) }

// FloatGemmClipBack goes back through a clipped ReLU and what lies above it: it
// replaces C, numbers before or after clipping, by the derivative with respect to
// them. That is A·B where C lies within 0 and 1, zero elsewhere and on the bounds;
// see FloatClipBack. A has at most 256 columns; all else is as FloatGemm's.
func FloatGemmClipBack(c, a, b FloatMatrix) {
	if a.Cols > gemmDepth {
		panic(fmt.Sprintf("kernel: found %d products an element, expected at most %d", a.Cols, gemmDepth))
	}
	product(c, a, b, true)
}

// product is FloatGemm or, back, FloatGemmClipBack.
func product(c, a, b FloatMatrix, back bool) {
	c.check("C")
	a.check("A")
	b.check("B")
	if a.Rows != c.Rows || b.Cols != c.Cols || a.Cols != b.Rows {
		panic(fmt.Sprintf("kernel: %d×%d += %d×%d · %d×%d", c.Rows, c.Cols, a.Rows, a.Cols, b.Rows, b.Cols))
	}
	// A single column of C may be taken as a row, which pays where that lays the
	// rows of B, then A's transpose, along memory: one cannot be copied quickly
	// if it lies across.
	if c.ColStride != 1 || c.RowStride == 1 && c.Cols < c.Rows && a.RowStride == 1 {
		c, a, b = c.T(), b.T(), a.T()
	}
	if c.ColStride != 1 {
		panic(fmt.Sprintf("kernel: neither stride of C, %d and %d, is 1", c.RowStride, c.ColStride))
	}
	if c.Rows == 0 || c.Cols == 0 {
		return
	}
	if a.Cols == 0 {
		if back {
			c.clear()
		}
		return
	}
	if width := floatPanelWidth(); b.ColStride == 1 && c.Cols%(width/2) == 0 && (c.Rows <= gemmFewRows || c.Cols <= width) {
		gemm(&c, &a, &b, width, nil, back)
	} else {
		gemmPacked(&c, &a, &b, width, back)
	}
}

// gemmPacked is gemm with panels of B copied to contiguous memory. For a small
// product even clearing that memory takes long.
func gemmPacked(c, a, b *FloatMatrix, width int, back bool) {
	const small = gemmDepth * gemmWidth / 8
	if b.Rows*width <= small {
		var panel [small]float32
		gemm(c, a, b, width, panel[:], back)
		return
	}
	var panel [gemmDepth * gemmWidth]float32
	gemm(c, a, b, width, panel[:], back)
}

func gemm(c, a, b *FloatMatrix, width int, packed []float32, back bool) {
	for k0 := 0; k0 < a.Cols; k0 += gemmDepth {
		k := min(gemmDepth, a.Cols-k0)
		for i0 := 0; i0 < c.Rows; i0 += gemmRows {
			m := min(gemmRows, c.Rows-i0)
			left := a.Data[i0*a.RowStride+k0*a.ColStride:]
			for j0 := 0; j0 < c.Cols; j0 += width {
				n := min(width, c.Cols-j0)
				right, ldb := b.Data[k0*b.RowStride+j0*b.ColStride:], b.RowStride
				if packed != nil {
					ldb = width
					pack(packed, right, b.RowStride, b.ColStride, k, n, width)
					right = packed
				}
				if dst := c.Data[i0*c.RowStride+j0:]; back {
					floatPanelClipBack(dst, c.RowStride, left, a.RowStride, a.ColStride, right, ldb, m, n, k)
				} else {
					floatPanel(dst, c.RowStride, left, a.RowStride, a.ColStride, right, ldb, m, n, k)
				}
			}
		}
	}
}

// pack copies k rows of n elements to rows of width elements, the rest of them
// zero.
func pack(dst, src []float32, row, col, k, n, width int) {
	for q := range k {
		d, s := dst[q*width:(q+1)*width], src[q*row:]
		if col == 1 {
			copy(d, s[:n])
		} else {
			for j := range n {
				d[j] = s[j*col]
			}
		}
		clear(d[n:])
	}
}
