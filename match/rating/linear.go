package rating

import "math"

// symmetric is a square matrix, n rows of n; where it is symmetric only the
// part on and below the diagonal need be set, by add.
type symmetric struct {
	n      int
	values []float64
}

func newSymmetric(n int) *symmetric { return &symmetric{n, make([]float64, n*n)} }

func (s *symmetric) at(i, j int) float64 { return s.values[i*s.n+j] }

// add adds to the element (i, j) and so to (j, i); -1 is no row.
func (s *symmetric) add(i, j int, value float64) {
	if i < 0 || j < 0 {
		return
	}
	s.values[i*s.n+j] += value
	if i != j {
		s.values[j*s.n+i] += value
	}
}

// times returns the matrix product.
func (s *symmetric) times(t *symmetric) *symmetric {
	product := newSymmetric(s.n)
	for i := range s.n {
		row := product.values[i*s.n : (i+1)*s.n]
		for k := range s.n {
			if f := s.at(i, k); f != 0 {
				for j, v := range t.values[k*s.n : (k+1)*s.n] {
					row[j] += f * v
				}
			}
		}
	}
	return product
}

// triangle is a lower triangular matrix L with LLᵀ a matrix taken apart.
type triangle symmetric

// cholesky takes the matrix apart. It is false if the matrix is not positive
// definite, or so nearly not that nothing could be solved with it.
func (s *symmetric) cholesky() (*triangle, bool) {
	const least = 1e-11 // of a pivot to its diagonal element
	n := s.n
	l := make([]float64, n*n)
	for i := range n {
		row := l[i*n : (i+1)*n]
		for j := range i + 1 {
			above := l[j*n : (j+1)*n]
			sum := s.at(i, j)
			for k := range j {
				sum -= row[k] * above[k]
			}
			if i != j {
				row[j] = sum / above[j]
				continue
			}
			if !(sum > least*s.at(i, i)) {
				return nil, false
			}
			row[i] = math.Sqrt(sum)
		}
	}
	return &triangle{n, l}, true
}

// solve returns x with LLᵀx = b.
func (t *triangle) solve(b []float64) []float64 {
	x := append([]float64(nil), b...)
	for i := range x {
		for k := range i {
			x[i] -= t.values[i*t.n+k] * x[k]
		}
		x[i] /= t.values[i*t.n+i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] /= t.values[i*t.n+i]
		for k := range i {
			x[k] -= t.values[i*t.n+k] * x[i]
		}
	}
	return x
}

// inverse returns the inverse of LLᵀ.
func (t *triangle) inverse() *symmetric {
	s := newSymmetric(t.n)
	unit := make([]float64, t.n)
	for j := range t.n {
		unit[j] = 1
		for i, v := range t.solve(unit) {
			s.values[i*t.n+j] = v
		}
		unit[j] = 0
	}
	return s
}
