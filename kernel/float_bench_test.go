package kernel

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkFloatGemm multiplies what fits into the first-level cache, the three
// products of a layer of 1024 inputs and 16 outputs over 64 positions, and large
// matrices. Rows of 1024 elements are padded.
func BenchmarkFloatGemm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []struct {
		name    string
		m, n, k int
		a, b    bool // transposed
	}{
		{name: "tile", m: 24, n: 32, k: 128},
		{name: "forward", m: 64, n: 16, k: 1024},
		{name: "inputs", m: 64, n: 1024, k: 16},
		{name: "inputs transposed", m: 64, n: 1024, k: 16, b: true},
		{name: "weights", m: 1024, n: 16, k: 64, a: true},
		{name: "output", m: 64, n: 1, k: 32},
		{name: "output weights", m: 32, n: 1, k: 64, a: true},
		{name: "second", m: 64, n: 32, k: 16},
		{name: "second inputs", m: 64, n: 16, k: 32, b: true},
		{name: "second weights", m: 16, n: 32, k: 64, a: true},
		{name: "large", m: 512, n: 512, k: 512},
	} {
		matrix := func(rows, cols int, transposed bool) FloatMatrix {
			if transposed {
				rows, cols = cols, rows
			}
			stride := cols
			if cols == 1024 {
				stride += 16
			}
			m := FloatMatrix{Data: randomFloats(r, rows*stride), Rows: rows, Cols: cols, RowStride: stride, ColStride: 1}
			if transposed {
				return m.T()
			}
			return m
		}
		left, right, dst := matrix(p.m, p.k, p.a), matrix(p.k, p.n, p.b), matrix(p.m, p.n, false)
		b.Run(p.name, func(b *testing.B) {
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					FloatGemm(dst, left, right)
				}
				b.ReportMetric(2*float64(p.m*p.n*p.k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GF/s")
			})
		})
	}
}

// BenchmarkFloatRows gathers 32 rows, of a table in the cache and of one of 16 MB.
// Rows are as nets have them: outputs and PSQT columns, filled up.
func BenchmarkFloatRows(b *testing.B) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, width := range []int{80, 144, 272, 528} {
		for _, rows := range []int{32, 4 << 20 / width} {
			table, dst := randomFloats(r, rows*width), make([]float32, width)
			lists := make([][32]int32, 256)
			for i := range lists {
				for j := range lists[i] {
					lists[i][j] = r.Int32N(int32(rows))
				}
			}
			b.Run(fmt.Sprintf("width=%d/rows=%d", width, rows), func(b *testing.B) {
				benchEveryLevel(b, func(b *testing.B) {
					b.SetBytes(int64(len(lists[0]) * width * 4))
					for i := 0; b.Loop(); i++ {
						FloatGatherSum(dst, dst, table, width, lists[i%len(lists)][:])
					}
				})
			})
		}
	}
}

func BenchmarkFloatElements(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 3))
	const n = 520
	// Nothing may decay to numbers so small that arithmetic is slow.
	ones := func() []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = 1 + r.Float32()
		}
		return x
	}
	w, m, v, g := ones(), ones(), ones(), ones()
	step := AdamStep{Beta1: 0.9, Beta2: 0.999, Rate: 1e-3, Epsilon: 1e-6, Keep: 1}
	for name, kernel := range map[string]func(){
		"add":      func() { FloatAdd(w, g) },
		"lerp":     func() { FloatLerp(w, g, 0.1) },
		"mix":      func() { FloatMix(w, g, 1, 0) },
		"quantise": func() { FloatQuantise(w, 127, 0) },
		"scale":    func() { FloatScale(m, 1) },
		"clampsum": func() { FloatClampSum(w, g, 1) },
		"adam":     func() { FloatAdam(w, m, v, g, &step) },
		"adamidle": func() { FloatAdamIdle(w, w, m, v, 1, 1e-3, 1e-6) },
	} {
		b.Run(name, func(b *testing.B) {
			benchEveryLevel(b, func(b *testing.B) {
				for b.Loop() {
					kernel()
				}
			})
		})
	}
}
