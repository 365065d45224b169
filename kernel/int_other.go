//go:build !(amd64 || arm64) || purego

package kernel

func (r *Rows) apply(dst, src *byte, added, removed []int32) {
	r.applyGeneric(dst, src, added, removed)
}

func transform(dst []uint8, us, them []int16) {
	if !transforms(dst, us, them) {
		badTransform(len(dst), len(us), len(them))
	}
	transformGeneric(dst, us, them)
}

func transformSquare(dst []uint8, us, them []int16) {
	if !transforms(dst, us, them) {
		badTransform(len(dst), len(us), len(them))
	}
	transformSquareGeneric(dst, us, them)
}

func transformPairs(dst []uint8, us, them []int16) {
	if !transformsPairs(dst, us, them) {
		badTransformPairs(len(dst), len(us), len(them))
	}
	transformPairsGeneric(dst, us, them)
}

func (d *Dense) mul(dst []int32, in []uint8) { d.mulGeneric(dst, in) }

func clipSums(dst []uint8, src []int32, shift uint) { clipSumsGeneric(dst, src, shift) }

func (t *Tail) eval(sums []int32) int32 { return t.evalLayers(sums) }

// evalAccumulators returns false: there is no kernel for it.
func (t *Tail) evalAccumulators(*Dense, []int16, []int16, []uint8) (int32, bool) { return 0, false }

// layouts and fused are what only kernels in assembly need.
type (
	layouts struct{}
	fused   struct{}
)

func (layouts) arrange(*Dense, []int8, int) {}
func (t *Tail) fuse() *fused                { return nil }
