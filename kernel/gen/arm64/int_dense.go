package main

// mul writes the dense layer for weights by vectors:
// [block of outputs][16 inputs][output mod 4][output / 4][16 inputs]. Every
// output of a block has a register, whose lanes are added up at the end.
func mul(f *file, l level) {
	k := f.function("mul"+string(l), "(dst *int32, in *uint8, weights *int8, bias *int32, inputs, outputs int)",
		"sets dst = bias + weights * in for weights by vectors; inputs is a multiple of 32, outputs of 16.")
	dst, weights, bias, outputs := k.param("dst"), k.param("weights"), k.param("bias"), k.param("outputs")
	in, inputs := k.register(), k.register()
	sums := k.vectors(blockOutputs)
	x, w, products := k.vectors(blockInputs/vectorBytes), k.vectors(8), k.vectors(4)

	k.label("outputs")
	k.op("MOVD", k.arg("in"), in)
	k.op("MOVD", k.arg("inputs"), inputs)
	k.clear(sums...)
	k.label("inputs")
	k.load(in, x)
	for _, x := range x {
		for i := 0; i < blockOutputs; i += 4 {
			w := w[i%8:][:4]
			k.load(weights, w)
			for j, w := range w {
				if l == dotProd {
					k.do(dot, sums[i+j], w, x)
					continue
				}
				// The sum of two products fits 16 bits: 2*127*128 < 1<<15.
				p := products[j]
				k.do(mulB, p, w, x)
				k.do(mulAddBHigh, p, w, x)
				k.do(addUpPairs, sums[i+j], p)
			}
		}
	}
	k.op("SUBS", imm(blockInputs), inputs)
	k.op("BNE", "inputs")

	b := w[:4]
	k.load(bias, b)
	for i := range 4 { // of outputs 4i to 4i+3
		k.do(addPair, sums[i], sums[i], sums[4+i])
		k.do(addPair, sums[8+i], sums[8+i], sums[12+i])
		k.do(addPair, sums[i], sums[i], sums[8+i])
		k.do(addS, sums[i], sums[i], b[i])
	}
	k.store(sums[:4], dst)
	k.op("SUBS", imm(blockOutputs), outputs)
	k.op("BNE", "outputs")
	k.op("RET")
}

// tailOutputs is the most outputs the hidden layer of the tail kernel has.
const tailOutputs = 32

// tail writes the kernel for all that follows a first layer of up to 32 outputs:
// activation, a hidden layer of up to 32 outputs, activation, one output. Weights
// are by groups, [group][32 outputs][4 inputs].
func tail(f *file, l level) {
	k := f.function("tail"+string(l), "(sums *int32, blocks int, weights *int8, bias, out *int32, shift uint64) int32",
		"returns out * clamp((bias + weights * clamp(sums >> shift, 0, 127)) >> shift, 0, 127) for 16 sums a block and 32 hidden outputs.")
	sums, blocks, weights, bias, out := k.param("sums"), k.param("blocks"), k.param("weights"), k.param("bias"), k.param("out")
	c := k.newClip()
	hidden := k.vectors(tailOutputs / 4)
	p := k.newGroupProducts(l)
	w := k.vectors(8)
	k.load(bias, hidden)
	k.times("blocks", blocks, func() {
		x := c.bytes(sums)
		for g := range 4 {
			p.group(x, g)
			k.load(weights, w)
			for i, h := range hidden {
				p.add(h, w[i])
			}
		}
	})

	most, factors := k.repeat(127, "S4"), w
	k.load(out, factors)
	total := c.read[:2]
	k.clear(total...)
	for i, h := range hidden {
		k.do(shiftS, h, h, c.shift)
		k.do(maxS, h, h, c.zero)
		k.do(minS, h, h, most)
		k.do(mulAddS, total[i%2], h, factors[i])
	}
	k.do(addS, total[0], total[0], total[1])
	k.do(addUp, total[0], total[0])
	k.op("FMOVS", total[0].scalar(), k.arg("ret"))
	k.op("RET")
}

// groupProducts is sum += weights * in for one group of four inputs and weights
// whose lanes are outputs.
type groupProducts struct {
	*kernel
	level
	in       vec // if level is dotProd all groups, otherwise one of them in every lane
	lane     int
	products []vec
}

func (k *kernel) newGroupProducts(l level) *groupProducts {
	p := &groupProducts{kernel: k, level: l}
	if l == neon {
		p.in, p.products = k.vectors(1)[0], k.vectors(2)
	}
	return p
}

// group chooses group g of 16 inputs.
func (p *groupProducts) group(in vec, g int) {
	if p.level == dotProd {
		p.in, p.lane = in, g
	} else {
		p.spread(in, g, p.in)
	}
}

func (p *groupProducts) add(sum, weights vec) {
	if p.level == dotProd {
		p.doLane(dotLane, p.lane, sum, weights, p.in)
		return
	}
	low, high := p.products[0], p.products[1]
	p.do(mulB, low, weights, p.in)
	p.do(mulBHigh, high, weights, p.in)
	p.do(addPairH, low, low, high)
	p.do(addUpPairs, sum, low)
}
