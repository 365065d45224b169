package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	. "github.com/mmcloughlin/avo/reg"
)

// tailOutputs is the most outputs the hidden layer of the tail kernel has.
const tailOutputs = 32

// tail writes the kernel for all that follows a first layer of up to 32 outputs:
// activation, a hidden layer of up to 32 outputs, activation, one output.
// Weights are by groups, [group][32 outputs][4 inputs].
func (v vectors) tail() {
	v.function("tail", "func(sums *int32, blocks int, weights *int8, bias, out *int32, shift uint64) int32",
		"returns out * clamp((bias + weights * clamp(sums >> shift, 0, 127)) >> shift, 0, 127) for 16 sums a block and 32 hidden outputs.")
	sums, blocks := param("sums"), param("blocks")
	h := v.newHidden()
	Label("blocks")
	h.add(h.bytes(sums))
	ADDQ(Imm(lineBytes), sums)
	ADDQ(U32(blockOutputs*tailOutputs), h.weights)
	DECQ(blocks)
	JNZ(LabelRef("blocks"))
	h.leave()
}

// hidden is the hidden layer of a tail and what follows it. The arguments of the
// kernel for it are weights, bias, out and shift.
type hidden struct {
	clip
	products     products
	weights, out Register
	sums         []VecVirtual // of 32 outputs
}

func (v vectors) newHidden() hidden {
	h := hidden{clip: v.newClip(), products: v.newProducts(), weights: param("weights"), out: param("out")}
	h.sums = v.registers(tailOutputs * 4 / v.width())
	bias := param("bias")
	for i, s := range h.sums {
		v.move(Mem{Base: bias, Disp: i * v.width()}, s)
	}
	return h
}

// add adds the products of 16 inputs, bytes as pack leaves them.
func (h hidden) add(inputs VecVirtual) {
	for g, x := range h.groups(inputs) {
		for i, s := range h.sums {
			h.products.add(Mem{Base: h.weights, Disp: (g*len(h.sums) + i) * h.width()}, x, s)
		}
	}
}

// groups spreads each group of four inputs over a vector.
func (h hidden) groups(inputs VecVirtual) []VecVirtual {
	var all Register
	if h.vectors == avx512 {
		all = inputs.AsZ()
		VSHUFI32X4(U8(0), all, all, all)
	} else {
		all = inputs.AsY()
	}
	groups := h.registers(4)
	for g, r := range groups {
		VPSHUFD(U8(g*0b01_01_01_01), all, r)
	}
	return groups
}

// leave ends the kernel with the output. Activations stay in 32-bit lanes whose upper
// halves are zero, so that the product of 16-bit pairs is the product of the lanes.
func (h hidden) leave() {
	most := h.repeat(127)
	for i, s := range h.sums {
		VPSRAD(h.shift, s, s)
		VPMAXSD(h.zero, s, s)
		VPMINSD(most, s, s)
		VPMADDWD(Mem{Base: h.out, Disp: i * h.width()}, s, s)
	}
	for n := len(h.sums) / 2; n > 0; n /= 2 {
		for i := range n {
			VPADDD(h.sums[n+i], h.sums[i], h.sums[i])
		}
	}
	total := h.total(h.sums[0])
	VZEROUPPER()
	Store(total, ReturnIndex(0))
	RET()
}

// total adds up the 32-bit lanes of a register, which it destroys.
func (v vectors) total(r VecVirtual) Register {
	if v == avx512 {
		y := YMM()
		VEXTRACTI64X4(Imm(1), r, y)
		VPADDD(y, r.AsY(), r.AsY())
	}
	x, low := XMM(), r.AsX()
	VEXTRACTI128(Imm(1), r.AsY(), x)
	VPADDD(x, low, low)
	for _, order := range []uint8{0b01_00_11_10, 0b10_11_00_01} {
		VPSHUFD(U8(order), low, x)
		VPADDD(x, low, low)
	}
	sum := GP32()
	VMOVD(low, sum)
	return sum
}

// The kernels accumulators are all that follows the accumulators in one, where the first
// layer has up to 16 outputs: activation, that layer, and the tail.
const accumulatorsDoc = "returns tail's output for the sums of the first layer for clamp(us, 0, 127), clamp(them, 0, 127) of n lanes each, weights as for both; "

// accumulatorsAVX512 keeps activations in registers: loads are what mul takes its time for.
func accumulatorsAVX512() {
	v := avx512
	v.function("accumulators", "func(us, them *int16, n int, first *int8, firstBias *int32, weights *int8, bias, out *int32, shift uint64) int32",
		accumulatorsDoc+"n is a multiple of 64.")
	lanes, first, left, sides := param("us"), param("first"), GP64(), GP64()
	a, p := v.newActivation(clipped), v.newProducts()
	sums := fourSums()
	MOVQ(U32(2), sides)
	Label("side")
	Load(Param("n"), left)
	Label("inputs")
	inputs := v.register() // a byte a lane
	a.bytes(lanes, inputs)
	for i := range sums {
		x := v.register()
		VSHUFI32X4(U8(i*0b01_01_01_01), inputs, inputs, x)
		p.addVectors(first, i, x, sums[i])
	}
	ADDQ(U32(uint32(2*v.width())), lanes)
	ADDQ(U32(uint32(blockOutputs*v.width())), first)
	SUBQ(Imm(uint64(v.width())), left)
	JNZ(LabelRef("inputs"))
	Load(Param("them"), lanes)
	DECQ(sides)
	JNZ(LabelRef("side"))
	total := addUp(sums)
	VPADDD(Mem{Base: param("firstBias")}, total, total)
	v.newHidden().finish([]VecVirtual{total})
}

// accumulatorsAVX2 is for weights of mulNarrow. Activations go through memory, as a shuffle
// to spread them costs more here than a load.
func accumulatorsAVX2() {
	v := avx2
	v.function("accumulators", "func(us, them *int16, n int, in *uint8, first *int8, firstBias *int32, weights *int8, bias, out *int32, shift uint64) int32",
		accumulatorsDoc+"n is a multiple of 32, in has room for 2n activations, and the first layer's weights are as in mulNarrow.")
	lanes, in, left, sides := param("us"), param("in"), GP64(), GP64()
	a := v.newActivation(clipped)
	MOVQ(U32(2), sides)
	Label("side")
	Load(Param("n"), left)
	Label("lanes")
	r := v.register()
	a.bytes(lanes, r)
	v.move(r, Mem{Base: in})
	side{lanes, in}.advance(v.width())
	SUBQ(Imm(uint64(v.width())), left)
	JNZ(LabelRef("lanes"))
	Load(Param("them"), lanes)
	DECQ(sides)
	JNZ(LabelRef("side"))
	Load(Param("in"), in)
	Load(Param("n"), left)
	ADDQ(left, left)
	sums := v.newProducts().sums(in, param("first"), param("firstBias"), left, products.addNarrow)
	v.newHidden().finish(sums)
}

// finish ends the kernel with the output for the sums of 16 inputs.
func (h hidden) finish(sums []VecVirtual) {
	h.add(h.pack(sums))
	h.leave()
}
