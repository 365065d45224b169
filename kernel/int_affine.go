package kernel

// Sums of an affine layer are shifted right by ShiftBits before they are
// clipped: weights are stored in units of 1/64.
const ShiftBits = 6

// MaxActivation is the largest output of the clipped rectifier; it stands for 1.
const MaxActivation = 127

// Active is one non-zero input of an affine layer: the input's index times 256
// plus its value, 1..MaxActivation.
type Active uint32

// AppendActive16 writes the non-zero activations among clamp(src[i], 0, 127) to
// dst, with indices first, first+1, … in rising order, and returns how many
// there are. len(dst) must be at least len(src).
func AppendActive16(dst []Active, src []int16, first int) int {
	dst = dst[:len(src)]
	n := 0
	for i, v := range src {
		// Storing always and counting by the sign bit keeps an unpredictable
		// branch out of the loop; n never passes i.
		x := min(max(int32(v), 0), MaxActivation)
		dst[n] = Active(first+i)<<8 | Active(x)
		n += int(uint32(-x) >> 31)
	}
	return n
}

// AppendActive32 is AppendActive16 for the sums of an affine layer: the
// activation of src[i] is clamp(src[i] >> ShiftBits, 0, 127) and its index i.
func AppendActive32(dst []Active, src []int32) int {
	dst = dst[:len(src)]
	n := 0
	for i, v := range src {
		x := min(max(v>>ShiftBits, 0), MaxActivation)
		dst[n] = Active(i)<<8 | Active(x)
		n += int(uint32(-x) >> 31)
	}
	return n
}

// ClipInt16 sets dst[i] = clamp(src[i], 0, 127).
func ClipInt16(dst []uint8, src []int16) {
	for i, v := range src {
		dst[i] = uint8(min(max(v, 0), MaxActivation))
	}
}

// ClipInt32 sets dst[i] = clamp(src[i] >> ShiftBits, 0, 127).
func ClipInt32(dst []uint8, src []int32) {
	for i, v := range src {
		dst[i] = uint8(min(max(v>>ShiftBits, 0), MaxActivation))
	}
}

// AffineInt8 sets dst = bias + weights * in, plainly: the definition that
// Matrix must reproduce. Row o of weights is weights[o*stride:o*stride+len(in)].
func AffineInt8(dst, bias []int32, weights []int8, stride int, in []uint8) {
	for o := range dst {
		sum := bias[o]
		row := weights[o*stride:][:len(in)]
		for i, x := range in {
			sum += int32(row[i]) * int32(x)
		}
		dst[o] = sum
	}
}

// lanes is the number of outputs a Matrix computes side by side: eight 64-bit
// words with two outputs in each.
const (
	words = 8
	lanes = 2 * words
)

// Matrix is an int8 matrix rearranged for multiplication by a sparse vector of
// activations without vector instructions. It does not change once made and
// may be shared between goroutines.
//
// A 64-bit word holds the weights w, v from one input to two outputs as the
// number w + v<<32. Multiplying the word by an activation and adding such
// products yields (sum of w*x) + (sum of v*x)<<32, one multiplication for two
// outputs; the halves are taken apart at the end. They cannot disturb each
// other as long as both sums fit an int32, which 127*128 per input guarantees
// for MaxInputs inputs.
type Matrix struct {
	inputs, outputs int
	packed          [][words]uint64 // [block of 16 outputs][input]
}

// MaxInputs is the most inputs a Matrix may have for its sums to be exact.
const MaxInputs = 1 << 16

// NewMatrix rearranges a matrix of outputs rows and inputs columns; row o is
// weights[o*stride:o*stride+inputs].
// It panics if inputs is over MaxInputs.
func NewMatrix(weights []int8, outputs, inputs, stride int) *Matrix {
	if inputs > MaxInputs {
		panic("kernel: matrix has too many inputs for exact sums")
	}
	blocks := (outputs + lanes - 1) / lanes
	m := &Matrix{inputs: inputs, outputs: outputs, packed: make([][words]uint64, blocks*inputs)}
	for o := range outputs {
		lane := o % lanes
		for i := range inputs {
			w := uint64(int64(weights[o*stride+i]))
			m.packed[o/lanes*inputs+i][lane%words] += w << (lane / words * 32)
		}
	}
	return m
}

// Mul sets dst = bias + m * in. dst and bias have one entry per output of m;
// the indices of in are below the number of inputs.
func (m *Matrix) Mul(dst, bias []int32, in []Active) {
	for first := 0; first < m.outputs; first += lanes {
		var sums [lanes]int32
		mul16(&sums, m.packed[first/lanes*m.inputs:][:m.inputs], in)
		last := min(first+lanes, m.outputs)
		d, b := dst[first:last], bias[first:last]
		for i := range d {
			d[i] = b[i] + sums[i%lanes]
		}
	}
}

// mul16 computes one block of outputs: sums = rows * in, without bias.
func mul16(sums *[lanes]int32, rows [][words]uint64, in []Active) {
	var s0, s1, s2, s3, s4, s5, s6, s7 uint64
	for _, a := range in {
		x, w := uint64(a&0xff), &rows[a>>8]
		s0 += x * w[0]
		s1 += x * w[1]
		s2 += x * w[2]
		s3 += x * w[3]
		s4 += x * w[4]
		s5 += x * w[5]
		s6 += x * w[6]
		s7 += x * w[7]
	}
	for i, s := range [words]uint64{s0, s1, s2, s3, s4, s5, s6, s7} {
		low := int32(s)
		sums[i] = low
		sums[i+words] = int32((s - uint64(int64(low))) >> 32)
	}
}

// Dot returns the sum of clamp(in[i] >> ShiftBits, 0, 127) * weights[i]: the
// output layer with one output, its activation included.
// len(weights) must be at least len(in).
func Dot(in []int32, weights []int8) int32 {
	weights = weights[:len(in)]
	var sum int32
	for i, v := range in {
		sum += min(max(v>>ShiftBits, 0), MaxActivation) * int32(weights[i])
	}
	return sum
}
