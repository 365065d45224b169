package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// intKernels writes the kernels of quantised networks, each once per level.
func intKernels() {
	for _, v := range []vectors{avx2, avx512} {
		for _, counts := range [][2]int{{1, 1}, {1, 2}, {2, 2}} {
			v.applyFew(counts[0], counts[1])
		}
		v.applyMany()
		v.transform(clipped)
		v.transform(squared)
		v.transform(paired)
		v.clipSums()
		v.tail()
	}
	mulAVX2()
	mulNarrowAVX2()
	mulAVX512()
	accumulatorsAVX2()
	accumulatorsAVX512()
}

// lineBytes is a cache line, in which rows are padded, and what most kernels
// handle at once: one vector of AVX-512, two of AVX2.
const lineBytes = 64

// width returns the bytes of a vector.
func (v vectors) width() int { return v.bytes(1) }

// move copies a vector between memory and a register, or two registers.
func (v vectors) move(from, to Op) {
	if v == avx512 {
		VMOVDQU32(from, to)
	} else {
		VMOVDQU(from, to)
	}
}

// zeroInts returns a register of zeros.
func (v vectors) zeroInts() VecVirtual {
	r := v.register()
	if v == avx512 {
		VPXORD(r, r, r)
	} else {
		VPXOR(r, r, r)
	}
	return r
}

// repeat returns a vector full of a 32-bit pattern.
func (v vectors) repeat(pattern uint32) VecVirtual {
	bits, r := GP32(), v.register()
	MOVL(U32(pattern), bits)
	if v == avx512 {
		VPBROADCASTD(bits, r)
		return r
	}
	x := XMM()
	VMOVD(bits, x)
	VPBROADCASTD(x, r)
	return r
}

// pairs is a pattern for repeat: the same 16 bits twice.
func pairs(n uint16) uint32 { return uint32(n)<<16 | uint32(n) }

// leave ends a kernel without a result.
func leave() {
	VZEROUPPER()
	RET()
}
