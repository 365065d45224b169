package dataset

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
	"github.com/crazyhouse-rl/selfplay/sample/binpack"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/sample/thesis"
)

// ErrName says that a name belongs to no format, or to one that cannot be used in
// this way.
var ErrName = errors.New("unknown format")

// Format is a format of sample files.
type Format uint8

// The formats. Replay is a replay buffer's directory, for reading only.
const (
	Chain Format = iota
	Bin
	Bin256
	Plain
	Binpack
	Text
	Compact
	Replay
)

// formats holds what is to be known about each format. Of two with the same
// extension the first is meant by it.
var formats = [...]struct {
	name, ext string
}{
	Chain:   {"chain", chain.Extension},
	Bin:     {"bin", ".bin"},
	Bin256:  {"bin256", ".bin256"},
	Plain:   {"plain", ".plain"},
	Binpack: {"binpack", ".binpack"},
	Text:    {"text", ".txt"},
	Compact: {"compact", ".compact"},
	Replay:  {"replay", ""},
}

// BufferPrefix begins the name of a replay buffer.
const BufferPrefix = "replay:"

// String returns the name of the format.
func (f Format) String() string { return formats[f].name }

// FormatNames lists the names ParseFormat knows.
func FormatNames() string {
	var names []string
	for f := range formats {
		names = append(names, formats[f].name)
	}
	return strings.Join(names, ", ")
}

// ParseFormat returns the format of the given name. The error wraps ErrName.
func ParseFormat(name string) (Format, error) {
	for f := range formats {
		if formats[f].name == name {
			return Format(f), nil
		}
	}
	return 0, fmt.Errorf("%w: found %q, expected one of %s", ErrName, name, FormatNames())
}

// FormatOf returns the format of a file by its name: replay:DIR, or the
// extension. The error wraps ErrName.
func FormatOf(path string) (Format, error) {
	if strings.HasPrefix(path, BufferPrefix) {
		return Replay, nil
	}
	ext := strings.ToLower(filepath.Ext(path))
	var known []string
	for f, entry := range formats {
		if entry.ext == "" {
			continue
		}
		if entry.ext == ext {
			return Format(f), nil
		}
		known = append(known, entry.ext)
	}
	return 0, fmt.Errorf("%w: found the name %q, expected one that ends in %s, or %sDIR", ErrName, path, strings.Join(known, ", "), BufferPrefix)
}

// PartingLoses says what of a game is lost if its positions are written one by one, in
// words that complete "does not keep".
const PartingLoses = "what games have beyond their positions: policies, repetitions, plies left, ids, nets and settings"

// Loses says what of a sample the format does not keep, in words that complete
// "does not keep"; it is empty if it keeps all but what PartingLoses says.
func (f Format) Loses() string {
	switch f {
	case Bin:
		return bin.Bits512.Loses()
	case Bin256:
		return bin.Bits256.Loses()
	case Binpack:
		return binpack.Loses
	case Text, Compact:
		return thesis.Loses
	}
	return ""
}

// unit returns the unit of the format's scores, 0 if that is for the file to say.
func (f Format) unit() sample.Unit {
	if f == Chain || f == Replay {
		return 0
	}
	return sample.InternalUnit
}

// variant returns the only variant the format knows, or v if it knows several.
func (f Format) variant(v *chess.Variant) *chess.Variant {
	if f == Binpack || f == Bin256 {
		return chess.Chess
	}
	return v
}
