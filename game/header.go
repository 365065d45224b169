package game

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/google/uuid"

	"github.com/crazyhouse-rl/selfplay/chess"
)

const (
	magic = "ZHGM"
	// Versions; all from 1 are read.
	versionPlain    = 2 // what Encode writes of games without policies
	versionPolicies = 3 // and of those with
	version         = versionPolicies

	// MaxRecordBytes bounds the length of an encoded game. The largest one
	// possible, of MaxGamePlies plies with wild scores, is within it.
	MaxRecordBytes = 1<<16 - 1

	offVersion = 4
	offLength  = 5
	offCRC     = 7
	offFixed   = 11 // variant, flags, outcome, reason, plies, seed
	offTexts   = 25

	flagChess960 = 1 << 0
	flagFEN      = 1 << 1
)

// Why a record was refused. The errors of Decode and DecodeHeader wrap one of
// these, or ErrIllegal or ErrOutcome, and say where, what was found and what was
// expected.
var (
	ErrMagic     = errors.New("game: not a game record")
	ErrVersion   = errors.New("game: unknown record version")
	ErrTruncated = errors.New("game: record cut short")
	ErrTrailing  = errors.New("game: bytes after the record")
	ErrCRC       = errors.New("game: checksum mismatch")
	ErrVariant   = errors.New("game: unknown variant")
	ErrTooLarge  = errors.New("game: too large")
	ErrMalformed = errors.New("game: malformed record")
)

// variants holds each variant at its number in the record.
var variants = [...]*chess.Variant{1: chess.Crazyhouse, 2: chess.Chess}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Header is what a record says without its plies.
type Header struct {
	ID       string
	Variant  *chess.Variant
	Chess960 bool
	StartFEN string // empty for the variant's start position
	Plies    int
	Outcome  chess.Outcome
	Reason   chess.Reason
	Adjudged chess.Outcome
	Seed     uint64
	Nets     [2]string
	Limits   string
	Build    string
	Policies bool // plies may have policies
}

// texts lists the text fields in the order of the record.
func (h *Header) texts() []*string {
	list := []*string{&h.ID, &h.Nets[0], &h.Nets[1], &h.Limits, &h.Build}
	if h.StartFEN != "" {
		list = append(list, &h.StartFEN)
	}
	return list
}

// Forms of a text beyond the plain one, whose first byte is its length.
const (
	maxText    = 250
	textUUID   = 251
	textHash   = 252
	textRepeat = 253

	hashSize = 32
)

// textForm returns the first byte of the text s, where before is the text in
// front of it: its form or its length, −1 if it is too long.
func textForm(s, before string) int {
	if s != "" && s == before {
		return textRepeat
	}
	if len(s) == 2*hashSize {
		if b, err := hex.DecodeString(s); err == nil && hex.EncodeToString(b) == s {
			return textHash
		}
	}
	if id, err := uuid.Parse(s); err == nil && id.String() == s {
		return textUUID
	}
	if len(s) > maxText {
		return -1
	}
	return len(s)
}

// AppendText appends a text as records hold it; before is the text in front of
// it, which it is cheap to repeat. The error wraps ErrTooLarge.
func AppendText(dst []byte, s, before string) ([]byte, error) {
	form := textForm(s, before)
	switch form {
	case textRepeat:
		return append(dst, textRepeat), nil
	case textHash:
		return hex.AppendDecode(append(dst, textHash), []byte(s))
	case textUUID:
		id, err := uuid.Parse(s)
		return append(append(dst, textUUID), id[:]...), err
	}
	if form < 0 {
		return nil, fmt.Errorf("%w: text %.40q of %d bytes, expected at most %d", ErrTooLarge, s, len(s), maxText)
	}
	return append(append(dst, byte(form)), s...), nil
}

// ReadText reads the text at b[at:] and returns where the next field begins. The
// error wraps ErrMalformed.
func ReadText(b []byte, at int, before string) (s string, next int, err error) {
	if at >= len(b) {
		return "", at, fmt.Errorf("%w: byte %d: no text before the end of the record", ErrMalformed, at)
	}
	n := int(b[at])
	switch b[at] {
	case textUUID:
		n = len(uuid.UUID{})
	case textHash:
		n = hashSize
	case textRepeat:
		n = 0
	case 254, 255:
		return "", at, fmt.Errorf("%w: byte %d: text form %d, expected at most %d", ErrMalformed, at, b[at], textRepeat)
	}
	next = at + 1 + n
	if next > len(b) {
		return "", at, fmt.Errorf("%w: byte %d: text of %d bytes, the record has %d more", ErrMalformed, at, n, len(b)-at-1)
	}
	raw := b[at+1 : next]
	switch b[at] {
	case textUUID:
		s = uuid.UUID(raw).String()
	case textHash:
		s = hex.EncodeToString(raw)
	case textRepeat:
		s = before
	default:
		s = string(raw)
	}
	if form := textForm(s, before); form != int(b[at]) {
		return "", at, fmt.Errorf("%w: byte %d: text %.40q in form %d, expected %d", ErrMalformed, at, s, b[at], form)
	}
	return s, next, nil
}

// appendHeader appends everything before the plies, with length and checksum
// still zero.
func appendHeader(dst []byte, h *Header) ([]byte, error) {
	code := 0
	for i, v := range variants {
		if v != nil && v == h.Variant {
			code = i
		}
	}
	if code == 0 {
		return nil, fmt.Errorf("%w: %v has no number in the record", ErrVariant, h.Variant)
	}
	var flags byte
	if h.Chess960 {
		flags |= flagChess960
	}
	if h.StartFEN != "" {
		flags |= flagFEN
	}
	number := byte(versionPlain)
	if h.Policies {
		number = versionPolicies
	}
	dst = append(dst, magic...)
	dst = append(dst, number, 0, 0, 0, 0, 0, 0, byte(code), flags,
		byte(h.Outcome)|byte(h.Adjudged)<<2, byte(h.Reason))
	dst = binary.LittleEndian.AppendUint16(dst, uint16(h.Plies))
	dst = binary.LittleEndian.AppendUint64(dst, h.Seed)
	before := ""
	for _, s := range h.texts() {
		var err error
		if dst, err = AppendText(dst, *s, before); err != nil {
			return nil, err
		}
		before = *s
	}
	return dst, nil
}

// finish fills in length and checksum of the finished record.
func finish(record []byte) error {
	if len(record) > MaxRecordBytes {
		return fmt.Errorf("%w: record of %d bytes, expected at most %d", ErrTooLarge, len(record), MaxRecordBytes)
	}
	binary.LittleEndian.PutUint16(record[offLength:], uint16(len(record)))
	binary.LittleEndian.PutUint32(record[offCRC:], checksum(record))
	return nil
}

// checksum covers the whole record but itself.
func checksum(record []byte) uint32 {
	return crc32.Update(crc32.Checksum(record[:offCRC], castagnoli), castagnoli, record[offFixed:])
}

// checkFrame checks magic, version, length and checksum, in this order.
func checkFrame(b []byte) error {
	if n := min(len(b), len(magic)); string(b[:n]) != magic[:n] {
		return fmt.Errorf("%w: byte 0: found magic %q, expected %q", ErrMagic, b[:n], magic)
	}
	if len(b) > offVersion && (b[offVersion] < 1 || b[offVersion] > version) {
		return fmt.Errorf("%w: byte %d: found %d, expected 1 to %d", ErrVersion, offVersion, b[offVersion], version)
	}
	if len(b) < offTexts {
		return fmt.Errorf("%w: found %d bytes, expected at least %d", ErrTruncated, len(b), offTexts)
	}
	n := int(binary.LittleEndian.Uint16(b[offLength:]))
	if n < offTexts {
		return fmt.Errorf("%w: byte %d: found length %d, expected at least %d", ErrMalformed, offLength, n, offTexts)
	}
	if len(b) < n {
		return fmt.Errorf("%w: found %d bytes, expected %d", ErrTruncated, len(b), n)
	}
	if len(b) > n {
		return fmt.Errorf("%w: found %d bytes, expected %d", ErrTrailing, len(b), n)
	}
	found, want := checksum(b), binary.LittleEndian.Uint32(b[offCRC:])
	if found != want {
		return fmt.Errorf("%w: byte %d: record says %08x, its bytes give %08x", ErrCRC, offCRC, want, found)
	}
	return nil
}

// readHeader checks the frame of b and reads the header. The plies begin at
// byte next.
func readHeader(b []byte) (h Header, next int, err error) {
	if err := checkFrame(b); err != nil {
		return Header{}, 0, err
	}
	code, flags, ends := b[offFixed], b[offFixed+1], b[offFixed+2]
	if int(code) >= len(variants) || variants[code] == nil {
		return Header{}, 0, fmt.Errorf("%w: byte %d: found number %d, expected 1 to %d", ErrVariant, offFixed, code, len(variants)-1)
	}
	if flags&^(flagChess960|flagFEN) != 0 {
		return Header{}, 0, fmt.Errorf("%w: byte %d: found flags %#x, expected at most %#x", ErrMalformed, offFixed+1, flags, flagChess960|flagFEN)
	}
	if ends>>4 != 0 || ends&3 == 0 {
		return Header{}, 0, fmt.Errorf("%w: byte %d: found outcome byte %#x, expected bits 0-1 set and bits 4-7 clear", ErrMalformed, offFixed+2, ends)
	}
	h = Header{
		Variant:  variants[code],
		Chess960: flags&flagChess960 != 0,
		Outcome:  chess.Outcome(ends & 3),
		Adjudged: chess.Outcome(ends >> 2),
		Reason:   chess.Reason(b[offFixed+3]),
		Plies:    int(binary.LittleEndian.Uint16(b[offFixed+4:])),
		Seed:     binary.LittleEndian.Uint64(b[offFixed+6:]),
		Policies: b[offVersion] == versionPolicies,
	}
	if h.Plies > MaxGamePlies {
		return Header{}, 0, fmt.Errorf("%w: byte %d: found %d plies, expected at most %d", ErrTooLarge, offFixed+4, h.Plies, MaxGamePlies)
	}
	if flags&flagFEN != 0 {
		h.StartFEN = "?" // so that texts lists it; overwritten below
	}
	next = offTexts
	before := ""
	for _, s := range h.texts() {
		if *s, next, err = ReadText(b, next, before); err != nil {
			return Header{}, 0, err
		}
		before = *s
	}
	if flags&flagFEN != 0 && (h.StartFEN == "" || h.StartFEN == h.Variant.StartFEN) {
		return Header{}, 0, fmt.Errorf("%w: byte %d: start FEN %q needs no place", ErrMalformed, next-1-len(h.StartFEN), h.StartFEN)
	}
	return h, next, nil
}

// DecodeHeader reads the header of a record: everything but the plies. It checks
// the checksum of the whole record, but not that start position and moves are
// legal or that the outcome is true to them.
// A seal around the record is passed over.
func DecodeHeader(b []byte) (Header, error) {
	b, err := skipSeal(b)
	if err != nil {
		return Header{}, err
	}
	h, _, err := readHeader(b)
	return h, err
}

// Split takes apart a record such as Encode writes: its header, and its plies as
// package plycode has them, a series of policies if the header says so. Like
// DecodeHeader it checks the checksum only and passes over a seal. The error
// wraps ErrVersion for a record of version 1.
func Split(b []byte) (Header, []byte, error) {
	b, err := skipSeal(b)
	if err != nil {
		return Header{}, nil, err
	}
	h, next, err := readHeader(b)
	if err != nil {
		return Header{}, nil, err
	}
	if b[offVersion] < versionPlain {
		return Header{}, nil, fmt.Errorf("%w: byte %d: found %d, expected %d or %d", ErrVersion, offVersion, b[offVersion], versionPlain, versionPolicies)
	}
	return h, b[next:], nil
}

// Join appends to dst the record that Split takes apart. It checks sizes and
// texts, but neither start position nor plies; dst is returned as it was after an
// error.
func Join(dst []byte, h *Header, plies []byte) ([]byte, error) {
	at := len(dst)
	record, err := appendHeader(dst, h)
	if err != nil {
		return dst, err
	}
	record = append(record, plies...)
	if err := finish(record[at:]); err != nil {
		return dst, err
	}
	return record, nil
}

// header returns the header of g.
func (g *Game) header() (Header, error) {
	if len(g.Plies) > MaxGamePlies {
		return Header{}, fmt.Errorf("%w: %d plies, expected at most %d", ErrTooLarge, len(g.Plies), MaxGamePlies)
	}
	if g.Outcome > chess.Draw || g.Adjudged > chess.Draw {
		return Header{}, fmt.Errorf("%w: outcome %d, verdict %d, reason %d", ErrMalformed, g.Outcome, g.Adjudged, g.Reason)
	}
	h := Header{
		ID: g.ID, Variant: g.Variant, Chess960: g.Start.Chess960(), Plies: len(g.Plies),
		Outcome: g.Outcome, Reason: g.Reason, Adjudged: g.Adjudged,
		Seed: g.Seed, Nets: g.Nets, Limits: g.Limits, Build: g.Build,
		Policies: g.hasPolicies(),
	}
	if fen := g.Start.FEN(); fen != g.Variant.StartFEN {
		h.StartFEN = fen
	}
	return h, nil
}
