//go:build !purego

package kernel

import "unsafe"

func (r *Rows) apply(d, s *byte, added, removed []int32) {
	if !useNEON {
		r.applyGeneric(d, s, added, removed)
		return
	}
	r.check(added)
	r.check(removed)
	row := func(i int32) *byte { return offset(r.start, int(i)*r.stride) }
	switch {
	case len(added) == 1 && len(removed) == 1:
		apply11NEON(d, s, row(added[0]), row(removed[0]), r.lines, r.sums)
	case len(added) == 1 && len(removed) == 2:
		apply12NEON(d, s, row(added[0]), row(removed[0]), row(removed[1]), r.lines, r.sums)
	case len(added) == 2 && len(removed) == 2:
		apply22NEON(d, s, row(added[0]), row(added[1]), row(removed[0]), row(removed[1]), r.lines, r.sums)
	default:
		a, b := unsafe.SliceData(added), unsafe.SliceData(removed)
		applyManyNEON(d, s, r.start, r.stride, a, len(added), b, len(removed), r.lines, r.sums)
	}
}

func transform(dst []uint8, us, them []int16) {
	switch {
	case !transforms(dst, us, them):
		badTransform(len(dst), len(us), len(them))
	case useNEON && len(us) > 0:
		transformNEON(&dst[0], &us[0], &them[0], len(us))
	default:
		transformGeneric(dst, us, them)
	}
}

func transformSquare(dst []uint8, us, them []int16) {
	switch {
	case !transforms(dst, us, them):
		badTransform(len(dst), len(us), len(them))
	case useNEON && len(us) > 0:
		transformSquareNEON(&dst[0], &us[0], &them[0], len(us))
	default:
		transformSquareGeneric(dst, us, them)
	}
}

func transformPairs(dst []uint8, us, them []int16) {
	switch {
	case !transformsPairs(dst, us, them):
		badTransformPairs(len(dst), len(us), len(them))
	case useNEON && len(us) > 0:
		transformPairsNEON(&dst[0], &us[0], &them[0], len(us)/2)
	default:
		transformPairsGeneric(dst, us, them)
	}
}

func (d *Dense) mul(dst []int32, in []uint8) {
	switch {
	case useDotProd:
		mulDotProd(&dst[0], &in[0], &d.layouts.vectors[0], &d.bias[0], len(in), len(dst))
	case useNEON:
		mulNEON(&dst[0], &in[0], &d.layouts.vectors[0], &d.bias[0], len(in), len(dst))
	default:
		d.mulGeneric(dst, in)
	}
}

// clipSums sets dst[i] = clamp(src[i] >> shift, 0, 127); the length of both is
// a positive multiple of 16.
func clipSums(dst []uint8, src []int32, shift uint) {
	if useNEON {
		clipSumsNEON(&dst[0], &src[0], len(dst), uint64(shift))
	} else {
		clipSumsGeneric(dst, src, shift)
	}
}

func (t *Tail) eval(sums []int32) int32 {
	f := t.fused
	if f == nil || !useNEON {
		return t.evalLayers(sums)
	}
	sums = sums[:16*f.blocks]
	if useDotProd {
		return f.outBias + tailDotProd(&sums[0], f.blocks, &f.weights[0], &f.hiddenBias[0], &f.outWeights[0], uint64(t.shift))
	}
	return f.outBias + tailNEON(&sums[0], f.blocks, &f.weights[0], &f.hiddenBias[0], &f.outWeights[0], uint64(t.shift))
}

// evalAccumulators returns false: there is no kernel for it.
func (t *Tail) evalAccumulators(*Dense, []int16, []int16, []uint8) (int32, bool) { return 0, false }
