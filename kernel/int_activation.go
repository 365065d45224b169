package kernel

import "fmt"

// MaxActivation is the largest output of the clipped rectifier; it stands for 1.
const MaxActivation = 127

// Transform activates the accumulators of both perspectives, the side to
// move's first: dst[i] = clamp(us[i], 0, 127), and after them the same of them.
// len(us) and len(them) are equal and a multiple of 16, len(dst) is their sum.
func Transform(dst []uint8, us, them []int16) {
	transform(dst, us, them)
}

// TransformSquare is Transform with the squared clipped rectifier:
// dst[i] = clamp(us[i], 0, 127)² / 127, rounded down.
func TransformSquare(dst []uint8, us, them []int16) {
	transformSquare(dst, us, them)
}

// TransformPairs multiplies the halves of each accumulator, clipped:
// dst[i] = clamp(us[i], 0, 127) * clamp(us[n+i], 0, 127) / 127, rounded down, for the
// n lanes of a half, and after them the same of them. len(us) and len(them) are equal
// and a multiple of 32, len(dst) is the same.
func TransformPairs(dst []uint8, us, them []int16) {
	transformPairs(dst, us, them)
}

// transforms returns whether lengths are right for Transform.
func transforms(dst []uint8, us, them []int16) bool {
	return len(us) == len(them) && len(us)%laneStep == 0 && len(dst) == 2*len(us)
}

func badTransform(dst, us, them int) {
	panic(fmt.Sprintf("kernel: found %d and %d lanes to transform to %d bytes, expected equal multiples of %d and their sum",
		us, them, dst, laneStep))
}

// transformsPairs returns whether lengths are right for TransformPairs.
func transformsPairs(dst []uint8, us, them []int16) bool {
	return len(us) == len(them) && len(us)%(2*laneStep) == 0 && len(dst) == len(us)
}

func badTransformPairs(dst, us, them int) {
	panic(fmt.Sprintf("kernel: found %d and %d lanes to multiply in pairs to %d bytes, expected equal multiples of %d, and as many bytes",
		us, them, dst, 2*laneStep))
}

func transformGeneric(dst []uint8, us, them []int16) {
	clipInt16(dst[:len(us)], us)
	clipInt16(dst[len(us):], them)
}

func transformSquareGeneric(dst []uint8, us, them []int16) {
	squareInt16(dst[:len(us)], us)
	squareInt16(dst[len(us):], them)
}

func transformPairsGeneric(dst []uint8, us, them []int16) {
	n := len(us) / 2
	multiplyInt16(dst[:n], us[:n], us[n:])
	multiplyInt16(dst[n:], them[:n], them[n:])
}

func clipInt16(dst []uint8, src []int16) {
	for i := 0; i+laneStep <= len(src); i += laneStep {
		d, s := (*[laneStep]uint8)(dst[i:]), (*[laneStep]int16)(src[i:])
		for j, v := range s {
			d[j] = uint8(min(max(int(v), 0), MaxActivation))
		}
	}
}

func squareInt16(dst []uint8, src []int16) {
	dst = dst[:len(src)]
	for i, v := range src {
		x := uint32(min(max(v, 0), MaxActivation))
		dst[i] = uint8(x * x / MaxActivation)
	}
}

func multiplyInt16(dst []uint8, a, b []int16) {
	dst, b = dst[:len(a)], b[:len(a)]
	for i, v := range a {
		x, y := uint32(min(max(v, 0), MaxActivation)), uint32(min(max(b[i], 0), MaxActivation))
		dst[i] = uint8(x * y / MaxActivation)
	}
}

// clipSumsGeneric sets dst[i] = clamp(src[i] >> shift, 0, 127).
func clipSumsGeneric(dst []uint8, src []int32, shift uint) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] = uint8(min(max(v>>(shift&31), 0), MaxActivation))
	}
}
