package plycode

import (
	"math/rand/v2"
	"testing"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func TestBits(t *testing.T) {
	rng := newRand(14)
	type item struct {
		v    uint32
		n    uint
		code byte // 'b'its, 'g'olomb or 'c'hoice
	}
	var items []item
	var w bitWriter
	length := 0
	for range 3000 {
		it := item{n: uint(rng.IntN(33)), code: 'b'}
		it.v = uint32(rng.Uint64() & (1<<it.n - 1))
		switch rng.IntN(3) {
		case 0:
			it = item{v: uint32(rng.IntN(1 << (1 + rng.IntN(18)))), n: uint(rng.IntN(MaxOrder + 1)), code: 'g'}
			length += golombLen(it.v, it.n)
			w.golomb(it.v, it.n)
		case 1:
			it = item{n: 1 + uint(rng.IntN(1+rng.IntN(300))), code: 'c'}
			it.v = uint32(rng.IntN(int(it.n)))
			k, u := choiceWidth(it.n)
			length += int(k)
			if uint(it.v) >= u {
				length++
			}
			w.choice(uint(it.v), it.n)
		default:
			length += int(it.n)
			w.write(it.v, it.n)
		}
		items = append(items, it)
	}
	if len(w.b) != (length+7)/8 {
		t.Fatalf("%d bytes for %d bits", len(w.b), length)
	}
	r := bitReader{b: w.b}
	for i, it := range items {
		v, ok := uint32(0), true
		switch it.code {
		case 'b':
			v = r.read(it.n)
		case 'c':
			v = uint32(r.choice(it.n))
		case 'g':
			v, ok = r.golomb(it.n)
		}
		if !ok || v != it.v || r.over() {
			t.Fatalf("item %d %+v: read %d, %v", i, it, v, ok)
		}
	}
	if !r.padded() {
		t.Error("not at the end")
	}
	if r.read(8); !r.over() {
		t.Error("read past the end")
	}
}

// TestChoiceIsComplete counts the codes of n choices by Kraft's sum: none is
// wasted and none is the beginning of another.
func TestChoiceIsComplete(t *testing.T) {
	for n := uint(1); n < 300; n++ {
		sum := 0
		for i := range n {
			var w bitWriter
			w.choice(i, n)
			sum += 1 << (16 - (uint(len(w.b))*8 - w.free))
		}
		if sum != 1<<16 {
			t.Errorf("%d choices fill %d of %d", n, sum, 1<<16)
		}
	}
}

func TestNoGolomb(t *testing.T) {
	zeros := bitReader{b: make([]byte, 8)}
	if _, ok := zeros.golomb(0); ok {
		t.Error("a code of zeros alone was read")
	}
	for _, d := range []int32{0, -1, 1, -2, 65536, -65536} {
		if got := unzigzag(zigzag(d)); got != d {
			t.Errorf("zigzag of %d comes back as %d", d, got)
		}
	}
}
