package main

import "fmt"

// gatherSum writes the sum of rows, in the order of their list, column by column
// as the plain code does, with the same bits. As many columns as there are
// registers for stay in them while all rows pass over.
func gatherSum(f *file) {
	k := f.function("floatGatherSumNEON", "(dst, base *float32, n int, table *float32, stride, limit int, rows *int32, count int) bool",
		"is FloatGatherSum of n columns, stride in bytes. It stops with false at a row that begins beyond limit bytes.")
	dst, base, left, table := k.param("dst"), k.param("base"), k.param("n"), k.param("table")
	stride, limit, rows, count := k.param("stride"), k.param("limit"), k.param("rows"), k.param("count")
	next, more, row := k.register(), k.register(), k.register()
	sums, read := k.vectors(24), k.vectors(8)

	for _, columns := range []int{96, 64, 32, 16, 8, 4, 1} {
		name := fmt.Sprintf("columns%d", columns)
		vectors := (columns + floatLanes - 1) / floatLanes
		k.op("SUBS", imm(columns), left)
		k.op("BLT", name+"done")
		k.label(name)
		if columns == 1 {
			k.op("FMOVS.P", base.at(4), sums[0].scalar())
		} else {
			k.load(base, sums[:vectors])
		}
		k.op("MOVD", rows, next)
		k.op("MOVD", count, more)
		k.times(name+"row", more, func() {
			k.op("MOVW.P", next.at(4), row)
			k.op("MUL", stride, row)
			k.op("CMP", limit, row)
			k.op("BHI", "outside") // unsigned: negative rows are, too
			k.op("ADD", table, row)
			if columns == 1 {
				k.op("FMOVS", row.at(0), read[0].scalar())
				k.do(addF, sums[0], sums[0], read[0])
				return
			}
			for i := 0; i < vectors; i += 4 {
				part := read[i%len(read):][:min(4, vectors)]
				k.load(row, part)
				k.each(addF, sums[i:i+len(part)], sums[i:], part)
			}
		})
		if columns == 1 {
			k.op("FMOVS.P", sums[0].scalar(), dst.at(4))
		} else {
			k.store(sums[:vectors], dst)
		}
		k.op("ADD", imm(4*columns), table)
		k.op("SUBS", imm(columns), left)
		k.op("BGE", name)
		k.label(name + "done")
		k.op("ADD", imm(columns), left)
	}
	k.op("MOVD", "$1", row)
	k.op("MOVB", row, k.arg("ret"))
	k.op("RET")
	k.label("outside")
	k.op("MOVB", "ZR", k.arg("ret"))
	k.op("RET")
}
