package main

// floatKernels writes the kernels of training.
func floatKernels(f *file) {
	elementKernels(f)
	gatherSum(f)
	panel(f, panelAdd)
	panel(f, panelSet)
	panel(f, panelClipBack)
}
