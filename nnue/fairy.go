package nnue

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// fairyVersion begins every file of Fairy-Stockfish's present format.
const fairyVersion = 0x7AF32F20

// fairyHeader is the length of a Fairy-Stockfish file before the description:
// version, file hash, length of the description.
const fairyHeader = 12

// Hash words of Fairy-Stockfish files tell layer sizes apart, not the number of
// features: networks of different variants carry the same words.
const (
	hashHalfKAv2 = 0x5F234CB8
	hashInput    = 0xEC42E90D
	hashAffine   = 0xCC03DAE4
	hashClip     = 0x538D24C7
)

// fairyHashes returns the words before the transformer and before each stack;
// the file's own word is both XORed.
func (a Architecture) fairyHashes() (transformer, stack uint32) {
	inputs := uint32(2 * a.Width)
	affine := func(previous uint32, outputs int) uint32 {
		return (hashAffine + uint32(outputs)) ^ previous>>1 ^ previous<<31
	}
	h := affine(hashInput^inputs, a.L2)
	h = affine(hashClip+h, a.L3)
	h = affine(hashClip+h, 1)
	return hashHalfKAv2 ^ inputs, h
}

// isFairy reports whether the architecture is one Fairy-Stockfish can load.
func (a Architecture) isFairy() bool {
	want := Fairy()
	want.Variant = a.Variant
	return a == want
}

// fairySize returns the length of a Fairy-Stockfish file without its
// description.
func (a Architecture) fairySize(featureCount int) int64 {
	return fairyHeader + 4 + a.transformerBytes(featureCount) + int64(a.Stacks)*(4+a.stackBytes())
}

// parseFairy reads a Fairy-Stockfish file for a variant. The size is judged
// before the contents, because it alone tells a network for another variant.
func parseFairy(data []byte, v *chess.Variant) (*Network, error) {
	arch := FairyFor(v)
	set, err := arch.resolve()
	if err != nil {
		return nil, err
	}
	if len(data) < fairyHeader {
		return nil, fmt.Errorf("%w: found %d bytes, expected a header of %d", ErrFormat, len(data), fairyHeader)
	}
	described := int64(binary.LittleEndian.Uint32(data[8:]))
	expected := arch.fairySize(set.Size()) + described
	if found := int64(len(data)); found != expected {
		if err := otherFairyVariant(found, described, v); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: found %d bytes, expected %d for %s with %d features and a description of %d bytes",
			ErrFormat, found, expected, v.Name, set.Size(), described)
	}

	transformer, stack := arch.fairyHashes()
	d := decoder{rest: data}
	if err := d.expect("version", fairyVersion); err != nil {
		return nil, err
	}
	if err := d.expect("file hash", transformer^stack); err != nil {
		return nil, err
	}
	d.uint32() // length of the description, used above
	description := string(d.take(int(described)))
	if err := d.expect("transformer hash", transformer); err != nil {
		return nil, err
	}
	n, err := New(arch)
	if err != nil {
		return nil, err
	}
	n.Description = description
	d.transformer(n)
	for i := range n.Stacks {
		if err := d.expect(fmt.Sprintf("hash of stack %d", i), stack); err != nil {
			return nil, err
		}
		d.stack(&n.Stacks[i])
	}
	return n, nil
}

// expect takes one word and compares it.
func (d *decoder) expect(name string, want uint32) error {
	if found := d.uint32(); found != want {
		return fmt.Errorf("%w: found %s %#08x, expected %#08x", ErrFormat, name, found, want)
	}
	return nil
}

// otherFairyVariant returns an error if the size is right for another variant.
func otherFairyVariant(size, described int64, v *chess.Variant) error {
	for _, other := range chess.Variants() {
		arch := FairyFor(other)
		set, err := arch.resolve()
		if err != nil || other == v || size != arch.fairySize(set.Size())+described {
			continue
		}
		return fmt.Errorf("%w: found %d bytes, a network for %s with %d features, expected one for %s",
			ErrVariant, size, other.Name, set.Size(), v.Name)
	}
	return nil
}

// writeFairy writes a network in Fairy-Stockfish's format.
func (n *Network) writeFairy(w io.Writer) error {
	transformer, stack := n.arch.fairyHashes()
	e := newEncoder(w)
	e.uint32(fairyVersion)
	e.uint32(transformer ^ stack)
	e.uint32(uint32(len(n.Description)))
	e.bytes([]byte(n.Description))
	e.uint32(transformer)
	e.transformer(n)
	for i := range n.Stacks {
		e.uint32(stack)
		e.stack(&n.Stacks[i])
	}
	return e.flush()
}
