package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// channelsFirst writes the kernel that brings images to the order of ONNX: rows of
// eight squares, eight channels at a time, change places. There is one for all
// levels: wider vectors hold no more squares of a row.
func channelsFirst() {
	avx2.function("floatChannelsFirst", "func(dst *float32, src *float32, square, row, blocks int)",
		"writes 8·blocks channels of an image, one after the other; square and row are in bytes.")
	dst, src, square, row, blocks := param("dst"), param("src"), param("square"), param("row"), param("blocks")
	square3, rows, from, fifth, to, left := GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	LEAQ(Mem{Base: square, Index: square, Scale: 2}, square3)
	MOVQ(U32(convSide), rows)
	Label("row")
	MOVQ(src, from)
	LEAQ(Mem{Base: src, Index: square, Scale: 4}, fifth)
	MOVQ(dst, to)
	MOVQ(blocks, left)
	Label("block")
	i := image{square: square, square3: square3}
	for half := range 2 { // four channels of all squares
		at := i.squares(convSide, from, fifth, 16*half)
		var pairs [4]VecVirtual // the four channels of a square and of the fourth after it
		for k := range pairs {
			pairs[k] = YMM()
			VMOVUPS(at[k], pairs[k].AsX())
			VINSERTF128(Imm(1), at[k+4], pairs[k], pairs[k])
		}
		for high := range 2 { // two of them
			unpack := VUNPCKLPS
			if high == 1 {
				unpack = VUNPCKHPS
			}
			a, b, low, up := YMM(), YMM(), YMM(), YMM()
			unpack(pairs[1], pairs[0], a)
			unpack(pairs[3], pairs[2], b)
			VUNPCKLPD(b, a, low)
			VUNPCKHPD(b, a, up)
			channel := 4*half + 2*high
			VMOVUPS(low, Mem{Base: to, Disp: channel * planeBytes})
			VMOVUPS(up, Mem{Base: to, Disp: (channel + 1) * planeBytes})
		}
	}
	ADDQ(Imm(8*4), from)
	ADDQ(Imm(8*4), fifth)
	ADDQ(U32(8*planeBytes), to)
	DECQ(left)
	JNZ(LabelRef("block"))
	ADDQ(row, src)
	ADDQ(Imm(convSide*4), dst)
	DECQ(rows)
	JNZ(LabelRef("row"))
	leave()
}

// planeBytes is the size of a channel of an image.
const planeBytes = 4 * convSide * convSide
