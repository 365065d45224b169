package chain

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

const (
	magic = "ZHCB"
	// Versions of a block.
	versionPlain    = 1
	versionPolicies = 2 // a game in it has policies

	headerSize = 28

	// MaxPayload is the largest payload of a block.
	MaxPayload = 1 << 20
	// fullPayload is the size at which a writer ends a block.
	fullPayload = 256 << 10

	// MaxPlies is the most plies in an item.
	MaxPlies = game.MaxGamePlies

	offVersion    = 4
	offVariant    = 5
	offUnit       = 6
	offSize       = 8
	offItems      = 12
	offPlies      = 16
	offPayloadCRC = 20
	offHeaderCRC  = 24
)

// Extension is that of the files' names.
const Extension = ".chain"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// variants holds each variant at its number.
var variants = [...]*chess.Variant{1: chess.Crazyhouse, 2: chess.Chess}

// variantNumber returns the number of v, 0 if it has none.
func variantNumber(v *chess.Variant) byte {
	for i, known := range variants {
		if known == v && v != nil {
			return byte(i)
		}
	}
	return 0
}

// header is that of a block.
type header struct {
	variant *chess.Variant
	unit    sample.Unit
	version byte
	size    int // of the payload
	items   uint32
	plies   uint32
	crc     uint32 // of the payload
}

// errNoHeader says that bytes are no whole header.
var errNoHeader = errors.New("no block header")

// parseHeader reads the header at the beginning of b, of at least headerSize
// bytes. The error wraps errNoHeader, or sample.ErrFormat if a whole header says
// something unknown.
func parseHeader(b []byte) (header, error) {
	if string(b[:len(magic)]) != magic {
		return header{}, fmt.Errorf("%w: found magic %q, expected %q", errNoHeader, b[:len(magic)], magic)
	}
	if found, want := crc32.Checksum(b[:offHeaderCRC], castagnoli), binary.LittleEndian.Uint32(b[offHeaderCRC:]); found != want {
		return header{}, fmt.Errorf("%w: its checksum is %08x, its bytes give %08x", errNoHeader, want, found)
	}
	h := header{
		unit:    sample.Unit(binary.LittleEndian.Uint16(b[offUnit:])),
		version: b[offVersion],
		size:    int(min(binary.LittleEndian.Uint32(b[offSize:]), MaxPayload+1)),
		items:   binary.LittleEndian.Uint32(b[offItems:]),
		plies:   binary.LittleEndian.Uint32(b[offPlies:]),
		crc:     binary.LittleEndian.Uint32(b[offPayloadCRC:]),
	}
	number := int(b[offVariant])
	switch {
	case h.version != versionPlain && h.version != versionPolicies:
		return header{}, fmt.Errorf("%w: version: found %d, expected %d or %d", sample.ErrFormat, h.version, versionPlain, versionPolicies)
	case number >= len(variants) || variants[number] == nil:
		return header{}, fmt.Errorf("%w: variant: found number %d, expected 1 to %d", sample.ErrFormat, number, len(variants)-1)
	case h.unit == 0:
		return header{}, fmt.Errorf("%w: unit: found 0, expected at least 1", sample.ErrFormat)
	case h.size == 0 || h.size > MaxPayload:
		return header{}, fmt.Errorf("%w: payload: found %d bytes, expected 1 to %d", sample.ErrFormat, binary.LittleEndian.Uint32(b[offSize:]), MaxPayload)
	}
	h.variant = variants[number]
	return h, nil
}

// put fills in the header of the finished block b.
func (h *header) put(b []byte) {
	copy(b, magic)
	b[offVersion] = h.version
	b[offVariant] = variantNumber(h.variant)
	binary.LittleEndian.PutUint16(b[offUnit:], uint16(h.unit))
	binary.LittleEndian.PutUint32(b[offSize:], uint32(len(b)-headerSize))
	binary.LittleEndian.PutUint32(b[offItems:], h.items)
	binary.LittleEndian.PutUint32(b[offPlies:], h.plies)
	binary.LittleEndian.PutUint32(b[offPayloadCRC:], crc32.Checksum(b[headerSize:], castagnoli))
	binary.LittleEndian.PutUint32(b[offHeaderCRC:], crc32.Checksum(b[:offHeaderCRC], castagnoli))
}
