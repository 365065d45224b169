package main

// channelsFirst writes the kernel that brings images to the order of ONNX: four
// squares of a row, four channels at a time, change places.
func channelsFirst(f *file) {
	k := f.function("floatChannelsFirstNEON", "(dst *float32, src *float32, square, row, blocks int)",
		"writes 4·blocks channels of an image, one after the other; square and row are in bytes.")
	dst, src, square, row, blocks := k.param("dst"), k.param("src"), k.param("square"), k.param("row"), k.param("blocks")
	halves, left, from, next, to, plane := k.register(), k.register(), k.register(), k.register(), k.register(), k.register()
	squares := k.vectors(4)
	k.op("MOVD", imm(planeBytes), plane)
	k.op("MOVD", imm(2*convSide), halves)
	k.times("half", halves, func() {
		k.op("MOVD", src, from)
		k.op("MOVD", dst, to)
		k.op("MOVD", blocks, left)
		k.times("block", left, func() {
			k.op("MOVD", from, next)
			for _, v := range squares {
				k.op("VLD1", next.at(0), list([]vec{v}))
				k.op("ADD", square, next)
			}
			for lane := range floatLanes {
				k.storeLane(squares, lane, to, plane)
			}
			k.op("ADD", imm(vectorBytes), from)
		})
		k.op("ADD", imm(vectorBytes), dst)
		k.op("ADD", square.shifted(2), src)
		// After the second half of a row comes the next one.
		k.op("TBZ", "$0", halves, "first")
		k.op("SUB", square.shifted(3), src)
		k.op("ADD", row, src)
		k.label("first")
	})
	k.op("RET")
}

// planeBytes is the size of a channel of an image.
const planeBytes = 4 * convSide * convSide
