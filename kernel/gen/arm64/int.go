package main

const (
	lineBytes    = 64 // rows are padded to a multiple of this
	lineVectors  = lineBytes / vectorBytes
	blockInputs  = 32 // inputs of a layer are a multiple of this
	blockOutputs = 16 // and outputs of this
)

// intKernels writes the kernels of quantised networks: those whose products are
// of bytes once with the dot product and once without.
func intKernels(f *file) {
	for _, counts := range [][2]int{{1, 1}, {1, 2}, {2, 2}} {
		applyFew(f, counts[0], counts[1])
	}
	applyMany(f)
	for _, kind := range []rectifier{clipped, squared, paired} {
		transform(f, kind)
	}
	clipSums(f)
	for _, l := range []level{neon, dotProd} {
		mul(f, l)
		tail(f, l)
	}
}

// level is the end of the names of a level's kernels.
type level string

const (
	neon    level = "NEON"
	dotProd level = "DotProd"
)
