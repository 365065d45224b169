package nnue

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Errors of reading a network file; they are wrapped with what was found and
// what was expected.
var (
	// ErrFormat says that the bytes are no network file, or a damaged one.
	ErrFormat = errors.New("bad net file")
	// ErrVariant says that the network is for another variant.
	ErrVariant = errors.New("network for another variant")
	// ErrChecksum says that the contents do not have the hash they claim.
	ErrChecksum = errors.New("network file is damaged")
)

func errVariant(found string, expected *chess.Variant) error {
	return fmt.Errorf("%w: found one for %q, expected one for %q", ErrVariant, found, expected.Name)
}

// maxFile is the longest file that is read, maxParameters the part of it that
// any header and description leave.
const (
	maxFile       = 256 << 20
	maxParameters = maxFile - 2<<20
)

// Read reads a crazyhouse network in any of the formats, to the end of r. It
// keeps no more memory than twice what r has bytes, and at most 512 MiB;
// ReadFile needs half.
func Read(r io.Reader) (*Network, error) { return ReadVariant(r, chess.Crazyhouse) }

// ReadVariant reads a network for a variant in any of the formats. A network
// for another variant is refused with ErrVariant, anything else that does not
// fit with ErrFormat or ErrChecksum.
func ReadVariant(r io.Reader, v *chess.Variant) (*Network, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading net: %w", err)
	}
	return parse(bytes.NewReader(data), int64(len(data)), v)
}

// ReadFile reads a network file for a variant in any of the formats; its errors
// are ReadVariant's.
func ReadFile(path string, v *chess.Variant) (*Network, error) {
	// A pipe would wait for its writer when opened.
	if info, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("reading net: %w", err)
	} else if !info.Mode().IsRegular() {
		kind := "a special file"
		if info.IsDir() {
			kind = "a directory"
		}
		return nil, fmt.Errorf("%s: %w: found %s, expected a regular file", path, ErrFormat, kind)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading net: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading net: %w", err)
	}
	n, err := parse(f, info.Size(), v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// parse reads a whole file of the given size in any of the formats. What it
// allocates is bounded by the size.
func parse(r io.Reader, size int64, v *chess.Variant) (*Network, error) {
	if size > maxFile {
		return nil, fmt.Errorf("%w: found %d bytes, expected %d at most", ErrFormat, size, maxFile)
	}
	d := newDecoder(r, size)
	first, err := d.r.Peek(min(len(ownMagic), int(size)))
	if err != nil {
		return nil, fmt.Errorf("reading net: %w", err)
	}
	if string(first) == ownMagic {
		return parseOwn(d, v)
	}
	if len(first) >= 4 {
		for _, f := range stockfishFormats {
			if binary.LittleEndian.Uint32(first) == f.version {
				return f.parse(d, v)
			}
		}
	}
	return nil, fmt.Errorf("%w: found first bytes %q, expected %q or one of the version words %#x and %#x",
		ErrFormat, first, ownMagic, fairyFormat.version, halfKPFormat.version)
}

// Write writes the network: in the format of Fairy-Stockfish or of Stockfish 12
// if its architecture is one that these load, else in our own. Reading a file
// and writing it again gives the same bytes.
func (n *Network) Write(w io.Writer) error {
	err := n.checkLengths()
	if err == nil {
		if f := n.arch.stockfishFormat(); f != nil {
			err = f.write(n, w)
		} else {
			err = n.writeOwn(w)
		}
	}
	if err != nil {
		return fmt.Errorf("writing network: %w", err)
	}
	return nil
}
