package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// slowRow is a row as ordinary slices.
type slowRow struct {
	lanes []int16
	sums  []int32
}

// slowApply is the definition of Apply, number by number.
func slowApply(r *Rows, src Row, added, removed []int32) slowRow {
	out := slowRow{slices.Clone(src.Lanes()), slices.Clone(src.Sums())}
	add := func(i, sign int32) {
		for j, v := range r.LanesOf(int(i)) {
			out.lanes[j] += int16(sign) * v
		}
		for j, v := range r.SumsOf(int(i)) {
			out.sums[j] += sign * v
		}
	}
	for _, i := range added {
		add(i, 1)
	}
	for _, i := range removed {
		add(i, -1)
	}
	return out
}

func fillRow(rng *rand.Rand, row Row) {
	for i := range row.Lanes() {
		row.Lanes()[i] = int16(rng.Uint64()) // the whole range, so sums wrap
	}
	for i := range row.Sums() {
		row.Sums()[i] = int32(rng.Uint64())
	}
}

func randomTable(rng *rand.Rand, n, lanes, sums int) *Rows {
	r := NewRows(n, lanes, sums)
	for i := range n {
		fillRow(rng, r.Row(i))
	}
	return r
}

func randomIndices(rng *rand.Rand, count, below int) []int32 {
	s := make([]int32, count)
	for i := range s {
		s[i] = rng.Int32N(int32(below))
	}
	return s
}

// checkApply applies to one row and in place, and looks at the rows beside.
func checkApply(t *testing.T, rng *rand.Rand, r *Rows, added, removed []int32) {
	t.Helper()
	rows := r.Blank(4) // guard, destination, source, guard
	for _, row := range rows {
		fillRow(rng, row)
	}
	guards := [2][]byte{slices.Clone(rows[0].bytes()), slices.Clone(rows[3].bytes())}
	want := slowApply(r, rows[2], added, removed)

	r.Apply(rows[1], rows[2], added, removed)
	r.Apply(rows[2], rows[2], added, removed)
	for i, got := range rows[1:3] {
		if !slices.Equal(got.Lanes(), want.lanes) || !slices.Equal(got.Sums(), want.sums) {
			t.Fatalf("%d lanes, %d sums, +%v -%v, in place %v: got %v %v, want %v %v", r.Lanes(), r.Sums(),
				added, removed, i == 1, got.Lanes(), got.Sums(), want.lanes, want.sums)
		}
	}
	if !slices.Equal(guards[0], rows[0].bytes()) || !slices.Equal(guards[1], rows[3].bytes()) {
		t.Fatalf("%d lanes, %d sums, +%v -%v: wrote beside the row", r.Lanes(), r.Sums(), added, removed)
	}
}

func TestApply(t *testing.T) {
	atEveryLevel(t, func(t *testing.T) {
		rng := testRand()
		const n = 50
		for _, lanes := range []int{16, 32, 48, 64, 80, 96, 112, 128, 144, 240, 256, 272, 512, 528, 1024, 2048} {
			for _, sums := range []int{0, 1, 7, 8, 9, 16} {
				r := randomTable(rng, n, lanes, sums)
				for added := range 5 {
					for removed := range 5 {
						checkApply(t, rng, r, randomIndices(rng, added, n), randomIndices(rng, removed, n))
					}
				}
				checkApply(t, rng, r, randomIndices(rng, 40, n), randomIndices(rng, 3, n))
			}
		}
	})
}

func FuzzApply(f *testing.F) {
	f.Add(uint64(1), uint8(32), uint8(8), uint8(2), uint8(2))
	f.Add(uint64(2), uint8(4), uint8(0), uint8(34), uint8(0))
	f.Fuzz(func(t *testing.T, seed uint64, lanes, sums, added, removed uint8) {
		const n = 20
		rng := rand.New(rand.NewPCG(seed, 0))
		r := randomTable(rng, n, laneStep*(1+int(lanes)%128), int(sums)%(maxSums+1))
		a, b := randomIndices(rng, int(added), n), randomIndices(rng, int(removed), n)
		for l := Generic; l <= Best(); l++ {
			forceLevel(t, l)
			checkApply(t, rng, r, a, b)
		}
	})
}

func TestRowsShape(t *testing.T) {
	r := NewRows(3, 48, 5)
	if r.Len() != 3 || r.Lanes() != 48 || r.Sums() != 5 {
		t.Errorf("shape %d %d %d", r.Len(), r.Lanes(), r.Sums())
	}
	if len(r.LanesOf(2)) != 48 || len(r.SumsOf(2)) != 5 || len(NewRows(1, 16, 0).SumsOf(0)) != 0 {
		t.Errorf("views of %d and %d", len(r.LanesOf(2)), len(r.SumsOf(2)))
	}
	for i := range 3 {
		if uintptr(unsafe.Pointer(r.at(i)))%lineBytes != 0 {
			t.Errorf("row %d begins inside a cache line", i)
		}
		for j := range r.LanesOf(i) {
			r.LanesOf(i)[j] = int16(100*i + j)
		}
		for j := range r.SumsOf(i) {
			r.SumsOf(i)[j] = int32(-100*i - j)
		}
	}
	copied := r.Blank(2)[1]
	copied.Copy(r.Row(1))
	if copied.Lanes()[47] != 147 || copied.Sums()[4] != -104 {
		t.Errorf("copied row is %v %v", copied.Lanes(), copied.Sums())
	}
}

func TestRowsRefuse(t *testing.T) {
	r, other := NewRows(3, 16, 1), NewRows(3, 16, 1)
	for name, f := range map[string]func(){
		"no lanes":           func() { NewRows(1, 0, 0) },
		"lanes not in steps": func() { NewRows(1, 24, 0) },
		"too many sums":      func() { NewRows(1, 16, 17) },
		"negative count":     func() { NewRows(-1, 16, 0) },
		"too many rows":      func() { NewRows(math.MaxInt/64, 64, 0) },
		"row past the end":   func() { r.LanesOf(3) },
		"row below zero":     func() { r.SumsOf(-1) },
		"added past the end": func() { r.Apply(r.Row(0), r.Row(0), []int32{3}, nil) },
		"removed below zero": func() { r.Apply(r.Row(0), r.Row(0), []int32{1}, []int32{-1}) },
		"long list":          func() { r.Apply(r.Row(0), r.Row(0), []int32{0, 1, 2, 3}, nil) },
		"foreign row":        func() { r.Apply(r.Row(0), other.Row(0), nil, nil) },
		"foreign copy":       func() { r.Row(0).Copy(other.Row(0)) },
		"zero row":           func() { r.Apply(Row{}, r.Row(0), nil, nil) },
	} {
		checkPanics(t, name, f)
	}
}

func checkPanics(t *testing.T, name string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", name)
		}
	}()
	f()
}

func BenchmarkApply(b *testing.B) {
	for _, shape := range []struct{ lanes, sums int }{{64, 8}, {512, 8}} {
		for _, counts := range []struct{ added, removed int }{{1, 1}, {1, 2}, {2, 2}, {3, 3}, {32, 0}} {
			name := fmt.Sprintf("%d+%d/%d-%d", shape.lanes, shape.sums, counts.added, counts.removed)
			b.Run(name, func(b *testing.B) {
				rng := testRand()
				r := randomTable(rng, 40, shape.lanes, shape.sums)
				added, removed := randomIndices(rng, counts.added, 40), randomIndices(rng, counts.removed, 40)
				rows := r.Blank(2)
				benchEveryLevel(b, func(b *testing.B) {
					b.SetBytes(int64((2 + counts.added + counts.removed) * r.stride))
					for b.Loop() {
						r.Apply(rows[0], rows[1], added, removed)
					}
				})
			})
		}
	}
}
