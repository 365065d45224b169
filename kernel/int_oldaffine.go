package kernel

// Sums of an affine layer are shifted right by ShiftBits before they are
// clipped: weights are stored in units of 1/64.
const ShiftBits = 6

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

// ClipInt32 sets dst[i] = clamp(src[i] >> ShiftBits, 0, 127).
func ClipInt32(dst []uint8, src []int32) {
	for i, v := range src {
		dst[i] = uint8(min(max(v>>ShiftBits, 0), MaxActivation))
	}
}

// Matrix is an int8 matrix rearranged for multiplication by a sparse vector of
// activations without vector instructions. It does not change once made and
// may be shared between goroutines.
//
// A 64-bit word holds the weights from one input to four outputs as the number
// w0 + w1<<16 + w2<<32 + w3<<48, negative weights borrowing from the lanes
// above. Multiplied by an activation it holds four products. Two such words may
// be added before a lane can overflow, for 2*127*128 < 1<<15; see mulBlock.
type Matrix struct {
	inputs, outputs int
	packed          [][words]uint64 // [block of outputs][input]
}

// NewMatrix rearranges a matrix of outputs rows and inputs columns; row o is
// weights[o*stride:o*stride+inputs].
// It panics if inputs is over MaxInputs.
func NewMatrix(weights []int8, outputs, inputs, stride int) *Matrix {
	if inputs > MaxInputs {
		panic("kernel: matrix has too many inputs for exact sums")
	}
	blocks := (outputs + block - 1) / block
	m := &Matrix{inputs: inputs, outputs: outputs, packed: make([][words]uint64, blocks*inputs)}
	for o := range outputs {
		word, lane := o%block/lanes, o%lanes
		for i := range inputs {
			w := uint64(int64(weights[o*stride+i]))
			m.packed[o/block*inputs+i][word] += w << (16 * lane)
		}
	}
	return m
}

// Mul sets dst = bias + m * in. dst and bias have one entry per output of m;
// the indices of in are below the number of inputs.
func (m *Matrix) Mul(dst, bias []int32, in []Active) {
	for first := 0; first < m.outputs; first += block {
		var sums [block]int32
		mulBlock(&sums, m.packed[first/block*m.inputs:][:m.inputs], in)
		last := min(first+block, m.outputs)
		d, b := dst[first:last], bias[first:last]
		for i := range d {
			d[i] = b[i] + sums[i%block]
		}
	}
}

// mulBlock computes one block of outputs: sums = rows * in, without bias.
//
// For each word it keeps the plain total of all products, and beside it the
// total of lanes 1 and 3 alone, which are biased, shifted down and thereby
// given 32 bits each. What is left of the plain total without lanes 1 and 3 is
// lanes 0 and 2.
func mulBlock(sums *[block]int32, rows [][words]uint64, in []Active) {
	var all0, odd0, all1, odd1 uint64
	i := 0
	for ; i+1 < len(in); i += 2 {
		a, b := in[i], in[i+1]
		x, y := uint64(a&0xff), uint64(b&0xff)
		v, w := &rows[a>>8], &rows[b>>8]
		t := x*v[0] + y*w[0]
		all0 += t
		odd0 += (t + laneBias) >> 16 & evenLanes
		t = x*v[1] + y*w[1]
		all1 += t
		odd1 += (t + laneBias) >> 16 & evenLanes
	}
	if i < len(in) {
		x, v := uint64(in[i]&0xff), &rows[in[i]>>8]
		all0 += x * v[0]
		odd0 += (x*v[0] + laneBias) >> 16 & evenLanes
		all1 += x * v[1]
		odd1 += (x*v[1] + laneBias) >> 16 & evenLanes
	}
	pairs := (len(in) + 1) / 2
	addLanes((*[lanes]int32)(sums[:lanes]), all0, odd0, pairs)
	addLanes((*[lanes]int32)(sums[lanes:]), all1, odd1, pairs)
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
