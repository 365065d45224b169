package kernel

import (
	"fmt"
	"math"
	"unsafe"
)

const (
	lineBytes = 64             // a cache line, and the widest vector register
	lineLanes = lineBytes / 2  // int16
	maxSums   = lineBytes / 4  // int32: the sums of a row fill one line at most
	laneStep  = lineLanes >> 1 // lanes of a row are a multiple of this
)

// Rows is a table of weight rows. A row has lanes, int16, and sums, int32: in an
// NNUE network the feature transformer's weights and the piece-square values of
// one feature. Both lie side by side in memory, so that one pass adds them
// together to an accumulator, which is a Row of the same shape.
//
// Rows may be read by many goroutines while none writes.
type Rows struct {
	shape
	count int
	start *byte // of count rows, at a multiple of lineBytes
}

// shape is how a row lies in memory: its lanes, padded with zeros to whole
// lines, then one line with its sums if it has any.
type shape struct {
	lanes, sums int
	lines       int // of lanes
	stride      int // bytes of a row
}

// Row is one row of a Rows, or a row of the same shape outside it. It is a
// view: copies of a Row share its memory.
type Row struct {
	start *byte
	shape *shape // of the Rows it belongs to
}

// NewRows returns a table of n rows of zeros. It panics unless lanes is a
// positive multiple of 16 and sums is from 0 to 16.
func NewRows(n, lanes, sums int) *Rows {
	if n < 0 || lanes <= 0 || lanes%laneStep != 0 || sums < 0 || sums > maxSums {
		panic(fmt.Sprintf("kernel: found %d rows of %d lanes and %d sums, expected lanes a multiple of %d and sums to %d",
			n, lanes, sums, laneStep, maxSums))
	}
	s := shape{lanes: lanes, sums: sums, lines: (lanes + lineLanes - 1) / lineLanes}
	s.stride = s.lines * lineBytes
	if sums > 0 {
		s.stride += lineBytes
	}
	return &Rows{shape: s, count: n, start: s.allocate(n)}
}

// allocate returns memory for n rows.
func (s *shape) allocate(n int) *byte {
	if n > (math.MaxInt-lineBytes)/s.stride {
		panic(fmt.Sprintf("kernel: found %d rows of %d bytes, expected them to fit the address space", n, s.stride))
	}
	return aligned(n * s.stride)
}

// aligned returns memory of n bytes, all zero, that begins at a multiple of
// lineBytes: vectors that straddle cache lines cost two reads.
func aligned(n int) *byte {
	start := unsafe.SliceData(make([]byte, n+lineBytes))
	return offset(start, int(-uintptr(unsafe.Pointer(start))&(lineBytes-1)))
}

// offset returns the address n bytes on.
func offset(p *byte, n int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(p), n)) }

// Len returns the number of rows.
func (r *Rows) Len() int { return r.count }

// Lanes returns the number of int16 lanes of a row.
func (r *Rows) Lanes() int { return r.lanes }

// Sums returns the number of int32 sums of a row.
func (r *Rows) Sums() int { return r.sums }

// Row returns row i.
func (r *Rows) Row(i int) Row { return Row{r.at(i), &r.shape} }

// LanesOf returns the lanes of row i, to read or to fill.
func (r *Rows) LanesOf(i int) []int16 { return r.Row(i).Lanes() }

// SumsOf returns the sums of row i, to read or to fill.
func (r *Rows) SumsOf(i int) []int32 { return r.Row(i).Sums() }

// Blank returns n rows of zeros outside the table, to be accumulators.
func (r *Rows) Blank(n int) []Row {
	start := r.allocate(n)
	rows := make([]Row, n)
	for i := range rows {
		rows[i] = Row{offset(start, i*r.stride), &r.shape}
	}
	return rows
}

// at returns the address of row i.
func (r *Rows) at(i int) *byte {
	if !r.has(i) {
		panic(fmt.Sprintf("kernel: found row %d, expected one below %d", i, r.count))
	}
	return offset(r.start, i*r.stride)
}

// has returns whether there is a row i.
func (r *Rows) has(i int) bool { return uint(i) < uint(r.count) }

// Lanes returns the row's lanes, to read or to fill.
func (r Row) Lanes() []int16 { return unsafe.Slice((*int16)(unsafe.Pointer(r.start)), r.shape.lanes) }

// Sums returns the row's sums, to read or to fill.
func (r Row) Sums() []int32 {
	if r.shape.sums == 0 {
		return nil
	}
	return unsafe.Slice((*int32)(unsafe.Pointer(offset(r.start, r.shape.lines*lineBytes))), r.shape.sums)
}

// Copy sets r to src. Both belong to one Rows.
func (r Row) Copy(src Row) {
	if r.shape != src.shape {
		panic("kernel: rows of different tables")
	}
	copy(r.bytes(), src.bytes())
}

func (r Row) bytes() []byte { return unsafe.Slice(r.start, r.shape.stride) }

// Apply sets dst = src + (rows listed in added) - (rows listed in removed), in
// the lanes and in the sums; both wrap on overflow. dst and src belong to r and
// may be the same. A row may be listed more than once.
func (r *Rows) Apply(dst, src Row, added, removed []int32) {
	if dst.shape != &r.shape || src.shape != &r.shape {
		panic("kernel: rows of different tables")
	}
	r.apply(dst.start, src.start, added, removed) // as many words as registers take
}
