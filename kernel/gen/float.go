package main

// floatKernels writes the kernels of training, each once per level. The levels
// add and multiply in the same order, so their results have the same bits.
func floatKernels() {
	for _, v := range []vectors{avx2, avx512} {
		v.add()
		v.mul()
		v.scale()
		v.lerp()
		v.mix()
		v.addSquares()
		v.quantise()
		v.clamp()
		v.clampSum()
		for _, square := range []bool{false, true} {
			v.clip(square)
			v.clipBack(square)
		}
		v.adam()
		v.adamIdle()
		v.gatherSum()
		v.panel(panelAdd)
		v.panel(panelSet)
		v.panel(panelClipBack)
	}
}
