package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// convBackKernels writes the kernels that train convolutional networks, beside
// those that run them. All levels add in the same order and give the same bits.
func convBackKernels() {
	for _, width := range []int{2, 3} {
		outerProducts{vectors: avx2, height: 4, width: width}.write()
	}
	for _, width := range []int{1, 2, 3} {
		outerProducts{vectors: avx512, height: 8, width: width}.write()
	}
	for _, v := range []vectors{avx2, avx512} {
		v.imageSums()
		v.rectifyBack()
	}
}

// squareUnroll is how many squares the loops of this file take at once.
const squareUnroll = 4

// imageWalk goes through the squares of an image, some at a time.
type imageWalk struct {
	at, square, square3 Register
	rowSkip             Mem // bytes from behind the last square of a row to the next row
}

// walk begins at the address in an argument; the argument's name with Square is
// how many bytes squares are apart, that with Skip is rowSkip.
func walk(name string) imageWalk {
	w := imageWalk{at: GP64(), square: param(name + "Square"), square3: GP64(), rowSkip: memory(name + "Skip")}
	LEAQ(Mem{Base: w.square, Index: w.square, Scale: 2}, w.square3)
	MOVQ(memory(name), w.at)
	return w
}

// operand returns where the k-th of the squares from here has the byte disp.
func (w *imageWalk) operand(k, disp int) Mem {
	m := Mem{Base: w.at, Disp: disp}
	switch {
	case k == 3:
		m.Index, m.Scale = w.square3, 1
	case k > 0:
		m.Index, m.Scale = w.square, uint8(k)
	}
	return m
}

// image writes loops over the squares of an image; body does squareUnroll of them.
func image8x8(name string, body func(), walks ...*imageWalk) {
	rows := GP64()
	MOVQ(U32(convSide), rows)
	Label(name)
	for range convSide / squareUnroll {
		body()
		for _, w := range walks {
			LEAQ(Mem{Base: w.at, Index: w.square, Scale: squareUnroll}, w.at)
		}
	}
	for _, w := range walks {
		ADDQ(w.rowSkip, w.at)
	}
	DECQ(rows)
	JNZ(LabelRef(name))
}

// outerProducts is the kernel of gradients of weights: for each square, the
// products of some inputs with some derivatives. A tile of height inputs by width
// vectors of derivatives stays in registers for all squares of some images.
type outerProducts struct {
	vectors
	height, width int
}

func (o outerProducts) write() {
	o.function(fmt.Sprintf("floatConvWeights%d", o.width*o.lanes),
		"func(sums *float32, step int, src *float32, srcSquare, srcSkip, srcImage int, d *float32, dSquare, dSkip, dImage int, images, blocks int)",
		fmt.Sprintf("adds, for blocks of %d inputs, their products with %d derivatives over the squares of some images. Sums of an input are step bytes from those of the next; Skip and Image are how many bytes rows and images are farther apart than their squares and rows.", o.height, o.width*o.lanes))
	sums, step := param("sums"), param("step")
	src, d := walk("src"), walk("d")
	first, blocks := param("src"), param("blocks")
	Label("block")
	tile := make([][]VecVirtual, o.height)
	for i := range tile {
		tile[i] = o.registers(o.width)
		for _, r := range tile[i] {
			o.clear(r)
		}
	}
	MOVQ(first, src.at)
	MOVQ(memory("d"), d.at)
	images := param("images")
	Label("image")
	image8x8("row", func() {
		for k := range squareUnroll {
			o.square(tile, &src, &d, k)
		}
	}, &src, &d)
	ADDQ(memory("srcImage"), src.at)
	ADDQ(memory("dImage"), d.at)
	DECQ(images)
	JNZ(LabelRef("image"))
	for _, row := range tile {
		for j, r := range row {
			m := Mem{Base: sums, Disp: o.bytes(j)}
			VADDPS(m, r, r)
			VMOVUPS(r, m)
		}
		ADDQ(step, sums)
	}
	ADDQ(Imm(uint64(4*o.height)), first)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	leave()
}

// square adds the products of the k-th square from here.
func (o outerProducts) square(tile [][]VecVirtual, src, d *imageWalk, k int) {
	right := o.registers(o.width)
	for j, r := range right {
		VMOVUPS(d.operand(k, o.bytes(j)), r)
	}
	for i, row := range tile {
		in := src.operand(k, 4*i)
		if o.vectors == avx512 && o.width == 1 {
			VFMADD231PS_BCST(in, right[0], row[0])
			continue
		}
		value := o.register()
		VBROADCASTSS(in, value)
		for j, r := range row {
			VFMADD231PS(right[j], value, r)
		}
	}
}

// imageSums writes the sums over the squares of an image of one vector of
// channels: each square of a row modulo squareUnroll has sums of its own.
func (v vectors) imageSums() {
	v.function("floatImageSums", "func(sums, products *float32, x *float32, xSquare, xSkip int, y *float32, ySquare, ySkip int)",
		fmt.Sprintf("adds the sums of %d channels of x and of their products with y over the squares of an image. Skip is how many bytes rows are farther apart than their squares.", v.lanes))
	x, y := walk("x"), walk("y")
	sums, products := v.registers(squareUnroll), v.registers(squareUnroll)
	for k := range squareUnroll {
		v.clear(sums[k])
		v.clear(products[k])
	}
	image8x8("row", func() {
		for k := range squareUnroll {
			value := v.register()
			VMOVUPS(x.operand(k, 0), value)
			VADDPS(value, sums[k], sums[k])
			VFMADD231PS(y.operand(k, 0), value, products[k])
		}
	}, &x, &y)
	for _, to := range []struct {
		name string
		part []VecVirtual
	}{{"sums", sums}, {"products", products}} {
		VADDPS(to.part[1], to.part[0], to.part[0])
		VADDPS(to.part[3], to.part[2], to.part[2])
		VADDPS(to.part[2], to.part[0], to.part[0])
		m := Mem{Base: param(to.name)}
		VADDPS(m, to.part[0], to.part[0])
		VMOVUPS(to.part[0], m)
	}
	leave()
}

// rectifyBack writes the derivative of the rectifier.
func (v vectors) rectifyBack() {
	v.function("floatReLUBack", "func(dst, out, d *float32, n int)", "is FloatReLUBack of n elements.")
	const above = 30 // false for NaN
	zero := v.zero()
	v.each(func(e *elements) {
		x, d := e.load("out"), e.load("d")
		if v == avx512 {
			positive := K()
			VCMPPS(Imm(above), zero, x, positive)
			VMOVAPS_Z(d, positive, d)
		} else {
			VCMPPS(Imm(above), zero, x, x)
			VANDPS(x, d, d)
		}
		e.store(d, "dst")
	}, "dst", "out", "d")
}
