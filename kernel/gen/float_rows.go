package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// rowPasses are the passes whose columns stay in registers: few, so that a list
// of rows is not gone through again and again. Rows are a power of two long or,
// with PSQT columns, a vector of 16 more; their end is no pass of its own.
func (v vectors) rowPasses() []columnPass {
	if v == avx512 {
		return []columnPass{{17, true}, {16, false}, {9, true}, {8, false}, {5, true}, {4, false}}
	}
	return []columnPass{{12, false}, {10, true}, {8, false}, {6, true}, {4, false}, {2, false}}
}

// gatherSum adds rows in the order of their list, column by column as the plain
// code does, and gives the same bits.
func (v vectors) gatherSum() {
	v.function("floatGatherSum", "func(dst, base *float32, n int, table *float32, stride, limit int, rows *int32, count int) bool",
		"is FloatGatherSum of n columns, stride in bytes. It stops with false at a row that begins beyond limit bytes.")
	dst, base, table, left := param("dst"), param("base"), param("table"), param("n")
	stride, limit := param("stride"), param("limit")
	end, negative := param("rows"), param("count")
	LEAQ(Mem{Base: end, Index: negative, Scale: 4}, end)
	NEGQ(negative) // row i is at end[i] and i counts up to zero

	pass := func(name string, width int, p part) {
		sums, i, row := v.registers(width), GP64(), GP64()
		for k, sum := range sums {
			v.load(Mem{Base: base, Disp: v.bytes(k)}, p, sum)
		}
		MOVQ(negative, i)
		Label(name + "Row")
		MOVLQSX(Mem{Base: end, Index: i, Scale: 4}, row)
		IMULQ(stride, row)
		CMPQ(row, limit)
		JHI(LabelRef("outside")) // unsigned: negative rows are, too
		ADDQ(table, row)
		for k, sum := range sums {
			v.addTo(sum, Mem{Base: row, Disp: v.bytes(k)}, p)
		}
		INCQ(i)
		JNZ(LabelRef(name + "Row"))
		for k, sum := range sums {
			v.store(sum, Mem{Base: dst, Disp: v.bytes(k)}, p)
		}
		ADDQ(U32(uint32(v.bytes(width))), dst)
		ADDQ(U32(uint32(v.bytes(width))), base)
		ADDQ(U32(uint32(v.bytes(width))), table)
	}
	v.columnPasses(left, v.rowPasses(), pass)
	finish()
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
