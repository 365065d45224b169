package main

import (
	"fmt"
	"strings"
)

const (
	vectorBytes = 16
	floatLanes  = vectorBytes / 4
)

// vec is a vector register.
type vec int

// as is the register in an arrangement of Go's assembler, such as S4.
func (v vec) as(arrangement string) string { return fmt.Sprintf("V%d.%s", int(v), arrangement) }

// scalar is the name of the register's lowest lane, or of all, in moves.
func (v vec) scalar() string { return fmt.Sprintf("F%d", int(v)) }

// vectors returns n unused registers, in a row.
func (k *kernel) vectors(n int) []vec {
	all := make([]vec, n)
	for i := range all {
		all[i] = vec(k.vector)
		k.vector++
	}
	if k.vector > 32 {
		panic("vector registers are used up")
	}
	return all
}

// list is registers in a row as operand.
func list(all []vec) string {
	text := make([]string, len(all))
	for i, v := range all {
		text[i] = v.as("B16")
	}
	return "[" + strings.Join(text, ", ") + "]"
}

// load reads registers in a row, four at most at once, and moves the address
// behind them.
func (k *kernel) load(from gp, to []vec) {
	for ; len(to) > 0; to = to[min(4, len(to)):] {
		part := to[:min(4, len(to))]
		k.op("VLD1.P", from.at(vectorBytes*len(part)), list(part))
	}
}

// store is the reverse of load.
func (k *kernel) store(from []vec, to gp) {
	for ; len(from) > 0; from = from[min(4, len(from)):] {
		part := from[:min(4, len(from))]
		k.op("VST1.P", list(part), to.at(vectorBytes*len(part)))
	}
}

// storeLane writes one lane of four registers in a row, and moves the address on by
// step.
func (k *kernel) storeLane(from []vec, lane int, to, step gp) {
	v := int(from[0])
	k.word(fmt.Sprintf("st4 {v%d.s-v%d.s}[%d], [x%d], x%d", v, v+3, lane, int(to), int(step)),
		0x0da0a000|uint32(lane>>1)<<30|uint32(lane&1)<<12|uint32(step)<<16|uint32(to)<<5|uint32(v))
}

// clear sets registers to zero.
func (k *kernel) clear(all ...vec) {
	for _, v := range all {
		k.op("VEOR", v.as("B16"), v.as("B16"), v.as("B16"))
	}
}

// repeat fills a register with a number in every lane: B16, H8 or S4.
func (k *kernel) repeat(number int, arrangement string) vec {
	v, r := k.vectors(1)[0], k.register()
	k.op("MOVD", imm(number), r)
	k.op("VDUP", r, v.as(arrangement))
	return v
}

// spread fills register v with the lane of another.
func (k *kernel) spread(from vec, lane int, v vec) {
	k.op("VDUP", fmt.Sprintf("V%d.S[%d]", int(from), lane), v.as("S4"))
}

// arithmetic is a vector instruction. Go's assembler lacks most, so they are
// written as words with ARM's text beside them; TestWords assembles the text.
type arithmetic struct {
	text string // with a verb for each register: the destination, then the sources
	word uint32 // with registers 0
}

var (
	addH    = arithmetic{"add v%d.8h, v%d.8h, v%d.8h", 0x4e608400}
	addS    = arithmetic{"add v%d.4s, v%d.4s, v%d.4s", 0x4ea08400}
	subH    = arithmetic{"sub v%d.8h, v%d.8h, v%d.8h", 0x6e608400}
	subS    = arithmetic{"sub v%d.4s, v%d.4s, v%d.4s", 0x6ea08400}
	addPair = arithmetic{"addp v%d.4s, v%d.4s, v%d.4s", 0x4ea0bc00}
	// addPairH adds up neighbours of both sources.
	addPairH = arithmetic{"addp v%d.8h, v%d.8h, v%d.8h", 0x4e60bc00}
	// addUpPairs adds sums of neighbours to lanes twice as wide.
	addUpPairs = arithmetic{"sadalp v%d.4s, v%d.8h", 0x4e606800}
	addUp      = arithmetic{"addv s%d, v%d.4s", 0x4eb1b800}
	maxB       = arithmetic{"smax v%d.16b, v%d.16b, v%d.16b", 0x4e206400}
	maxS       = arithmetic{"smax v%d.4s, v%d.4s, v%d.4s", 0x4ea06400}
	minS       = arithmetic{"smin v%d.4s, v%d.4s, v%d.4s", 0x4ea06c00}
	mulAddS    = arithmetic{"mla v%d.4s, v%d.4s, v%d.4s", 0x4ea09400}
	// shiftS shifts right by negative counts.
	shiftS = arithmetic{"sshl v%d.4s, v%d.4s, v%d.4s", 0x4ea04400}

	// Saturating narrowing: the lower half of the result and, with High, the upper.
	narrowH     = arithmetic{"sqxtn v%d.8b, v%d.8h", 0x0e214800}
	narrowHHigh = arithmetic{"sqxtn2 v%d.16b, v%d.8h", 0x4e214800}
	narrowS     = arithmetic{"sqxtn v%d.4h, v%d.4s", 0x0e614800}
	narrowSHigh = arithmetic{"sqxtn2 v%d.8h, v%d.4s", 0x4e614800}

	// Products of bytes, of the lower halves and of the upper.
	mulB        = arithmetic{"smull v%d.8h, v%d.8b, v%d.8b", 0x0e20c000}
	mulBHigh    = arithmetic{"smull2 v%d.8h, v%d.16b, v%d.16b", 0x4e20c000}
	mulAddBHigh = arithmetic{"smlal2 v%d.8h, v%d.16b, v%d.16b", 0x4e208000}
	// mulHigh is the product of 16-bit lanes >> 15.
	mulHigh = arithmetic{"sqdmulh v%d.8h, v%d.8h, v%d.8h", 0x4e60b400}
	// Shifts by productShift to half the width.
	shiftNarrow     = arithmetic{"shrn v%d.8b, v%d.8h, #6", 0x0f0a8400}
	shiftNarrowHigh = arithmetic{"shrn2 v%d.16b, v%d.8h, #6", 0x4f0a8400}

	addF  = arithmetic{"fadd v%d.4s, v%d.4s, v%d.4s", 0x4e20d400}
	subF  = arithmetic{"fsub v%d.4s, v%d.4s, v%d.4s", 0x4ea0d400}
	mulF  = arithmetic{"fmul v%d.4s, v%d.4s, v%d.4s", 0x6e20dc00}
	divF  = arithmetic{"fdiv v%d.4s, v%d.4s, v%d.4s", 0x6e20fc00}
	rootF = arithmetic{"fsqrt v%d.4s, v%d.4s", 0x6ea1f800}
	// Of NaN and a number maxF and minF return NaN.
	maxF = arithmetic{"fmax v%d.4s, v%d.4s, v%d.4s", 0x4e20f400}
	minF = arithmetic{"fmin v%d.4s, v%d.4s, v%d.4s", 0x4ea0f400}
	// minNumber returns the number.
	minNumber = arithmetic{"fminnm v%d.4s, v%d.4s, v%d.4s", 0x4ea0c400}
	toFloat   = arithmetic{"scvtf v%d.4s, v%d.4s", 0x4e21d800}
	toInt     = arithmetic{"fcvtns v%d.4s, v%d.4s", 0x4e21a800} // ties to even
	// roundF rounds to integers, ties to even.
	roundF = arithmetic{"frintn v%d.4s, v%d.4s", 0x4e218800}
	// mulAdd and mulAddLane round once; the latter takes one lane of the last source.
	mulAdd     = arithmetic{"fmla v%d.4s, v%d.4s, v%d.4s", 0x4e20cc00}
	mulAddLane = arithmetic{"fmla v%d.4s, v%d.4s, v%d.s[%d]", 0x4f801000}
	// greater gives ones where the first source is above the second, else zeros.
	greater = arithmetic{"fcmgt v%d.4s, v%d.4s, v%d.4s", 0x6ea0e400}
	both    = arithmetic{"and v%d.16b, v%d.16b, v%d.16b", 0x4e201c00}
	either  = arithmetic{"orr v%d.16b, v%d.16b, v%d.16b", 0x4ea01c00}
	// choose takes the bits of the first source where the second has ones.
	choose = arithmetic{"bit v%d.16b, v%d.16b, v%d.16b", 0x6ea01c00}

	// dot adds the products of four bytes to each lane. It needs the feature asimddp.
	dot = arithmetic{"sdot v%d.4s, v%d.16b, v%d.16b", 0x4e809400}
	// dotLane takes one group of four bytes of the last source for all lanes.
	dotLane = arithmetic{"sdot v%d.4s, v%d.16b, v%d.4b[%d]", 0x4f80e000}
)

// do writes an instruction: destination, then sources, as ARM has them.
func (k *kernel) do(a arithmetic, registers ...vec) {
	text, word := a.encode(-1, registers)
	k.word(text, word)
}

// doLane is do for an instruction that takes one lane of its last source.
func (k *kernel) doLane(a arithmetic, lane int, registers ...vec) {
	text, word := a.encode(lane, registers)
	k.word(text, word)
}

func (k *kernel) word(text string, word uint32) {
	fmt.Fprintf(&k.asm, "\tWORD   $0x%08x // %s\n", word, text)
}

func (a arithmetic) encode(lane int, registers []vec) (text string, word uint32) {
	word = a.word
	values := make([]any, 0, 4)
	for i, r := range registers {
		word |= uint32(r) << [...]int{0, 5, 16}[i]
		values = append(values, int(r))
	}
	if lane >= 0 {
		word |= uint32(lane&1)<<21 | uint32(lane>>1)<<11
		values = append(values, lane)
	}
	if strings.Count(a.text, "%d") != len(values) {
		panic(fmt.Sprintf("%d operands for %s", len(values), a.text))
	}
	return fmt.Sprintf(a.text, values...), word
}
