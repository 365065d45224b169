package main

// convBackKernels writes the kernels that train convolutional networks, beside
// those that run them. They add in the order in which those of amd64 do, and give
// the same bits.
func convBackKernels(f *file) {
	outerProducts(f)
	imageSums(f)
	rectifyBack(f)
}

// imageWalk goes through the squares of an image.
type imageWalk struct{ at, square, skip gp }

// walk begins at an argument; the argument's name with Square is how many bytes
// squares are apart, with Skip how many follow the last square of a row.
func (k *kernel) walk(name string) imageWalk {
	return imageWalk{at: k.param(name), square: k.param(name + "Square"), skip: k.param(name + "Skip")}
}

// read loads registers from the square and moves on.
func (k *kernel) read(w imageWalk, to []vec) {
	k.op("VLD1", w.at.at(0), list(to))
	k.op("ADD", w.square, w.at)
}

// image8x8 writes loops over the squares of an image; body does one, of a column.
func (k *kernel) image8x8(rows gp, body func(column int), walks ...imageWalk) {
	k.op("MOVD", imm(convSide), rows)
	k.times("row", rows, func() {
		for column := range convSide {
			body(column)
		}
		for _, w := range walks {
			k.op("ADD", w.skip, w.at)
		}
	})
}

// outerProducts writes the kernel of gradients of weights: for each square, the
// products of four inputs with 16 derivatives. Their sums stay in registers for all
// squares of some images.
func outerProducts(f *file) {
	k := f.function("floatConvWeights16NEON",
		"(sums *float32, step int, src *float32, srcSquare, srcSkip, srcImage int, d *float32, dSquare, dSkip, dImage int, images, blocks int)",
		"adds, for blocks of 4 inputs, their products with 16 derivatives over the squares of some images. Sums of an input are step bytes from those of the next; Skip and Image are how many bytes rows and images are farther apart than their squares and rows.")
	sums, step := k.param("sums"), k.param("step")
	src, d := k.walk("src"), k.walk("d")
	srcImage, dImage := k.param("srcImage"), k.param("dImage")
	first, blocks, images, rows := k.param("src"), k.param("blocks"), k.register(), k.register()
	const inputs = 4
	tile := k.vectors(inputs * convVectors)
	x, y := k.vectors(2), k.vectors(2*convVectors)
	k.times("block", blocks, func() {
		k.clear(tile...)
		k.op("MOVD", first, src.at)
		k.op("MOVD", k.arg("d"), d.at)
		k.op("MOVD", k.arg("images"), images)
		k.times("image", images, func() {
			k.image8x8(rows, func(column int) {
				x, y := x[column%2], y[column%2*convVectors:][:convVectors]
				k.read(src, []vec{x})
				k.read(d, y)
				for i, sum := range tile {
					k.doLane(mulAddLane, i/convVectors, sum, y[i%convVectors], x)
				}
			}, src, d)
			k.op("ADD", srcImage, src.at)
			k.op("ADD", dImage, d.at)
		})
		for i := range inputs {
			sum, before := tile[i*convVectors:][:convVectors], y[:convVectors]
			k.op("VLD1", sums.at(0), list(before))
			k.each(addF, sum, before, sum)
			k.op("VST1", list(sum), sums.at(0))
			k.op("ADD", step, sums)
		}
		k.op("ADD", imm(inputs*4), first)
	})
	k.op("RET")
}

// imageSums writes the kernel of sums over the squares of an image. Columns modulo
// 4 are added by themselves.
func imageSums(f *file) {
	k := f.function("floatImageSumsNEON", "(sums, products, x *float32, xSquare, xSkip int, y *float32, ySquare, ySkip int)",
		"adds to 8 sums those of x, and to 8 products those of x·y, over the squares of an image.")
	const vectors, parts = 2, 4
	x, y, rows := k.walk("x"), k.walk("y"), k.register()
	sums, products := k.vectors(parts*vectors), k.vectors(parts*vectors)
	a, b := k.vectors(2*vectors), k.vectors(2*vectors)
	k.clear(sums...)
	k.clear(products...)
	k.image8x8(rows, func(column int) {
		a, b := a[column%2*vectors:][:vectors], b[column%2*vectors:][:vectors]
		k.read(x, a)
		k.read(y, b)
		part := column % parts * vectors
		k.each(addF, sums[part:part+vectors], sums[part:], a)
		k.each(mulAdd, products[part:part+vectors], a, b)
	}, x, y)
	for i, s := range [][]vec{sums, products} {
		to, before := k.param([]string{"sums", "products"}[i]), a[:vectors]
		p0, p1, p2, p3 := s[:vectors], s[vectors:2*vectors], s[2*vectors:3*vectors], s[3*vectors:]
		k.each(addF, p0, p0, p1)
		k.each(addF, p2, p2, p3)
		k.each(addF, p0, p0, p2)
		k.op("VLD1", to.at(0), list(before))
		k.each(addF, p0, before, p0)
		k.op("VST1", list(p0), to.at(0))
	}
	k.op("RET")
}

// rectifyBack writes the derivative of the rectifier.
func rectifyBack(f *file) {
	k := f.function("floatReLUBackNEON", "(dst, out, d *float32, n int)", "is FloatReLUBack of n elements.")
	zero := k.vectors(1)[0]
	k.clear(zero)
	k.elementwise([]string{"out", "d"}, []string{"dst"}, func(e *elements) {
		out, d := e.load("out"), e.load("d")
		e.each(greater, out, out, zero)
		e.each(both, d, d, out)
		e.store(d, "dst")
	})
}
