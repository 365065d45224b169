package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

const (
	tileSquares = 2                      // squares of a tile of outputs in a row, and rows
	tileSpan    = tileSquares + 2        // of the inputs that it sees
	tilesAcross = convSide / tileSquares // tiles of an image in a row, and rows
)

// winogradKernels writes the transforms before and after the products of
// FloatWinograd and FloatWinogradGradient. All levels, and the plain code, add in the same order and give the
// same bits.
func (v vectors) winogradKernels() {
	v.winogradInput()
	v.winogradOutput()
	v.winogradBack()
}

// spaced is four places at equal distances.
type spaced struct{ at, step, step3 Register }

func (s spaced) operands() [tileSpan]Mem {
	return [...]Mem{
		{Base: s.at},
		{Base: s.at, Index: s.step, Scale: 1},
		{Base: s.at, Index: s.step, Scale: 2},
		{Base: s.at, Index: s.step3, Scale: 1},
	}
}

// triple returns three times a register.
func triple(r Register) Register {
	t := GP64()
	LEAQ(Mem{Base: r, Index: r, Scale: 2}, t)
	return t
}

// tiles writes the loops over the tiles of an image and the vectors of channels in
// them. body moves image, the address of the tile's first square, on by a vector: having
// gone through all channels it is one square further.
func tiles(start, body func(), image, square Register) {
	rows, across, left, next := GP64(), GP64(), GP64(), GP64()
	MOVQ(U32(tilesAcross), rows)
	Label("rows")
	MOVQ(U32(tilesAcross), across)
	Label("across")
	start()
	MOVQ(memory("vectors"), left)
	Label("channels")
	body()
	DECQ(left)
	JNZ(LabelRef("channels"))
	ADDQ(square, image)
	DECQ(across)
	JNZ(LabelRef("across"))
	MOVQ(memory("row"), next)
	LEAQ(Mem{Base: image, Index: next, Scale: tileSquares}, image)
	MOVQ(square, next)
	SHLQ(Imm(3), next) // convSide squares
	SUBQ(next, image)
	DECQ(rows)
	JNZ(LabelRef("rows"))
	leave()
}

// winogradInput writes BᵀdB of the 4×4 inputs d of every tile.
func (v vectors) winogradInput() {
	v.function("winogradInput", "func(dst *float32, part int, src *float32, square, row, vectors int)",
		fmt.Sprintf("transforms one image of vectors·%d channels. Each of the 16 parts is part bytes from the next; in a part tiles follow one another.", v.lanes))
	dst, src, step := param("dst"), param("src"), param("part")
	square := param("square")
	step3, square3 := triple(step), triple(square)
	var rows [tileSpan]Register
	rows[0] = src
	for i := 1; i < tileSpan; i++ {
		rows[i] = GP64()
	}
	out := GP64()
	start := func() {
		for i := 1; i < tileSpan; i++ {
			MOVQ(memory("row"), rows[i])
			ADDQ(rows[i-1], rows[i])
		}
	}
	body := func() {
		MOVQ(dst, out)
		for i, from := range [tileSpan]struct {
			a, b int
			add  bool
		}{{0, 2, false}, {1, 2, true}, {2, 1, false}, {1, 3, false}} {
			a, b := spaced{rows[from.a], square, square3}.operands(), spaced{rows[from.b], square, square3}.operands()
			t := v.registers(tileSpan)
			for c, r := range t {
				VMOVUPS(a[c], r)
				if from.add {
					VADDPS(b[c], r, r)
				} else {
					VSUBPS(b[c], r, r)
				}
			}
			to := spaced{out, step, step3}.operands()
			x := v.registers(tileSpan)
			VSUBPS(t[2], t[0], x[0])
			VADDPS(t[2], t[1], x[1])
			VSUBPS(t[1], t[2], x[2])
			VSUBPS(t[3], t[1], x[3])
			for c, r := range x {
				VMOVUPS(r, to[c])
			}
			if i < tileSpan-1 {
				LEAQ(Mem{Base: out, Index: step, Scale: tileSpan}, out)
			}
		}
		for _, r := range append([]Register{dst}, rows[:]...) {
			ADDQ(Imm(uint64(v.bytes(1))), r)
		}
	}
	tiles(start, body, src, square)
}

// winogradOutput writes AᵀmA of the 4×4 sums m of every tile, with what is added
// and the bounds of a convolution.
func (v vectors) winogradOutput() {
	v.function("winogradOutput", "func(dst *float32, square, row int, src *float32, part int, bias, add *float32, low, high float32, vectors int)",
		fmt.Sprintf("transforms the sums of one image of vectors·%d channels back. Each of the 16 parts is part bytes from the next; in a part tiles follow one another.", v.lanes))
	upper, lower, square := param("dst"), GP64(), param("square")
	step := param("part")
	step3 := triple(step)
	var rows [tileSpan]Register
	rows[0] = param("src")
	for i := 1; i < tileSpan; i++ {
		rows[i] = GP64()
		LEAQ(Mem{Base: rows[i-1], Index: step, Scale: tileSpan}, rows[i])
	}
	bias := GP64()
	low, high := v.argument("low"), v.argument("high")
	start := func() {
		MOVQ(memory("row"), lower)
		ADDQ(upper, lower)
		MOVQ(memory("bias"), bias)
	}
	body := func() {
		var sums [tileSquares][tileSpan]VecVirtual
		for c := range tileSpan {
			m := func(r int) Mem { return spaced{rows[r], step, step3}.operands()[c] }
			x, y := v.register(), v.register()
			VMOVUPS(m(1), x)
			VMOVUPS(m(2), y)
			sums[0][c], sums[1][c] = v.register(), v.register()
			VADDPS(m(0), x, sums[0][c])
			VADDPS(y, sums[0][c], sums[0][c])
			VSUBPS(y, x, sums[1][c])
			VSUBPS(m(3), sums[1][c], sums[1][c])
		}
		var out [tileSquares][tileSquares]VecVirtual
		for i, s := range sums {
			out[i][0], out[i][1] = v.register(), v.register()
			VADDPS(s[1], s[0], out[i][0])
			VADDPS(s[2], out[i][0], out[i][0])
			VSUBPS(s[2], s[1], out[i][1])
			VSUBPS(s[3], out[i][1], out[i][1])
		}
		each := func(do func(r VecVirtual, at Register, second bool)) {
			for i, at := range []Register{upper, lower} {
				do(out[i][0], at, false)
				do(out[i][1], at, true)
			}
		}
		place := func(at Register, second bool) Mem {
			if second {
				return Mem{Base: at, Index: square, Scale: 1}
			}
			return Mem{Base: at}
		}
		each(func(r VecVirtual, _ Register, _ bool) { VADDPS(Mem{Base: bias}, r, r) })
		CMPQ(memory("add"), Imm(0))
		JEQ(LabelRef("clamp"))
		from := GP64()
		each(func(r VecVirtual, at Register, second bool) {
			if !second {
				MOVQ(memory("add"), from)
				SUBQ(memory("dst"), from)
				ADDQ(at, from)
			}
			VADDPS(place(from, second), r, r)
		})
		Label("clamp")
		each(func(r VecVirtual, at Register, second bool) {
			VMAXPS(r, low, r) // of two values that do not compare, the first operand's: NaN stays
			VMINPS(r, high, r)
			VMOVUPS(r, place(at, second))
		})
		for _, r := range append([]Register{upper, lower, bias}, rows[:]...) {
			ADDQ(Imm(uint64(v.bytes(1))), r)
		}
	}
	tiles(start, body, upper, square)
}

// winogradBack writes AdAᵀ of the 2×2 derivatives d of every tile, the negatives of the
// last row and the last column.
func (v vectors) winogradBack() {
	v.function("winogradBack", "func(dst *float32, part int, d *float32, square, row, vectors int)",
		fmt.Sprintf("transforms the derivatives of one image of vectors·%d channels. Each of the 16 parts is part bytes from the next; in a part tiles follow one another.", v.lanes))
	dst, upper, lower, step := param("dst"), param("d"), GP64(), param("part")
	square := param("square")
	step3, out := triple(step), GP64()
	start := func() {
		MOVQ(memory("row"), lower)
		ADDQ(upper, lower)
	}
	body := func() {
		var t [tileSpan][tileSquares]VecVirtual
		for c := range tileSquares {
			a, b := Mem{Base: upper}, Mem{Base: lower}
			if c == 1 {
				a.Index, a.Scale, b.Index, b.Scale = square, 1, square, 1
			}
			for r := range t {
				t[r][c] = v.register()
			}
			VMOVUPS(a, t[0][c])
			VMOVUPS(b, t[3][c])
			VADDPS(t[3][c], t[0][c], t[1][c])
			VSUBPS(t[3][c], t[0][c], t[2][c])
		}
		MOVQ(dst, out)
		for r, x := range t {
			sum, difference := v.register(), v.register()
			VADDPS(x[1], x[0], sum)
			VSUBPS(x[1], x[0], difference)
			to := spaced{out, step, step3}.operands()
			for c, y := range []VecVirtual{x[0], sum, difference, x[1]} {
				VMOVUPS(y, to[c])
			}
			if r < tileSpan-1 {
				LEAQ(Mem{Base: out, Index: step, Scale: tileSpan}, out)
			}
		}
		for _, r := range []Register{dst, upper, lower} {
			ADDQ(Imm(uint64(v.bytes(1))), r)
		}
	}
	tiles(start, body, upper, square)
}
