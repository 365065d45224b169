package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// x * x / 127 rounded down is x * x * squareFactor >> 16 >> squareShift, for
// every x from 0 to 127.
const (
	squareFactor = 4129
	squareShift  = 3
)

// transform writes the activation of two accumulators, clipped or squared.
func (v vectors) transform(square bool) {
	name, doc := "transform", "sets dst = clamp(us, 0, 127), clamp(them, 0, 127) for n lanes each, n a multiple of 16."
	if square {
		name, doc = "transformSquare", "sets dst = clamp(us, 0, 127)²/127, clamp(them, 0, 127)²/127 for n lanes each, n a multiple of 16."
	}
	v.function(name, "func(dst *uint8, us, them *int16, n int)", doc)
	dst := param("dst")
	a := activation{vectors: v}
	if v == avx512 {
		// Packing takes turns between the 128-bit parts of its sources.
		a.order = ZMM()
		VMOVDQU64(constants[uint64]("intPackedOrder", 0, 2, 4, 6, 1, 3, 5, 7), a.order)
	}
	a.zero = v.zeroInts()
	if square {
		a.most, a.factor = v.repeat(pairs(127)), v.repeat(pairs(squareFactor))
	}
	for _, side := range []string{"us", "them"} {
		src, n := param(side), param("n")
		a.loop(side, dst, src, n)
	}
	leave()
}

// activation is the registers of transform; most and factor are nil for the
// clipped rectifier.
type activation struct {
	vectors
	order, zero, most, factor VecVirtual
}

// loop activates n lanes at src, and leaves dst behind the last byte written.
func (a activation) loop(name string, dst, src, n Register) {
	step := a.width() // lanes, which give as many bytes
	SUBQ(Imm(uint64(step)), n)
	JLT(LabelRef(name + "rest"))
	Label(name)
	x, y := a.register(), a.register()
	a.load(src, 0, x)
	a.load(src, a.width(), y)
	a.pack(x, y, x)
	if a.vectors == avx512 {
		VPERMQ(x, a.order, x)
	} else {
		VPERMQ(U8(0b11_01_10_00), x, x)
	}
	a.move(x, Mem{Base: dst})
	ADDQ(U32(uint32(2*step)), src)
	ADDQ(U32(uint32(step)), dst)
	SUBQ(Imm(uint64(step)), n)
	JGE(LabelRef(name))

	Label(name + "rest")
	ADDQ(Imm(uint64(step)), n)
	JZ(LabelRef(name + "done"))
	half := a.narrow()
	Label(name + "lanes")
	z := YMM()
	half.load(src, 0, z)
	half.pack(z, z, z)
	VPERMQ(U8(0b11_01_10_00), z, z)
	VMOVDQU(z.AsX(), Mem{Base: dst})
	ADDQ(Imm(32), src)
	ADDQ(Imm(16), dst)
	SUBQ(Imm(16), n)
	JNZ(LabelRef(name + "lanes"))
	Label(name + "done")
}

// narrow is the same activation in the lower parts of its registers.
func (a activation) narrow() activation {
	n := activation{vectors: avx2, zero: a.zero.AsY().(VecVirtual)}
	if a.most != nil {
		n.most, n.factor = a.most.AsY().(VecVirtual), a.factor.AsY().(VecVirtual)
	}
	return n
}

// load reads lanes, and squares them if that is the activation.
func (a activation) load(src Register, offset int, r Register) {
	m := Mem{Base: src, Disp: offset}
	if a.most == nil {
		a.move(m, r)
		return
	}
	VPMAXSW(m, a.zero, r)
	VPMINSW(a.most, r, r)
	VPMULLW(r, r, r)
	VPMULHUW(a.factor, r, r)
	VPSRLW(Imm(squareShift), r, r)
}

// pack narrows the lanes of x and y to bytes: packed = clamp(x, 0, 127) and the
// same of y, in alternating parts.
func (a activation) pack(x, y, packed Register) {
	VPACKSSWB(y, x, packed)
	if a.most == nil { // squares are in range already
		VPMAXSB(a.zero, packed, packed)
	}
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
	if c.vectors == avx512 {
		z, x := ZMM(), XMM()
		VPSRAD(c.shift, c.sums(src, z, 0), z)
		VPMAXSD(c.zero, z, z)
		VPMOVSDB(z, x)
		return x
	}
	y, high := YMM(), YMM()
	VPSRAD(c.shift, c.sums(src, y, 0), y)
	VPSRAD(c.shift, c.sums(src, high, 32), high)
	VPACKSSDW(high, y, y)
	VPACKSSWB(y, y, y)
	VPMAXSB(c.zero, y, y)
	VPERMD(y, c.order, y)
	return y.AsX().(VecVirtual)
}

// sums loads a vector of sums: a shift by a register takes no memory operand.
func (c clip) sums(src Register, r VecVirtual, offset int) VecVirtual {
	c.move(Mem{Base: src, Disp: offset}, r)
	return r
}
