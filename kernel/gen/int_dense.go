package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	blockInputs  = 32 // inputs of a layer are a multiple of this
	blockOutputs = 16 // and outputs of this
	groupInputs  = 4  // inputs whose products one 32-bit lane adds up
)

// products is sum += weights * in for bytes: every 32-bit lane of sum gains four
// products. The levels differ in the instructions for it.
type products struct {
	vectors
	ones VecVirtual
}

func (v vectors) newProducts() products {
	p := products{vectors: v}
	if v == avx2 {
		p.ones = v.repeat(pairs(1))
	}
	return p
}

// add spends three instructions without VNNI. The 16-bit sums of two products
// cannot overflow, 2*127*128 < 1<<15, but those of four could.
func (p products) add(weights Op, in, sum Register) {
	if p.vectors == avx512 {
		VPDPBUSD(weights, in, sum)
		return
	}
	t := YMM()
	VPMADDUBSW(weights, in, t)
	VPMADDWD(p.ones, t, t)
	VPADDD(t, sum, sum)
}

// mulAVX2 writes the dense layer for weights by groups of four inputs:
// [block of outputs][group][16 outputs][4 inputs]. A group of inputs is spread
// over a vector whose lanes are outputs, so nothing is left to add up at the
// end.
func mulAVX2() {
	v := avx2
	v.function("mul", "func(dst *int32, in *uint8, weights *int8, bias *int32, inputs, outputs int)",
		"sets dst = bias + weights * in for weights by groups; inputs is a multiple of 32, outputs of 16.")
	dst, weights, bias, outputs := param("dst"), param("weights"), param("bias"), param("outputs")
	p := v.newProducts()
	Label("outputs")
	in, inputs := param("in"), param("inputs")
	sums := v.registers(blockOutputs * 4 / v.width())
	for i, s := range sums {
		v.move(Mem{Base: bias, Disp: i * v.width()}, s)
	}
	Label("inputs")
	for g := range blockInputs / groupInputs {
		x := v.register()
		VPBROADCASTD(Mem{Base: in, Disp: g * groupInputs}, x)
		for i, s := range sums {
			p.add(Mem{Base: weights, Disp: g*lineBytes + i*v.width()}, x, s)
		}
	}
	ADDQ(Imm(blockInputs), in)
	ADDQ(U32(blockInputs*blockOutputs), weights)
	SUBQ(Imm(blockInputs), inputs)
	JNZ(LabelRef("inputs"))
	for i, s := range sums {
		v.move(s, Mem{Base: dst, Disp: i * v.width()})
	}
	nextOutputs(dst, bias, outputs)
	leave()
}

// nextOutputs ends the loop over blocks of outputs.
func nextOutputs(dst, bias, outputs Register) {
	ADDQ(Imm(4*blockOutputs), dst)
	ADDQ(Imm(4*blockOutputs), bias)
	SUBQ(Imm(blockOutputs), outputs)
	JNZ(LabelRef("outputs"))
}

// mulAVX512 writes the dense layer for weights by vectors:
// [block of outputs][16 inputs][output mod 4][output / 4][16 inputs]. With
// groups of four, as for AVX2, every vector of weights would need a load of
// inputs beside its own; here four share one.
func mulAVX512() {
	v := avx512
	v.function("mul", "func(dst *int32, in *uint8, weights *int8, bias *int32, inputs, outputs int)",
		"sets dst = bias + weights * in for weights by vectors; inputs is a multiple of 32, outputs of 16.")
	dst, weights, bias, outputs := param("dst"), param("weights"), param("bias"), param("outputs")
	p := v.newProducts()
	Label("outputs")
	in, inputs := param("in"), param("inputs")
	// Four sums for every vector: with fewer, a sum is not ready when its next
	// products are.
	const step, vectors = 16, 4 // inputs of a vector, and vectors of 16 outputs
	var sums [4][vectors]VecVirtual
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = v.zeroInts()
		}
	}
	add := func(n int) {
		for i := range n / step {
			x := v.register()
			VBROADCASTI32X4(Mem{Base: in, Disp: i * step}, x)
			for j, s := range sums[i] {
				p.add(Mem{Base: weights, Disp: (i*vectors + j) * lineBytes}, x, s)
			}
		}
		ADDQ(Imm(uint64(n)), in)
		ADDQ(U32(uint32(n*blockOutputs)), weights)
	}
	SUBQ(Imm(2*blockInputs), inputs)
	JLT(LabelRef("last"))
	Label("inputs")
	add(2 * blockInputs)
	SUBQ(Imm(2*blockInputs), inputs)
	JGE(LabelRef("inputs"))
	Label("last")
	CMPQ(inputs, I8(-blockInputs))
	JLT(LabelRef("total"))
	add(blockInputs)
	Label("total")
	for j, s := range sums[0] {
		VPADDD(sums[1][j], s, s)
		VPADDD(sums[3][j], sums[2][j], sums[2][j])
		VPADDD(sums[2][j], s, s)
	}
	total := transposeAdd(sums[0])
	VPADDD(Mem{Base: bias}, total, total)
	v.move(total, Mem{Base: dst})
	nextOutputs(dst, bias, outputs)
	leave()
}

// transposeAdd adds up the four lanes in every 128-bit part of four registers:
// lane j of part k of the result is the total of part k of register j.
func transposeAdd(r [4]VecVirtual) VecVirtual {
	interleave := func(a, b VecVirtual, low, high func(...Op)) VecVirtual {
		x, y := ZMM(), ZMM()
		low(b, a, x)
		high(b, a, y)
		VPADDD(y, x, x)
		return x
	}
	a := interleave(r[0], r[1], VPUNPCKLDQ, VPUNPCKHDQ)
	b := interleave(r[2], r[3], VPUNPCKLDQ, VPUNPCKHDQ)
	return interleave(a, b, VPUNPCKLQDQ, VPUNPCKHQDQ)
}

// tailOutputs is the most outputs the hidden layer of the tail kernel has.
const tailOutputs = 32

// tail writes the kernel for all that follows a first layer of up to 32 outputs:
// activation, a hidden layer of up to 32 outputs, activation, one output.
// Weights are by groups, [group][32 outputs][4 inputs].
func (v vectors) tail() {
	v.function("tail", "func(sums *int32, blocks int, weights *int8, bias, out *int32, shift uint64) int32",
		"returns out * clamp((bias + weights * clamp(sums >> shift, 0, 127)) >> shift, 0, 127) for 16 sums a block and 32 hidden outputs.")
	sums, blocks, weights, bias, out := param("sums"), param("blocks"), param("weights"), param("bias"), param("out")
	c, p := v.newClip(), v.newProducts()
	hidden := v.registers(tailOutputs * 4 / v.width())
	for i, h := range hidden {
		v.move(Mem{Base: bias, Disp: i * v.width()}, h)
	}
	Label("blocks")
	for g, x := range c.groups(sums) {
		for i, h := range hidden {
			p.add(Mem{Base: weights, Disp: (g*len(hidden) + i) * v.width()}, x, h)
		}
	}
	ADDQ(Imm(lineBytes), sums)
	ADDQ(U32(16*tailOutputs), weights)
	DECQ(blocks)
	JNZ(LabelRef("blocks"))

	// Activations stay in 32-bit lanes whose upper halves are zero, so that the
	// product of 16-bit pairs is the product of the lanes.
	most := v.repeat(127)
	for i, h := range hidden {
		VPSRAD(c.shift, h, h)
		VPMAXSD(c.zero, h, h)
		VPMINSD(most, h, h)
		VPMADDWD(Mem{Base: out, Disp: i * v.width()}, h, h)
	}
	for n := len(hidden) / 2; n > 0; n /= 2 {
		for i := range n {
			VPADDD(hidden[n+i], hidden[i], hidden[i])
		}
	}
	total := v.total(hidden[0])
	VZEROUPPER()
	Store(total, ReturnIndex(0))
	RET()
}

// groups activates 16 sums at src and spreads each group of four over a vector.
func (c clip) groups(src Register) []VecVirtual {
	x := c.bytes(src)
	var all Register
	if c.vectors == avx512 {
		all = x.AsZ()
		VSHUFI32X4(U8(0), all, all, all)
	} else {
		all = x.AsY()
	}
	groups := c.registers(4)
	for g, r := range groups {
		VPSHUFD(U8(g*0b01_01_01_01), all, r)
	}
	return groups
}

// total adds up the 32-bit lanes of a register, which it destroys.
func (v vectors) total(r VecVirtual) Register {
	if v == avx512 {
		y := YMM()
		VEXTRACTI64X4(Imm(1), r, y)
		VPADDD(y, r.AsY(), r.AsY())
	}
	x, low := XMM(), r.AsX()
	VEXTRACTI128(Imm(1), r.AsY(), x)
	VPADDD(x, low, low)
	for _, order := range []uint8{0b01_00_11_10, 0b10_11_00_01} {
		VPSHUFD(U8(order), low, x)
		VPADDD(x, low, low)
	}
	sum := GP32()
	VMOVD(low, sum)
	return sum
}
