package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// x / 127 rounded down is x * productFactor >> 16 >> productShift, for every x from
// 0 to 127 * 127.
const (
	productFactor = 33027
	productShift  = 6
)

// rectifier is an activation of the transformer's sums.
type rectifier int

const (
	clipped rectifier = iota
	squared
	paired // the first half of the lanes times the second
)

// transform writes the activation of two accumulators.
func (v vectors) transform(kind rectifier) {
	switch kind {
	case clipped:
		v.function("transform", "func(dst *uint8, us, them *int16, n int)",
			"sets dst = clamp(us, 0, 127), clamp(them, 0, 127) for n lanes each, n a multiple of 16.")
	case squared:
		v.function("transformSquare", "func(dst *uint8, us, them *int16, n int)",
			"sets dst = clamp(us, 0, 127)²/127, clamp(them, 0, 127)²/127 for n lanes each, n a multiple of 16.")
	case paired:
		v.function("transformPairs", "func(dst *uint8, us, them *int16, n int)",
			"sets dst = clamp(us[:n], 0, 127)*clamp(us[n:], 0, 127)/127, and the same of them, of 2n lanes each, n a multiple of 16.")
	}
	dst, n := param("dst"), param("n")
	a := v.newActivation(kind)
	if kind == paired {
		a.half = GP64()
		MOVQ(n, a.half)
	}
	second := GP64()
	LEAQ(Mem{Base: dst, Index: n, Scale: 1}, second)
	sides := []side{{param("us"), dst}, {param("them"), second}}

	step := a.width() // lanes, which give as many bytes
	SUBQ(Imm(uint64(step)), n)
	JLT(LabelRef("rest"))
	Label("vectors")
	for _, s := range sides {
		r := v.register()
		a.bytes(s.lanes, r)
		v.move(r, Mem{Base: s.bytes})
		s.advance(step)
	}
	SUBQ(Imm(uint64(step)), n)
	JGE(LabelRef("vectors"))
	Label("rest")
	ADDQ(Imm(uint64(step)), n)
	JZ(LabelRef("done"))
	narrow := a.narrow()
	Label("halves")
	for _, s := range sides {
		r := YMM()
		narrow.bytes(s.lanes, r)
		VMOVDQU(r.AsX(), Mem{Base: s.bytes})
		s.advance(16)
	}
	SUBQ(Imm(16), n)
	JNZ(LabelRef("halves"))
	Label("done")
	leave()
}

// side is the accumulator of a perspective and where its activation goes.
type side struct{ lanes, bytes Register }

func (s side) advance(lanes int) {
	ADDQ(U32(uint32(2*lanes)), s.lanes)
	ADDQ(U32(uint32(lanes)), s.bytes)
}

// activation is the registers of transform; most and factor are nil for the
// clipped rectifier, half is for the paired one alone.
type activation struct {
	vectors
	low                       bool // gives bytes in the lower half only
	order, zero, most, factor VecVirtual
	half                      Register // lanes from a factor to the other
}

func (v vectors) newActivation(kind rectifier) activation {
	a := activation{vectors: v}
	if v == avx512 {
		// Packing takes turns between the 128-bit parts of its sources.
		a.order = ZMM()
		VMOVDQU64(constants[uint64]("intPackedOrder", 0, 2, 4, 6, 1, 3, 5, 7), a.order)
	}
	a.zero = v.zeroInts()
	if kind != clipped {
		a.most, a.factor = v.repeat(pairs(127)), v.repeat(pairs(productFactor))
	}
	return a
}

// narrow is the same activation of 16 lanes.
func (a activation) narrow() activation {
	n := activation{vectors: avx2, low: true, zero: a.zero.AsY().(VecVirtual), half: a.half}
	if a.most != nil {
		n.most, n.factor = a.most.AsY().(VecVirtual), a.factor.AsY().(VecVirtual)
	}
	return n
}

// bytes fills a vector with the activations of two vectors of lanes.
func (a activation) bytes(lanes Register, r VecVirtual) {
	high := Op(r)
	a.load(Mem{Base: lanes}, r)
	switch {
	case a.low:
	case a.most == nil:
		high = Mem{Base: lanes, Disp: a.width()}
	default:
		y := a.register()
		a.load(Mem{Base: lanes, Disp: a.width()}, y)
		high = y
	}
	VPACKSSWB(high, r, r)
	if a.most == nil { // products are in range already
		VPMAXSB(a.zero, r, r)
	}
	if a.vectors == avx512 {
		VPERMQ(r, a.order, r)
	} else {
		VPERMQ(U8(0b11_01_10_00), r, r)
	}
}

// load reads lanes, and squares or multiplies them if that is the activation.
func (a activation) load(m Mem, r VecVirtual) {
	if a.most == nil {
		a.move(m, r)
		return
	}
	VPMAXSW(m, a.zero, r)
	VPMINSW(a.most, r, r)
	other := r
	if a.half != nil {
		m.Index, m.Scale = a.half, 2
		other = a.register()
		VPMAXSW(m, a.zero, other)
		VPMINSW(a.most, other, other)
	}
	VPMULLW(other, r, r)
	VPMULHUW(a.factor, r, r)
	VPSRLW(Imm(productShift), r, r)
}

// clipSums writes the activation of a layer's sums.
func (v vectors) clipSums() {
	v.function("clipSums", "func(dst *uint8, src *int32, n int, shift uint64)",
		"sets dst = clamp(src >> shift, 0, 127) for n sums, n a positive multiple of 16.")
	dst, src, n := param("dst"), param("src"), param("n")
	c := v.newClip()
	Label("sums")
	VMOVDQU(c.bytes(src), Mem{Base: dst})
	ADDQ(Imm(64), src)
	ADDQ(Imm(16), dst)
	SUBQ(Imm(16), n)
	JNZ(LabelRef("sums"))
	leave()
}

// clip is the activation of sums, with the shift of an argument.
type clip struct {
	vectors
	shift, zero, order VecVirtual
}

func (v vectors) newClip() clip {
	c := clip{vectors: v, shift: XMM(), zero: v.zeroInts()}
	VMOVQ(memory("shift"), c.shift)
	if v == avx2 {
		c.order = YMM()
		VMOVDQU(constants[uint32]("intClipOrder", 0, 4, 1, 5, 0, 4, 1, 5), c.order)
	}
	return c
}

// bytes activates 16 sums at src; with AVX2 the upper half of the register
// holds the bytes as well.
func (c clip) bytes(src Register) VecVirtual {
	sums := c.registers(blockOutputs * 4 / c.width())
	for i, s := range sums { // a shift by a register takes no memory operand
		c.move(Mem{Base: src, Disp: i * c.width()}, s)
	}
	return c.pack(sums)
}

// pack is bytes for 16 sums in registers, which it destroys.
func (c clip) pack(sums []VecVirtual) VecVirtual {
	for _, s := range sums {
		VPSRAD(c.shift, s, s)
	}
	y := sums[0]
	if c.vectors == avx512 {
		x := XMM()
		VPMAXSD(c.zero, y, y)
		VPMOVSDB(y, x)
		return x
	}
	VPACKSSDW(sums[1], y, y)
	VPACKSSWB(y, y, y)
	VPMAXSB(c.zero, y, y)
	VPERMD(y, c.order, y)
	return y.AsX().(VecVirtual)
}
