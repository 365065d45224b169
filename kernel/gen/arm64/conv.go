package main

const (
	convSide    = 8  // squares of a row of an image, and rows
	convBlock   = 16 // output channels of a kernel
	convVectors = convBlock / floatLanes
	convSquares = 4 // of a tile
)

// convKernels writes the kernels of convolutional networks. They add in the order
// in which those of amd64 do, and give the same bits.
func convKernels(f *file) {
	convolution(f, "floatConv16NEON", nil)
	for _, l := range []level{neon, dotProd} {
		convolution(f, "byteConv16"+string(l), &l)
	}
	depthwise(f)
	quantiseBytes(f)
	channelsFirst(f)
	winogradKernels(f)
}

// image holds what kernels of one image share: where it is read and written.
type image struct {
	*kernel
	dst, dstSquare, dstRow gp
	src, square, srcRow    gp
	window, weights, left  gp
	squares                []gp // of a tile, in the window
	out                    gp
	sums                   [][]vec // of a tile
}

// imageParams are the arguments of all kernels of one image; src and weights are of
// these types.
func imageParams(src, weights string) string {
	return "(dst *float32, dstSquare, dstRow int, src *" + src + ", square, srcRow int, weights *" + weights + ", bias *float32, add *float32, low, high float32"
}

func (k *kernel) newImage() *image {
	i := &image{kernel: k, dst: k.param("dst"), dstSquare: k.param("dstSquare"), dstRow: k.param("dstRow"),
		src: k.param("src"), square: k.param("square"), srcRow: k.param("srcRow"),
		window: k.register(), weights: k.register(), left: k.register(), out: k.register()}
	for range convSquares {
		i.squares = append(i.squares, k.register())
		i.sums = append(i.sums, k.vectors(convVectors))
	}
	return i
}

// tiles writes the loop over the tiles of count rows of an image. window adds the products of one
// row of windows, of size rows, to the sums; finish is between them and the bounds.
func (i *image) tiles(count string, start func(sum []vec, bias gp), window, finish func()) {
	rows, tile, bias, unused := i.register(), i.register(), i.register(), i.vector
	i.op("MOVD", count, rows)
	i.times("row", rows, func() {
		// dst and src go through the tiles of a row, and then on.
		i.op("MOVD", imm(convSide/convSquares), tile)
		i.times("tile", tile, func() {
			for _, s := range i.sums {
				i.op("MOVD", i.arg("bias"), bias)
				start(s, bias)
			}
			i.op("MOVD", i.src, i.window)
			i.op("MOVD", i.arg("weights"), i.weights)
			i.op("MOVD", i.arg("size"), i.left)
			i.times("window", i.left, func() {
				i.op("MOVD", i.window, i.squares[0])
				for j := 1; j < convSquares; j++ {
					i.op("ADD", i.square, i.squares[j-1], i.squares[j])
				}
				window()
				i.op("ADD", i.srcRow, i.window)
			})
			i.vector = unused
			finish()
			i.store()
			i.op("ADD", i.square.shifted(2), i.src)
			i.op("ADD", i.dstSquare.shifted(2), i.dst)
		})
		i.op("SUB", i.square.shifted(3), i.src)
		i.op("SUB", i.dstSquare.shifted(3), i.dst)
		i.op("ADD", i.srcRow, i.src)
		i.op("ADD", i.dstRow, i.dst)
	})
	i.op("RET")
}

// store adds what is to be added, limits and stores the sums of a tile.
func (i *image) store() {
	add, r := i.out, i.left
	read, low, high, beyond := i.vectors(convVectors), i.argument("low"), i.argument("high"), i.vectors(1)[0]
	i.op("MOVD", i.arg("add"), add)
	i.op("CBZ", add, "bounds")
	// add is what lies at dst's beginning, and goes on as dst.
	i.op("MOVD", i.arg("dst"), r)
	i.op("SUB", r, add)
	i.op("ADD", i.dst, add)
	for _, s := range i.sums {
		i.op("VLD1", add.at(0), list(read))
		i.op("ADD", i.dstSquare, add)
		i.each(addF, s, s, read)
	}
	i.label("bounds")
	i.op("MOVD", i.dst, i.out)
	for _, s := range i.sums {
		i.limit(s, low, high, beyond)
		i.op("VST1", list(s), i.out.at(0))
		i.op("ADD", i.dstSquare, i.out)
	}
}

// limit does what bounded does, but leaves a zero its sign. It spoils beyond.
func (k *kernel) limit(x []vec, low, high, beyond vec) {
	for _, v := range x {
		k.do(greater, beyond, low, v)
		k.do(choose, v, low, beyond)
		k.do(greater, beyond, v, high)
		k.do(choose, v, high, beyond)
	}
}

// convolution writes the kernel for a block of output channels: a tile of squares
// by channels stays in registers while the products of one window of inputs after
// another are added to it.
//
// With a level products are of bytes: an input is four of them, a weight the four
// that they meet, and an output the sum of all products times its scale.
func convolution(f *file, name string, bytes *level) {
	params, doc := imageParams("float32", "float32")+", step, inner, size int)", "inputs"
	if bytes != nil {
		params, doc = imageParams("uint8", "int8")+", scales *float32, step, inner, size, rows int)", "groups of four inputs"
	}
	k := f.function(name, params, "writes 16 output channels of one image. A window has size rows of inner "+doc+
		", a multiple of 4; the weights of one are step bytes from those of the next.")
	i := k.newImage()
	step, inner, rows := k.param("step"), k.register(), imm(convSide)
	if bytes != nil {
		rows = k.arg("rows")
	}
	in, w := k.vectors(convSquares), k.vectors(convVectors)
	var p *groupProducts
	if bytes != nil {
		p = k.newGroupProducts(*bytes)
	}
	start := func(sum []vec, bias gp) {
		if bytes != nil {
			k.clear(sum...)
		} else {
			k.op("VLD1", bias.at(0), list(sum))
		}
	}
	window := func() {
		k.op("MOVD", k.arg("inner"), inner)
		k.label("inner")
		for j, s := range i.squares {
			k.load(s, in[j:j+1])
		}
		for lane := range 4 {
			k.op("VLD1", i.weights.at(0), list(w))
			k.op("ADD", step, i.weights)
			for j, sum := range i.sums {
				if bytes != nil {
					p.group(in[j], lane)
				}
				for v, s := range sum {
					if bytes != nil {
						p.add(s, w[v])
					} else {
						k.doLane(mulAddLane, lane, s, w[v], in[j])
					}
				}
			}
		}
		k.op("SUBS", "$4", inner)
		k.op("BNE", "inner")
	}
	finish := func() {
		if bytes == nil {
			return
		}
		// Rounds after each operation, as the plain code does.
		scales, bias := in, w
		k.op("MOVD", k.arg("scales"), i.out)
		k.op("VLD1", i.out.at(0), list(scales))
		k.op("MOVD", k.arg("bias"), i.out)
		k.op("VLD1", i.out.at(0), list(bias))
		for _, s := range i.sums {
			k.each(toFloat, s, s)
			k.each(mulF, s, s, scales)
			k.each(addF, s, s, bias)
		}
	}
	k.vector = int(i.sums[convSquares-1][convVectors-1]) + 1 // what follows the sums is free behind a window
	i.tiles(rows, start, window, finish)
}

// depthwise writes the kernel of channels that do not mix.
func depthwise(f *file) {
	k := f.function("floatDepthwiseNEON", imageParams("float32", "float32")+", step, size int)",
		"convolves 16 channels of one image, each by itself. A window has size rows of as many squares; the weights of a square are step bytes from those of the next.")
	i := k.newImage()
	step, inner := k.param("step"), k.register()
	unused := k.vector
	w, in := k.vectors(convVectors), k.vectors(2*convVectors)
	k.vector = unused
	start := func(sum []vec, bias gp) { k.op("VLD1", bias.at(0), list(sum)) }
	i.tiles(imm(convSide), start, func() {
		k.op("MOVD", k.arg("size"), inner)
		k.times("inner", inner, func() {
			k.op("VLD1", i.weights.at(0), list(w))
			k.op("ADD", step, i.weights)
			for j, sum := range i.sums {
				x := in[j%2*convVectors:][:convVectors]
				k.op("VLD1", i.squares[j].at(0), list(x))
				k.op("ADD", i.square, i.squares[j])
				k.each(mulAdd, sum, w, x)
			}
		})
	}, func() {})
}

// quantiseBytes writes the kernel that turns numbers into bytes.
func quantiseBytes(f *file) {
	k := f.function("byteQuantiseNEON", "(dst *uint8, src *float32, n int, scale float32, zero uint32)",
		"sets dst = clamp(round(src·scale) + zero, 0, 127), ties to even; n is a multiple of 16.")
	dst, src, n := k.param("dst"), k.param("src"), k.param("n")
	scale, zero, r := k.argument("scale"), k.vectors(1)[0], k.register()
	k.op("MOVWU", k.arg("zero"), r)
	k.op("VDUP", r, zero.as("S4"))
	// Beyond these, results are 0 or 127 whatever the zero; NaN becomes high.
	high, low := k.repeat(0x43800000, "S4"), k.repeat(0xc3800000, "S4") // ±256
	none, x := k.vectors(1)[0], k.vectors(4)
	k.clear(none)
	k.label("loop")
	k.load(src, x)
	k.each(mulF, x, x, scale)
	k.each(minNumber, x, x, high)
	k.each(maxF, x, x, low)
	k.each(toInt, x, x)
	k.each(addS, x, x, zero)
	k.narrow(x)
	k.do(maxB, x[0], x[0], none)
	k.store(x[:1], dst)
	k.op("SUBS", "$16", n)
	k.op("BNE", "loop")
	k.op("RET")
}
