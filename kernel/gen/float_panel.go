package main

import (
	"fmt"
	"slices"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tileRows are the heights of the tiles of so many vectors' width that a panel is
// cut into, from the top.
func (v vectors) tileRows(width int) []int {
	switch {
	case v == avx512 && width == 1:
		return []int{16, 8, 4, 2, 1}
	case v == avx512:
		return []int{8, 4, 2, 1}
	}
	return []int{6, 4, 2, 1}
}

// panelKind is what a panel kernel does with its products.
type panelKind int

const (
	panelAdd      panelKind = iota // FloatGemm
	panelSet                       // FloatWinograd
	panelClipBack                  // FloatGemmClipBack
)

// panel writes the kernel of a kind. A
// tile of C stays in registers while the products of all k are added, in order:
// per k it takes one or two vectors of a row of B, and as many elements of a
// column of A as it has rows, each spread over a vector.
func (v vectors) panel(kind panelKind) {
	name, does := "floatPanel", "adds A·B to C"
	switch kind {
	case panelSet:
		name, does = "floatPanelSet", "sets C to A·B"
	case panelClipBack:
		name, does = "floatPanelClipBack", "replaces C by A·B where it lies within 0 and 1, elsewhere by 0"
	}
	v.function(name, "func(c *float32, ldc int, a *float32, rowA, colA int, b *float32, ldb int, m, n, k int)",
		fmt.Sprintf("%s: m rows, n ≤ %d columns, k products each. B's rows have %d columns if n ≤ %[3]d, else %[2]d. Strides are in bytes; C and B lie row by row.", does, 2*v.lanes, v.lanes))
	p := panel{vectors: v, kind: kind, c: param("c"), ldc: param("ldc"), a: param("a"), rowA: param("rowA"), colA: param("colA"),
		ldb: param("ldb"), m: param("m"), row3: GP64(), row5: GP64(), row7: GP64(), last: GP64()}
	switch {
	case kind != panelClipBack:
	case v == avx512:
		p.zero, p.one = v.zero(), v.one()
	default: // no registers are left for them
		p.zero, p.one = constants("floatZeros", make([]uint32, v.lanes)...), constants("floatOnes", slices.Repeat([]uint32{oneBits}, v.lanes)...)
	}
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
	kind                          panelKind
	c, ldc, a, rowA, colA, ldb, m Register
	row3, row5, row7              Register // multiples of rowA
	last                          Register // columns in the last vector of a row
	zero, one                     Op       // of panelClipBack
}

// tiles writes the tiles of so many vectors' width, all heights.
func (p *panel) tiles(width int) {
	mask := p.leading(p.last)
	for _, height := range p.tileRows(width) {
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
	if p.kind != panelAdd {
		for _, r := range sums {
			for _, sum := range r {
				VXORPS(sum, sum, sum) // of which avo knows that it reads nothing
			}
		}
	} else {
		p.atEdge(name+"Load", mask, func(last part) {
			MOVQ(p.c, row)
			for _, r := range sums {
				p.eachVector(r, row, last, func(r VecVirtual, m Mem, part part) { p.load(m, part, r) })
				ADDQ(p.ldc, row)
			}
		})
	}

	b, left := GP64(), GP64()
	MOVQ(memory("b"), b)
	MOVQ(memory("k"), left)
	columns, column := []Register{p.a}, p.column(p.a)
	if height > len(column) {
		below := GP64()
		LEAQ(Mem{Base: p.a, Index: p.rowA, Scale: 8}, below)
		columns, column = append(columns, below), append(column, p.column(below)...)
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
	for _, r := range columns {
		ADDQ(p.colA, r)
	}
	ADDQ(p.ldb, b)
	DECQ(left)
	JNZ(LabelRef(name + "Loop"))

	p.atEdge(name+"Store", mask, func(last part) {
		MOVQ(p.c, row)
		for _, r := range sums {
			p.eachVector(r, row, last, p.finish)
			ADDQ(p.ldc, row)
		}
	})
	MOVQ(row, p.c)
	MOVQ(memory("a"), p.a)
	for left := height; left > 0; left -= 8 {
		LEAQ(p.below(min(left, 8)), p.a)
	}
	MOVQ(p.a, memory("a"))
}

// column returns where eight elements of a column of A lie, the first at a.
func (p *panel) column(a Register) []Mem {
	return []Mem{
		{Base: a},
		{Base: a, Index: p.rowA, Scale: 1},
		{Base: a, Index: p.rowA, Scale: 2},
		{Base: a, Index: p.row3, Scale: 1},
		{Base: a, Index: p.rowA, Scale: 4},
		{Base: a, Index: p.row5, Scale: 1},
		{Base: a, Index: p.row3, Scale: 2},
		{Base: a, Index: p.row7, Scale: 1},
	}
}

// below returns where A lies so many rows further, up to eight.
func (p *panel) below(rows int) Mem {
	if rows == 8 {
		return Mem{Base: p.a, Index: p.rowA, Scale: 8}
	}
	return p.column(p.a)[rows]
}

// finish writes what becomes of the sums of a vector of C.
func (p *panel) finish(sum VecVirtual, m Mem, part part) {
	if p.kind == panelClipBack {
		x := p.register()
		p.load(m, part, x)
		p.within(x, sum, p.zero, p.one)
	}
	p.store(sum, m, part)
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
