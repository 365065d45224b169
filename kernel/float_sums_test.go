package kernel

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rowList returns up to 60 indices below n, some of them twice.
func rowList(r *rand.Rand, n int) []int32 {
	rows := make([]int32, r.IntN(60))
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
	return &floatCall{name: "FloatGatherSum", args: [][]float32{random(r, columns), tableOf(r, columns, stride, height, random)}, exact: true,
		run: func(a [][]float32) { FloatGatherSum(a[0], a[1], stride, rows) },
		twin: func(a [][]float64) [][]float64 {
			tolerance := make([]float64, columns)
			for j := range columns {
				magnitude := math.Abs(a[0][j])
				for _, row := range rows {
					x := a[1][int(row)*stride+j]
					a[0][j] += x
					magnitude += math.Abs(x)
				}
				tolerance[j] = sumTolerance(len(rows), magnitude)
			}
			return [][]float64{tolerance, nil}
		}}
}

func scatterAddCall(r *rand.Rand, columns int, random randomSlice) *floatCall {
	const height = 20
	stride, rows := columns+r.IntN(9), rowList(r, height)
	return &floatCall{name: "FloatScatterAdd", args: [][]float32{tableOf(r, columns, stride, height, random), random(r, columns)}, exact: true,
		run: func(a [][]float32) { FloatScatterAdd(a[0], a[1], stride, rows) },
		twin: func(a [][]float64) [][]float64 {
			tolerance := make([]float64, len(a[0]))
			for _, row := range rows {
				for j, x := range a[1] {
					at := int(row)*stride + j
					tolerance[at] += sumTolerance(len(rows), math.Abs(x)+math.Abs(a[0][at]))
					a[0][at] += x
				}
			}
			return [][]float64{tolerance, nil}
		}}
}

// layerShape returns the inputs and outputs of a layer of about size weights
// per input or output.
func layerShape(r *rand.Rand, size int) (inputs, outputs int) {
	if other := r.IntN(40); r.IntN(2) == 0 {
		return size, other
	} else {
		return other, size
	}
}

// layerInput returns clamped inputs, some at each bound, and the active ones.
func layerInput(r *rand.Rand, n int, random randomSlice) (x []float32, active []int32) {
	src := random(r, n)
	for i := range src {
		src[i] *= 1.5
	}
	x, active = make([]float32, n), make([]int32, n)
	return x, floatClampActiveGeneric(x, src, active)
}

func affineCall(r *rand.Rand, size int, random randomSlice) *floatCall {
	inputs, outputs := layerShape(r, size)
	x, active := layerInput(r, inputs, random)
	return &floatCall{name: "FloatAffine", args: [][]float32{random(r, outputs), random(r, inputs*outputs), x},
		run: func(a [][]float32) { FloatAffine(a[0], a[1], a[2], active) },
		twin: func(a [][]float64) [][]float64 {
			tolerance := make([]float64, outputs)
			for o := range outputs {
				magnitude := math.Abs(a[0][o])
				for k, v := range a[2] {
					product := v * a[1][k*outputs+o]
					a[0][o] += product
					magnitude += math.Abs(product)
				}
				tolerance[o] = sumTolerance(len(active), magnitude)
			}
			return [][]float64{tolerance, nil, nil}
		}}
}

func affineBackCall(r *rand.Rand, size int, random randomSlice) *floatCall {
	inputs, outputs := layerShape(r, size)
	x, active := layerInput(r, inputs, random)
	return &floatCall{name: "FloatAffineBack",
		args: [][]float32{random(r, inputs*outputs), random(r, inputs), random(r, inputs*outputs), x, random(r, outputs)},
		run:  func(a [][]float32) { FloatAffineBack(a[0], a[1], a[2], a[3], a[4], active) },
		twin: func(a [][]float64) [][]float64 {
			gw, dx, w, x, d := a[0], a[1], a[2], a[3], a[4]
			gwTolerance, dxTolerance := make([]float64, len(gw)), make([]float64, len(dx))
			for k, v := range x {
				dx[k] = 0
				magnitude := 0.0
				for o, e := range d {
					at := k*outputs + o
					gwTolerance[at] = sumTolerance(1, math.Abs(gw[at])+math.Abs(v*e))
					gw[at] += v * e
					if v > 0 && v < 1 {
						dx[k] += e * w[at]
						magnitude += math.Abs(e * w[at])
					}
				}
				dxTolerance[k] = sumTolerance(outputs, magnitude)
			}
			return [][]float64{gwTolerance, dxTolerance, nil, nil, nil}
		}}
}

// TestFloatIndexOutside wants a panic at every level for an index outside, first
// or last of the list, also where memory lies behind the slice.
func TestFloatIndexOutside(t *testing.T) {
	const columns, stride, height = 40, 48, 10
	memory := make([]float32, 100*stride)
	table := memory[30*stride : 40*stride-(stride-columns)]
	row, inputs := make([]float32, columns), make([]float32, height)
	calls := map[string]func(rows []int32){
		"FloatGatherSum":  func(rows []int32) { FloatGatherSum(row, table, stride, rows) },
		"FloatScatterAdd": func(rows []int32) { FloatScatterAdd(table, row, stride, rows) },
		"FloatAffine":     func(rows []int32) { FloatAffine(row, memory, inputs, rows) },
		"FloatAffineBack": func(rows []int32) { FloatAffineBack(memory, inputs, memory[height*columns:], inputs, row, rows) },
	}
	atEveryLevel(t, func(t *testing.T) {
		for name, call := range calls {
			call([]int32{0, height - 1})
			for _, rows := range [][]int32{{-1}, {height}, {0, 1, 2, 3, 4, height}, {height, 0}, {-1000}, {0, 1 << 20}} {
				func() {
					defer func() {
						if recover() == nil {
							t.Errorf("%s takes rows %v of %d", name, rows, height)
						}
					}()
					call(rows)
				}()
			}
		}
	})
}
