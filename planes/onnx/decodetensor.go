package onnx

import (
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// elementField is the field that holds the elements of a type when they are not
// raw: float_data, int32_data, int64_data, double_data or uint64_data.
var elementField = map[DataType]protowire.Number{
	Float: 4, Int32: 5, Int16: 5, Int8: 5, Uint16: 5, Uint8: 5, Bool: 5, Float16: 5, BFloat16: 5,
	Int64: 7, Double: 10, Uint32: 11, Uint64: 11,
}

// tensorReader collects a tensor's fields, whose order is free.
type tensorReader struct {
	t       Tensor
	raw     []byte
	isRaw   bool
	typed   []uint64         // bits of elements in one of the typed fields
	typedIn protowire.Number // which, 0 before the first
	outside bool             // the elements are in another file
	where   external
}

func decodeTensor(what string, b []byte) (Tensor, error) {
	r := tensorReader{t: Tensor{Dims: []int{}}}
	err := fields(what, b, r.field)
	if err == nil {
		if err = r.elements(); err != nil {
			err = fmt.Errorf("%s: %w", what, err)
		}
	}
	return r.t, err
}

func (r *tensorReader) field(v field) error {
	switch v.number {
	case 1:
		return r.dims(v)
	case 2:
		return v.enum((*int32)(&r.t.Type))
	case 3:
		return fmt.Errorf("%w: a tensor in segments", ErrUnsupported)
	case 4:
		return r.numbers(v, protowire.Fixed32Type)
	case 5, 7, 11:
		return r.numbers(v, protowire.VarintType)
	case 6:
		return fmt.Errorf("%w: a tensor of strings", ErrUnsupported)
	case 8:
		return v.text(&r.t.Name)
	case 9:
		r.raw, r.isRaw = v.b, true
		return v.expect(protowire.BytesType)
	case 10:
		return r.numbers(v, protowire.Fixed64Type)
	case 13:
		r.outside = true
		return r.externalEntry(v)
	case 14:
		r.outside = r.outside || v.n != 0
	}
	return nil
}

// externalEntry takes an entry of external_data: a key and its value.
func (r *tensorReader) externalEntry(v field) error {
	b, err := v.message()
	if err != nil {
		return err
	}
	var key, value string
	err = fields("external data", b, func(v field) error {
		switch v.number {
		case 1:
			return v.text(&key)
		case 2:
			return v.text(&value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return r.where.setEntry(key, value)
}

func (r *tensorReader) dims(v field) error {
	var sizes []int64
	if err := v.ints(&sizes); err != nil {
		return err
	}
	for _, size := range sizes {
		if size < 0 || size > math.MaxInt32 {
			return fmt.Errorf("%w: found dimension %d, expected 0..%d", ErrFormat, size, math.MaxInt32)
		}
		if err := add(&r.t.Dims, int(size), maxRank, "dimensions"); err != nil {
			return err
		}
	}
	return nil
}

func (r *tensorReader) numbers(v field, kind protowire.Type) error {
	if r.typedIn != 0 && r.typedIn != v.number {
		return fmt.Errorf("%w: found elements in fields %d and %d, expected one", ErrFormat, r.typedIn, v.number)
	}
	r.typedIn = v.number
	return v.numbers(kind, func(bits uint64) { r.typed = append(r.typed, bits) })
}

// elements converts what was collected. That there are as many as the
// dimensions say is left to Tensor.check.
func (r *tensorReader) elements() error {
	t := &r.t
	e, ok := elements[t.Type]
	switch {
	case !ok:
		return fmt.Errorf("%w: tensor %q: elements of type %v", ErrUnsupported, t.Name, t.Type)
	case r.outside && (r.isRaw || len(r.typed) > 0 || r.where.location == ""):
		return fmt.Errorf("%w: tensor %q: found elements both here and in another file, or no name of one", ErrFormat, t.Name)
	case r.outside:
		t.external = &r.where
		return nil
	case r.isRaw && len(r.typed) > 0:
		return fmt.Errorf("%w: tensor %q: found elements both raw and typed", ErrFormat, t.Name)
	case r.isRaw && len(r.raw)%e.size != 0:
		return fmt.Errorf("%w: tensor %q: found %d bytes of elements, expected a multiple of %d", ErrFormat, t.Name, len(r.raw), e.size)
	case len(r.typed) > 0 && r.typedIn != elementField[t.Type]:
		return fmt.Errorf("%w: tensor %q: found elements in field %d, expected %d for type %v", ErrFormat, t.Name, r.typedIn, elementField[t.Type], t.Type)
	}
	if r.isRaw {
		t.setRaw(r.raw)
		return nil
	}
	if t.Type.Fractional() {
		t.Floats = make([]float32, len(r.typed))
		for i, bits := range r.typed {
			t.Floats[i] = t.Type.float(bits)
		}
		return nil
	}
	t.Ints = make([]int64, len(r.typed))
	for i, bits := range r.typed {
		t.Ints[i] = int64(bits)
	}
	return nil
}
