package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// The kernels of this file add rows in the order of their list, column by
// column as the plain code does, and give the same bits.

// rowPass is what a kernel does with one vector of columns: before the pass
// over the rows, at each row, and after it. m lies in the kernel's slice, or in
// the row.
type rowPass struct {
	before, row, after func(r VecVirtual, m Mem, p part)
	ahead              int // how many rows ahead memory is asked for; 0: not at all
}

func (v vectors) gatherSum() {
	v.function("floatGatherSum", "func(dst *float32, n int, table *float32, stride, limit int, rows *int32, count int) bool",
		"is FloatGatherSum of n columns, stride in bytes. It stops with false at a row that begins beyond limit bytes.")
	v.passOverRows("dst", rowPass{
		before: func(r VecVirtual, m Mem, p part) { v.load(m, p, r) },
		row:    func(r VecVirtual, m Mem, p part) { v.addTo(r, m, p) },
		after:  func(r VecVirtual, m Mem, p part) { v.store(r, m, p) },
	})
}

func (v vectors) scatterAdd() {
	v.function("floatScatterAdd", "func(table, src *float32, n, stride, limit int, rows *int32, count int) bool",
		"is FloatScatterAdd of n columns, stride in bytes. It stops with false at a row that begins beyond limit bytes.")
	v.passOverRows("src", rowPass{
		before: func(r VecVirtual, m Mem, p part) { v.load(m, p, r) },
		row: func(r VecVirtual, m Mem, p part) {
			sum := v.register()
			v.load(m, p, sum)
			VADDPS(r, sum, sum)
			v.store(sum, m, p)
		},
		after: func(VecVirtual, Mem, part) {},
		// Stores retire in order, so one that waits for its line holds up all
		// that follow. Loads, as in the sum, run ahead by themselves.
		ahead: 4,
	})
}

// addTo adds memory to r.
func (v vectors) addTo(r VecVirtual, m Mem, p part) {
	if p == whole {
		VADDPS(m, r, r)
		return
	}
	x := v.register()
	v.load(m, p, x)
	VADDPS(x, r, r)
}

// rowWidths are the numbers of vectors that passes keep in registers: so many
// that memory is the limit, and so that the usual widths need few passes.
func (v vectors) rowWidths() []int {
	if v == avx512 {
		return []int{16, 4}
	}
	return []int{8, 2}
}

// passOverRows writes the rest of a kernel with the arguments table, stride,
// limit, rows, count and slice, which has n columns.
func (v vectors) passOverRows(slice string, do rowPass) {
	columns, table, left := param(slice), param("table"), param("n")
	stride, limit := param("stride"), param("limit")
	end, negative := param("rows"), param("count")
	LEAQ(Mem{Base: end, Index: negative, Scale: 4}, end)
	NEGQ(negative) // row i is at end[i] and i counts up to zero
	last := GP64()
	if do.ahead > 0 {
		MOVQ(I32(-1), last)
	}

	pass := func(name string, width int, p part) {
		r, i, row := v.registers(width), GP64(), GP64()
		each := func(do func(VecVirtual, Mem, part), start Register) {
			for k := range r {
				do(r[k], Mem{Base: start, Disp: v.bytes(k)}, p)
			}
		}
		each(do.before, columns)
		MOVQ(negative, i)
		Label(name + "Row")
		MOVLQSX(Mem{Base: end, Index: i, Scale: 4}, row)
		IMULQ(stride, row)
		CMPQ(row, limit)
		JHI(LabelRef("outside")) // unsigned: negative rows are, too
		ADDQ(table, row)
		if do.ahead > 0 {
			later := GP64()
			LEAQ(Mem{Base: i, Disp: do.ahead}, later)
			CMPQ(later, last)
			CMOVQGT(last, later)
			MOVLQSX(Mem{Base: end, Index: later, Scale: 4}, later)
			IMULQ(stride, later)
			ADDQ(table, later)
			for line := 0; line < v.bytes(width); line += 64 {
				PREFETCHT0(Mem{Base: later, Disp: line})
			}
		}
		each(do.row, row)
		INCQ(i)
		JNZ(LabelRef(name + "Row"))
		each(do.after, columns)
		ADDQ(U32(uint32(v.bytes(width))), columns)
		ADDQ(U32(uint32(v.bytes(width))), table)
	}
	v.columnPasses(left, v.rowWidths(), pass)
	finish()
}
