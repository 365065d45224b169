package main

import "fmt"

// panelKind is what a panel kernel does with its products.
type panelKind int

const (
	panelAdd      panelKind = iota // FloatGemm
	panelSet                       // FloatWinograd
	panelClipBack                  // FloatGemmClipBack
)

// panel writes the kernel of a kind. A
// tile of C stays in registers while the products of all k are added, in order:
// per k it takes two or four vectors of a row of B, and as many elements of a
// column of A as it has rows.
func panel(f *file, kind panelKind) {
	name, does := "floatPanelNEON", "adds A·B to C"
	switch kind {
	case panelSet:
		name, does = "floatPanelSetNEON", "sets C to A·B"
	case panelClipBack:
		name, does = "floatPanelClipBackNEON", "replaces C by A·B where it lies within 0 and 1, elsewhere by 0"
	}
	k := f.function(name, "(c *float32, ldc int, a *float32, rowA, colA int, b *float32, ldb int, m, n, k int)",
		does+": m rows, n columns, 8 or 16, k products each. Strides are in bytes; C and B lie row by row.")
	p := &panelKernel{kernel: k, kind: kind, c: k.param("c"), ldc: k.param("ldc"), a: k.param("a"), rowA: k.param("rowA"), colA: k.param("colA"),
		b: k.register(), ldb: k.param("ldb"), m: k.param("m"), left: k.register(), row: k.register(), offset: k.register()}
	for range 8 {
		p.rows = append(p.rows, k.register())
	}
	n := k.param("n")
	k.op("CMP", "$8", n)
	k.op("BEQ", "narrow")
	p.tiles(4, []int{6, 4, 2, 1})
	k.label("narrow")
	p.tiles(2, []int{8, 4, 2, 1})
}

// panelKernel holds the registers of a panel kernel.
type panelKernel struct {
	*kernel
	kind                             panelKind
	c, ldc, a, rowA, colA, b, ldb, m gp
	left, row, offset                gp
	rows                             []gp // of A in a tile
}

// tiles writes the tiles of so many vectors' width, all heights.
func (p *panelKernel) tiles(width int, heights []int) {
	for _, height := range heights {
		name := fmt.Sprintf("tile%dx%d", height, width)
		p.label(name)
		p.op("CMP", imm(height), p.m)
		p.op("BLT", name+"done")
		p.vector = 0
		p.tile(name, height, width)
		p.op("SUB", imm(height), p.m)
		p.op("B", name)
		p.label(name + "done")
	}
	p.op("RET")
}

// tile writes one tile and moves c and a to the next.
func (p *panelKernel) tile(name string, height, width int) {
	sums := make([][]vec, height)
	for i := range sums {
		sums[i] = p.vectors(width)
	}
	right, left := p.vectors(width), p.vectors(min(height, 4))
	p.op("MOVD", p.c, p.row)
	for i, s := range sums {
		if p.kind == panelAdd {
			p.op("VLD1", p.row.at(0), list(s))
			p.op("ADD", p.ldc, p.row)
		} else {
			p.clear(s...)
		}
		p.op("MOVD", p.a, p.rows[i])
		p.op("ADD", p.rowA, p.a)
	}
	p.op("MOVD", p.arg("b"), p.b)
	p.op("MOVD", p.arg("k"), p.left)
	p.op("MOVD", "ZR", p.offset)
	p.times(name+"loop", p.left, func() {
		p.op("VLD1", p.b.at(0), list(right))
		p.op("ADD", p.ldb, p.b)
		for i, s := range sums {
			x := left[i%len(left)]
			p.op("FMOVS", p.rows[i].by(p.offset), x.scalar())
			for j, sum := range s {
				p.doLane(mulAddLane, 0, sum, right[j], x)
			}
		}
		p.op("ADD", p.colA, p.offset)
	})
	if p.kind == panelClipBack {
		p.finish(sums, right)
	}
	for _, s := range sums {
		p.op("VST1", list(s), p.c.at(0))
		p.op("ADD", p.ldc, p.c)
	}
}

// finish goes back through the clipped numbers of C.
func (p *panelKernel) finish(sums [][]vec, x []vec) {
	// The registers of the tile's products are free, but not enough.
	const zero, one, above = vec(31), vec(30), vec(29)
	p.clear(zero)
	p.op("FMOVS", "$(1.0)", one.scalar())
	p.spread(one, 0, one)
	p.op("MOVD", p.c, p.row)
	for _, s := range sums {
		p.op("VLD1", p.row.at(0), list(x))
		p.op("ADD", p.ldc, p.row)
		for j, sum := range s {
			p.within([]vec{sum}, x[j:j+1], []vec{above}, zero, one)
		}
	}
}
