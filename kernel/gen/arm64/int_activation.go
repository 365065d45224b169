package main

// x / 127 rounded down is x * productFactor >> 15 >> 6 for every x from 0 to
// 127 * 127.
const productFactor = 16514

// rectifier is an activation of the transformer's sums.
type rectifier int

const (
	clipped rectifier = iota
	squared
	paired // the first half of the lanes times the second
)

// transform writes the activation of two accumulators, 16 lanes of each at once.
func transform(f *file, kind rectifier) {
	name, doc := "transformNEON", "sets dst = clamp(us, 0, 127), clamp(them, 0, 127) for n lanes each, n a multiple of 16."
	switch kind {
	case squared:
		name, doc = "transformSquareNEON", "sets dst = clamp(us, 0, 127)²/127, clamp(them, 0, 127)²/127 for n lanes each, n a multiple of 16."
	case paired:
		name, doc = "transformPairsNEON", "sets dst = clamp(us[:n], 0, 127)*clamp(us[n:], 0, 127)/127, and the same of them, of 2n lanes each, n a multiple of 16."
	}
	k := f.function(name, "(dst *uint8, us, them *int16, n int)", doc)
	us, dst, n := k.param("us"), k.param("dst"), k.param("n")
	them, second := k.param("them"), k.register()
	k.op("ADD", n, dst, second)
	zero := k.vectors(1)[0]
	k.clear(zero)
	sides := []side{{lanes: us, bytes: dst}, {lanes: them, bytes: second}}
	var factor vec
	if kind != clipped {
		factor = k.repeat(productFactor, "H8")
	}
	for i := range sides {
		s := &sides[i]
		s.read, s.product = k.vectors(2), k.vectors(2)
		if kind == paired {
			s.other = k.register()
			k.op("ADD", n.shifted(1), s.lanes, s.other)
			s.factors = k.vectors(2)
		}
	}
	k.label("lanes")
	for _, s := range sides {
		x := k.clip(s.lanes, s.read, zero)
		if kind != clipped {
			y := x
			if kind == paired {
				y = k.clip(s.other, s.factors, zero)
			}
			k.do(mulB, s.product[0], x, y)
			k.do(mulBHigh, s.product[1], x, y)
			for _, p := range s.product {
				k.do(mulHigh, p, p, factor)
			}
			k.do(shiftNarrow, x, s.product[0])
			k.do(shiftNarrowHigh, x, s.product[1])
		}
		k.store([]vec{x}, s.bytes)
	}
	k.op("SUBS", "$16", n)
	k.op("BNE", "lanes")
	k.op("RET")
}

// side is the accumulator of a perspective, where its activation goes, and the
// registers for that.
type side struct {
	lanes, other, bytes    gp
	read, factors, product []vec
}

// clip reads 16 lanes and returns them as bytes from 0 to 127.
func (k *kernel) clip(lanes gp, read []vec, zero vec) vec {
	k.load(lanes, read)
	x := read[0]
	k.do(narrowH, x, x)
	k.do(narrowHHigh, x, read[1])
	k.do(maxB, x, x, zero)
	return x
}

// clipSums writes the activation of a layer's sums.
func clipSums(f *file) {
	k := f.function("clipSumsNEON", "(dst *uint8, src *int32, n int, shift uint64)",
		"sets dst = clamp(src >> shift, 0, 127) for n sums, n a positive multiple of 16.")
	dst, src, n := k.param("dst"), k.param("src"), k.param("n")
	c := k.newClip()
	k.label("sums")
	k.store([]vec{c.bytes(src)}, dst)
	k.op("SUBS", "$16", n)
	k.op("BNE", "sums")
	k.op("RET")
}

// sumClip is the activation of sums, with the shift of an argument.
type sumClip struct {
	*kernel
	shift, zero vec
	read        []vec
}

func (k *kernel) newClip() *sumClip {
	shift := k.param("shift")
	c := &sumClip{kernel: k, shift: k.vectors(1)[0], zero: k.vectors(1)[0], read: k.vectors(4)}
	k.op("NEG", shift, shift)
	k.op("VDUP", shift, c.shift.as("S4"))
	k.clear(c.zero)
	return c
}

// bytes activates 16 sums at src and moves on.
func (c *sumClip) bytes(src gp) vec {
	r := c.read
	c.load(src, r)
	for _, v := range r {
		c.do(shiftS, v, v, c.shift)
	}
	c.narrow(r)
	c.do(maxB, r[0], r[0], c.zero)
	return r[0]
}

// narrow turns the 32-bit lanes of four registers into bytes in the first,
// saturating.
func (k *kernel) narrow(r []vec) {
	k.do(narrowS, r[0], r[0])
	k.do(narrowSHigh, r[0], r[1])
	k.do(narrowS, r[2], r[2])
	k.do(narrowSHigh, r[2], r[3])
	k.do(narrowH, r[0], r[0])
	k.do(narrowHHigh, r[0], r[2])
}
