package main

import (
	"fmt"
	"strconv"

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

// applyMany writes the kernel for any number of rows: blocks of lines stay in
// registers while all rows pass over them.
func (v vectors) applyMany() {
	v.function("applyMany",
		"func(dst, src, table *byte, stride int, added *int32, addedCount int, removed *int32, removedCount int, lines, sums int)",
		"sets dst = src + the rows of table listed in added - those listed in removed.")
	dst, src, table, stride := param("dst"), param("src"), param("table"), param("stride")
	lists := [2]list{newList("added"), newList("removed")}
	lines, sums := param("lines"), param("sums")

	block := func(name string, n int, add, subtract func(m, x, y Op)) {
		acc := v.registers(n * lineBytes / v.width())
		for i, r := range acc {
			v.move(Mem{Base: src, Disp: i * v.width()}, r)
		}
		for i, combine := range []func(m, x, y Op){add, subtract} {
			lists[i].each(name+strconv.Itoa(i), func(index Register) {
				IMULQ(stride, index)
				ADDQ(table, index)
				for j, r := range acc {
					combine(Mem{Base: index, Disp: j * v.width()}, r, r)
				}
			})
		}
		for i, r := range acc {
			v.move(r, Mem{Base: dst, Disp: i * v.width()})
		}
	}
	// blocks handles n lines at a time while as many are left.
	blocks := func(n int) {
		name := "lines" + strconv.Itoa(n)
		Label(name)
		CMPQ(lines, Imm(uint64(n)))
		JLT(LabelRef(name + "done"))
		block(name, n, op(VPADDW), op(VPSUBW))
		for _, r := range []Register{dst, src, table} {
			ADDQ(U32(uint32(n*lineBytes)), r)
		}
		SUBQ(Imm(uint64(n)), lines)
		JMP(LabelRef(name))
		Label(name + "done")
	}
	if v == avx512 {
		blocks(16)
	}
	blocks(4)
	blocks(1)
	TESTQ(sums, sums)
	JZ(LabelRef("done"))
	block("sums", 1, op(VPADDD), op(VPSUBD))
	Label("done")
	leave()
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
