package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rowList returns up to 150 indices below n, some of them twice.
func rowList(r *rand.Rand, n int) []int32 {
	rows := make([]int32, r.IntN(150))
	for i := range rows {
		rows[i] = r.Int32N(int32(n))
	}
	return rows
}

// The table of these calls ends with the last row's columns, without the rest
// of its stride.
func tableOf(r *rand.Rand, columns, stride, rows int, random randomSlice) []float32 {
	return random(r, (rows-1)*stride+columns)
}

func gatherSumCall(r *rand.Rand, columns int, random randomSlice) *floatCall {
	const height = 20
	stride, rows := columns+r.IntN(9), rowList(r, height)
	base := r.IntN(2) // dst or one of its own
	return &floatCall{name: "FloatGatherSum", args: [][]float32{random(r, columns), random(r, columns), tableOf(r, columns, stride, height, random)}, exact: true,
		run: func(a [][]float32) { FloatGatherSum(a[0], a[base], a[2], stride, rows) },
		twin: func(a [][]float64) [][]float64 {
			tolerance := make([]float64, columns)
			for j := range columns {
				sum, magnitude := a[base][j], math.Abs(a[base][j])
				for _, row := range rows {
					x := a[2][int(row)*stride+j]
					sum += x
					magnitude += math.Abs(x)
				}
				a[0][j] = sum
				tolerance[j] = sumTolerance(len(rows), magnitude)
			}
			return [][]float64{tolerance, nil, nil}
		}}
}

// TestFloatIndexOutside wants a panic at every level for an index outside, first
// or last of the list, also where memory lies behind the slice.
func TestFloatIndexOutside(t *testing.T) {
	const columns, stride, height = 40, 48, 10
	memory := make([]float32, 100*stride)
	table := memory[30*stride : 40*stride-(stride-columns)]
	row := make([]float32, columns)
	atEveryLevel(t, func(t *testing.T) {
		FloatGatherSum(row, row, table, stride, []int32{0, height - 1})
		for _, rows := range [][]int32{{-1}, {height}, {0, 1, 2, 3, 4, height}, {height, 0}, {-1000}, {0, 1 << 20}} {
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("FloatGatherSum takes rows %v of %d", rows, height)
					}
				}()
				FloatGatherSum(row, row, table, stride, rows)
			}()
		}
	})
}
