package main

import (
	"fmt"
	"slices"
)

// The kernels of this file treat elements alike, one by one. They round after
// every operation as the plain code does, and give the same bits.

// elements is some elements at one index of several slices: a few vectors, one, or
// a single element in a vector's lowest lane.
type elements struct {
	*kernel
	count  int
	start  map[string]gp // of the slices
	stored []string      // slices that are written
}

// vectors returns registers for one slice's elements.
func (e *elements) vectors() []vec { return e.kernel.vectors((e.count + floatLanes - 1) / floatLanes) }

// load reads elements. A slice that is not written moves on.
func (e *elements) load(slice string) []vec {
	v, from := e.vectors(), e.start[slice]
	moves := !slices.Contains(e.stored, slice)
	switch {
	case e.count == 1 && moves:
		e.op("FMOVS.P", from.at(4), v[0].scalar())
	case e.count == 1:
		e.op("FMOVS", from.at(0), v[0].scalar())
	case moves:
		e.kernel.load(from, v)
	default:
		e.op("VLD1", from.at(0), list(v))
	}
	return v
}

// store writes elements and moves the slice on.
func (e *elements) store(v []vec, slice string) {
	if e.count == 1 {
		e.op("FMOVS.P", v[0].scalar(), e.start[slice].at(4))
	} else {
		e.kernel.store(v, e.start[slice])
	}
}

// each does the same to all registers; a source may also be one register, or a
// single one that all share.
func (k *kernel) each(a arithmetic, to []vec, from ...any) {
	for i, v := range to {
		registers := []vec{v}
		for _, f := range from {
			if shared, ok := f.(vec); ok {
				registers = append(registers, shared)
			} else {
				registers = append(registers, f.([]vec)[i])
			}
		}
		k.do(a, registers...)
	}
}

// elementwise writes a kernel that does the same to the n elements of slices,
// those that are only read and those that are written.
func (k *kernel) elementwise(read, written []string, body func(e *elements)) {
	e := &elements{kernel: k, start: map[string]gp{}, stored: written}
	for _, s := range slices.Concat(read, written) {
		e.start[s] = k.param(s)
	}
	left, unused := k.param("n"), k.vector
	for _, e.count = range []int{4 * floatLanes, floatLanes, 1} {
		name := fmt.Sprintf("by%d", e.count)
		k.op("SUBS", imm(e.count), left)
		k.op("BLT", name+"done")
		k.label(name)
		k.vector = unused
		body(e)
		k.op("SUBS", imm(e.count), left)
		k.op("BGE", name)
		k.label(name + "done")
		k.op("ADD", imm(e.count), left)
	}
	k.op("RET")
}

// argument spreads a float argument over a vector.
func (k *kernel) argument(name string) vec {
	v := k.vectors(1)[0]
	k.op("FMOVS", k.arg(name), v.scalar())
	k.spread(v, 0, v)
	return v
}

// oneBits is 1 as a float.
const oneBits = 0x3f800000

// bounds returns registers of zeros and of ones.
func (k *kernel) bounds() (zero, one vec) {
	zero = k.vectors(1)[0]
	k.clear(zero)
	return zero, k.repeat(oneBits, "S4")
}

func elementKernels(f *file) {
	for _, c := range []struct {
		name, does string
		a          arithmetic
	}{{"floatAdd", "FloatAdd", addF}, {"floatMul", "FloatMul", mulF}} {
		k := f.function(c.name+"NEON", "(dst, x *float32, n int)", "is "+c.does+" of n elements.")
		k.elementwise([]string{"x"}, []string{"dst"}, func(e *elements) {
			d, x := e.load("dst"), e.load("x")
			e.each(c.a, d, d, x)
			e.store(d, "dst")
		})
	}
	scale(f)
	lerp(f)
	mix(f)
	addSquares(f)
	quantise(f)
	clamp(f)
	clampSum(f)
	adam(f)
	adamIdle(f)
	for _, square := range []bool{false, true} {
		clipFloats(f, square)
		clipBack(f, square)
	}
}

func scale(f *file) {
	k := f.function("floatScaleNEON", "(x *float32, n int, f float32)", "is FloatScale of n elements.")
	factor := k.argument("f")
	k.elementwise(nil, []string{"x"}, func(e *elements) {
		x := e.load("x")
		e.each(mulF, x, x, factor)
		e.store(x, "x")
	})
}

func lerp(f *file) {
	k := f.function("floatLerpNEON", "(dst, x *float32, n int, share float32)", "is FloatLerp of n elements.")
	share := k.argument("share")
	k.elementwise([]string{"x"}, []string{"dst"}, func(e *elements) {
		d, x := e.load("dst"), e.load("x")
		e.each(subF, x, x, d)
		e.each(mulF, x, x, share)
		e.each(addF, d, d, x)
		e.store(d, "dst")
	})
}

func mix(f *file) {
	k := f.function("floatMixNEON", "(dst, x *float32, n int, a, b float32)", "is FloatMix of n elements.")
	a, b := k.argument("a"), k.argument("b")
	k.elementwise([]string{"x"}, []string{"dst"}, func(e *elements) {
		d, x := e.load("dst"), e.load("x")
		e.each(mulF, d, d, a)
		e.each(mulF, x, x, b)
		e.each(addF, d, d, x)
		e.store(d, "dst")
	})
}

func addSquares(f *file) {
	k := f.function("floatAddSquaresNEON", "(dst, x *float32, n int)", "is FloatAddSquares of n elements.")
	k.elementwise([]string{"x"}, []string{"dst"}, func(e *elements) {
		d, x := e.load("dst"), e.load("x")
		e.each(mulF, x, x, x)
		e.each(addF, d, d, x)
		e.store(d, "dst")
	})
}

func quantise(f *file) {
	k := f.function("floatQuantiseNEON", "(x *float32, n int, scale, offset, step float32)", "is FloatQuantise of n elements, step = 1/scale.")
	scale, offset, step := k.argument("scale"), k.argument("offset"), k.argument("step")
	k.elementwise(nil, []string{"x"}, func(e *elements) {
		x := e.load("x")
		e.each(mulF, x, x, scale)
		e.each(addF, x, x, offset)
		e.each(roundF, x, x)
		e.each(mulF, x, x, step)
		e.store(x, "x")
	})
}

// bounded limits x to low..high; NaN stays NaN.
func (k *kernel) bounded(x []vec, low, high vec) {
	k.each(maxF, x, x, low)
	k.each(minF, x, x, high)
}

func clamp(f *file) {
	k := f.function("floatClampNEON", "(w *float32, n int, low, high float32)", "is FloatClampSum of n elements without base, low = −high.")
	low, high := k.argument("low"), k.argument("high")
	k.elementwise(nil, []string{"w"}, func(e *elements) {
		w := e.load("w")
		e.bounded(w, low, high)
		e.store(w, "w")
	})
}

func clampSum(f *file) {
	k := f.function("floatClampSumNEON", "(w, base *float32, n int, low, high float32)", "is FloatClampSum of n elements with base, low = −high.")
	low, high := k.argument("low"), k.argument("high")
	k.elementwise([]string{"base"}, []string{"w"}, func(e *elements) {
		w, base := e.load("w"), e.load("base")
		sum, limit, above := e.vectors(), e.vectors(), e.vectors()
		e.each(addF, sum, w, base)
		e.each(maxF, limit, sum, low)
		e.each(minF, limit, limit, high)
		e.each(subF, limit, limit, base)
		e.each(greater, above, sum, high)
		e.each(greater, sum, low, sum)
		e.each(either, above, above, sum)
		e.each(choose, w, limit, above)
		e.store(w, "w")
	})
}

func adam(f *file) {
	k := f.function("floatAdamNEON", "(w, m, v, gradient *float32, n int, beta1, beta2, rest1, rest2, rate, epsilon, keep float32)",
		"is FloatAdam of n elements, rest1 = 1−beta1, rest2 = 1−beta2.")
	beta1, beta2, rest1, rest2 := k.argument("beta1"), k.argument("beta2"), k.argument("rest1"), k.argument("rest2")
	rate, epsilon, keep := k.argument("rate"), k.argument("epsilon"), k.argument("keep")
	k.elementwise([]string{"gradient"}, []string{"w", "m", "v"}, func(e *elements) {
		m, g, part := e.load("m"), e.load("gradient"), e.vectors()
		e.each(mulF, m, m, beta1)
		e.each(mulF, part, g, rest1)
		e.each(addF, m, m, part)
		e.store(m, "m")
		second := e.load("v")
		e.each(mulF, part, g, rest2)
		e.each(mulF, part, part, g)
		e.each(mulF, second, second, beta2)
		e.each(addF, second, second, part)
		e.store(second, "v")
		w := e.load("w")
		e.descend(w, m, second, rate, epsilon, keep)
		e.store(w, "w")
	})
}

func adamIdle(f *file) {
	k := f.function("floatAdamIdleNEON", "(dst, w, m, v *float32, n int, keep, drift, epsilon float32)", "is FloatAdamIdle of n elements.")
	keep, drift, epsilon := k.argument("keep"), k.argument("drift"), k.argument("epsilon")
	k.elementwise([]string{"w", "m", "v"}, []string{"dst"}, func(e *elements) {
		w, m, second := e.load("w"), e.load("m"), e.load("v")
		e.descend(w, m, second, drift, epsilon, keep)
		e.store(w, "dst")
	})
}

// descend sets w = keep·w − rate·m/(√v+ε) and spoils m and v.
func (e *elements) descend(w, m, v []vec, rate, epsilon, keep vec) {
	e.each(rootF, v, v)
	e.each(addF, v, v, epsilon)
	e.each(mulF, m, m, rate)
	e.each(divF, m, m, v)
	e.each(mulF, w, w, keep)
	e.each(subF, w, w, m)
}

// clipFloats writes the activation of a layer: bounded to 0..1, squared or not.
func clipFloats(f *file, square bool) {
	name, does := "floatClipNEON", "FloatClip"
	if square {
		name, does = "floatSquareClipNEON", "FloatSquareClip"
	}
	k := f.function(name, "(dst, src *float32, n int)", "is "+does+" of n elements.")
	zero, one := k.bounds()
	k.elementwise([]string{"src"}, []string{"dst"}, func(e *elements) {
		x := e.load("src")
		e.bounded(x, zero, one)
		if square {
			e.each(mulF, x, x, x)
		}
		e.store(x, "dst")
	})
}

// clipBack writes the derivative of clipFloats.
func clipBack(f *file, square bool) {
	name, does := "floatClipBackNEON", "FloatClipBack"
	if square {
		name, does = "floatSquareClipBackNEON", "FloatSquareClipBack"
	}
	k := f.function(name, "(dst, src, d *float32, n int)", "is "+does+" of n elements.")
	zero, one := k.bounds()
	k.elementwise([]string{"src", "d"}, []string{"dst"}, func(e *elements) {
		x, d := e.load("src"), e.load("d")
		if square {
			double := e.vectors()
			e.each(addF, double, x, x)
			e.each(mulF, d, d, double)
		}
		e.within(d, x, e.vectors(), zero, one)
		e.store(d, "dst")
	})
}

// within clears d where x is not within 0 and 1, and spoils x and above.
func (k *kernel) within(d, x, above []vec, zero, one vec) {
	k.each(greater, above, x, zero)
	k.each(greater, x, one, x)
	k.each(both, above, above, x)
	k.each(both, d, d, above)
}
