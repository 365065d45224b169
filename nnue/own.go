package nnue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Constants of the own format; the package comment has the layout.
const (
	ownMagic   = "SPNNUE\r\n"
	ownVersion = 1
	// ownFixed is the length of the header before its three strings.
	ownFixed = 80
	// ownLongest bounds the header with its strings.
	ownLongest = 1 << 20
	// longestName bounds the variant.
	longestName = 1 << 8
)

// nameHash identifies a feature set by the FNV-1a hash of its canonical name.
func nameHash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// ownHeader returns the header of an own file.
func (n *Network) ownHeader() []byte {
	a := n.arch
	h := []byte(ownMagic)
	length := ownFixed + 4*3 + len(a.Variant) + len(a.Features) + len(n.Description)
	for _, v := range []int{
		ownVersion, length, n.set.Size(), a.Width, a.PSQT, a.Stacks, int(a.Buckets), a.L2, a.L3,
		int(a.Activation), ActivationScale, a.LayerScale, a.OutputScale, a.Units,
	} {
		h = binary.LittleEndian.AppendUint32(h, uint32(v))
	}
	h = binary.LittleEndian.AppendUint64(h, nameHash(a.Features))
	h = binary.LittleEndian.AppendUint64(h, uint64(a.parameterBytes(n.set.Size())))
	for _, s := range []string{a.Variant, a.Features, n.Description} {
		h = binary.LittleEndian.AppendUint32(h, uint32(len(s)))
		h = append(h, s...)
	}
	return h
}

// writeOwn writes a network in our own format.
func (n *Network) writeOwn(w io.Writer) error {
	header := n.ownHeader()
	if len(header) > ownLongest {
		return fmt.Errorf("%w: found a description of %d bytes, expected a header of %d at most",
			ErrFormat, len(n.Description), ownLongest)
	}
	sum := sha256.New()
	e := newEncoder(io.MultiWriter(w, sum))
	e.bytes(header)
	n.codeTransformer(e)
	for i := range n.Stacks {
		n.Stacks[i].code(e)
	}
	if err := e.flush(); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

// ownHeader is what the header of an own file says.
type ownHeader struct {
	arch        Architecture
	description string
	length      int64  // of the header
	features    uint32 // in the set
	parameters  uint64 // bytes
}

// parseOwn reads a file of our own format for a variant. It allocates only what
// the file's length has been found to hold.
func parseOwn(d *decoder, v *chess.Variant) (*Network, error) {
	size := d.left
	d.hash = sha256.New()
	h := d.ownHeader()
	if d.err != nil {
		return nil, d.err
	}
	if h.arch.Variant != v.Name {
		return nil, errVariant(h.arch.Variant, v)
	}
	set, err := h.arch.Set()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if h.arch.stockfishFormat() != nil { // one architecture, one format
		return nil, fmt.Errorf("%w: found our header on %v, expected Stockfish's format", ErrFormat, h.arch)
	}
	if err := h.checkSizes(size, set.Size()); err != nil {
		return nil, err
	}
	n, err := New(h.arch)
	if err != nil {
		return nil, err
	}
	n.Description = h.description
	n.codeTransformer(d)
	for i := range n.Stacks {
		n.Stacks[i].code(d)
	}
	found := d.hash.Sum(nil)
	d.hash = nil
	claimed := d.take(sha256.Size)
	if d.err != nil {
		return nil, d.err
	}
	if !bytes.Equal(found, claimed) {
		return nil, fmt.Errorf("%w: found contents with SHA-256 %x, expected %x", ErrChecksum, found, claimed)
	}
	return n, nil
}

// ownHeader takes the header of an own file and checks what does not depend on
// the architecture.
func (d *decoder) ownHeader() (h ownHeader) {
	size := d.left
	if size < ownFixed {
		d.fail("found %d bytes, expected a header of %d", size, ownFixed)
		return h
	}
	d.take(len(ownMagic))
	d.expect("version", ownVersion)
	h.length = int64(d.uint32())
	if h.length < ownFixed || h.length > ownLongest || h.length > size {
		d.fail("found a header of %d bytes in a file of %d, expected %d to %d", h.length, size, ownFixed, min(ownLongest, size))
	}
	h.features = d.uint32()
	a := &h.arch
	for _, field := range []*int{&a.Width, &a.PSQT, &a.Stacks} {
		*field = int(d.uint32())
	}
	a.Buckets = BucketRule(d.uint32())
	a.L2, a.L3 = int(d.uint32()), int(d.uint32())
	a.Activation = Activation(d.uint32())
	d.expect("transformer scale", ActivationScale)
	a.LayerScale, a.OutputScale, a.Units = int(d.uint32()), int(d.uint32()), int(d.uint32())
	hash := d.uint64()
	h.parameters = d.uint64()

	rest := h.length - ownFixed
	a.Variant = d.bounded("variant", longestName, &rest)
	a.Features = d.bounded("feature set", features.MaxExpression, &rest)
	h.description = d.bounded("description", ownLongest, &rest)
	if rest != 0 {
		d.fail("found %d bytes after the description, expected none", rest)
	}
	if want := nameHash(a.Features); hash != want {
		d.fail("found hash %#016x for feature set %q, expected %#016x", hash, a.Features, want)
	}
	return h
}

// bounded takes a string with its length in front, out of the rest of a header.
func (d *decoder) bounded(name string, longest int, rest *int64) string {
	if d.err == nil && *rest < 4 {
		d.fail("found %d bytes for the length of the %s, expected 4", *rest, name)
	}
	n := int64(d.uint32())
	*rest -= 4
	if d.err == nil && (n > int64(longest) || n > *rest) {
		d.fail("found a %s of %d bytes, expected %d at most", name, n, min(int64(longest), *rest))
	}
	if d.err != nil {
		return ""
	}
	*rest -= n
	return d.text(int(n))
}

// checkSizes compares the sizes an own file claims, and its own, with what its
// architecture makes them.
func (h *ownHeader) checkSizes(size int64, featureCount int) error {
	if int64(h.features) != int64(featureCount) {
		return fmt.Errorf("%w: found %d features, expected %d for %s in %s",
			ErrFormat, h.features, featureCount, h.arch.Features, h.arch.Variant)
	}
	parameters := h.arch.parameterBytes(featureCount)
	if h.parameters != uint64(parameters) {
		return fmt.Errorf("%w: found %d bytes of parameters, expected %d", ErrFormat, h.parameters, parameters)
	}
	if expected := h.length + parameters + sha256.Size; size != expected {
		return fmt.Errorf("%w: found %d bytes, expected %d for %v", ErrFormat, size, expected, h.arch)
	}
	return nil
}
