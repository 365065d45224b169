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
	mulGroups("mul", "sets dst = bias + weights * in for weights by groups; inputs is a multiple of 32, outputs of 16.", products.addGroups)
}

// mulNarrowAVX2 writes mulAVX2 for weights so small that the products of 16 inputs, two and
// two, add up in 16 bits: one instruction in place of four widens them.
func mulNarrowAVX2() {
	mulGroups("mulNarrow", "is mul where, of every 16 inputs, the products of the first two of all groups of four add up in 16 bits, and those of the other two.", products.addNarrow)
}

// addInputs adds the products of blockInputs inputs to the sums of 16 outputs.
type addInputs func(p products, in, weights Register, sums []VecVirtual)

// mulGroups writes a dense layer for weights by groups.
func mulGroups(name, doc string, add addInputs) {
	v := avx2
	v.function(name, "func(dst *int32, in *uint8, weights *int8, bias *int32, inputs, outputs int)", doc)
	dst, weights, bias, outputs := param("dst"), param("weights"), param("bias"), param("outputs")
	p := v.newProducts()
	Label("outputs")
	in, inputs := param("in"), param("inputs")
	sums := p.sums(in, weights, bias, inputs, add)
	for i, s := range sums {
		v.move(s, Mem{Base: dst, Disp: i * v.width()})
	}
	nextOutputs(dst, bias, outputs)
	leave()
}

// sums writes the loop over inputs for 16 outputs and returns their sums.
func (p products) sums(in, weights, bias, inputs Register, add addInputs) []VecVirtual {
	sums := p.registers(blockOutputs * 4 / p.width())
	for i, s := range sums {
		p.move(Mem{Base: bias, Disp: i * p.width()}, s)
	}
	Label("inputs")
	add(p, in, weights, sums)
	ADDQ(Imm(blockInputs), in)
	ADDQ(U32(blockInputs*blockOutputs), weights)
	SUBQ(Imm(blockInputs), inputs)
	JNZ(LabelRef("inputs"))
	return sums
}

// addGroups widens the products of every group.
func (p products) addGroups(in, weights Register, sums []VecVirtual) {
	for g := range blockInputs / groupInputs {
		x := p.register()
		VPBROADCASTD(Mem{Base: in, Disp: g * groupInputs}, x)
		for i, s := range sums {
			p.add(Mem{Base: weights, Disp: g*lineBytes + i*p.width()}, x, s)
		}
	}
}

// addNarrow widens the sums of four groups. Two groups are spread by a load and two by a
// shuffle, so that neither is what takes the time alone.
func (p products) addNarrow(in, weights Register, sums []VecVirtual) {
	const groups, step = 4, 4 * groupInputs
	for at := 0; at < blockInputs; at += step {
		all := p.register()
		VBROADCASTI128(Mem{Base: in, Disp: at}, all)
		narrow := p.registers(len(sums))
		for g := range groups {
			x := p.register()
			if g < groups/2 {
				VPBROADCASTD(Mem{Base: in, Disp: at + g*groupInputs}, x)
			} else {
				VPSHUFD(U8(g*0b01_01_01_01), all, x)
			}
			for i, n := range narrow {
				t := n
				if g > 0 {
					t = p.register()
				}
				VPMADDUBSW(Mem{Base: weights, Disp: at*blockOutputs + g*lineBytes + i*p.width()}, x, t)
				if g > 0 {
					VPADDW(t, n, n)
				}
			}
		}
		for i, s := range sums {
			VPMADDWD(p.ones, narrow[i], narrow[i])
			VPADDD(narrow[i], s, s)
		}
	}
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
	const step = 16 // inputs of a vector
	sums := fourSums()
	add := func(n int) {
		for i := range n / step {
			x := v.register()
			VBROADCASTI32X4(Mem{Base: in, Disp: i * step}, x)
			p.addVectors(weights, i, x, sums[i])
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
	total := addUp(sums)
	VPADDD(Mem{Base: bias}, total, total)
	v.move(total, Mem{Base: dst})
	nextOutputs(dst, bias, outputs)
	leave()
}

// fourSums returns zeros: four sums for each of the four vectors of 16 outputs. With fewer,
// a sum is not ready when its next products are.
func fourSums() (sums [4][4]VecVirtual) {
	for i := range sums {
		for j := range sums[i] {
			sums[i][j] = avx512.zeroInts()
		}
	}
	return sums
}

// addVectors adds the products of 16 inputs, in every 128 bits of a register, with the i-th
// 16 inputs' weights to the sums of the four vectors.
func (p products) addVectors(weights Register, i int, inputs VecVirtual, sums [4]VecVirtual) {
	for j, s := range sums {
		p.add(Mem{Base: weights, Disp: (i*len(sums) + j) * lineBytes}, inputs, s)
	}
}

// addUp adds up the sums of 16 outputs.
func addUp(sums [4][4]VecVirtual) VecVirtual {
	for j, s := range sums[0] {
		VPADDD(sums[1][j], s, s)
		VPADDD(sums[3][j], sums[2][j], sums[2][j])
		VPADDD(sums[2][j], s, s)
	}
	return transposeAdd(sums[0])
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
