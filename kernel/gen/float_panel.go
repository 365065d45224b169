package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tileRows are the heights of the tiles a panel is cut into, from the top.
func (v vectors) tileRows() []int {
	if v == avx512 {
		return []int{8, 4, 2, 1}
	}
	return []int{6, 4, 2, 1}
}

// panel writes the kernel under FloatGemm. A tile of C stays in registers while
// the products of all k are added to it, in order: per k it takes one or two
// vectors of a row of B, and as many elements of a column of A as it has rows,
// each spread over a vector.
func (v vectors) panel() {
	v.function("floatPanel", "func(c *float32, ldc int, a *float32, rowA, colA int, b *float32, ldb int, m, n, k int)",
		fmt.Sprintf("adds A·B to C: m rows, n ≤ %d columns, k products each. B's rows have %d columns if n ≤ %[2]d, else %[1]d. Strides are in bytes; C and B lie row by row.", 2*v.lanes, v.lanes))
	p := panel{vectors: v, c: param("c"), ldc: param("ldc"), a: param("a"), rowA: param("rowA"), colA: param("colA"),
		ldb: param("ldb"), m: param("m"), row3: GP64(), row5: GP64(), row7: GP64(), last: GP64()}
	LEAQ(Mem{Base: p.rowA, Index: p.rowA, Scale: 2}, p.row3)
	LEAQ(Mem{Base: p.rowA, Index: p.rowA, Scale: 4}, p.row5)
	LEAQ(Mem{Base: p.row3, Index: p.rowA, Scale: 4}, p.row7)
	MOVQ(memory("n"), p.last)
	CMPQ(p.last, Imm(uint64(v.lanes)))
	JLE(LabelRef("narrow"))
	SUBQ(Imm(uint64(v.lanes)), p.last)
	p.tiles(2)
	Label("narrow")
	p.tiles(1)
}

// panel holds the registers of a panel kernel.
type panel struct {
	vectors
	c, ldc, a, rowA, colA, ldb, m Register
	row3, row5, row7              Register // multiples of rowA
	last                          Register // columns in the last vector of a row
}

// tiles writes the tiles of so many vectors' width, all heights.
func (p *panel) tiles(width int) {
	mask := p.leading(p.last)
	for _, height := range p.tileRows() {
		name := fmt.Sprintf("tile%dx%d", height, width)
		Label(name)
		CMPQ(p.m, Imm(uint64(height)))
		JLT(LabelRef(name + "Done"))
		p.tile(name, height, width, mask)
		SUBQ(Imm(uint64(height)), p.m)
		JMP(LabelRef(name))
		Label(name + "Done")
	}
	VZEROUPPER()
	RET()
}

// tile writes one tile and moves c and a to the next.
func (p *panel) tile(name string, height, width int, mask part) {
	sums := make([][]VecVirtual, height)
	for i := range sums {
		sums[i] = p.registers(width)
	}
	row := GP64()
	p.atEdge(name+"Load", mask, func(last part) {
		MOVQ(p.c, row)
		for _, r := range sums {
			p.eachVector(r, row, last, func(r VecVirtual, m Mem, part part) { p.load(m, part, r) })
			ADDQ(p.ldc, row)
		}
	})

	a, b, left := GP64(), GP64(), GP64()
	MOVQ(p.a, a)
	MOVQ(memory("b"), b)
	MOVQ(memory("k"), left)
	column := []Mem{
		{Base: a},
		{Base: a, Index: p.rowA, Scale: 1},
		{Base: a, Index: p.rowA, Scale: 2},
		{Base: a, Index: p.row3, Scale: 1},
		{Base: a, Index: p.rowA, Scale: 4},
		{Base: a, Index: p.row5, Scale: 1},
		{Base: a, Index: p.row3, Scale: 2},
		{Base: a, Index: p.row7, Scale: 1},
	}
	Label(name + "Loop")
	right := p.registers(width)
	p.eachVector(right, b, whole, func(r VecVirtual, m Mem, part part) { p.load(m, part, r) })
	for i, sum := range sums {
		if p.vectors == avx512 && width == 1 {
			VFMADD231PS_BCST(column[i], right[0], sum[0])
			continue
		}
		value := p.register()
		VBROADCASTSS(column[i], value)
		for j, r := range sum {
			VFMADD231PS(right[j], value, r)
		}
	}
	ADDQ(p.colA, a)
	ADDQ(p.ldb, b)
	DECQ(left)
	JNZ(LabelRef(name + "Loop"))

	p.atEdge(name+"Store", mask, func(last part) {
		MOVQ(p.c, row)
		for _, r := range sums {
			p.eachVector(r, row, last, func(r VecVirtual, m Mem, part part) { p.store(r, m, part) })
			ADDQ(p.ldc, row)
		}
	})
	MOVQ(row, p.c)
	rows := map[int]Mem{
		1: {Base: p.a, Index: p.rowA, Scale: 1},
		2: {Base: p.a, Index: p.rowA, Scale: 2},
		4: {Base: p.a, Index: p.rowA, Scale: 4},
		6: {Base: p.a, Index: p.row3, Scale: 2},
		8: {Base: p.a, Index: p.rowA, Scale: 8},
	}
	LEAQ(rows[height], p.a)
}

// eachVector writes do for the vectors of a row that begins at start, the last
// of which may be a part.
func (p *panel) eachVector(row []VecVirtual, start Register, last part, do func(VecVirtual, Mem, part)) {
	for j, r := range row {
		part := whole
		if j == len(row)-1 {
			part = last
		}
		do(r, Mem{Base: start, Disp: p.bytes(j)}, part)
	}
}

// atEdge writes do for whole vectors and, beside it, for a last one that is
// masked: on some processors AVX2's masked moves are slow even with full masks.
func (p *panel) atEdge(name string, mask part, do func(last part)) {
	if p.vectors == avx512 {
		do(mask)
		return
	}
	CMPQ(p.last, Imm(uint64(p.lanes)))
	JLT(LabelRef(name + "Part"))
	do(whole)
	JMP(LabelRef(name + "Done"))
	Label(name + "Part")
	do(mask)
	Label(name + "Done")
}
