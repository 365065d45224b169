package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// vectors is the vectors of one level. Its methods hide what differs between the
// levels: the registers, and how part of a vector is moved.
type vectors struct {
	suffix string // of the kernels' names
	lanes  int    // floats in a vector
}

var (
	avx2   = vectors{"AVX2", 8}
	avx512 = vectors{"AVX512", 16}
)

// bytes returns the size of n vectors.
func (v vectors) bytes(n int) int { return 4 * v.lanes * n }

// function begins a kernel of this level.
func (v vectors) function(name, signature, doc string) {
	function(name+v.suffix, signature, doc)
}

// register returns an unused vector register.
func (v vectors) register() VecVirtual {
	if v == avx512 {
		return ZMM()
	}
	return YMM()
}

// registers returns n of them.
func (v vectors) registers(n int) []VecVirtual {
	r := make([]VecVirtual, n)
	for i := range r {
		r[i] = v.register()
	}
	return r
}

// clear sets a register to zero.
func (v vectors) clear(r VecVirtual) {
	if v == avx512 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

func (v vectors) zero() VecVirtual {
	r := v.register()
	v.clear(r)
	return r
}

// argument spreads a float argument over a vector.
func (v vectors) argument(name string) VecVirtual {
	r := v.register()
	VBROADCASTSS(memory(name), r)
	return r
}

// oneBits is 1 as a float.
const oneBits = 0x3f800000

// one returns a vector of ones.
func (v vectors) one() VecVirtual {
	bits, x, r := GP32(), XMM(), v.register()
	MOVL(U32(oneBits), bits)
	VMOVD(bits, x)
	VBROADCASTSS(x, r)
	return r
}

// memory returns where an argument lies.
func memory(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// part says which lanes of a vector are moved to and from memory: the leading
// ones, as its mask selects, or all of them without a mask. Lanes left out are
// read as zero.
type part struct{ mask Register }

var whole part

// leading returns the part of the first n lanes, all if n is larger. n is above
// zero.
func (v vectors) leading(n Register) part {
	if v == avx512 {
		count, bits, mask := RCX, GP32(), K() // a shift's count is in CX
		MOVQ(U32(uint32(v.lanes)), count)
		CMPQ(n, count)
		CMOVQLT(n, count)
		MOVL(U32(1), bits)
		SHLL(CL, bits)
		DECL(bits)
		KMOVW(bits, mask)
		return part{mask}
	}
	count, table, mask := GP64(), GP64(), YMM()
	MOVQ(U32(uint32(v.lanes)), count)
	CMPQ(n, count)
	CMOVQLT(n, count)
	NEGQ(count)
	LEAQ(leadingLanes(), table)
	VMOVUPS(Mem{Base: table, Index: count, Scale: 4, Disp: v.bytes(1)}, mask)
	return part{mask}
}

// leadingLanes is eight lanes of ones and eight of zeros: at element 8−n begins
// the mask of n leading lanes.
func leadingLanes() Mem {
	lanes := make([]uint32, 2*avx2.lanes)
	for i := range avx2.lanes {
		lanes[i] = 0xffffffff
	}
	return constants("floatLeadingLanes", lanes...)
}

func (v vectors) load(m Mem, p part, r VecVirtual) {
	switch {
	case p == whole:
		VMOVUPS(m, r)
	case v == avx512:
		VMOVUPS_Z(m, p.mask, r)
	default:
		VMASKMOVPS(m, p.mask, r)
	}
}

func (v vectors) store(r VecVirtual, m Mem, p part) {
	switch {
	case p == whole:
		VMOVUPS(r, m)
	case v == avx512:
		VMOVUPS(r, p.mask, m)
	default:
		VMASKMOVPS(r, p.mask, m)
	}
}

// columnPass is a pass over a block of columns: so many vectors, and whether it
// is for blocks at the end only.
type columnPass struct {
	width int
	last  bool
}

// columnPasses writes passes over blocks of columns until left is used up: the
// first pass that fits, again and again, then vector by vector, the last in part.
// pass starts its labels with name.
func (v vectors) columnPasses(left Register, passes []columnPass, pass func(name string, width int, p part)) {
	Label("columns")
	for _, p := range passes {
		name := fmt.Sprintf("columns%d", v.lanes*p.width)
		size := U32(uint32(v.lanes * p.width))
		CMPQ(left, size)
		if p.last {
			JNE(LabelRef(name + "Done"))
		} else {
			JLT(LabelRef(name + "Done"))
		}
		pass(name, p.width, whole)
		SUBQ(size, left)
		JMP(LabelRef("columns"))
		Label(name + "Done")
	}
	CMPQ(left, Imm(0))
	JLE(LabelRef("done"))
	Label("single")
	pass("single", 1, v.leading(left))
	SUBQ(Imm(uint64(v.lanes)), left)
	JGT(LabelRef("single"))
	Label("done")
}

// finish returns whether all indices were within their slices. Kernels jump to
// the label outside if one is not.
func finish() {
	for _, inside := range []bool{true, false} {
		value := GP8()
		if inside {
			MOVB(U8(1), value)
		} else {
			Label("outside")
			MOVB(U8(0), value)
		}
		Store(value, ReturnIndex(0))
		VZEROUPPER()
		RET()
	}
}
