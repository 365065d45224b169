//go:build !purego

package kernel

import "unsafe"

func (r *Rows) apply(d, s *byte, added, removed []int32) {
	if !useAVX2 {
		r.applyGeneric(d, s, added, removed)
		return
	}
	// Rows out of range are left to applyMany, which panics.
	row := func(i int32) *byte { return offset(r.start, int(i)*r.stride) }
	switch {
	case len(added) == 1 && len(removed) == 1 && r.has(int(added[0])) && r.has(int(removed[0])):
		a, b := row(added[0]), row(removed[0])
		if useAVX512 {
			apply11AVX512(d, s, a, b, r.lines, r.sums)
		} else {
			apply11AVX2(d, s, a, b, r.lines, r.sums)
		}
	case len(added) == 1 && len(removed) == 2 && r.has(int(added[0])) && r.has(int(removed[0])) && r.has(int(removed[1])):
		a, b, c := row(added[0]), row(removed[0]), row(removed[1])
		if useAVX512 {
			apply12AVX512(d, s, a, b, c, r.lines, r.sums)
		} else {
			apply12AVX2(d, s, a, b, c, r.lines, r.sums)
		}
	case len(added) == 2 && len(removed) == 2 &&
		r.has(int(added[0])) && r.has(int(added[1])) && r.has(int(removed[0])) && r.has(int(removed[1])):
		a, b, c, e := row(added[0]), row(added[1]), row(removed[0]), row(removed[1])
		if useAVX512 {
			apply22AVX512(d, s, a, b, c, e, r.lines, r.sums)
		} else {
			apply22AVX2(d, s, a, b, c, e, r.lines, r.sums)
		}
	default:
		r.applyMany(d, s, added, removed)
	}
}

func (r *Rows) applyMany(dst, src *byte, added, removed []int32) {
	r.check(added)
	r.check(removed)
	a, b := unsafe.SliceData(added), unsafe.SliceData(removed)
	if useAVX512 {
		applyManyAVX512(dst, src, r.start, r.stride, a, len(added), b, len(removed), r.lines, r.sums)
	} else {
		applyManyAVX2(dst, src, r.start, r.stride, a, len(added), b, len(removed), r.lines, r.sums)
	}
}

func transform(dst []uint8, us, them []int16) {
	if !transforms(dst, us, them) {
		badTransform(len(dst), len(us), len(them))
	}
	switch {
	case useAVX512:
		transformAVX512(unsafe.SliceData(dst), unsafe.SliceData(us), unsafe.SliceData(them), len(us))
	case useAVX2:
		transformAVX2(unsafe.SliceData(dst), unsafe.SliceData(us), unsafe.SliceData(them), len(us))
	default:
		transformGeneric(dst, us, them)
	}
}

func transformSquare(dst []uint8, us, them []int16) {
	if !transforms(dst, us, them) {
		badTransform(len(dst), len(us), len(them))
	}
	switch {
	case useAVX512:
		transformSquareAVX512(unsafe.SliceData(dst), unsafe.SliceData(us), unsafe.SliceData(them), len(us))
	case useAVX2:
		transformSquareAVX2(unsafe.SliceData(dst), unsafe.SliceData(us), unsafe.SliceData(them), len(us))
	default:
		transformSquareGeneric(dst, us, them)
	}
}

func transformPairs(dst []uint8, us, them []int16) {
	if !transformsPairs(dst, us, them) {
		badTransformPairs(len(dst), len(us), len(them))
	}
	switch {
	case useAVX512:
		transformPairsAVX512(unsafe.SliceData(dst), unsafe.SliceData(us), unsafe.SliceData(them), len(us)/2)
	case useAVX2:
		transformPairsAVX2(unsafe.SliceData(dst), unsafe.SliceData(us), unsafe.SliceData(them), len(us)/2)
	default:
		transformPairsGeneric(dst, us, them)
	}
}

func (d *Dense) mul(dst []int32, in []uint8) {
	switch {
	case useAVX512:
		mulAVX512(&dst[0], &in[0], &d.layouts.vectors[0], &d.bias[0], len(in), len(dst))
	case useAVX2 && d.layouts.narrow:
		mulNarrowAVX2(&dst[0], &in[0], &d.layouts.groups[0], &d.bias[0], len(in), len(dst))
	case useAVX2:
		mulAVX2(&dst[0], &in[0], &d.layouts.groups[0], &d.bias[0], len(in), len(dst))
	default:
		d.mulGeneric(dst, in)
	}
}

// clipSums sets dst[i] = clamp(src[i] >> shift, 0, 127); the length of both is
// a positive multiple of 16.
func clipSums(dst []uint8, src []int32, shift uint) {
	switch {
	case useAVX512:
		clipSumsAVX512(&dst[0], &src[0], len(dst), uint64(shift))
	case useAVX2:
		clipSumsAVX2(&dst[0], &src[0], len(dst), uint64(shift))
	default:
		clipSumsGeneric(dst, src, shift)
	}
}

func (t *Tail) eval(sums []int32) int32 {
	f := t.fused
	if f == nil || !useAVX2 {
		return t.evalLayers(sums)
	}
	sums = sums[:16*f.blocks]
	if useAVX512 {
		return f.outBias + tailAVX512(&sums[0], f.blocks, &f.weights[0], &f.hiddenBias[0], &f.outWeights[0], uint64(t.shift))
	}
	return f.outBias + tailAVX2(&sums[0], f.blocks, &f.weights[0], &f.hiddenBias[0], &f.outWeights[0], uint64(t.shift))
}

// evalAccumulators returns false where there is no kernel for it.
func (t *Tail) evalAccumulators(first *Dense, us, them []int16, in []uint8) (int32, bool) {
	f, n := t.fused, len(us)
	if f == nil || f.blocks != 1 || first.paddedOutputs != blockOutputs {
		return 0, false
	}
	switch {
	case useAVX512 && n%64 == 0:
		return f.outBias + accumulatorsAVX512(&us[0], &them[0], n, &first.layouts.vectors[0], &first.bias[0],
			&f.weights[0], &f.hiddenBias[0], &f.outWeights[0], uint64(t.shift)), true
	case useAVX2 && n%32 == 0 && first.layouts.narrow:
		return f.outBias + accumulatorsAVX2(&us[0], &them[0], n, &in[:2*n][0], &first.layouts.groups[0], &first.bias[0],
			&f.weights[0], &f.hiddenBias[0], &f.outWeights[0], uint64(t.shift)), true
	}
	return 0, false
}
