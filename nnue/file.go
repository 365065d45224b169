package nnue

import (
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
	ErrFormat = errors.New("bad network file")
	// ErrVariant says that the network is for another variant.
	ErrVariant = errors.New("network for another variant")
	// ErrChecksum says that the contents do not have the hash they claim.
	ErrChecksum = errors.New("network file is damaged")
)

// maxFile is more than the largest architecture needs.
const maxFile = 256 << 20

// Read reads a crazyhouse network in either format, to the end of r. It keeps
// no more memory than r has bytes, and at most 256 MiB.
func Read(r io.Reader) (*Network, error) { return ReadVariant(r, chess.Crazyhouse) }

// ReadVariant reads a network for a variant in either format. A network for
// another variant is refused with ErrVariant, anything else that does not fit
// with ErrFormat or ErrChecksum.
func ReadVariant(r io.Reader, v *chess.Variant) (*Network, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading network: %w", err)
	}
	return parse(data, v)
}

// ReadFile reads a crazyhouse network file in either format.
func ReadFile(path string) (*Network, error) { return ReadFileVariant(path, chess.Crazyhouse) }

// ReadFileVariant reads a network file for a variant in either format; its
// errors are ReadVariant's.
func ReadFileVariant(path string, v *chess.Variant) (*Network, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("reading network: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w: found %v, expected a regular file", path, ErrFormat, info.Mode().Type())
	}
	if info.Size() > maxFile {
		return nil, fmt.Errorf("%s: %w: found %d bytes, expected %d at most", path, ErrFormat, info.Size(), maxFile)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading network: %w", err)
	}
	n, err := parse(data, v)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return n, nil
}

// parse reads a whole file in either format.
func parse(data []byte, v *chess.Variant) (*Network, error) {
	switch {
	case len(data) > maxFile:
		return nil, fmt.Errorf("%w: found over %d bytes, expected at most that", ErrFormat, maxFile)
	case len(data) >= len(ownMagic) && string(data[:len(ownMagic)]) == ownMagic:
		return parseOwn(data, v)
	case len(data) >= 4 && binary.LittleEndian.Uint32(data) == fairyVersion:
		return parseFairy(data, v)
	}
	return nil, fmt.Errorf("%w: found first bytes %q, expected %q or the version word %#x",
		ErrFormat, data[:min(len(data), len(ownMagic))], ownMagic, uint32(fairyVersion))
}

// Write writes the network: in Fairy-Stockfish's format if its architecture is
// one Fairy-Stockfish loads, else in our own. Reading a file and writing it
// again gives the same bytes.
func (n *Network) Write(w io.Writer) error {
	if err := n.checkLengths(); err != nil {
		return fmt.Errorf("writing network: %w", err)
	}
	write := n.writeOwn
	if n.arch.isFairy() {
		write = n.writeFairy
	}
	if err := write(w); err != nil {
		return fmt.Errorf("writing network: %w", err)
	}
	return nil
}
