package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
)

func testRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func randomRows[T Int](rng *rand.Rand, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = T(rng.Uint64()) // the whole range, so sums wrap
	}
	return s
}

// applyRowsSlowly is the definition of ApplyRows, lane by lane.
func applyRowsSlowly[T Int](src, table []T, add, sub []int32, width int) []T {
	out := make([]T, width)
	for i := range out {
		sum := int64(src[i])
		for _, r := range add {
			sum += int64(table[int(r)*width+i])
		}
		for _, r := range sub {
			sum -= int64(table[int(r)*width+i])
		}
		out[i] = T(sum)
	}
	return out
}

func testApplyRows[T Int](t *testing.T) {
	rng := testRand()
	const rows = 50
	for _, width := range []int{1, 7, 8, 16, 33, 64, 72} {
		table := randomRows[T](rng, rows*width)
		for range 60 {
			add := make([]int32, rng.IntN(8))
			sub := make([]int32, rng.IntN(8))
			for i := range add {
				add[i] = rng.Int32N(rows)
			}
			for i := range sub {
				sub[i] = rng.Int32N(rows)
			}
			src := randomRows[T](rng, width)
			want := applyRowsSlowly(src, table, add, sub, width)
			got := make([]T, width)
			ApplyRows(got, src, table, add, sub)
			if !slices.Equal(got, want) {
				t.Fatalf("width %d, +%v -%v: got %v, want %v", width, add, sub, got, want)
			}
			ApplyRows(src, src, table, add, sub)
			if !slices.Equal(src, want) {
				t.Fatalf("width %d, +%v -%v in place: got %v, want %v", width, add, sub, src, want)
			}
		}
	}
}

func TestApplyRowsInt16(t *testing.T) { testApplyRows[int16](t) }
func TestApplyRowsInt32(t *testing.T) { testApplyRows[int32](t) }

func TestActiveMatchesClip(t *testing.T) {
	rng := testRand()
	for range 200 {
		src := randomRows[int16](rng, 1+rng.IntN(80))
		for i := range src {
			src[i] >>= rng.IntN(12)
		}
		src[0] = []int16{math.MinInt16, -1, 0, 1, 127, 128, math.MaxInt16}[rng.IntN(7)]
		wide := make([]int32, len(src))
		for i := range wide {
			wide[i] = int32(src[i]) << rng.IntN(16)
		}
		dense := make([]uint8, len(src))
		active := make([]Active, len(src))

		ClipInt16(dense, src)
		n := AppendActive16(active, src, 1000)
		checkActive(t, active[:n], dense, 1000)

		ClipInt32(dense, wide)
		n = AppendActive32(active, wide)
		checkActive(t, active[:n], dense, 0)
	}
}

func checkActive(t *testing.T, active []Active, dense []uint8, first int) {
	t.Helper()
	var want []Active
	for i, v := range dense {
		if v != 0 {
			want = append(want, Active(first+i)<<8|Active(v))
		}
	}
	if !slices.Equal(active, want) {
		t.Fatalf("active %v, want %v", active, want)
	}
}

func TestClipLimits(t *testing.T) {
	got := make([]uint8, 6)
	ClipInt16(got, []int16{math.MinInt16, -1, 0, 126, 127, math.MaxInt16})
	if want := []uint8{0, 0, 0, 126, 127, 127}; !slices.Equal(got, want) {
		t.Errorf("ClipInt16 = %v, want %v", got, want)
	}
	ClipInt32(got, []int32{math.MinInt32, -1, 63, 64, 127<<6 + 63, math.MaxInt32})
	if want := []uint8{0, 0, 0, 1, 127, 127}; !slices.Equal(got, want) {
		t.Errorf("ClipInt32 = %v, want %v", got, want)
	}
}

func TestMatrixMatchesAffine(t *testing.T) {
	rng := testRand()
	for _, shape := range []struct{ outputs, inputs, stride int }{
		{16, 64, 64}, {32, 16, 32}, {1, 5, 8}, {17, 40, 64}, {15, 1024, 1024},
	} {
		weights := make([]int8, shape.outputs*shape.stride)
		bias := make([]int32, shape.outputs)
		in := make([]uint8, shape.inputs)
		active := make([]Active, shape.inputs)
		want, got := make([]int32, shape.outputs), make([]int32, shape.outputs)
		for round := range 30 {
			n := 0
			for i := range weights {
				weights[i] = int8(rng.Uint64())
				if round == 0 {
					weights[i] = math.MinInt8 // the largest sums
				}
			}
			for i := range bias {
				bias[i] = int32(rng.Uint64())
			}
			for i := range in {
				in[i] = uint8(rng.IntN(128)) * uint8(rng.IntN(2))
				if round == 0 {
					in[i] = MaxActivation
				}
				if in[i] != 0 {
					active[n] = Active(i)<<8 | Active(in[i])
					n++
				}
			}
			AffineInt8(want, bias, weights, shape.stride, in)
			NewMatrix(weights, shape.outputs, shape.inputs, shape.stride).Mul(got, bias, active[:n])
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: got %v, want %v", shape, got, want)
			}
		}
	}
}

func TestMatrixLargestSums(t *testing.T) {
	weights := make([]int8, 2*MaxInputs)
	active := make([]Active, MaxInputs)
	for i := range active {
		weights[i], weights[MaxInputs+i] = math.MinInt8, math.MaxInt8
		active[i] = Active(i)<<8 | MaxActivation
	}
	got := make([]int32, 2)
	NewMatrix(weights, 2, MaxInputs, MaxInputs).Mul(got, make([]int32, 2), active)
	if want := []int32{-128 * 127 * MaxInputs, 127 * 127 * MaxInputs}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDotMatchesAffine(t *testing.T) {
	rng := testRand()
	for range 100 {
		in := randomRows[int32](rng, 32)
		weights := make([]int8, 32)
		for i := range weights {
			in[i] >>= rng.IntN(30)
			weights[i] = int8(rng.Uint64())
		}
		clipped := make([]uint8, 32)
		ClipInt32(clipped, in)
		want := make([]int32, 1)
		AffineInt8(want, []int32{0}, weights, 32, clipped)
		if got := Dot(in, weights); got != want[0] {
			t.Fatalf("Dot = %d, want %d", got, want[0])
		}
	}
}

func BenchmarkApplyRows(b *testing.B) {
	rng := testRand()
	for _, width := range []int{64, 512} {
		table := randomRows[int16](rng, 100*width)
		dst, src := make([]int16, width), make([]int16, width)
		for name, rows := range map[string][2][]int32{
			"quiet":   {{1}, {2}},
			"capture": {{3, 4}, {5, 6}},
			"refresh": {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}, nil},
		} {
			b.Run(name+"/"+strconv.Itoa(width), func(b *testing.B) {
				for b.Loop() {
					ApplyRows(dst, src, table, rows[0], rows[1])
				}
			})
		}
	}
}

func BenchmarkMatrix(b *testing.B) {
	rng := testRand()
	for _, inputs := range []int{16, 128, 1024} {
		b.Run(strconv.Itoa(inputs), func(b *testing.B) {
			m := NewMatrix(make([]int8, 16*inputs), 16, inputs, inputs)
			src := make([]int16, inputs)
			for i := range src {
				src[i] = int16(rng.IntN(254)) - 127
			}
			active, dst, bias := make([]Active, inputs), make([]int32, 16), make([]int32, 16)
			for b.Loop() {
				n := AppendActive16(active, src, 0)
				m.Mul(dst, bias, active[:n])
			}
		})
	}
}
