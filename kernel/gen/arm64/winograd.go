package main

const (
	tileSquares = 2                      // squares of a tile of outputs in a row, and rows
	tileSpan    = tileSquares + 2        // of the inputs that it sees
	tilesAcross = convSide / tileSquares // tiles of an image in a row, and rows
	tileVectors = 2                      // of channels that go through together
	tileBytes   = tileVectors * vectorBytes
)

// winogradKernels writes the transforms before and after the products of
// FloatWinograd and FloatWinogradGradient. They add in the order in which the plain
// code does, and give the same bits.
func winogradKernels(f *file) {
	winogradInput(f)
	winogradOutput(f)
	winogradBack(f)
}

// winogradDoc says how the kernels see an image and what is multiplied.
const winogradDoc = "one image of 8·blocks channels. Each of the 16 parts is part bytes from the next; in a part tiles follow one another."

// winograd is a transform between an image and parts.
type winograd struct {
	*kernel
	span             int // squares of a tile in a row
	image, parts     gp  // of the channels whose turn it is
	square, row      gp
	down             gp // bytes from the last square of a tile's row to the first of the next
	part, blocks     gp
	nextSquare, next gp // the square and the part whose turn it is
}

// newWinograd begins a transform with tiles of span squares in a row; image and parts
// are arguments.
func (k *kernel) newWinograd(span int, image, parts string) *winograd {
	w := &winograd{kernel: k, span: span, image: k.param(image), parts: k.param(parts), square: k.param("square"), row: k.param("row"),
		down: k.register(), part: k.param("part"), blocks: k.param("blocks"), nextSquare: k.register(), next: k.register()}
	k.op("MOVD", w.row, w.down)
	for range span - 1 {
		k.op("SUB", w.square, w.down)
	}
	return w
}

// squares returns the registers that hold the channels of n squares.
func (w *winograd) squares(n int) [][]vec {
	all := make([][]vec, n)
	for i := range all {
		all[i] = w.vectors(tileVectors)
	}
	return all
}

// tiles writes the loops over the tiles of an image and, in each, over its channels,
// of which body does some.
func (w *winograd) tiles(start, body func()) {
	rows, across, left := w.register(), w.register(), w.register()
	w.op("MOVD", imm(tilesAcross), rows)
	w.times("rows", rows, func() {
		w.op("MOVD", imm(tilesAcross), across)
		w.times("across", across, func() {
			start()
			w.op("MOVD", w.blocks, left)
			w.times("channels", left, func() {
				w.op("MOVD", w.image, w.nextSquare)
				w.op("MOVD", w.parts, w.next)
				body()
				w.op("ADD", imm(tileBytes), w.image)
				w.op("ADD", imm(tileBytes), w.parts)
			})
			// All channels are one square; a tile is two.
			w.op("ADD", w.square, w.image)
		})
		w.op("SUB", w.square.shifted(3), w.image)
		w.op("ADD", w.row.shifted(1), w.image)
	})
	w.op("RET")
}

// place is the operand of square i of a tile, and moves on to the one after it.
func (w *winograd) place(i int) string {
	if i%w.span == w.span-1 {
		return w.nextSquare.by(w.down)
	}
	return w.nextSquare.by(w.square)
}

// readSquares reads the next squares of a tile, whole rows of it.
func (w *winograd) readSquares(to [][]vec) {
	for i, v := range to {
		w.op("VLD1.P", w.place(i), list(v))
	}
}

func (w *winograd) readParts(to [][]vec) {
	for _, v := range to {
		w.op("VLD1.P", w.next.by(w.part), list(v))
	}
}

func (w *winograd) writeParts(from ...[]vec) {
	for _, v := range from {
		w.op("VST1.P", list(v), w.next.by(w.part))
	}
}

// eachSquare does the same to all registers of all squares.
func (w *winograd) eachSquare(a arithmetic, to, x, y [][]vec) {
	for i := range to {
		w.each(a, to[i], x[i], y[i])
	}
}

// winogradInput writes BᵀdB of the 4×4 inputs d of every tile.
func winogradInput(f *file) {
	k := f.function("winogradInputNEON", "(dst *float32, part int, src *float32, square, row, blocks int)", "transforms "+winogradDoc)
	w := k.newWinograd(tileSpan, "src", "dst")
	d0, d1, d2, x := w.squares(tileSpan), w.squares(tileSpan), w.squares(tileSpan), w.squares(tileSpan)
	// along transforms a row t of Bᵀd.
	along := func(t [][]vec) {
		k.each(subF, x[0], t[0], t[2])
		k.each(addF, x[1], t[1], t[2])
		k.each(subF, x[2], t[2], t[1])
		k.each(subF, x[3], t[1], t[3])
		w.writeParts(x...)
	}
	w.tiles(func() {}, func() {
		for _, d := range [][][]vec{d0, d1, d2} {
			w.readSquares(d)
		}
		t := d0
		w.eachSquare(subF, t, d0, d2)
		along(t)
		w.eachSquare(addF, t, d1, d2)
		along(t)
		w.eachSquare(subF, t, d2, d1)
		along(t)
		d3 := d2
		w.readSquares(d3)
		w.eachSquare(subF, t, d1, d3)
		along(t)
	})
}

// winogradOutput writes AᵀmA of the 4×4 sums m of every tile, with what is added and
// the bounds of a convolution.
func winogradOutput(f *file) {
	k := f.function("winogradOutputNEON", "(dst *float32, square, row int, src *float32, part int, bias, add *float32, low, high float32, blocks int)",
		"transforms back the sums of "+winogradDoc)
	w := k.newWinograd(tileSquares, "dst", "src")
	bias, add, from := k.register(), k.param("add"), k.register()
	// add is what lies at dst's beginning, and goes on as dst.
	k.op("SUB", w.image, add, from)
	upper, lower, m := w.squares(tileSpan), w.squares(tileSpan), w.squares(tileSpan)
	low, high, beyond := k.argument("low"), k.argument("high"), k.vectors(1)[0]
	out := [][]vec{upper[0], upper[1], lower[0], lower[1]}
	w.tiles(func() { k.op("MOVD", k.arg("bias"), bias) }, func() {
		w.readParts(upper)
		w.readParts(lower)
		w.eachSquare(addF, upper, upper, lower)
		w.readParts(m)
		w.eachSquare(addF, upper, upper, m)
		w.eachSquare(subF, lower, lower, m)
		w.readParts(m)
		w.eachSquare(subF, lower, lower, m)
		for _, s := range [][][]vec{upper, lower} {
			k.each(addF, s[0], s[0], s[1])
			k.each(addF, s[0], s[0], s[2])
			k.each(subF, s[1], s[1], s[2])
			k.each(subF, s[1], s[1], s[3])
		}
		k.load(bias, m[0])
		for _, x := range out {
			k.each(addF, x, x, m[0])
		}
		k.op("CBZ", add, "limit")
		k.op("ADD", from, w.nextSquare)
		w.readSquares(m)
		w.eachSquare(addF, out, out, m)
		k.op("MOVD", w.image, w.nextSquare)
		k.label("limit")
		for i, x := range out {
			k.limit(x, low, high, beyond)
			k.op("VST1.P", list(x), w.place(i))
		}
	})
}

// winogradBack writes AdAᵀ of the 2×2 derivatives d of every tile, the negatives of the
// last row and the last column.
func winogradBack(f *file) {
	k := f.function("winogradBackNEON", "(dst *float32, part int, d *float32, square, row, blocks int)", "transforms the derivatives of "+winogradDoc)
	w := k.newWinograd(tileSquares, "d", "dst")
	d, sum, difference, x := w.squares(tileSquares*tileSquares), w.squares(tileSquares), w.squares(tileSquares), w.squares(2)
	upper, lower := d[:tileSquares], d[tileSquares:]
	w.tiles(func() {}, func() {
		w.readSquares(d)
		w.eachSquare(addF, sum, upper, lower)
		w.eachSquare(subF, difference, upper, lower)
		for _, t := range [][][]vec{upper, sum, difference, lower} {
			k.each(addF, x[0], t[0], t[1])
			k.each(subF, x[1], t[0], t[1])
			w.writeParts(t[0], x[0], x[1], t[1])
		}
	})
}
