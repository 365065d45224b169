package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	convSide  = 8  // squares of a row of an image, and rows
	convBlock = 16 // output channels whose weights lie together
)

// convKernels writes the kernels of convolutional networks. All levels add in the
// same order and give the same bits.
func convKernels() {
	for _, width := range []int{2, 3} {
		convolution{vectors: avx2, squares: 4, width: width, unroll: 4}.write()
	}
	for _, width := range []int{1, 2, 3} {
		convolution{vectors: avx512, squares: 8, width: width, unroll: 2}.write()
	}
	convolution{vectors: avx2, squares: 4, width: 2, unroll: 4, integers: true}.write()
	for _, width := range []int{1, 2, 3} {
		convolution{vectors: avx512, squares: 8, width: width, unroll: 2, integers: true}.write()
	}
	tileKernels()
	channelsFirst()
	for _, v := range []vectors{avx2, avx512} {
		v.depthwise()
		v.quantiseBytes()
		v.winogradKernels()
	}
}

// image holds what kernels of one image share: where it is read and written.
type image struct {
	vectors
	dst, src, square Register // square is the bytes of a square of src
	square3          Register
	add              Register // from dst to what is added
}

// imageParams are the arguments of all kernels of one image; src and weights are of
// these types.
func imageParams(src, weights string) string {
	return fmt.Sprintf("dst *float32, dstSquare, dstRow int, src *%s, square, srcRow int, weights *%s, bias *float32, add *float32, low, high float32", src, weights)
}

func (v vectors) newImage() image {
	i := image{vectors: v, dst: param("dst"), src: param("src"), square: param("square"), square3: GP64(), add: GP64()}
	LEAQ(Mem{Base: i.square, Index: i.square, Scale: 2}, i.square3)
	MOVQ(memory("add"), i.add)
	SUBQ(i.dst, i.add)
	return i
}

// squares returns the operands of so many squares in a row at disp bytes from
// first; fifth is the address of the fifth.
func (i *image) squares(n int, first, fifth Register, disp int) []Mem {
	var all []Mem
	for _, base := range []Register{first, fifth} {
		all = append(all, Mem{Base: base, Disp: disp},
			Mem{Base: base, Index: i.square, Scale: 1, Disp: disp},
			Mem{Base: base, Index: i.square, Scale: 2, Disp: disp},
			Mem{Base: base, Index: i.square3, Scale: 1, Disp: disp})
	}
	return all[:n]
}

// finish adds, clamps and stores the sums of squares that begin at offset bytes
// from dst.
func (i *image) finish(name string, sums [][]VecVirtual, offset Register) {
	out := GP64()
	each := func(do func(r VecVirtual, m Mem)) {
		MOVQ(i.dst, out)
		if offset != nil {
			ADDQ(offset, out)
		}
		for _, square := range sums {
			for j, r := range square {
				do(r, Mem{Base: out, Disp: i.bytes(j)})
			}
			ADDQ(memory("dstSquare"), out)
		}
	}
	CMPQ(memory("add"), Imm(0))
	JEQ(LabelRef(name + "Clamp"))
	each(func(r VecVirtual, m Mem) {
		m.Index, m.Scale = i.add, 1
		VADDPS(m, r, r)
	})
	Label(name + "Clamp")
	low, high := i.argument("low"), i.argument("high")
	each(func(r VecVirtual, m Mem) {
		VMAXPS(r, low, r) // of two values that do not compare, the first operand's: NaN stays
		VMINPS(r, high, r)
		VMOVUPS(r, m)
	})
}

// convolution is the kernel for one width of blocks of output channels: a tile of
// squares by vectors of channels stays in registers while the products of one
// window of inputs after another are added to it.
//
// With integers, an input is four bytes, a weight the four that they meet, and an
// output the sum of all products times its scale.
type convolution struct {
	vectors
	squares  int // of a tile
	width    int // vectors of a tile
	unroll   int
	integers bool
	products products
}

func (c convolution) write() {
	name, params, doc := "floatConv", imageParams("float32", "float32")+", step, inner, size int", "inputs"
	if c.integers {
		name, params = "byteConv", imageParams("uint8", "int8")+", scales *float32, step, inner, size, rows, outer int"
		doc = "groups of four inputs, of which the first and the last outer lie in the border for the squares of the first and the last column, and are zero there"
	}
	c.function(fmt.Sprintf("%s%d", name, c.width*c.lanes), "func("+params+")",
		fmt.Sprintf("writes %d output channels of one image. A window has size rows of inner %s. The weights of one are step bytes from those of the next.", c.width*c.lanes, doc))
	i := c.newImage()
	if c.integers {
		c.products = c.newProducts()
	}
	step := c.newStep()
	rows := GP64()
	if c.integers {
		Load(Param("rows"), rows)
	} else {
		MOVQ(U32(convSide), rows)
	}
	Label("row")
	for t := range convSide / c.squares {
		c.tile(fmt.Sprintf("tile%d", t), &i, step, t)
	}
	ADDQ(memory("srcRow"), i.src)
	ADDQ(memory("dstRow"), i.dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	leave()
}

// step is how far the weights of successive inputs are apart: for AVX-512, whose
// tiles are as wide as blocks of weights, known beforehand.
type step struct{ one, three Register }

func (c convolution) newStep() *step {
	if c.vectors == avx512 {
		return nil
	}
	s := &step{param("step"), GP64()}
	LEAQ(Mem{Base: s.one, Index: s.one, Scale: 2}, s.three)
	return s
}

// weights returns the operand of vector j of the weights of the u-th input.
func (c convolution) weights(base Register, s *step, u, j int) Mem {
	m := Mem{Base: base, Disp: c.bytes(j)}
	switch {
	case s == nil:
		m.Disp += u * c.bytes(c.width)
	case u == 3:
		m.Index, m.Scale = s.three, 1
	case u > 0:
		m.Index, m.Scale = s.one, uint8(u)
	}
	return m
}

// next moves the weights on by the inputs of one round of the loop.
func (c convolution) next(weights Register, s *step) {
	if s == nil {
		ADDQ(U32(uint32(c.unroll*c.bytes(c.width))), weights)
	} else {
		LEAQ(Mem{Base: weights, Index: s.one, Scale: uint8(c.unroll)}, weights)
	}
}

// tile writes the t-th tile of a row of squares.
func (c convolution) tile(name string, i *image, s *step, t int) {
	sums := c.start()
	window, weights, left := GP64(), GP64(), GP64()
	MOVQ(i.src, window)
	if t > 0 {
		LEAQ(Mem{Base: i.src, Index: i.square, Scale: uint8(t * c.squares)}, window)
	}
	MOVQ(memory("weights"), weights)
	MOVQ(memory("size"), left)
	Label(name + "Window")
	in, fifth, inner := GP64(), GP64(), GP64()
	MOVQ(window, in)
	if c.squares > 4 {
		LEAQ(Mem{Base: in, Index: i.square, Scale: 4}, fifth)
	}
	MOVQ(memory("inner"), inner)
	// loop adds the products of inner inputs of the squares from first to end.
	loop := func(name string, first, end int) {
		Label(name)
		for u := range c.unroll {
			c.multiply(sums[first:end], i.squares(c.squares, in, fifth, 4*u)[first:end], func(j int) Mem { return c.weights(weights, s, u, j) })
		}
		ADDQ(Imm(uint64(4*c.unroll)), in)
		if c.squares > 4 {
			ADDQ(Imm(uint64(4*c.unroll)), fifth)
		}
		c.next(weights, s)
		SUBQ(Imm(uint64(c.unroll)), inner)
		JNZ(LabelRef(name))
	}
	if c.integers {
		c.inside(name, t, inner, loop)
	} else {
		loop(name+"Inner", 0, c.squares)
	}
	ADDQ(memory("srcRow"), window)
	DECQ(left)
	JNZ(LabelRef(name + "Window"))

	var offset Register
	if t > 0 {
		offset = GP64()
		MOVQ(memory("dstSquare"), offset)
		IMUL3Q(U8(uint8(t*c.squares)), offset, offset)
	}
	if c.integers {
		c.rescale(sums)
	}
	i.finish(name, sums, offset)
}

// inside has a loop leave out what lies in the border: the first inputs of the first
// square of the t-th tile of a row if that is the first one, and the last inputs of the
// last square of the last tile.
func (c convolution) inside(name string, t int, inner Register, loop func(name string, first, end int)) {
	first, last := t == 0, (t+1)*c.squares == convSide
	CMPQ(memory("outer"), Imm(0))
	JEQ(LabelRef(name + "Inner"))
	if first {
		MOVQ(memory("outer"), inner)
		loop(name+"Left", 1, c.squares)
	}
	MOVQ(memory("inner"), inner)
	for _, over := range []bool{first, last} {
		if over {
			SUBQ(memory("outer"), inner)
		}
	}
	loop(name+"Inner", 0, c.squares)
	if last {
		MOVQ(memory("outer"), inner)
		TESTQ(inner, inner)
		JZ(LabelRef(name + "Inside"))
		loop(name+"Right", 0, c.squares-1)
		Label(name + "Inside")
	}
}

// start returns the sums of a tile, which begin with the bias; those of integers
// with zero.
func (c convolution) start() [][]VecVirtual {
	sums, bias := make([][]VecVirtual, c.squares), GP64()
	if !c.integers {
		MOVQ(memory("bias"), bias)
	}
	for k := range sums {
		sums[k] = c.registers(c.width)
		for j, r := range sums[k] {
			if c.integers {
				c.clear(r)
			} else {
				VMOVUPS(Mem{Base: bias, Disp: c.bytes(j)}, r)
			}
		}
	}
	return sums
}

// rescale turns sums of integers into what they stand for. It rounds after each
// operation, as the plain code does.
func (c convolution) rescale(sums [][]VecVirtual) {
	scales, bias := GP64(), GP64()
	MOVQ(memory("scales"), scales)
	MOVQ(memory("bias"), bias)
	for _, square := range sums {
		for j, r := range square {
			VCVTDQ2PS(r, r)
			VMULPS(Mem{Base: scales, Disp: c.bytes(j)}, r, r)
			VADDPS(Mem{Base: bias, Disp: c.bytes(j)}, r, r)
		}
	}
}

// multiply adds the products of one input of every square.
func (c convolution) multiply(sums [][]VecVirtual, in []Mem, weights func(j int) Mem) {
	right := c.registers(c.width)
	for j, r := range right {
		VMOVUPS(weights(j), r)
	}
	for k, square := range sums {
		if c.integers {
			value := c.register()
			VPBROADCASTD(in[k], value)
			for j, r := range square {
				c.products.add(right[j], value, r)
			}
			continue
		}
		if c.vectors == avx512 && c.width == 1 {
			VFMADD231PS_BCST(in[k], right[0], square[0])
			continue
		}
		value := c.register()
		VBROADCASTSS(in[k], value)
		for j, r := range square {
			VFMADD231PS(right[j], value, r)
		}
	}
}

// depthwise writes the kernel of one vector of channels that do not mix.
func (v vectors) depthwise() {
	v.function("floatDepthwise", "func("+imageParams("float32", "float32")+", step, size int)",
		fmt.Sprintf("convolves %d channels of one image, each by itself. A window has size rows of as many squares; the weights of a square are step bytes from those of the next.", v.lanes))
	i := v.newImage()
	rows := GP64()
	MOVQ(U32(convSide), rows)
	Label("row")
	sums := make([][]VecVirtual, convSide)
	bias := GP64()
	MOVQ(memory("bias"), bias)
	for k := range sums {
		sums[k] = v.registers(1)
		VMOVUPS(Mem{Base: bias}, sums[k][0])
	}
	window, weights, left := GP64(), GP64(), GP64()
	MOVQ(i.src, window)
	MOVQ(memory("weights"), weights)
	MOVQ(memory("size"), left)
	Label("window")
	in, fifth, inner := GP64(), GP64(), GP64()
	MOVQ(window, in)
	MOVQ(memory("size"), inner)
	Label("inner")
	LEAQ(Mem{Base: in, Index: i.square, Scale: 4}, fifth)
	right := v.register()
	VMOVUPS(Mem{Base: weights}, right)
	for k, m := range i.squares(convSide, in, fifth, 0) {
		VFMADD231PS(m, right, sums[k][0])
	}
	ADDQ(i.square, in)
	ADDQ(memory("step"), weights)
	DECQ(inner)
	JNZ(LabelRef("inner"))
	ADDQ(memory("srcRow"), window)
	DECQ(left)
	JNZ(LabelRef("window"))
	i.finish("row", sums, nil)
	ADDQ(memory("srcRow"), i.src)
	ADDQ(memory("dstRow"), i.dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	leave()
}

// quantiseBytes writes the kernel that turns numbers into bytes.
func (v vectors) quantiseBytes() {
	const values = 4 // vectors at a time
	v.function("byteQuantise", "func(dst *uint8, src *float32, n int, scale float32, zero uint32)",
		fmt.Sprintf("sets dst = clamp(round(src·scale) + zero, 0, 127), ties to even; n is a multiple of %d.", values*v.lanes))
	dst, src, n := param("dst"), param("src"), param("n")
	scale, zero, x := v.argument("scale"), v.register(), XMM()
	VMOVD(Load(Param("zero"), GP32()), x)
	VPBROADCASTW(x, zero)
	// Beyond this, results are 127 whatever the zero; NaN becomes it. What is too low for an
	// integer becomes the lowest one.
	high := v.repeat(math.Float32bits(256))
	// Packing works within 128 bits, and leaves groups of four bytes in another order.
	order := v.register()
	var least, most VecVirtual
	if v == avx512 {
		least = v.zeroInts()
		VMOVUPS(constants("byteQuantiseOrder512", uint32(0), 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15), order)
	} else {
		most = v.repeat(0x7f7f7f7f)
		VMOVUPS(constants("byteQuantiseOrder", uint32(0), 4, 1, 5, 2, 6, 3, 7), order)
	}
	Label("loop")
	r := v.registers(values)
	for i, r := range r {
		VMULPS(Mem{Base: src, Disp: v.bytes(i)}, scale, r)
		VMINPS(high, r, r)
		VCVTPS2DQ(r, r)
	}
	for i := 0; i < values; i += 2 {
		VPACKSSDW(r[i+1], r[i], r[i])
		VPADDSW(zero, r[i], r[i])
	}
	if v == avx512 {
		VPACKSSWB(r[2], r[0], r[0])
		VPMAXSB(least, r[0], r[0])
	} else {
		VPACKUSWB(r[2], r[0], r[0])
		VPMINUB(most, r[0], r[0])
	}
	VPERMD(r[0], order, r[0])
	VMOVUPS(r[0], Mem{Base: dst})
	ADDQ(Imm(uint64(values*v.lanes)), dst)
	ADDQ(U32(uint32(v.bytes(values))), src)
	SUBQ(Imm(uint64(values*v.lanes)), n)
	JNZ(LabelRef("loop"))
	leave()
}
