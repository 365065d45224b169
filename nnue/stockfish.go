package nnue

import (
	"fmt"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// stockfishFormat is one of the two file formats that begin with a version word
// of Stockfish. Both have hash words made from layer sizes, not from the number
// of features: networks of different variants carry the same words.
type stockfishFormat struct {
	version uint32 // first word of every file
	set     uint32 // hash word of the feature set
	// architecture returns what a file for a variant must hold. There is none
	// if its variant is another.
	architecture func(*chess.Variant) Architecture
}

var (
	// fairyFormat is Fairy-Stockfish's present format.
	fairyFormat = &stockfishFormat{version: 0x7AF32F20, set: 0x5F234CB8, architecture: FairyFor}
	// halfKPFormat is the format of Stockfish 12 and 13. The feature set's word
	// has a bit for the king being the own one.
	halfKPFormat = &stockfishFormat{
		version: 0x7AF32F16, set: 0x5D69D5B9 ^ 1,
		architecture: func(*chess.Variant) Architecture { return HalfKP() },
	}
	stockfishFormats = [...]*stockfishFormat{fairyFormat, halfKPFormat}
)

// stockfishFormat returns the format whose only architecture for some variant
// is a, or nil.
func (a Architecture) stockfishFormat() *stockfishFormat {
	for _, f := range stockfishFormats {
		for _, v := range chess.Variants() {
			if a == f.architecture(v) {
				return f
			}
		}
	}
	return nil
}

// stockfishHeader is the length of a file before the description: version, file
// hash, length of the description.
const stockfishHeader = 12

// Hash words of the parts of a network.
const (
	hashInput  = 0xEC42E90D
	hashAffine = 0xCC03DAE4
	hashClip   = 0x538D24C7
)

// hashes returns the words before the transformer and before each stack; the
// file's own word is both XORed.
func (f *stockfishFormat) hashes(a Architecture) (transformer, stack uint32) {
	inputs := uint32(a.Inputs())
	affine := func(previous uint32, outputs int) uint32 {
		return (hashAffine + uint32(outputs)) ^ previous>>1 ^ previous<<31
	}
	h := affine(hashInput^inputs, a.L2)
	h = affine(hashClip+h, a.L3)
	h = affine(hashClip+h, 1)
	return f.set ^ inputs, h
}

// size returns the length of a file without its description.
func (f *stockfishFormat) size(a Architecture, featureCount int) int64 {
	return stockfishHeader + 4 + a.parameterBytes(featureCount) + 4*int64(a.Stacks)
}

// parse reads a file for a variant. The size is judged before the contents,
// because only it differs for a network of another variant.
func (f *stockfishFormat) parse(d *decoder, v *chess.Variant) (*Network, error) {
	arch := f.architecture(v)
	if arch.Variant != v.Name {
		return nil, errVariant(arch.Variant, v)
	}
	set, err := arch.Set()
	if err != nil {
		return nil, err
	}
	found := d.left
	if found < stockfishHeader {
		return nil, fmt.Errorf("%w: found %d bytes, expected a header of %d", ErrFormat, found, stockfishHeader)
	}
	transformer, stack := f.hashes(arch)
	d.expect("version", f.version)
	fileHash := d.uint32()
	described := int64(d.uint32())
	if expected := f.size(arch, set.Size()) + described; d.err == nil && found != expected {
		if err := f.otherVariant(found-described, v); err != nil {
			return nil, err
		}
		d.fail("found %d bytes, expected %d for %s with %d features and a description of %d bytes",
			found, expected, v.Name, set.Size(), described)
	}
	if d.err == nil && fileHash != transformer^stack {
		d.fail("found file hash %#08x, expected %#08x", fileHash, transformer^stack)
	}
	if d.err != nil {
		return nil, d.err
	}

	description := d.text(int(described))
	d.expect("transformer hash", transformer)
	if d.err != nil {
		return nil, d.err
	}
	n, err := New(arch)
	if err != nil {
		return nil, err
	}
	n.Description = description
	n.codeTransformer(d)
	for i := range n.Stacks {
		d.expect(fmt.Sprintf("hash of stack %d", i), stack)
		n.Stacks[i].code(d)
	}
	if d.err != nil {
		return nil, d.err
	}
	return n, nil
}

// otherVariant returns an error if the size, without description, is right for
// another variant.
func (f *stockfishFormat) otherVariant(size int64, v *chess.Variant) error {
	for _, other := range chess.Variants() {
		arch := f.architecture(other)
		set, err := arch.Set()
		if err != nil || other == v || arch.Variant != other.Name || size != f.size(arch, set.Size()) {
			continue
		}
		return errVariant(other.Name, v)
	}
	return nil
}

// write writes a network of the format's architecture.
func (f *stockfishFormat) write(n *Network, w io.Writer) error {
	transformer, stack := f.hashes(n.arch)
	e := newEncoder(w)
	e.uint32(f.version)
	e.uint32(transformer ^ stack)
	e.uint32(uint32(len(n.Description)))
	e.bytes([]byte(n.Description))
	e.uint32(transformer)
	n.codeTransformer(e)
	for i := range n.Stacks {
		e.uint32(stack)
		n.Stacks[i].code(e)
	}
	return e.flush()
}
