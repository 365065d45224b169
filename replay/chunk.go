package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// ErrChunk says that bytes are no chunk of games.
var ErrChunk = errors.New("not a chunk of games")

// Chunk is games of a buffer in the order stored, for a reader on another machine.
type Chunk struct {
	Buffer  string // id
	Changes uint64 // of the excluded actors, ever: with another number other games are left out
	Begin   bool   // the games are not those after the cursor asked for: the reader has to begin anew
	Before  Counts // if Begin: of all games stored before the first
	End     bool   // there were no more games
	Total   Counts // of all games of the buffer
	Next    Cursor // after the last game
	Games   [][]byte
}

const (
	chunkMagic   = "ZHRC"
	chunkVersion = 1
	chunkFixed   = 4 + 1 + 1 + 1 + 8 + 2*24 + 16 + 4 + 4 // without id and games
	chunkPerGame = 2
	maxChunkID   = 64

	chunkBegin = 1 << 0
	chunkEnd   = 1 << 1
)

// Append appends the encoded chunk to dst. The id has at most 64 bytes, every game 1
// to 65535.
func (c *Chunk) Append(dst []byte) []byte {
	at := len(dst)
	dst = append(dst, chunkMagic...)
	dst = append(dst, chunkVersion, bitIf(c.Begin, chunkBegin)|bitIf(c.End, chunkEnd), byte(len(c.Buffer)))
	dst = append(dst, c.Buffer...)
	for _, n := range c.numbers() {
		dst = binary.LittleEndian.AppendUint64(dst, *n)
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(c.Next.Offset))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(c.Games)))
	for _, g := range c.Games {
		dst = binary.LittleEndian.AppendUint16(dst, uint16(len(g)))
		dst = append(dst, g...)
	}
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[at:], castagnoli))
}

// numbers are the numbers of a chunk in the order encoded.
func (c *Chunk) numbers() []*uint64 {
	return []*uint64{
		&c.Changes, &c.Before.Games, &c.Before.HeldOut, &c.Before.Rows,
		&c.Total.Games, &c.Total.HeldOut, &c.Total.Rows, &c.Next.Segment,
	}
}

// DecodeChunk decodes a chunk, whose games are parts of data. The error wraps
// ErrChunk, or ErrVersion if it is of a later version.
func DecodeChunk(data []byte) (Chunk, error) {
	var c Chunk
	refuse := func(format string, args ...any) (Chunk, error) {
		return Chunk{}, fmt.Errorf("%w: "+format, append([]any{ErrChunk}, args...)...)
	}
	if len(data) < chunkFixed || string(data[:4]) != chunkMagic {
		return refuse("found %d bytes that begin with %q, expected at least %d after %q", len(data), data[:min(4, len(data))], chunkFixed, chunkMagic)
	}
	if data[4] != chunkVersion {
		return Chunk{}, fmt.Errorf("%w: chunk of games: found version %d, expected %d", ErrVersion, data[4], chunkVersion)
	}
	body, sum := data[:len(data)-4], binary.LittleEndian.Uint32(data[len(data)-4:])
	if found := crc32.Checksum(body, castagnoli); found != sum {
		return refuse("checksum %08x, its bytes give %08x", sum, found)
	}
	flags, idLen := body[5], int(body[6])
	if flags > chunkBegin|chunkEnd || idLen > maxChunkID || len(data) < chunkFixed+idLen {
		return refuse("found flags %#x and an id of %d bytes in %d, expected flags up to 3 and at most %d bytes", flags, idLen, len(data), maxChunkID)
	}
	c.Begin, c.End = flags&chunkBegin != 0, flags&chunkEnd != 0
	c.Buffer, body = string(body[7:7+idLen]), body[7+idLen:]
	for _, n := range c.numbers() {
		*n, body = binary.LittleEndian.Uint64(body), body[8:]
	}
	c.Next.Offset = int64(binary.LittleEndian.Uint64(body))
	n := binary.LittleEndian.Uint32(body[8:])
	body = body[12:]
	if c.Next.Offset < 0 || uint64(n) > uint64(len(body)/(chunkPerGame+1)) {
		return refuse("found offset %d and %d games in %d bytes, expected neither less than 0 nor more than fit", c.Next.Offset, n, len(body))
	}
	if n > 0 {
		c.Games = make([][]byte, 0, n)
	}
	for range n {
		if len(body) < chunkPerGame {
			return refuse("game %d is cut short", len(c.Games))
		}
		size := int(binary.LittleEndian.Uint16(body))
		if size == 0 || len(body) < chunkPerGame+size {
			return refuse("game %d: found %d bytes, expected %d, at least 1", len(c.Games), len(body)-chunkPerGame, size)
		}
		c.Games, body = append(c.Games, body[chunkPerGame:chunkPerGame+size]), body[chunkPerGame+size:]
	}
	if len(body) > 0 {
		return refuse("%d bytes after the last game", len(body))
	}
	return c, nil
}
