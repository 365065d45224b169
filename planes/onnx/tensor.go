package onnx

import (
	"encoding/binary"
	"fmt"
	"math"
)

// DataType is the type of a tensor's elements. Its numbers are the file's.
type DataType int32

// Types of elements that tensors with data may have.
const (
	Float    DataType = 1 // 32 bits
	Uint8    DataType = 2
	Int8     DataType = 3
	Uint16   DataType = 4
	Int16    DataType = 5
	Int32    DataType = 6
	Int64    DataType = 7
	Bool     DataType = 9
	Float16  DataType = 10
	Double   DataType = 11
	Uint32   DataType = 12
	Uint64   DataType = 13
	BFloat16 DataType = 16
)

// elements describes the supported types.
var elements = map[DataType]struct {
	name     string
	size     int   // bytes of an element in raw data
	min, max int64 // range of integers; both 0 for numbers with a fraction
}{
	Float:    {"float", 4, 0, 0},
	Uint8:    {"uint8", 1, 0, math.MaxUint8},
	Int8:     {"int8", 1, math.MinInt8, math.MaxInt8},
	Uint16:   {"uint16", 2, 0, math.MaxUint16},
	Int16:    {"int16", 2, math.MinInt16, math.MaxInt16},
	Int32:    {"int32", 4, math.MinInt32, math.MaxInt32},
	Int64:    {"int64", 8, math.MinInt64, math.MaxInt64},
	Bool:     {"bool", 1, 0, 1},
	Float16:  {"float16", 2, 0, 0},
	Double:   {"double", 8, 0, 0},
	Uint32:   {"uint32", 4, 0, math.MaxUint32},
	Uint64:   {"uint64", 8, 0, math.MaxInt64}, // larger ones do not occur in nets
	BFloat16: {"bfloat16", 2, 0, 0},
}

// otherTypes names the types of ONNX that are not supported.
var otherTypes = map[DataType]string{
	8: "string", 14: "complex64", 15: "complex128", 17: "float8e4m3fn", 18: "float8e4m3fnuz", 19: "float8e5m2",
	20: "float8e5m2fnuz", 21: "uint4", 22: "int4", 23: "float4e2m1",
}

func (t DataType) String() string {
	if e, ok := elements[t]; ok {
		return e.name
	}
	if s, ok := otherTypes[t]; ok {
		return s
	}
	return fmt.Sprintf("data type %d", int32(t))
}

// Fractional reports whether tensors of the type keep their elements in Floats;
// those of the other supported types keep them in Ints.
func (t DataType) Fractional() bool {
	return t == Float || t == Float16 || t == BFloat16 || t == Double
}

// Tensor is an array of numbers, the last dimension varying fastest. Whatever
// the type of its elements in a file, they are held as float32 (those of Double
// rounded) or as int64; Encode writes them in Type, rounded to the nearest.
type Tensor struct {
	Name   string
	Type   DataType
	Dims   []int     // empty for a scalar
	Floats []float32 // elements, if Type.Fractional()
	Ints   []int64   // elements otherwise; booleans are 0 or 1

	external *external // where the elements are while they are not read
}

// Len returns how many elements the tensor has.
func (t *Tensor) Len() int { return len(t.Floats) + len(t.Ints) }

// check reports a tensor whose parts do not fit together.
func (t *Tensor) check() error {
	e, ok := elements[t.Type]
	if !ok {
		return fmt.Errorf("%w: tensor %q: elements of type %v", ErrUnsupported, t.Name, t.Type)
	}
	want, err := count(t.Dims)
	if err != nil {
		return fmt.Errorf("%w: tensor %q: %w", ErrFormat, t.Name, err)
	}
	got, other := len(t.Ints), len(t.Floats)
	if t.Type.Fractional() {
		got, other = other, got
	}
	if got != want || other != 0 {
		return fmt.Errorf("%w: tensor %q: found %d elements of type %v, expected %d for dimensions %v", ErrFormat, t.Name, got, t.Type, want, t.Dims)
	}
	for _, v := range t.Ints {
		if v < e.min || v > e.max {
			return fmt.Errorf("%w: tensor %q: found element %d, expected %d..%d of type %v", ErrFormat, t.Name, v, e.min, e.max, t.Type)
		}
	}
	return nil
}

// count multiplies dimensions.
func count(dims []int) (int, error) {
	n := 1
	for _, d := range dims {
		if d < 0 || d > math.MaxInt32 {
			return 0, fmt.Errorf("found dimension %d, expected 0..%d", d, math.MaxInt32)
		}
		if d > 0 && n > MaxFile/d {
			return 0, fmt.Errorf("found dimensions %v, expected at most %d elements", dims, MaxFile)
		}
		n *= d
	}
	return n, nil
}

// setRaw takes elements from little-endian bytes, a whole number of them.
func (t *Tensor) setRaw(raw []byte) {
	size := elements[t.Type].size
	n := len(raw) / size
	if t.Type.Fractional() {
		t.Floats = make([]float32, n)
	} else {
		t.Ints = make([]int64, n)
	}
	for i := range n {
		var bits uint64
		switch b := raw[i*size:]; size {
		case 1:
			bits = uint64(b[0])
		case 2:
			bits = uint64(binary.LittleEndian.Uint16(b))
		case 4:
			bits = uint64(binary.LittleEndian.Uint32(b))
		case 8:
			bits = binary.LittleEndian.Uint64(b)
		}
		if t.Floats != nil {
			t.Floats[i] = t.Type.float(bits)
		} else {
			t.Ints[i] = t.Type.integer(bits)
		}
	}
}

// raw returns the elements as little-endian bytes.
func (t *Tensor) raw() []byte {
	size := elements[t.Type].size
	raw := make([]byte, 0, size*t.Len())
	for i := range t.Len() {
		var bits uint64
		if t.Type.Fractional() {
			bits = t.Type.bits(t.Floats[i])
		} else {
			bits = uint64(t.Ints[i])
		}
		switch size {
		case 1:
			raw = append(raw, byte(bits))
		case 2:
			raw = binary.LittleEndian.AppendUint16(raw, uint16(bits))
		case 4:
			raw = binary.LittleEndian.AppendUint32(raw, uint32(bits))
		case 8:
			raw = binary.LittleEndian.AppendUint64(raw, bits)
		}
	}
	return raw
}

// integer widens an element of an integer type.
func (t DataType) integer(bits uint64) int64 {
	switch t {
	case Int8:
		return int64(int8(bits))
	case Int16:
		return int64(int16(bits))
	case Int32:
		return int64(int32(bits))
	}
	return int64(bits)
}

// float converts an element of a fractional type.
func (t DataType) float(bits uint64) float32 {
	switch t {
	case Float16:
		return fromHalf(uint16(bits))
	case BFloat16:
		return math.Float32frombits(uint32(bits) << 16)
	case Double:
		return float32(math.Float64frombits(bits))
	}
	return math.Float32frombits(uint32(bits))
}

// bits is the inverse of float, rounding to the nearest, ties to even.
func (t DataType) bits(v float32) uint64 {
	switch t {
	case Float16:
		return uint64(toHalf(v))
	case BFloat16:
		b := math.Float32bits(v)
		if v != v {
			return uint64(b>>16 | 0x40) // stays not a number when its low bits go
		}
		return uint64((b + 0x7FFF + b>>16&1) >> 16)
	case Double:
		return math.Float64bits(float64(v))
	}
	return uint64(math.Float32bits(v))
}

// fromHalf converts from IEEE 754 binary16, exactly: 1 bit sign, 5 bits
// exponent with a bias of 15, 10 bits fraction.
func fromHalf(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1F), uint32(h&0x3FF)
	switch exponent {
	case 0: // zero and subnormal: fraction × 2^-24
		v := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1F: // infinity, not a number
		return math.Float32frombits(sign | 0xFF<<23 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}

// toHalf converts to IEEE 754 binary16, to the nearest, ties to even.
func toHalf(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	abs := b &^ (1 << 31)
	switch {
	case abs > 0xFF<<23: // not a number
		return sign | 0x7E00
	case abs >= (127+16)<<23: // 2^16 and above
		return sign | 0x7C00
	case abs < (127-14)<<23: // below 2^-14: a multiple of 2^-24
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(abs))*0x1p24))
	}
	// A carry of the rounding runs into the exponent, up to infinity, as it should.
	return sign | uint16((abs-(127-15)<<23+0xFFF+abs>>13&1)>>13)
}
