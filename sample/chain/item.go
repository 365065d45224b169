package chain

import (
	"encoding/binary"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Bits of an item's first byte.
const (
	itemGame     = 1 << 0
	itemPosition = 1 << 1 // else it starts at the variant's start position
	itemPolicies = 1 << 2 // of a game: its plies may have policies

	resultShift = 2 // of a chain
	resultMask  = 3
)

// results holds the result from White's view at its number.
var results = [...]int8{0, 1, -1}

// resultNumber is the number of a result in results.
func resultNumber(result int8) byte { return byte(result+3) % 3 }

// textPrefix is the form of a text that begins like the one before.
const textPrefix = 254

// textCount is how many texts an item has.
const textCount = 5

// texts returns the text fields of h in the order of an item.
func texts(h *game.Header) [textCount]*string {
	return [...]*string{&h.ID, &h.Nets[0], &h.Nets[1], &h.Limits, &h.Build}
}

// appendText appends s in the shortest form, before being the same field of the
// game before.
func appendText(dst []byte, s, before string) ([]byte, error) {
	at := len(dst)
	dst, err := game.AppendText(dst, s, before)
	if err != nil {
		return nil, err
	}
	common := 0
	for common < min(len(s), len(before)) && s[common] == before[common] {
		common++
	}
	rest := s[common:]
	if len(rest)+3 < len(dst)-at {
		dst = append(dst[:at], textPrefix, byte(common), byte(len(rest)))
		dst = append(dst, rest...)
	}
	return dst, nil
}

// readText reads what appendText wrote and returns how many bytes it is.
func readText(b []byte, before string) (s string, n int, err error) {
	if len(b) == 0 || b[0] != textPrefix {
		return game.ReadText(b, 0, before)
	}
	if len(b) < 3 || len(b) < 3+int(b[2]) || int(b[1]) > len(before) {
		return "", 0, fmt.Errorf("%w: text: found %.3x, expected at most %d bytes of %q and %d more", sample.ErrRecord, b, len(before), before, len(b)-3)
	}
	return before[:b[1]] + string(b[3:3+int(b[2])]), 3 + int(b[2]), nil
}

// appendGame appends the item of a game whose record has the given header and
// plies; before is the header of the game before.
func appendGame(dst []byte, h, before *game.Header, plies []byte) ([]byte, error) {
	head := byte(itemGame)
	if h.StartFEN != "" || h.Chess960 {
		head |= itemPosition
	}
	if h.Policies {
		head |= itemPolicies
	}
	dst = append(dst, head, byte(h.Outcome)|byte(h.Adjudged)<<2, byte(h.Reason))
	dst = binary.AppendUvarint(dst, uint64(h.Plies))
	dst = binary.LittleEndian.AppendUint64(dst, h.Seed)
	last := texts(before)
	for i, s := range texts(h) {
		var err error
		if dst, err = appendText(dst, *s, *last[i]); err != nil {
			return nil, err
		}
	}
	if head&itemPosition != 0 {
		start, err := h.Start()
		if err != nil {
			return nil, err
		}
		if dst, err = appendPosition(dst, &start, 0); err != nil {
			return nil, err
		}
	}
	return append(dst, plies...), nil
}

// readGame reads the fields of a game but for its plies, which are what is left in
// c. H holds the header of the game before and is filled in with this one's.
// Usual is the variant's start position.
func readGame(c *cursor, h *game.Header, usual *chess.Position) (start chess.Position, err error) {
	head := c.byte()
	ends := c.byte()
	h.Outcome, h.Adjudged, h.Reason = chess.Outcome(ends&3), chess.Outcome(ends>>2&3), chess.Reason(c.byte())
	h.Plies = int(c.varint(game.MaxGamePlies))
	h.Seed = binary.LittleEndian.Uint64(c.bytes(8))
	if head&^(itemGame|itemPosition|itemPolicies) != 0 || ends>>4 != 0 || ends&3 == 0 || c.short {
		return start, fmt.Errorf("%w: game: found first byte %#x, ends %#x, expected bits 0-2, an outcome and bits 2-3, and 12 bytes or more", sample.ErrRecord, head, ends)
	}
	for _, s := range texts(h) {
		if len(c.b) > 0 && c.b[0] == sameText && *s != "" {
			c.b = c.b[1:]
			continue
		}
		text, n, err := readText(c.b, *s)
		if err != nil {
			return start, fmt.Errorf("%w: game: %w", sample.ErrRecord, err)
		}
		*s, c.b = text, c.b[n:]
	}
	v := usual.Variant()
	h.Variant, h.StartFEN = v, ""
	start = *usual
	if head&itemPosition != 0 {
		if start, err = readPosition(c, v, 0); err != nil {
			return start, err
		}
		if fen := start.FEN(); fen != v.StartFEN {
			h.StartFEN = fen
		}
	}
	h.Chess960, h.Policies = start.Chess960(), head&itemPolicies != 0
	return start, nil
}

// sameText is the form of a text that is the one before.
const sameText = 253

// chainHead is what stands before the plies of a chain.
type chainHead struct {
	result int8 // from White's view
	plies  int
	ply    uint16 // of the first sample
}

// append appends h and the position the chain starts from, as appendPosition
// gives it, which is empty for the variant's start position.
func (h *chainHead) append(dst, position []byte) []byte {
	head := resultNumber(h.result) << resultShift
	if len(position) > 0 {
		head |= itemPosition
	}
	dst = append(dst, head)
	dst = binary.AppendUvarint(dst, uint64(h.plies))
	dst = binary.AppendUvarint(dst, uint64(h.ply))
	return append(dst, position...)
}

// read reads h and the position the chain starts from; usual is the variant's.
func (h *chainHead) read(c *cursor, usual *chess.Position) (start chess.Position, err error) {
	head := c.byte()
	number := head >> resultShift & resultMask
	if head&^(itemPosition|resultMask<<resultShift) != 0 || int(number) >= len(results) {
		return start, fmt.Errorf("%w: chain: found first byte %#x, expected bits 1-3 and a result up to %d", sample.ErrRecord, head, len(results)-1)
	}
	h.result = results[number]
	h.plies = int(c.varint(MaxPlies))
	h.ply = uint16(c.varint(1<<16 - 1))
	if c.short || h.plies == 0 || int(h.ply)+h.plies > 1<<16 {
		return start, fmt.Errorf("%w: chain: found %d plies from ply %d, expected 1 to %d, up to ply %d", sample.ErrRecord, h.plies, h.ply, MaxPlies, 1<<16-1)
	}
	if head&itemPosition == 0 {
		return *usual, nil
	}
	return readPosition(c, usual.Variant(), h.ply)
}
