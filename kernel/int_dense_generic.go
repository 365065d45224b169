package kernel

import "encoding/binary"

// Without vector instructions a Dense computes blocks of outputs side by side,
// in words of four, and skips inputs that are zero: most are.
const (
	lanes = 4
	words = 2
	block = words * lanes

	chunk = 256 // inputs looked through at once
)

// active is one non-zero input: its index times 256 plus its value.
type active uint32

// packWords fills packed: [block of outputs][input].
//
// A 64-bit word holds the weights from one input to four outputs as the number
// w0 + w1<<16 + w2<<32 + w3<<48, negative weights borrowing from the lanes
// above. Multiplied by an activation it holds four products. Two such words may
// be added before a lane can overflow, for 2*127*128 < 1<<15; see addBlock.
func (d *Dense) packWords(weights []int8, stride int) {
	d.packed = make([][words]uint64, roundUp(d.outputs, block)/block*d.paddedInputs)
	for o := range d.outputs {
		word, lane := o%block/lanes, o%lanes
		for i := range d.inputs {
			w := uint64(int64(weights[o*stride+i]))
			d.packed[o/block*d.paddedInputs+i][word] += w << (16 * lane)
		}
	}
}

// mulGeneric is Mul in plain Go.
func (d *Dense) mulGeneric(dst []int32, in []uint8) {
	copy(dst, d.bias)
	var list activeList
	for first := 0; first < len(in); first += chunk {
		n := list.fill(in[first:min(first+chunk, len(in))], first)
		for o := 0; o < d.outputs; o += block {
			addBlock((*[block]int32)(dst[o:]), d.packed[o/block*d.paddedInputs:][:d.paddedInputs], list[:n])
		}
	}
}

// activeList is room for the inputs of a chunk that are not zero.
type activeList [chunk]active

// fill lists the inputs that are not zero and returns how many there are; their
// indices begin at first. len(in) is a multiple of eight.
func (l *activeList) fill(in []uint8, first int) int {
	n := 0
	next := active(first) << 8
	for ; len(in) >= 8; in = in[8:] {
		if binary.LittleEndian.Uint64(in) != 0 {
			x := (*[8]uint8)(in)
			n = l.append(n, next, x[0])
			n = l.append(n, next+1<<8, x[1])
			n = l.append(n, next+2<<8, x[2])
			n = l.append(n, next+3<<8, x[3])
			n = l.append(n, next+4<<8, x[4])
			n = l.append(n, next+5<<8, x[5])
			n = l.append(n, next+6<<8, x[6])
			n = l.append(n, next+7<<8, x[7])
		}
		next += 8 << 8
	}
	return n
}

// append adds an input to the n there are, unless it is zero. Storing always and
// counting by the value keeps an unpredictable branch out of the loop.
func (l *activeList) append(n int, index active, x uint8) int {
	l[n%chunk] = index | active(x)
	return n + int((uint32(x)+0xff)>>8)
}

const (
	// laneBias makes the lanes of a word non-negative.
	laneBias = 0x8000_8000_8000_8000
	// evenLanes selects lanes 0 and 2.
	evenLanes = 0x0000_FFFF_0000_FFFF
)

// addBlock adds the products of a block of outputs: sums += rows * in.
//
// For each word it keeps the plain total of all products, and beside it the
// total of lanes 1 and 3 alone, which are biased, shifted down and thereby
// given 32 bits each. What is left of the plain total without lanes 1 and 3 is
// lanes 0 and 2.
func addBlock(sums *[block]int32, rows [][words]uint64, in []active) {
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

// addLanes takes the totals of a word apart and adds them to sums.
func addLanes(sums *[lanes]int32, all, odd uint64, pairs int) {
	bias := uint32(pairs) << 15
	one, three := int32(uint32(odd)-bias), int32(uint32(odd>>32)-bias)
	even := all - uint64(int64(one))<<16 - uint64(int64(three))<<48
	zero := int32(even)
	two := int32((even - uint64(int64(zero))) >> 32)
	sums[0] += zero
	sums[1] += one
	sums[2] += two
	sums[3] += three
}
