//go:build !purego

package kernel

import "unsafe"

func (r *Rows) apply(dst, src Row, added, removed []int32) {
	if !useAVX2 {
		r.applyGeneric(dst, src, added, removed)
		return
	}
	d, s := (*byte)(dst.start), (*byte)(src.start)
	row := func(i int32) *byte { return (*byte)(r.at(int(i))) }
	switch {
	case len(added) == 1 && len(removed) == 1:
		a, b := row(added[0]), row(removed[0])
		if useAVX512 {
			apply11AVX512(d, s, a, b, r.lines, r.sums)
		} else {
			apply11AVX2(d, s, a, b, r.lines, r.sums)
		}
	case len(added) == 1 && len(removed) == 2:
		a, b, c := row(added[0]), row(removed[0]), row(removed[1])
		if useAVX512 {
			apply12AVX512(d, s, a, b, c, r.lines, r.sums)
		} else {
			apply12AVX2(d, s, a, b, c, r.lines, r.sums)
		}
	case len(added) == 2 && len(removed) == 2:
		a, b, c, e := row(added[0]), row(added[1]), row(removed[0]), row(removed[1])
		if useAVX512 {
			apply22AVX512(d, s, a, b, c, e, r.lines, r.sums)
		} else {
			apply22AVX2(d, s, a, b, c, e, r.lines, r.sums)
		}
	default:
		r.checkIndices(added)
		r.checkIndices(removed)
		a, b := unsafe.SliceData(added), unsafe.SliceData(removed)
		if useAVX512 {
			applyManyAVX512(d, s, (*byte)(r.start), r.stride, a, len(added), b, len(removed), r.lines, r.sums)
		} else {
			applyManyAVX2(d, s, (*byte)(r.start), r.stride, a, len(added), b, len(removed), r.lines, r.sums)
		}
	}
}

// checkIndices panics if a row is out of range.
func (r *Rows) checkIndices(rows []int32) {
	for _, i := range rows {
		if uint(i) >= uint(r.count) {
			r.at(int(i))
		}
	}
}

func transform(dst []uint8, us, them []int16) {
	switch {
	case len(us) == 0:
	case useAVX512:
		transformAVX512(&dst[0], &us[0], &them[0], len(us))
	case useAVX2:
		transformAVX2(&dst[0], &us[0], &them[0], len(us))
	default:
		transformGeneric(dst, us, them)
	}
}

func transformSquare(dst []uint8, us, them []int16) {
	switch {
	case len(us) == 0:
	case useAVX512:
		transformSquareAVX512(&dst[0], &us[0], &them[0], len(us))
	case useAVX2:
		transformSquareAVX2(&dst[0], &us[0], &them[0], len(us))
	default:
		transformSquareGeneric(dst, us, them)
	}
}

func (d *Dense) mul(dst []int32, in []uint8) {
	switch {
	case useAVX512:
		mulAVX512(&dst[0], &in[0], &d.vectors[0], &d.bias[0], len(in), len(dst))
	case useAVX2:
		mulAVX2(&dst[0], &in[0], &d.groups[0], &d.bias[0], len(in), len(dst))
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
