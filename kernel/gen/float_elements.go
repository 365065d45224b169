package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels of this file treat elements alike, one by one. They round after
// every operation as the plain code does, and give the same bits.

// elements is a vector's worth of elements at one index of several slices.
type elements struct {
	vectors
	part
	start  map[string]Register // of the slices
	offset Register
}

func (e *elements) at(slice string) Mem {
	return Mem{Base: e.start[slice], Index: e.offset, Scale: 1}
}

func (e *elements) load(slice string) VecVirtual {
	r := e.register()
	e.vectors.load(e.at(slice), e.part, r)
	return r
}

func (e *elements) store(r VecVirtual, slice string) {
	e.vectors.store(r, e.at(slice), e.part)
}

// each writes the rest of a kernel that does the same to the n elements of
// slices.
func (v vectors) each(body func(e *elements), slices ...string) {
	v.loop(body, slices...)
	VZEROUPPER()
	RET()
}

// loop writes a loop over the n elements of slices, all by whole vectors but
// the last.
func (v vectors) loop(body func(e *elements), slices ...string) {
	e := &elements{vectors: v, start: map[string]Register{}, offset: GP64()}
	for _, s := range slices {
		e.start[s] = param(s)
	}
	left := param("n")
	XORQ(e.offset, e.offset)
	SUBQ(Imm(uint64(v.lanes)), left)
	JLT(LabelRef("tail"))
	Label("loop")
	body(e)
	ADDQ(Imm(uint64(v.bytes(1))), e.offset)
	SUBQ(Imm(uint64(v.lanes)), left)
	JGE(LabelRef("loop"))
	Label("tail")
	ADDQ(Imm(uint64(v.lanes)), left)
	JZ(LabelRef("done"))
	e.part = v.leading(left)
	body(e)
	Label("done")
}

func (v vectors) add() {
	v.function("floatAdd", "func(dst, x *float32, n int)", "is FloatAdd of n elements.")
	v.each(func(e *elements) {
		d := e.load("dst")
		VADDPS(e.load("x"), d, d)
		e.store(d, "dst")
	}, "dst", "x")
}

func (v vectors) scale() {
	v.function("floatScale", "func(x *float32, n int, f float32)", "is FloatScale of n elements.")
	f := v.argument("f")
	v.each(func(e *elements) {
		x := e.load("x")
		VMULPS(f, x, x)
		e.store(x, "x")
	}, "x")
}

func (v vectors) lerp() {
	v.function("floatLerp", "func(dst, x *float32, n int, share float32)", "is FloatLerp of n elements.")
	share := v.argument("share")
	v.each(func(e *elements) {
		d, x := e.load("dst"), e.load("x")
		VSUBPS(d, x, x)
		VMULPS(share, x, x)
		VADDPS(x, d, d)
		e.store(d, "dst")
	}, "dst", "x")
}

// bounded limits x to low..high; NaN stays NaN, as the second source of both
// instructions is returned when one is NaN.
func bounded(x, low, high VecVirtual) {
	VMAXPS(x, low, x)
	VMINPS(x, high, x)
}

func (v vectors) clamp() {
	v.function("floatClamp", "func(w *float32, n int, low, high float32)", "is FloatClampSum of n elements without base, low = −high.")
	low, high := v.argument("low"), v.argument("high")
	v.each(func(e *elements) {
		w := e.load("w")
		bounded(w, low, high)
		e.store(w, "w")
	}, "w")
}

func (v vectors) clampSum() {
	v.function("floatClampSum", "func(w, base *float32, n int, low, high float32)", "is FloatClampSum of n elements with base, low = −high.")
	low, high := v.argument("low"), v.argument("high")
	v.each(func(e *elements) {
		const notEqual = 12 // and neither is NaN
		w, base := e.load("w"), e.load("base")
		sum, limit := v.register(), v.register()
		VADDPS(base, w, sum)
		VMAXPS(sum, low, limit)
		VMINPS(limit, high, limit)
		if v == avx512 {
			beyond := K()
			VCMPPS(Imm(notEqual), limit, sum, beyond)
			VSUBPS(base, limit, beyond, w)
		} else {
			beyond := v.register()
			VCMPPS(Imm(notEqual), limit, sum, beyond)
			VSUBPS(base, limit, limit)
			VBLENDVPS(beyond, limit, w, w)
		}
		e.store(w, "w")
	}, "w", "base")
}

func (v vectors) adam() {
	v.function("floatAdam", "func(w, m, v, gradient *float32, n int, beta1, beta2, rest1, rest2, rate, epsilon, keep float32)",
		"is FloatAdam of n elements, rest1 = 1−beta1, rest2 = 1−beta2.")
	beta1, beta2, rest1, rest2 := v.argument("beta1"), v.argument("beta2"), v.argument("rest1"), v.argument("rest2")
	rate, epsilon, keep := v.argument("rate"), v.argument("epsilon"), v.argument("keep")
	v.each(func(e *elements) {
		m, g := e.load("m"), e.load("gradient")
		part := v.register()
		VMULPS(beta1, m, m)
		VMULPS(rest1, g, part)
		VADDPS(part, m, m)
		e.store(m, "m")
		second := e.load("v")
		VMULPS(rest2, g, part)
		VMULPS(g, part, part)
		VMULPS(beta2, second, second)
		VADDPS(part, second, second)
		e.store(second, "v")
		w := e.load("w")
		e.descend(w, m, second, rate, epsilon, keep)
		e.store(w, "w")
	}, "w", "m", "v", "gradient")
}

func (v vectors) adamIdle() {
	v.function("floatAdamIdle", "func(dst, w, m, v *float32, n int, keep, drift, epsilon float32)", "is FloatAdamIdle of n elements.")
	keep, drift, epsilon := v.argument("keep"), v.argument("drift"), v.argument("epsilon")
	v.each(func(e *elements) {
		w, m, second := e.load("w"), e.load("m"), e.load("v")
		e.descend(w, m, second, drift, epsilon, keep)
		e.store(w, "dst")
	}, "dst", "w", "m", "v")
}

// descend sets w = keep·w − rate·m/(√v+ε) and spoils m and v.
func (e *elements) descend(w, m, v, rate, epsilon, keep VecVirtual) {
	VSQRTPS(v, v)
	VADDPS(epsilon, v, v)
	VMULPS(rate, m, m)
	VDIVPS(v, m, m)
	VMULPS(keep, w, w)
	VSUBPS(m, w, w)
}

// clip writes the activation of a layer: bounded to 0..1, squared or not.
func (v vectors) clip(square bool) {
	name := "floatClip"
	if square {
		name = "floatSquareClip"
	}
	v.function(name, "func(dst, src *float32, n int)", "is "+exported(name)+" of n elements.")
	zero, one := v.zero(), v.one()
	v.each(func(e *elements) {
		x := e.load("src")
		bounded(x, zero, one)
		if square {
			VMULPS(x, x, x)
		} else {
			VADDPS(zero, x, x) // −0 becomes 0
		}
		e.store(x, "dst")
	}, "dst", "src")
}

// clipBack writes the derivative of clip.
func (v vectors) clipBack(square bool) {
	name := "floatClipBack"
	if square {
		name = "floatSquareClipBack"
	}
	v.function(name, "func(dst, src, d *float32, n int)", "is "+exported(name)+" of n elements.")
	const below, above = 17, 30 // false for NaN
	zero, one := v.zero(), v.one()
	v.each(func(e *elements) {
		x, d := e.load("src"), e.load("d")
		if v == avx512 {
			low, inside := K(), K()
			VCMPPS(Imm(above), zero, x, low)
			VCMPPS(Imm(below), one, x, low, inside)
			if square {
				VADDPS(x, x, x)
				VMULPS(x, d, d)
			}
			VMOVAPS_Z(d, inside, d)
		} else {
			low, high := v.register(), v.register()
			VCMPPS(Imm(above), zero, x, low)
			VCMPPS(Imm(below), one, x, high)
			VANDPS(low, high, high)
			if square {
				VADDPS(x, x, x)
				VMULPS(x, d, d)
			}
			VANDPS(high, d, d)
		}
		e.store(d, "dst")
	}, "dst", "src", "d")
}

// exported returns the name of the function that a kernel serves.
func exported(kernel string) string { return "F" + kernel[1:] }

func (v vectors) clampActive() {
	v.function("floatClampActive", "func(dst, src *float32, active *int32, n int) int",
		"is FloatClampActive of n elements; it returns the number of active ones.")
	const aboveZero = 6 // not less or equal: NaN is active
	zero, one := v.zero(), v.one()
	index, step := v.zero(), v.register()
	lanes := XMM()
	bits := GP32()
	MOVL(U32(uint32(v.lanes)), bits)
	VMOVD(bits, lanes)
	VPBROADCASTD(lanes, step)
	table := GP64()
	if v == avx512 {
		VPMOVZXBD(laneNumbers(), index)
	} else {
		LEAQ(laneSubsets(), table)
	}
	free := param("active")
	v.loop(func(e *elements) {
		x, indices, count := e.load("src"), v.register(), GP64()
		if v == avx512 {
			on := K()
			VCMPPS(Imm(aboveZero), zero, x, on)
			VPCOMPRESSD_Z(index, on, indices)
			KMOVW(on, count.As32())
		} else {
			on := v.register()
			VCMPPS(Imm(aboveZero), zero, x, on)
			VMOVMSKPS(on, count.As32())
			VPMOVZXBD(Mem{Base: table, Index: count, Scale: 8}, indices)
			VPADDD(index, indices, indices)
		}
		bounded(x, zero, one)
		VADDPS(zero, x, x) // −0 becomes 0
		e.store(x, "dst")
		// At most as many indices came before as elements, so there is room for
		// all lanes, active or not.
		v.store(indices, Mem{Base: free}, e.part)
		POPCNTL(count.As32(), count.As32())
		LEAQ(Mem{Base: free, Index: count, Scale: 4}, free)
		VPADDD(step, index, index)
	}, "dst", "src")
	SUBQ(memory("active"), free)
	SHRQ(Imm(2), free)
	Store(free, ReturnIndex(0))
	VZEROUPPER()
	RET()
}

// laneNumbers is the bytes 0 to 15.
func laneNumbers() Mem {
	return constants[uint64]("floatLaneNumbers", 0x0706050403020100, 0x0f0e0d0c0b0a0908)
}

// laneSubsets has for every set of eight lanes, a byte of bits, their numbers as
// bytes, ascending.
func laneSubsets() Mem {
	subsets := make([]uint64, 256)
	for set := range subsets {
		n := 0
		for lane := range 8 {
			if set>>lane&1 != 0 {
				subsets[set] |= uint64(lane) << (8 * n)
				n++
			}
		}
	}
	return constants("floatLaneSubsets", subsets...)
}
