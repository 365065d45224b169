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
// slices: a loop by whole vectors but the last.
func (v vectors) each(body func(e *elements), slices ...string) {
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
	VZEROUPPER()
	RET()
}

func (v vectors) add() {
	v.function("floatAdd", "func(dst, x *float32, n int)", "is FloatAdd of n elements.")
	v.each(func(e *elements) {
		d := e.load("dst")
		VADDPS(e.load("x"), d, d)
		e.store(d, "dst")
	}, "dst", "x")
}

func (v vectors) mul() {
	v.function("floatMul", "func(dst, x *float32, n int)", "is FloatMul of n elements.")
	v.each(func(e *elements) {
		d := e.load("dst")
		VMULPS(e.load("x"), d, d)
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

func (v vectors) mix() {
	v.function("floatMix", "func(dst, x *float32, n int, a, b float32)", "is FloatMix of n elements.")
	a, b := v.argument("a"), v.argument("b")
	v.each(func(e *elements) {
		d, x := e.load("dst"), e.load("x")
		VMULPS(a, d, d)
		VMULPS(b, x, x)
		VADDPS(x, d, d)
		e.store(d, "dst")
	}, "dst", "x")
}

func (v vectors) addSquares() {
	v.function("floatAddSquares", "func(dst, x *float32, n int)", "is FloatAddSquares of n elements.")
	v.each(func(e *elements) {
		d, x := e.load("dst"), e.load("x")
		VMULPS(x, x, x)
		VADDPS(x, d, d)
		e.store(d, "dst")
	}, "dst", "x")
}

func (v vectors) quantise() {
	v.function("floatQuantise", "func(x *float32, n int, scale, offset, step float32)", "is FloatQuantise of n elements, step = 1/scale.")
	scale, offset, step := v.argument("scale"), v.argument("offset"), v.argument("step")
	v.each(func(e *elements) {
		const nearestEven = 0
		x := e.load("x")
		VMULPS(scale, x, x)
		VADDPS(offset, x, x)
		if v == avx512 {
			VRNDSCALEPS(Imm(nearestEven), x, x)
		} else {
			VROUNDPS(Imm(nearestEven), x, x)
		}
		VMULPS(step, x, x)
		e.store(x, "x")
	}, "x")
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

// readAhead is how many bytes ahead of itself clip asks for its source: what it
// clips are long arrays, call by call, at which the processor's own prefetching
// stops at every page.
const readAhead = 4608

// clip writes the activation of a layer: bounded to 0..1, squared or not.
func (v vectors) clip(square bool) {
	name := "floatClip"
	if square {
		name = "floatSquareClip"
	}
	v.function(name, "func(dst, src *float32, n int)", "is "+exported(name)+" of n elements.")
	zero, one := v.zero(), v.one()
	v.each(func(e *elements) {
		ahead := e.at("src")
		ahead.Disp = readAhead
		PREFETCHT0(ahead)
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
	zero, one := v.zero(), v.one()
	v.each(func(e *elements) {
		x, d := e.load("src"), e.load("d")
		if square {
			double := v.register()
			VADDPS(x, x, double)
			VMULPS(double, d, d)
		}
		v.within(x, d, zero, one)
		e.store(d, "dst")
	}, "dst", "src", "d")
}

// within clears d where x is not within 0 and 1, and spoils x.
func (v vectors) within(x, d VecVirtual, zero, one Op) {
	const below, above = 17, 30 // false for NaN
	if v == avx512 {
		low, inside := K(), K()
		VCMPPS(Imm(above), zero, x, low)
		VCMPPS(Imm(below), one, x, low, inside)
		VMOVAPS_Z(d, inside, d)
		return
	}
	low := v.register()
	VCMPPS(Imm(above), zero, x, low)
	VCMPPS(Imm(below), one, x, x)
	VANDPS(low, x, x)
	VANDPS(x, d, d)
}

// exported returns the name of the function that a kernel serves.
func exported(kernel string) string { return "F" + kernel[1:] }
