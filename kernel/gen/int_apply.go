package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// fewLines is how many lines applyFew handles per turn of its loop: enough for
// the loads, not the instructions, to be what takes the time.
const fewLines = 4

// applyFew writes the kernel for the changes of ordinary moves: the rows are
// arguments, and all of them are read side by side.
func (v vectors) applyFew(added, removed int) {
	const letters = "abcd"
	names := []string{}
	for i := range added + removed {
		names = append(names, letters[i:i+1])
	}
	list := ""
	for _, n := range names {
		list += ", " + n
	}
	v.function(fmt.Sprintf("apply%d%d", added, removed),
		fmt.Sprintf("func(dst, src%s *byte, lines, sums int)", list),
		fmt.Sprintf("sets dst = src + the first %d rows - the other %d.", added, removed))
	dst, src := param("dst"), param("src")
	rows := make([]Register, len(names))
	for i, n := range names {
		rows[i] = param(n)
	}
	lines, sums := param("lines"), param("sums")

	line := func(at int, add, subtract func(m, x, y Op)) {
		for offset := at * lineBytes; offset < (at+1)*lineBytes; offset += v.width() {
			r := v.register()
			v.move(Mem{Base: src, Disp: offset}, r)
			for i, row := range rows {
				if i < added {
					add(Mem{Base: row, Disp: offset}, r, r)
				} else {
					subtract(Mem{Base: row, Disp: offset}, r, r)
				}
			}
			v.move(r, Mem{Base: dst, Disp: offset})
		}
	}
	words := func(at int) { line(at, op(VPADDW), op(VPSUBW)) }
	advance := func(n int) {
		for _, r := range append([]Register{dst, src}, rows...) {
			ADDQ(U32(uint32(n*lineBytes)), r)
		}
	}

	SUBQ(Imm(fewLines), lines)
	JLT(LabelRef("rest"))
	Label("lines")
	for i := range fewLines {
		words(i)
	}
	advance(fewLines)
	SUBQ(Imm(fewLines), lines)
	JGE(LabelRef("lines"))
	Label("rest")
	ADDQ(Imm(fewLines), lines)
	JZ(LabelRef("sums"))
	Label("line")
	words(0)
	advance(1)
	DECQ(lines)
	JNZ(LabelRef("line"))
	Label("sums")
	TESTQ(sums, sums)
	JZ(LabelRef("done"))
	line(0, op(VPADDD), op(VPSUBD))
	Label("done")
	leave()
}

// op gives the instructions of avo, some of which take a writemask too, one type.
func op(f func(...Op)) func(m, x, y Op) { return func(m, x, y Op) { f(m, x, y) } }

// applyMany writes the kernel for any number of rows: as many lines as there are
// registers for stay in them while all rows pass over. The sums go along with
// the first lines, for what costs most with few rows is that the end of every
// pass is not foreseen.
func (v vectors) applyMany() {
	v.function("applyMany",
		"func(dst, src, table *byte, stride int, added *int32, addedCount int, removed *int32, removedCount int, lines, sums int)",
		"sets dst = src + the rows of table listed in added - those listed in removed.")
	m := many{
		vectors: v, dst: param("dst"), src: param("src"), table: param("table"), stride: param("stride"),
		lists: [2]list{newList("added"), newList("removed")},
	}
	lines, sums := param("lines"), GP64()
	sizes := []int{16, 8, 4, 2, 1}
	if v == avx2 {
		sizes = sizes[2:] // two registers a line
	}
	CMPQ(memory("sums"), Imm(0))
	JEQ(LabelRef("plain"))
	MOVQ(lines, sums)
	SHLQ(Imm(6), sums) // lines of lineBytes
	for _, n := range sizes {
		next := fmt.Sprintf("fewer%d", n)
		if n > 1 {
			CMPQ(lines, Imm(uint64(n)))
			JLT(LabelRef(next))
		}
		m.pass(fmt.Sprintf("both%d", n), n, sums)
		SUBQ(Imm(uint64(n)), lines)
		if n > 1 {
			JMP(LabelRef("plain"))
			Label(next)
		}
	}
	Label("plain")
	for _, n := range sizes {
		loop := fmt.Sprintf("plain%d", n)
		Label(loop)
		CMPQ(lines, Imm(uint64(n)))
		JLT(LabelRef(loop + "done"))
		m.pass(loop, n, nil)
		SUBQ(Imm(uint64(n)), lines)
		JMP(LabelRef(loop))
		Label(loop + "done")
	}
	leave()
}

// many is the arguments of applyMany.
type many struct {
	vectors
	dst, src, table, stride Register
	lists                   [2]list
}

// pass handles n lines, and the line of sums at an offset unless that is nil,
// and moves on.
func (m many) pass(name string, n int, sums Register) {
	w := m.width()
	acc := m.registers(n * lineBytes / w)
	at := func(start Register, i int) Mem { return Mem{Base: start, Disp: i * w} }
	var sumAcc []VecVirtual
	if sums != nil {
		sumAcc = m.registers(lineBytes / w)
	}
	sumsAt := func(start Register, i int) Mem { return Mem{Base: start, Index: sums, Scale: 1, Disp: i * w} }

	for i, r := range acc {
		m.move(at(m.src, i), r)
	}
	for i, r := range sumAcc {
		m.move(sumsAt(m.src, i), r)
	}
	for i, combine := range [][2]func(m, x, y Op){{op(VPADDW), op(VPADDD)}, {op(VPSUBW), op(VPSUBD)}} {
		m.lists[i].each(name+[]string{"added", "removed"}[i], func(row Register) {
			IMULQ(m.stride, row)
			ADDQ(m.table, row)
			for j, r := range acc {
				combine[0](at(row, j), r, r)
			}
			for j, r := range sumAcc {
				combine[1](sumsAt(row, j), r, r)
			}
		})
	}
	for i, r := range acc {
		m.move(r, at(m.dst, i))
	}
	for i, r := range sumAcc {
		m.move(r, sumsAt(m.dst, i))
	}
	for _, r := range []Register{m.dst, m.src, m.table} {
		ADDQ(U32(uint32(n*lineBytes)), r)
	}
}

// list is an argument of row numbers, held as its end and minus its length.
type list struct{ end, start Register }

// newList loads the list of a name.
func newList(name string) list {
	l := list{param(name), param(name + "Count")}
	LEAQ(Mem{Base: l.end, Index: l.start, Scale: 4}, l.end)
	NEGQ(l.start)
	return l
}

// each writes a loop that runs body with every number of the list.
func (l list) each(name string, body func(index Register)) {
	i, index := GP64(), GP64()
	MOVQ(l.start, i)
	TESTQ(i, i)
	JZ(LabelRef(name + "end"))
	Label(name)
	MOVLQSX(Mem{Base: l.end, Index: i, Scale: 4}, index)
	body(index)
	INCQ(i)
	JNZ(LabelRef(name))
	Label(name + "end")
}
