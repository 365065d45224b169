package onnx

import (
	"fmt"
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message in the protocol buffers' wire format.
type field struct {
	number protowire.Number
	kind   protowire.Type
	n      uint64 // the value of VarintType, Fixed32Type and Fixed64Type
	b      []byte // that of BytesType, part of the message
}

// fields calls f with each field of a message, in order. Errors name the
// message and the field.
func fields(message string, b []byte, f func(field) error) error {
	for len(b) > 0 {
		var v field
		var n int
		v.number, v.kind, n = protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %s: %w", ErrFormat, message, protowire.ParseError(n))
		}
		b = b[n:]
		switch v.kind {
		case protowire.VarintType:
			v.n, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			v.n = uint64(x)
		case protowire.Fixed64Type:
			v.n, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			v.b, n = protowire.ConsumeBytes(b)
		default:
			return fmt.Errorf("%w: %s: field %d: found wire type %d, expected 0, 1, 2 or 5", ErrFormat, message, v.number, v.kind)
		}
		if n < 0 {
			return fmt.Errorf("%w: %s: field %d: %w", ErrFormat, message, v.number, protowire.ParseError(n))
		}
		b = b[n:]
		if err := f(v); err != nil {
			return fmt.Errorf("%s: %w", message, err)
		}
	}
	return nil
}

func (v field) expect(kind protowire.Type) error {
	if v.kind != kind {
		return fmt.Errorf("%w: field %d: found wire type %d, expected %d", ErrFormat, v.number, v.kind, kind)
	}
	return nil
}

// text stores a string.
func (v field) text(dst *string) error {
	if err := v.expect(protowire.BytesType); err != nil {
		return err
	}
	if !utf8.Valid(v.b) {
		return fmt.Errorf("%w: field %d: found a string that is not UTF-8", ErrFormat, v.number)
	}
	*dst = string(v.b)
	return nil
}

// texts appends a string to a list of at most limit.
func (v field) texts(dst *[]string, limit int) error {
	var s string
	if err := v.text(&s); err != nil {
		return err
	}
	return add(dst, s, limit, "strings")
}

// int stores an integer.
func (v field) int(dst *int64) error {
	*dst = int64(v.n)
	return v.expect(protowire.VarintType)
}

// enum stores a small integer.
func (v field) enum(dst *int32) error {
	if v.n > math.MaxInt32 {
		return fmt.Errorf("%w: field %d: found %d, expected 0..%d", ErrFormat, v.number, v.n, math.MaxInt32)
	}
	*dst = int32(v.n)
	return v.expect(protowire.VarintType)
}

// float stores a 32-bit number.
func (v field) float(dst *float32) error {
	*dst = math.Float32frombits(uint32(v.n))
	return v.expect(protowire.Fixed32Type)
}

// numbers calls f with the bits of each number of a repeated field, which may be
// packed, many numbers in a string of bytes, or not.
func (v field) numbers(kind protowire.Type, f func(bits uint64)) error {
	if v.kind == kind {
		f(v.n)
		return nil
	}
	if err := v.expect(protowire.BytesType); err != nil {
		return err
	}
	for b := v.b; len(b) > 0; {
		var bits uint64
		var n int
		switch kind {
		case protowire.VarintType:
			bits, n = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			bits, n = protowire.ConsumeFixed64(b)
		default:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			bits = uint64(x)
		}
		if n < 0 {
			return fmt.Errorf("%w: field %d: %w", ErrFormat, v.number, protowire.ParseError(n))
		}
		f(bits)
		b = b[n:]
	}
	return nil
}

// ints appends integers.
func (v field) ints(dst *[]int64) error {
	return v.numbers(protowire.VarintType, func(bits uint64) { *dst = append(*dst, int64(bits)) })
}

// message returns the bytes of a message.
func (v field) message() ([]byte, error) {
	return v.b, v.expect(protowire.BytesType)
}

// add appends to a list of things that may have no more than limit.
func add[T any](dst *[]T, v T, limit int, what string) error {
	if len(*dst) == limit {
		return fmt.Errorf("%w: found more than %d %s", ErrFormat, limit, what)
	}
	*dst = append(*dst, v)
	return nil
}
