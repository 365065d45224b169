package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// chains is the number of sums per output that FloatAffine keeps, so that
// additions need not wait for each other: product j belongs to sum j mod chains,
// but those left over from groups of so many belong to the first.
const chains = 4

func (v vectors) affine() {
	v.function("floatAffine", "func(dst *float32, n int, w, x *float32, inputs int, active *int32, count int) bool",
		"is FloatAffine of n outputs. It stops with false at an index that is not below inputs.")
	dst, left, w, x := param("dst"), param("n"), param("w"), param("x")
	inputs, active, count := param("inputs"), param("active"), param("count")
	stride := GP64() // of a row of weights
	MOVQ(left, stride)
	SHLQ(Imm(2), stride)

	pass := func(name string, width int, p part) {
		sums := make([][]VecVirtual, chains)
		for c := range sums {
			sums[c] = v.registers(width)
			for j, r := range sums[c] {
				if c == 0 {
					v.load(Mem{Base: dst, Disp: v.bytes(j)}, p, r)
				} else {
					v.clear(r)
				}
			}
		}
		i, k, row, value := GP64(), GP64(), GP64(), v.register()
		product := func(chain int) {
			MOVLQSX(Mem{Base: active, Index: i, Scale: 4, Disp: 4 * chain}, k)
			CMPQ(k, inputs)
			JCC(LabelRef("outside")) // unsigned: negative ones are, too
			VBROADCASTSS(Mem{Base: x, Index: k, Scale: 4}, value)
			IMULQ(stride, k)
			LEAQ(Mem{Base: w, Index: k, Scale: 1}, row)
			for j, r := range sums[chain] {
				m := Mem{Base: row, Disp: v.bytes(j)}
				if p == whole {
					VFMADD231PS(m, value, r)
				} else {
					weights := v.register()
					v.load(m, p, weights)
					VFMADD231PS(weights, value, r)
				}
			}
		}
		XORQ(i, i)
		limit := GP64()
		MOVQ(count, limit)
		ANDQ(I32(-chains), limit)
		JZ(LabelRef(name + "Rest"))
		Label(name + "Loop")
		for c := range chains {
			product(c)
		}
		ADDQ(Imm(chains), i)
		CMPQ(i, limit)
		JLT(LabelRef(name + "Loop"))
		Label(name + "Rest")
		CMPQ(i, count)
		JGE(LabelRef(name + "Sum"))
		product(0)
		INCQ(i)
		JMP(LabelRef(name + "Rest"))
		Label(name + "Sum")
		for j := range width {
			VADDPS(sums[1][j], sums[0][j], sums[0][j])
			VADDPS(sums[3][j], sums[2][j], sums[2][j])
			VADDPS(sums[2][j], sums[0][j], sums[0][j])
			v.store(sums[0][j], Mem{Base: dst, Disp: v.bytes(j)}, p)
		}
		ADDQ(U32(uint32(v.bytes(width))), dst)
		ADDQ(U32(uint32(v.bytes(width))), w)
	}
	v.columnPasses(left, []int{2}, pass)
	finish()
}

// affineBack exists for AVX2 alone and serves both levels: what takes its time
// is the sum across a vector for every input.
func affineBack() {
	v := avx2
	v.function("floatAffineBack", "func(gw, dx, w, x, d *float32, n, stride, inputs int, active *int32, count int) bool",
		"is FloatAffineBack of n outputs, but adds to dx; stride is that of rows of weights, in bytes. It stops with false at an index that is not below inputs.")
	gw, w, d, left := param("gw"), param("w"), param("d"), param("n")
	dx, x, stride := param("dx"), param("x"), param("stride")
	end, negative := param("active"), param("count")
	LEAQ(Mem{Base: end, Index: negative, Scale: 4}, end)
	NEGQ(negative) // index i is at end[i] and i counts up to zero
	one := v.one()

	pass := func(name string, width int, p part) {
		out := v.registers(width)
		for j, r := range out {
			v.load(Mem{Base: d, Disp: v.bytes(j)}, p, r)
		}
		i, k, row := GP64(), GP64(), GP64()
		MOVQ(negative, i)
		Label(name + "Loop")
		MOVLQSX(Mem{Base: end, Index: i, Scale: 4}, k)
		CMPQ(k, memory("inputs"))
		JCC(LabelRef("outside")) // unsigned: negative ones are, too
		value, dot := v.register(), v.register()
		VBROADCASTSS(Mem{Base: x, Index: k, Scale: 4}, value)
		MOVQ(k, row)
		IMULQ(stride, row)
		for j, r := range out {
			weights, gradient := v.register(), v.register()
			v.load(Mem{Base: gw, Index: row, Scale: 1, Disp: v.bytes(j)}, p, gradient)
			VFMADD231PS(r, value, gradient)
			v.store(gradient, Mem{Base: gw, Index: row, Scale: 1, Disp: v.bytes(j)}, p)
			v.load(Mem{Base: w, Index: row, Scale: 1, Disp: v.bytes(j)}, p, weights)
			if j == 0 {
				VMULPS(r, weights, dot)
			} else {
				VFMADD231PS(r, weights, dot)
			}
		}
		sum := v.sumAcross(dot)
		const below = 9 // not greater or equal: NaN passes on what it gets
		bound := value.AsX()
		VCMPSS(Imm(below), one.AsX(), value.AsX(), bound)
		VANDPS(bound, sum, sum)
		VADDSS(Mem{Base: dx, Index: k, Scale: 4}, sum, sum)
		VMOVSS(sum, Mem{Base: dx, Index: k, Scale: 4})
		INCQ(i)
		JNZ(LabelRef(name + "Loop"))
		for _, r := range []Register{d, gw, w} {
			ADDQ(U32(uint32(v.bytes(width))), r)
		}
	}
	v.columnPasses(left, []int{2}, pass)
	finish()
}

// sumAcross returns the sum of the lanes of a YMM register in the lowest lane:
// halves are added until one lane is left.
func (v vectors) sumAcross(r VecVirtual) Register {
	sum, other := r.AsX(), XMM()
	VEXTRACTF128(Imm(1), r, other)
	VADDPS(other, sum, sum)
	VPERMILPS(Imm(0b01_00_11_10), sum, other)
	VADDPS(other, sum, sum)
	VMOVSHDUP(sum, other)
	VADDSS(other, sum, sum)
	return sum
}
