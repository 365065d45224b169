package main

import (
	"fmt"
	"strings"
)

// applyFew writes the kernel for the changes of ordinary moves: the rows are
// arguments, and all of them are read side by side.
func applyFew(f *file, added, removed int) {
	names := strings.Split("abcd"[:added+removed], "")
	k := f.function(fmt.Sprintf("apply%d%dNEON", added, removed),
		fmt.Sprintf("(dst, src, %s *byte, lines, sums int)", strings.Join(names, ", ")),
		fmt.Sprintf("sets dst = src + the first %d rows - the other %d.", added, removed))
	dst, src := k.param("dst"), k.param("src")
	rows := make([]gp, len(names))
	for i, n := range names {
		rows[i] = k.param(n)
	}
	lines, sums := k.param("lines"), k.param("sums")
	sum, read := k.vectors(lineVectors), k.vectors(4*lineVectors)

	line := func(add, sub arithmetic) {
		k.load(src, sum)
		for i, row := range rows {
			r := read[i*lineVectors:][:lineVectors]
			k.load(row, r)
			combine := add
			if i >= added {
				combine = sub
			}
			for j, s := range sum {
				k.do(combine, s, s, r[j])
			}
		}
		k.store(sum, dst)
	}
	k.times("lines", lines, func() { line(addH, subH) })
	k.op("CBZ", sums, "done")
	line(addS, subS)
	k.label("done")
	k.op("RET")
}

// applyMany writes the kernel for any number of rows: as many lines as there are
// registers for stay in them while all rows pass over. The sums go along with the
// first lines, for what costs most with few rows is that the end of every pass is
// not foreseen.
func applyMany(f *file) {
	k := f.function("applyManyNEON",
		"(dst, src, table *byte, stride int, added *int32, addedCount int, removed *int32, removedCount int, lines, sums int)",
		"sets dst = src + the rows of table listed in added - those listed in removed.")
	m := many{kernel: k, dst: k.param("dst"), src: k.param("src"), table: k.param("table"), stride: k.param("stride"),
		added: k.param("added"), removed: k.param("removed"), addedCount: k.param("addedCount"), removedCount: k.param("removedCount"),
		from: k.register(), to: k.register(), left: k.register(), row: k.register()}
	const most = 4 // lines
	m.lanes, m.sums, m.read = k.vectors(most*lineVectors), k.vectors(lineVectors), k.vectors(2*lineVectors)
	lines, sums := k.param("lines"), k.register()

	k.op("MOVD", k.arg("sums"), sums)
	k.op("CBZ", sums, "plain")
	k.op("LSL", "$6", lines, sums) // lines of lineBytes
	for n := most; n > 0; n /= 2 {
		next := fmt.Sprintf("fewer%d", n)
		if n > 1 {
			k.op("CMP", imm(n), lines)
			k.op("BLT", next)
		}
		m.pass(fmt.Sprintf("both%d", n), n, &sums)
		k.op("SUB", imm(n), lines)
		if n > 1 {
			k.op("B", "plain")
			k.label(next)
		}
	}
	k.label("plain")
	for n := most; n > 0; n /= 2 {
		loop := fmt.Sprintf("plain%d", n)
		k.label(loop)
		k.op("CMP", imm(n), lines)
		k.op("BLT", loop+"done")
		m.pass(loop, n, nil)
		k.op("SUB", imm(n), lines)
		k.op("B", loop)
		k.label(loop + "done")
	}
	k.op("RET")
}

// many is the registers of applyMany.
type many struct {
	*kernel
	dst, src, table, stride                  gp
	added, removed, addedCount, removedCount gp
	from, to, left, row                      gp
	lanes, sums, read                        []vec
}

// pass handles n lines, and the line of sums at an offset unless that is nil, and
// moves on.
func (m *many) pass(name string, n int, sums *gp) {
	lanes := m.lanes[:n*lineVectors]
	if sums != nil {
		m.op("ADD", *sums, m.src, m.from)
		m.load(m.from, m.sums)
	}
	m.load(m.src, lanes)
	m.list(name+"added", m.added, m.addedCount, lanes, addH, sums, addS)
	m.list(name+"removed", m.removed, m.removedCount, lanes, subH, sums, subS)
	if sums != nil {
		m.op("ADD", *sums, m.dst, m.to)
		m.store(m.sums, m.to)
	}
	m.store(lanes, m.dst)
	m.op("ADD", imm(n*lineBytes), m.table)
}

// list writes the loop over the rows of a list.
func (m *many) list(name string, start, count gp, lanes []vec, combine arithmetic, sums *gp, combineSums arithmetic) {
	m.op("CBZ", count, name+"end")
	m.op("MOVD", start, m.from)
	m.op("MOVD", count, m.left)
	m.times(name, m.left, func() {
		m.op("MOVW.P", m.from.at(4), m.row)
		m.op("MADD", m.stride, m.table, m.row, m.row)
		if sums != nil {
			m.op("ADD", *sums, m.row, m.to)
			m.line(m.to, m.sums, combineSums, m.read[:lineVectors])
		}
		for i := 0; i < len(lanes); i += lineVectors {
			m.line(m.row, lanes[i:i+lineVectors], combine, m.read[i%len(m.read):][:lineVectors])
		}
	})
	m.label(name + "end")
}

func (m *many) line(row gp, sums []vec, combine arithmetic, read []vec) {
	m.load(row, read)
	for j, s := range sums {
		m.do(combine, s, s, read[j])
	}
}
