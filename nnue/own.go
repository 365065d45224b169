package nnue

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Constants of the own format; the package comment has the layout.
const (
	ownMagic   = "SPNNUE\r\n"
	ownVersion = 1
	// ownFixed is the length of the header before its three strings.
	ownFixed = 80
	// ownLongest bounds the header with its strings.
	ownLongest = 1 << 20

	activationClip = 1 // clamp to 0..127
	scaleFT        = 127
	scaleLayers    = 64
	scaleOutput    = outputScale
	unitsPerOne    = 600    // raw units per 1.0 of a float network
	longestName    = 1 << 8 // of variant and feature set
)

// nameHash identifies a feature set by the FNV-1a hash of its canonical name.
func nameHash(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name)) // never fails
	return h.Sum64()
}

// parametersSize returns the length of the parameters in an own file.
func (a Architecture) parametersSize(featureCount int) int64 {
	return a.transformerBytes(featureCount) + int64(a.Stacks)*a.stackBytes()
}

// ownHeader returns the header of an own file.
func (n *Network) ownHeader() []byte {
	a := n.arch
	h := []byte(ownMagic)
	length := ownFixed + 4*3 + len(a.Variant) + len(a.Features) + len(n.Description)
	for _, v := range []int{
		ownVersion, length, n.set.Size(), a.Width, a.Stacks, a.Stacks, int(a.Buckets), a.L2, a.L3,
		activationClip, scaleFT, scaleLayers, scaleOutput, unitsPerOne,
	} {
		h = binary.LittleEndian.AppendUint32(h, uint32(v))
	}
	h = binary.LittleEndian.AppendUint64(h, nameHash(a.Features))
	h = binary.LittleEndian.AppendUint64(h, uint64(a.parametersSize(n.set.Size())))
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
	e.transformer(n)
	for i := range n.Stacks {
		e.stack(&n.Stacks[i])
	}
	if err := e.flush(); err != nil {
		return err
	}
	_, err := w.Write(sum.Sum(nil))
	return err
}

// parseOwn reads a file of our own format for a variant. It allocates only what
// the file's length has been found to hold.
func parseOwn(data []byte, v *chess.Variant) (*Network, error) {
	arch, description, header, err := parseOwnHeader(data)
	if err != nil {
		return nil, err
	}
	if arch.Variant != v.Name {
		return nil, fmt.Errorf("%w: found a network for %q, expected %q", ErrVariant, arch.Variant, v.Name)
	}
	set, err := arch.resolve()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if arch.isFairy() { // one architecture, one format
		return nil, fmt.Errorf("%w: found our header on %v, expected Fairy-Stockfish's format", ErrFormat, arch)
	}
	if err := checkOwnSizes(data, arch, set.Size(), header); err != nil {
		return nil, err
	}
	end := len(data) - sha256.Size
	if found := sha256.Sum256(data[:end]); !bytes.Equal(found[:], data[end:]) {
		return nil, fmt.Errorf("%w: found contents with SHA-256 %x, expected %x", ErrChecksum, found, data[end:])
	}
	n, err := New(arch)
	if err != nil {
		return nil, err
	}
	n.Description = description
	d := decoder{rest: data[header:end]}
	d.transformer(n)
	for i := range n.Stacks {
		d.stack(&n.Stacks[i])
	}
	return n, nil
}

// parseOwnHeader reads the header of an own file and checks every field that
// does not depend on the feature set. It returns the header's length.
func parseOwnHeader(data []byte) (a Architecture, description string, length int, err error) {
	fail := func(err error) (Architecture, string, int, error) { return Architecture{}, "", 0, err }
	if len(data) < ownFixed {
		return fail(fmt.Errorf("%w: found %d bytes, expected a header of %d", ErrFormat, len(data), ownFixed))
	}
	d := decoder{rest: data[len(ownMagic):]}
	if err := d.expect("version", ownVersion); err != nil {
		return fail(err)
	}
	claimed := int64(d.uint32())
	if claimed < ownFixed || claimed > ownLongest || claimed > int64(len(data)) {
		return fail(fmt.Errorf("%w: found a header of %d bytes in a file of %d, expected %d to %d",
			ErrFormat, claimed, len(data), ownFixed, ownLongest))
	}
	d.uint32() // features, checked by checkOwnSizes
	a.Width = int(d.uint32())
	columns := d.uint32()
	a.Stacks = int(d.uint32())
	if columns != uint32(a.Stacks) {
		return fail(fmt.Errorf("%w: found %d PSQT columns, expected %d, one per stack", ErrFormat, columns, a.Stacks))
	}
	a.Buckets = BucketRule(d.uint32())
	a.L2, a.L3 = int(d.uint32()), int(d.uint32())
	for _, f := range []struct {
		name string
		want uint32
	}{
		{"activation", activationClip}, {"transformer scale", scaleFT}, {"layer scale", scaleLayers},
		{"output scale", scaleOutput}, {"units", unitsPerOne},
	} {
		if err := d.expect(f.name, f.want); err != nil {
			return fail(err)
		}
	}
	hash := binary.LittleEndian.Uint64(d.take(8))
	d.take(8) // length of the parameters, checked by checkOwnSizes

	d.rest = data[ownFixed:claimed]
	for _, s := range []struct {
		name    string
		dst     *string
		longest int
	}{
		{"variant", &a.Variant, longestName}, {"feature set", &a.Features, longestName},
		{"description", &description, ownLongest},
	} {
		if *s.dst, err = d.text(s.name, s.longest); err != nil {
			return fail(err)
		}
	}
	if len(d.rest) != 0 {
		return fail(fmt.Errorf("%w: found %d bytes after the description, expected none", ErrFormat, len(d.rest)))
	}
	if want := nameHash(a.Features); hash != want {
		return fail(fmt.Errorf("%w: found hash %#016x for feature set %q, expected %#016x", ErrFormat, hash, a.Features, want))
	}
	return a, description, int(claimed), nil
}

// text takes a string with its length in front.
func (d *decoder) text(name string, longest int) (string, error) {
	if len(d.rest) < 4 {
		return "", fmt.Errorf("%w: found %d bytes for the length of the %s, expected 4", ErrFormat, len(d.rest), name)
	}
	n := int64(d.uint32())
	if n > int64(longest) || n > int64(len(d.rest)) {
		return "", fmt.Errorf("%w: found a %s of %d bytes, expected %d at most",
			ErrFormat, name, n, min(longest, len(d.rest)))
	}
	return string(d.take(int(n))), nil
}

// checkOwnSizes compares the sizes an own file claims, and its length, with
// what its architecture makes them.
func checkOwnSizes(data []byte, a Architecture, featureCount, header int) error {
	if found := binary.LittleEndian.Uint32(data[16:]); int64(found) != int64(featureCount) {
		return fmt.Errorf("%w: found %d features, expected %d for %s in %s", ErrFormat, found, featureCount, a.Features, a.Variant)
	}
	parameters := a.parametersSize(featureCount)
	if found := binary.LittleEndian.Uint64(data[ownFixed-8:]); found != uint64(parameters) {
		return fmt.Errorf("%w: found %d bytes of parameters, expected %d", ErrFormat, found, parameters)
	}
	if expected := int64(header) + parameters + sha256.Size; int64(len(data)) != expected {
		return fmt.Errorf("%w: found %d bytes, expected %d for %v", ErrFormat, len(data), expected, a)
	}
	return nil
}
