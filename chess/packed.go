package chess

// Packed is a Position in 64 bytes in place of 168, for keeping millions of them in
// memory. It is no format: other builds may pack otherwise.
type Packed struct {
	board    [32]uint8 // a Piece in four bits, a1 in the lower half of the first byte
	promoted Bitboard
	key      uint64
	hands    [2]Hand
	halfmove uint16
	moves    uint16
	castling uint16 // squares of the first rank, then of the eighth
	ep       Square
	flags    uint8 // bit 0 the side to move, 1 the variant, 2 chess960
}

// Pack returns p, packed.
func (p *Position) Pack() Packed {
	q := Packed{
		promoted: p.promoted, key: p.key, hands: p.hands, halfmove: p.halfmove, moves: p.moves, ep: p.ep,
		castling: uint16(p.castling&rank1) | uint16(p.castling>>56)<<8,
		flags:    uint8(p.side&1) | p.variant&1<<1,
	}
	for i := range q.board {
		q.board[i] = uint8(p.board[2*i]) | uint8(p.board[2*i+1])<<4
	}
	if p.chess960 {
		q.flags |= 4
	}
	return q
}

// Unpack makes p the position that q was packed from.
func (q *Packed) Unpack(p *Position) {
	*p = Position{
		promoted: q.promoted, key: q.key, hands: q.hands, halfmove: q.halfmove, moves: q.moves, ep: q.ep,
		castling: Bitboard(q.castling&0xff) | Bitboard(q.castling>>8)<<56,
		side:     Color(q.flags & 1), variant: q.flags >> 1 & 1, chess960: q.flags&4 != 0,
	}
	var squares [16]Bitboard
	for i, two := range q.board {
		low, high := Piece(two&15), Piece(two>>4)
		p.board[2*i], p.board[2*i+1] = low, high
		squares[low] |= 1 << (2 * i)
		squares[high] |= 2 << (2 * i)
	}
	p.placeAll(&squares)
}
