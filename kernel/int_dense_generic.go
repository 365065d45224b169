package kernel

import "encoding/binary"

// Without vector instructions a Dense computes a block of outputs side by side,
// in words of two, and skips inputs that are zero: most are.
const (
	words = 4
	block = 2 * words

	chunk = 256 // inputs looked through at once
)

// active is one non-zero input: its index times 256 plus its value.
type active uint32

// packWords fills packed: [block of outputs][input].
//
// A 64-bit word holds the weights from one input to two outputs as the number
// w0 + w1<<32, a negative w0 borrowing from w1. Multiplied by an activation it
// holds two products, and added up two sums, which the borrow does not disturb
// until they are taken apart.
func (d *Dense) packWords(weights []int8, stride int) {
	d.packed = make([][words]uint64, d.paddedOutputs/block*d.paddedInputs)
	for o := range d.outputs {
		word, lane := o%block/2, o%2
		for i := range d.inputs {
			w := uint64(int64(weights[o*stride+i]))
			d.packed[o/block*d.paddedInputs+i][word] += w << (32 * lane)
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
			rows := d.packed[o/block*d.paddedInputs:][:d.paddedInputs]
			addProducts((*[block]int32)(dst[o:]), rows, list[:n])
		}
	}
}

// activeList is room for the inputs of a chunk that are not zero.
type activeList [chunk]active

// fill lists the inputs that are not zero and returns how many there are; their
// indices begin at first. len(in) is a multiple of eight.
func (l *activeList) fill(in []uint8, first int) int {
	n := uint(0)
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
	return int(n)
}

// append adds an input to the n there are, unless it is zero. Storing always and
// counting by the value keeps an unpredictable branch out of the loop.
func (l *activeList) append(n uint, index active, x uint8) uint {
	l[n%chunk] = index | active(x)
	return n + uint(x+0x7f)>>7
}

// addProducts adds the products of a block of outputs: sums += rows * in. A
// larger block would not stay in registers.
func addProducts(sums *[block]int32, rows [][words]uint64, in []active) {
	var t0, t1, t2, t3 uint64
	for _, a := range in {
		x, v := uint64(a&0xff), &rows[a>>8]
		t0 += x * v[0]
		t1 += x * v[1]
		t2 += x * v[2]
		t3 += x * v[3]
	}
	for i, t := range [words]uint64{t0, t1, t2, t3} {
		low := int32(t)
		sums[2*i] += low
		sums[2*i+1] += int32((t - uint64(int64(low))) >> 32)
	}
}
