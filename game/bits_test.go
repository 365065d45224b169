package game

import "testing"

func TestBits(t *testing.T) {
	rng := newRand(14)
	type item struct {
		v      uint32
		n      uint
		golomb bool
	}
	var items []item
	var w bitWriter
	length := 0
	for range 2000 {
		it := item{n: uint(rng.IntN(33))}
		it.v = uint32(rng.Uint64() & (1<<it.n - 1))
		if rng.IntN(2) == 0 {
			it = item{v: uint32(rng.IntN(1 << (1 + rng.IntN(18)))), n: uint(rng.IntN(maxOrder + 1)), golomb: true}
		}
		items = append(items, it)
		if it.golomb {
			w.golomb(it.v, it.n)
			length += golombLen(it.v, it.n)
		} else {
			w.write(it.v, it.n)
			length += int(it.n)
		}
	}
	if len(w.b) != (length+7)/8 {
		t.Fatalf("%d bytes for %d bits", len(w.b), length)
	}
	r := bitReader{b: w.b}
	for i, it := range items {
		read := r.read
		if it.golomb {
			read = r.golomb
		}
		if v, err := read(it.n); err != nil || v != it.v {
			t.Fatalf("item %d %+v: read %d, %v", i, it, v, err)
		}
	}
	if !r.padded() {
		t.Error("not at the end")
	}
	if _, err := r.read(8); err == nil {
		t.Error("read past the end")
	}
	zeros := bitReader{b: make([]byte, 8)}
	if _, err := zeros.golomb(0); err == nil {
		t.Error("a code of zeros alone was read")
	}
	for _, d := range []int32{0, -1, 1, -2, 64000, -64000} {
		if got := unzigzag(zigzag(d)); got != d {
			t.Errorf("zigzag of %d comes back as %d", d, got)
		}
	}
}
