package main

import (
	"fmt"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// This file writes the kernels of AMX, whose registers are tiles: matrices of up to 16
// rows of 64 bytes. The assembler does not know its instructions, nor does avo know what
// registers they read. So they are written as bytes, and functions with them name every
// register themselves.

// tile is a register of AMX, 0 to 7.
type tile int

// general returns the number of a register that addresses of tiles are made of.
func general(r Register) int {
	n, ok := map[Register]int{RDX: 2, R8: 8, R9: 9, R10: 10}[r]
	if !ok {
		panic("no number for " + r.Asm())
	}
	return n
}

// The prefixes that VEX stands for, as it numbers them.
const (
	prefixNone = iota
	prefix66
	prefixF3
	prefixF2
)

// code is bytes and the instruction that they are.
type code struct {
	bytes []byte
	text  string
}

// write adds the code to the function, as one operation that avo takes for an unknown
// one.
func (c code) write() {
	var all []string
	for _, b := range c.bytes {
		all = append(all, fmt.Sprintf("BYTE $0x%02x", b))
	}
	Instruction(&ir.Instruction{Opcode: strings.Join(all, "; ") + " // " + c.text})
}

// vex returns a code with the three-byte VEX prefix, in the map of opcodes 0F38, whose
// source is the tile of vvvv. Registers of an address from 8 on are marked as such.
func vex(prefix int, opcode byte, source tile, index, base bool, rest ...byte) []byte {
	second, third := byte(0xe2), byte(^int(source)&15)<<3|byte(prefix)
	if index {
		second &^= 0x40
	}
	if base {
		second &^= 0x20
	}
	return append([]byte{0xc4, second, third, opcode}, rest...)
}

// move is a code of a tile and memory: the rows begin at base, stride bytes apart.
func move(name string, prefix int, t tile, base, stride Register) code {
	b, s := general(base), general(stride)
	text := fmt.Sprintf("%s (%s)(%s*1), tmm%d", name, base.Asm(), stride.Asm(), t)
	return code{vex(prefix, 0x4b, 0, s >= 8, b >= 8, byte(t)<<3|0b100, byte(s&7<<3|b&7)), text}
}

func loadTile(t tile, base, stride Register)  { move("TILELOADD", prefixF2, t, base, stride).write() }
func storeTile(t tile, base, stride Register) { move("TILESTORED", prefixF3, t, base, stride).write() }

func clearTile(t tile) {
	code{vex(prefixF2, 0x49, 0, false, false, 0xc0|byte(t)<<3), fmt.Sprintf("TILEZERO tmm%d", t)}.write()
}

// addProducts adds to each number of sums the products of a row of x, unsigned bytes, and
// a column of y, signed ones, where a column is four bytes wide.
func addProducts(sums, x, y tile) {
	code{vex(prefix66, 0x5e, y, false, false, 0xc0|byte(sums)<<3|byte(x)), fmt.Sprintf("TDPBUSD tmm%d, tmm%d, tmm%d", y, x, sums)}.write()
}

func configureTiles(at Register) {
	n := general(at)
	code{vex(prefixNone, 0x49, 0, false, n >= 8, byte(n&7)), fmt.Sprintf("LDTILECFG (%s)", at.Asm())}.write()
}

func releaseTiles() { code{vex(prefixNone, 0x49, 0, false, false, 0xc0), "TILERELEASE"}.write() }

// tileKernels writes the byte convolution of AMX.
func tileKernels() {
	for _, width := range []int{1, 2} {
		tileConvolution{width}.write()
	}
}

// tileConvolution is the kernel for one or two blocks of output channels. It computes
// one or two places at a time, which are 16 squares each: sums of products by tiles,
// stored in a space in memory, and what follows by vectors.
type tileConvolution struct{ width int }

// The tiles: sums of two places by two blocks of outputs, the inputs of both places and the
// weights of both blocks.
const (
	inputTile  tile = 4
	weightTile tile = 6
)

func sumTile(place, block int) tile { return tile(2*place + block) }

const (
	tileRows     = 16
	tileRowBytes = 64
	tileBytes    = tileRows * tileRowBytes
)

// The registers of a tileConvolution. Those of the loops of products are free where sums
// are finished.
var (
	windows                   = []Register{RAX, RBX} // of each place
	tileWeights               = RDX
	srcSquare                 = R8
	stride, address           = R9, R10
	offset, lastOffset        = R11, R13
	windowRows                = R12
	dstSquare, square, column = RSI, RDI, RCX // what is finished next
	firstSquare               = R15           // of the first place
)

func (c tileConvolution) write() {
	function(fmt.Sprintf("byteConv%dAMX", c.width*convBlock),
		"func(config *uint8, dst *float32, dstStep, dstSkip int, src *uint8, square, srcRow int, weights *int8, last int, size int, sums *int32, count, border int, bias, scales, add *float32, low, high float32)",
		fmt.Sprintf("writes %d output channels of one image. A window has size rows; the last tile of a row begins last bytes from its start, and the tiles of weights follow each other. Sums are computed for count squares of src one after the other, with border squares, which are left out, between its rows. Squares of dst are dstStep bytes apart and those of the next row dstSkip more.", c.width*convBlock))
	Load(Param("config"), address)
	configureTiles(address)
	c.constants()
	Load(Param("dst"), dstSquare)
	Load(Param("square"), srcSquare)
	XORQ(square, square)
	XORQ(firstSquare, firstSquare)
	MOVQ(U32(convSide), column)
	Label("pair")
	LEAQ(Mem{Base: firstSquare, Disp: tileRows}, address)
	CMPQ(address, memory("count"))
	JGE(LabelRef("single"))
	c.places(2, "pair")
	c.finish(2, "pair")
	ADDQ(Imm(2*tileRows), firstSquare)
	CMPQ(firstSquare, memory("count"))
	JLT(LabelRef("pair"))
	JMP(LabelRef("done"))
	Label("single")
	c.places(1, "single")
	c.finish(1, "single")
	Label("done")
	releaseTiles()
	leave()
}

// places writes the sums of one place, or of two so that every tile read is multiplied
// twice.
func (c tileConvolution) places(n int, name string) {
	if n == 1 {
		MOVQ(memory("count"), firstSquare)
		SUBQ(Imm(tileRows), firstSquare)
	}
	for p := range n {
		c.place(p, windows[p])
		IMULQ(srcSquare, windows[p])
		ADDQ(memory("src"), windows[p])
		for b := range c.width {
			clearTile(sumTile(p, b))
		}
	}
	Load(Param("weights"), tileWeights)
	Load(Param("size"), windowRows)
	Load(Param("last"), lastOffset)
	MOVQ(U32(tileRowBytes), stride)
	Label(name + "Row")
	XORQ(offset, offset)
	Label(name + "Inner")
	for b := range c.width {
		loadTile(weightTile+tile(b), tileWeights, stride)
		for p := range n {
			if b == 0 {
				LEAQ(Mem{Base: windows[p], Index: offset, Scale: 1}, address)
				loadTile(inputTile+tile(p), address, srcSquare)
			}
			addProducts(sumTile(p, b), inputTile+tile(p), weightTile+tile(b))
		}
		ADDQ(U32(tileBytes), tileWeights)
	}
	// The last tile of a row of the window overlaps the one before.
	MOVQ(offset, address)
	ADDQ(stride, offset)
	CMPQ(offset, lastOffset)
	CMOVQGT(lastOffset, offset)
	CMPQ(address, lastOffset)
	JLT(LabelRef(name + "Inner"))
	for p := range n {
		ADDQ(memory("srcRow"), windows[p])
	}
	DECQ(windowRows)
	JNZ(LabelRef(name + "Row"))
	MOVQ(U32(uint32(tileRowBytes*c.width)), stride) // of a square's sums, for finish too
	for p := range n {
		c.place(p, address)
		SUBQ(firstSquare, address)
		IMULQ(stride, address)
		ADDQ(memory("sums"), address)
		for b := range c.width {
			if b > 0 {
				ADDQ(Imm(tileRowBytes), address)
			}
			storeTile(sumTile(p, b), address, stride)
		}
	}
}

// place sets a register to where place p begins: that of the last squares may begin before
// the end of the first one.
func (c tileConvolution) place(p int, r Register) {
	if p == 0 {
		MOVQ(firstSquare, r)
		return
	}
	MOVQ(memory("count"), r)
	SUBQ(Imm(tileRows), r)
	LEAQ(Mem{Base: firstSquare, Disp: p * tileRows}, offset)
	CMPQ(r, offset)
	CMOVQGT(offset, r)
}

// The vectors of a tileConvolution.
var (
	biasVectors, scaleVectors, sumVectors = []VecPhysical{Z0, Z1}, []VecPhysical{Z2, Z3}, []VecPhysical{Z4, Z5}
	lowVector, highVector                 = Z6, Z7
)

func (c tileConvolution) constants() {
	VBROADCASTSS(memory("low"), lowVector)
	VBROADCASTSS(memory("high"), highVector)
	bias, scales := RAX, RBX
	Load(Param("bias"), bias)
	Load(Param("scales"), scales)
	for b := range c.width {
		VMOVUPS(Mem{Base: bias, Disp: tileRowBytes * b}, biasVectors[b])
		VMOVUPS(Mem{Base: scales, Disp: tileRowBytes * b}, scaleVectors[b])
	}
}

// finish turns the sums of the squares before the end of n places into outputs. It rounds after each
// operation, as the plain code does.
func (c tileConvolution) finish(n int, name string) {
	sums, add, skip, end := RAX, RBX, R11, R12
	Load(Param("add"), add)
	SUBQ(memory("dst"), add)
	Load(Param("border"), skip)
	IMULQ(stride, skip)
	LEAQ(Mem{Base: firstSquare, Disp: n * tileRows}, end)
	CMPQ(end, memory("count"))
	CMOVQGT(memory("count"), end)
	MOVQ(square, sums)
	SUBQ(firstSquare, sums)
	IMULQ(stride, sums)
	ADDQ(memory("sums"), sums)
	each := func(do func(b int, r VecPhysical)) {
		for b, r := range sumVectors[:c.width] {
			do(b, r)
		}
	}
	JMP(LabelRef(name + "Check"))
	Label(name + "Square")
	each(func(b int, r VecPhysical) {
		VCVTDQ2PS(Mem{Base: sums, Disp: tileRowBytes * b}, r)
		VMULPS(scaleVectors[b], r, r)
		VADDPS(biasVectors[b], r, r)
	})
	CMPQ(memory("add"), Imm(0))
	JEQ(LabelRef(name + "Clamp"))
	each(func(b int, r VecPhysical) {
		VADDPS(Mem{Base: dstSquare, Index: add, Scale: 1, Disp: tileRowBytes * b}, r, r)
	})
	Label(name + "Clamp")
	each(func(b int, r VecPhysical) {
		VMAXPS(r, lowVector, r) // of two values that do not compare, the first operand's: NaN stays
		VMINPS(r, highVector, r)
		VMOVUPS(r, Mem{Base: dstSquare, Disp: tileRowBytes * b})
	})
	ADDQ(memory("dstStep"), dstSquare)
	ADDQ(stride, sums)
	INCQ(square)
	DECQ(column)
	JNZ(LabelRef(name + "Check"))
	MOVQ(U32(convSide), column)
	ADDQ(memory("dstSkip"), dstSquare)
	ADDQ(skip, sums)
	ADDQ(memory("border"), square)
	Label(name + "Check")
	CMPQ(square, end)
	JLT(LabelRef(name + "Square"))
}
