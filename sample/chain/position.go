package chain

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// Bits of a position's first byte.
const (
	posBlack = 1 << iota
	posHands
	posPromoted
	posCastling
	posEnPassant
	posChess960
	posHalfmove
	posFullmove
)

// zeros is what a cursor gives after the end; no field is longer.
var zeros [32]byte

// cursor reads the fields of an item. After the end it gives zeros and short is
// set.
type cursor struct {
	b     []byte
	short bool
}

func (c *cursor) bytes(n int) []byte {
	if n > len(c.b) {
		c.short = true
		c.b = nil
		return zeros[:n]
	}
	field := c.b[:n]
	c.b = c.b[n:]
	return field
}

func (c *cursor) byte() byte { return c.bytes(1)[0] }

// varint reads a number of at most most; a larger one counts as cut short.
func (c *cursor) varint(most uint64) uint64 {
	v, n := binary.Uvarint(c.b)
	if n <= 0 || v > most {
		c.short = true
		return 0
	}
	c.b = c.b[n:]
	return v
}

// usualFullmove is the move number that is not written.
func usualFullmove(ply uint16) int { return 1 + int(ply)/2 }

// appendPosition appends p, the position at the given ply. The error wraps
// sample.ErrRecord if p cannot be read again as it is, such as for more than 16
// pieces of a kind in a hand.
func appendPosition(dst []byte, p *chess.Position, ply uint16) ([]byte, error) {
	at := len(dst)
	var flags byte
	dst = append(dst, 0)
	occupied := p.Occupied()
	dst = binary.LittleEndian.AppendUint64(dst, uint64(occupied))
	i := 0
	for b := occupied; b != 0; b &= b - 1 {
		pc := p.PieceAt(b.First())
		code := byte(pc.Type()) | byte(pc.Color())<<3
		if i%2 == 0 {
			dst = append(dst, code)
		} else {
			dst[len(dst)-1] |= code << 4
		}
		i++
	}
	if p.SideToMove() == chess.Black {
		flags |= posBlack
	}
	if !p.Hand(chess.White).Empty() || !p.Hand(chess.Black).Empty() {
		flags |= posHands
		dst = appendHands(dst, p)
	}
	if p.Promoted() != 0 {
		flags |= posPromoted
		dst = appendMarks(dst, occupied, p.Promoted())
	}
	if rooks := p.CastlingRooks(); rooks != 0 {
		flags |= posCastling
		dst = append(dst, byte(rooks), byte(rooks>>56))
	}
	if p.EnPassant() != chess.NoSquare {
		flags |= posEnPassant
		dst = append(dst, byte(p.EnPassant()))
	}
	if p.Chess960() {
		flags |= posChess960
	}
	if n := p.HalfmoveClock(); n != 0 {
		flags |= posHalfmove
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	if n := p.FullmoveNumber(); n != usualFullmove(ply) {
		flags |= posFullmove
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	dst[at] = flags
	c := cursor{b: dst[at:]}
	if again, err := readPosition(&c, p.Variant(), ply); err != nil || again != *p {
		return dst[:at], fmt.Errorf("%w: position: found %s, which comes back as %s (%v)", sample.ErrRecord, p.FEN(), again.FEN(), err)
	}
	return dst, nil
}

// handBits is the width of a count in hand.
const handBits = 5

func appendHands(dst []byte, p *chess.Position) []byte {
	var v uint64
	for c := chess.Black + 1; c > chess.White; c-- {
		for t := chess.King; t > chess.Pawn; t-- {
			v = v<<handBits | uint64(p.Hand(c-1).Count(t-1))&(1<<handBits-1)
		}
	}
	return append(dst, byte(v), byte(v>>8), byte(v>>16), byte(v>>24), byte(v>>32), byte(v>>40), byte(v>>48))
}

// readHands returns false if there are more of a kind than a position may have.
func readHands(c *cursor, s *chess.Setup) bool {
	var raw [8]byte
	copy(raw[:], c.bytes(7))
	v := binary.LittleEndian.Uint64(raw[:])
	for color := range s.Hands {
		for t := chess.Pawn; t <= chess.Queen; t++ {
			for range v & (1<<handBits - 1) {
				s.Hands[color] = s.Hands[color].Add(t)
			}
			v >>= handBits
		}
	}
	return v == 0
}

// appendMarks appends for each occupied square whether it is one of marked.
func appendMarks(dst []byte, occupied, marked chess.Bitboard) []byte {
	for i := 0; occupied != 0; i++ {
		if i%8 == 0 {
			dst = append(dst, 0)
		}
		if marked.Has(occupied.First()) {
			dst[len(dst)-1] |= 1 << (i % 8)
		}
		occupied &= occupied - 1
	}
	return dst
}

// readPosition reads what appendPosition wrote.
func readPosition(c *cursor, v *chess.Variant, ply uint16) (chess.Position, error) {
	flags := c.byte()
	occupied := chess.Bitboard(binary.LittleEndian.Uint64(c.bytes(8)))
	pieces := bits.OnesCount64(uint64(occupied))
	s := chess.Setup{EnPassant: chess.NoSquare}
	codes := c.bytes((pieces + 1) / 2)
	for i, b := 0, occupied; b != 0; i, b = i+1, b&(b-1) {
		code := codes[i/2] >> (i % 2 * 4) & 15
		if code&7 > byte(chess.King) {
			return chess.Position{}, fmt.Errorf("%w: position: found piece %d, expected kinds from 0 to 5", sample.ErrRecord, code)
		}
		s.Board[b.First()] = chess.MakePiece(chess.Color(code>>3), chess.PieceType(code&7))
	}
	if flags&posBlack != 0 {
		s.SideToMove = chess.Black
	}
	if flags&posHands != 0 && !readHands(c, &s) {
		return chess.Position{}, fmt.Errorf("%w: position: found hands of more than 50 bits", sample.ErrRecord)
	}
	if flags&posPromoted != 0 {
		marks := c.bytes((pieces + 7) / 8)
		for i, b := 0, occupied; b != 0; i, b = i+1, b&(b-1) {
			if marks[i/8]>>(i%8)&1 != 0 {
				s.Promoted |= b & -b
			}
		}
	}
	if flags&posCastling != 0 {
		files := c.bytes(2)
		s.CastlingRooks = chess.Bitboard(files[0]) | chess.Bitboard(files[1])<<56
	}
	if flags&posEnPassant != 0 {
		s.EnPassant = chess.Square(c.byte())
	}
	if flags&posHalfmove != 0 {
		s.HalfmoveClock = uint16(c.varint(1<<16 - 1))
	}
	s.FullmoveNumber = uint16(min(usualFullmove(ply), chess.MaxFullmoveNumber))
	if flags&posFullmove != 0 {
		s.FullmoveNumber = uint16(c.varint(chess.MaxFullmoveNumber))
	}
	if c.short {
		return chess.Position{}, fmt.Errorf("%w: position: cut short", sample.ErrRecord)
	}
	p, err := s.Position(v)
	if err != nil {
		return p, fmt.Errorf("%w: position: %w", sample.ErrRecord, err)
	}
	if flags&posChess960 != 0 {
		p.SetChess960(true)
	}
	return p, nil
}
