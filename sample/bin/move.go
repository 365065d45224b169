package bin

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// moveCode is a way to write moves in 16 bits.
type moveCode uint8

const (
	code512   moveCode = iota // that of Bits512
	code256                   // that of Bits256
	codeLarge                 // that of builds for large boards
)

// moveType is what a move field says of the kind of move.
type moveType uint8

const (
	normal moveType = iota
	enPassant
	castling
	promotion
	drop
)

// field is a move field taken apart. Squares beyond the board are NoSquare.
type field struct {
	from, to chess.Square
	typ      moveType // beyond drop if there is no such type
	piece    chess.PieceType
}

// split takes a move field apart. piece is what Bits256 promotes to, queen in
// the others.
func (c moveCode) split(m uint16) field {
	switch c {
	case code256:
		f := field{
			to: chess.Square(m & 63), from: chess.Square(m >> 6 & 63),
			typ:   [...]moveType{normal, promotion, enPassant, castling}[m>>14],
			piece: chess.Knight + chess.PieceType(m>>12&3),
		}
		if f.typ != promotion && f.piece != chess.Knight { // a piece without a use
			f.typ = drop + 1
		}
		return f
	case codeLarge:
		return field{to: largeSquare(m & 127), from: largeSquare(m >> 7 & 127), typ: moveType(m >> 14), piece: chess.Queen}
	}
	return field{to: chess.Square(m & 63), from: chess.Square(m >> 6 & 63), typ: moveType(m >> 12), piece: chess.Queen}
}

// largeSquare returns the square with the given number on a board of twelve
// files.
func largeSquare(n uint16) chess.Square {
	file, rank := n%12, n/12
	if file > 7 || rank > 7 {
		return chess.NoSquare
	}
	return chess.NewSquare(int(file), int(rank))
}

// decode reads a move field of p. partial says that the piece dropped or
// promoted to is not in it. The error wraps sample.ErrRecord.
func (c moveCode) decode(p *chess.Position, m uint16) (move chess.Move, partial bool, err error) {
	f := c.split(m)
	if f.from == chess.NoSquare || f.to == chess.NoSquare || f.typ > drop || f.typ == drop && f.from != chess.A1 {
		return 0, false, fmt.Errorf("%w: move: found %#04x, expected squares of the board and a type of move", sample.ErrRecord, m)
	}
	if c == codeLarge && m != 0 && f.typ == normal && f.from == chess.A1 && isLargeDrop(p, f.to) {
		f.typ = drop
	}
	switch f.typ {
	case normal:
		move = normalMove(p, f.from, f.to)
	case enPassant:
		move = chess.NewMove(f.from, f.to, chess.EnPassant)
	case castling:
		move = chess.NewMove(f.from, f.to, chess.Castle)
	case promotion:
		move, partial = chess.NewPromotion(f.from, f.to, f.piece), c != code256
	case drop:
		move, partial = chess.NewDrop(chess.Pawn, f.to), true
	}
	return move, partial, sample.CheckMove(p, move)
}

// normalMove returns a move that is not special in files but may be a double
// step.
func normalMove(p *chess.Position, from, to chess.Square) chess.Move {
	kind := chess.Normal
	if d := int(to) - int(from); (d == 16 || d == -16) && p.PieceAt(from).Type() == chess.Pawn {
		kind = chess.DoublePush
	}
	return chess.NewMove(from, to, kind)
}

// isLargeDrop reports whether what looks like a move from a1 is a drop, which
// builds for large boards write so. If both are legal it takes it for the move.
func isLargeDrop(p *chess.Position, to chess.Square) bool {
	return p.Variant().CapturesToHand && !p.IsLegal(chess.NewMove(chess.A1, to, chess.Normal))
}

// encode writes a move that sample.CheckMove accepts.
func (c moveCode) encode(m chess.Move) uint16 {
	squares := uint16(m.To()) | uint16(m.From())<<6
	if c == code256 {
		switch kind := m.Kind(); {
		case kind == chess.EnPassant:
			squares |= 2 << 14
		case kind == chess.Castle:
			squares |= 3 << 14
		case m.IsPromotion():
			squares |= 1<<14 | uint16(m.PromotionType()-chess.Knight)<<12
		}
		return squares
	}
	typ := normal
	switch kind := m.Kind(); {
	case kind == chess.EnPassant:
		typ = enPassant
	case kind == chess.Castle:
		typ = castling
	case m.IsPromotion():
		typ = promotion
	case m.IsDrop():
		typ = drop
	}
	return squares | uint16(typ)<<12
}

// plausible reports whether a move field, read in this way, could be a move of
// p: it is judged by the moves that are not special, as those exist in each code.
func (c moveCode) plausible(p *chess.Position, m uint16) bool {
	f := c.split(m)
	if f.from == chess.NoSquare || f.to == chess.NoSquare || f.typ > drop {
		return false
	}
	own := p.ByColor(p.SideToMove())
	return f.typ != normal || f.from == chess.A1 || own.Has(f.from) && !own.Has(f.to)
}
