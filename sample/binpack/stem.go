package binpack

import (
	"encoding/binary"
	"fmt"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// A stem: the occupied squares as a bitboard; a code of four bits for each of
// them in ascending order, the lower half of a byte first; then move, score, ply
// with result, and halfmove clock, sixteen bits each.
const (
	codesAt  = 8
	moveAt   = 24
	scoreAt  = 26
	plyAt    = 28
	rule50At = 30
)

// Codes of pieces in a stem. Those below codePassant are twice the kind, plus one
// for Black.
const (
	codePassant   = 12 // pawn that can be taken en passant
	codeWhiteRook = 13 // may castle: on a1 queenside, elsewhere kingside
	codeBlackRook = 14 // the same, a8
	codeBlackKing = 15 // with Black to move
)

// Types of moves in a stem: in bits 14-15, above origin, destination and, in bits
// 0-1, the piece promoted to, from knight to queen.
const (
	typeNormal = iota
	typePromotion
	typeCastling
	typeEnPassant
)

// decodeStem reads a sample and the castling rights, which a chain counts in
// move numbers even if king and rook have no part in them any more. Such rights
// are not in the position. The errors say what is wrong with the stem; none of
// its bytes has to be right.
func decodeStem(b *[stemSize]byte, s *sample.Sample) (rights chess.Bitboard, err error) {
	setup, rights, err := decodeBoard(b)
	if err != nil {
		return 0, err
	}
	plyResult := binary.BigEndian.Uint16(b[plyAt:])
	s.Ply = plyResult & maxStemPly
	s.Result = int8(unzigzag(plyResult >> 14))
	if s.Result < -1 {
		return 0, fmt.Errorf("result %d, expected -1, 0 or 1", s.Result)
	}
	s.Score = search.Score(unzigzag(binary.BigEndian.Uint16(b[scoreAt:])))
	s.Partial = false
	setup.HalfmoveClock = binary.BigEndian.Uint16(b[rule50At:])
	setup.FullmoveNumber = fullmove(s.Ply)
	if s.Pos, err = setup.Position(chess.Chess); err != nil {
		return 0, err
	}
	s.Move, err = decodeMove(binary.BigEndian.Uint16(b[moveAt:]), &s.Pos)
	return rights, err
}

// fullmove returns the move number of the given ply in this format.
func fullmove(ply uint16) uint16 { return ply/2 + 1 }

// decodeBoard reads everything of the position but the clocks.
func decodeBoard(b *[stemSize]byte) (setup chess.Setup, rights chess.Bitboard, err error) {
	occupied := chess.Bitboard(binary.BigEndian.Uint64(b[:]))
	if n := occupied.Count(); n > maxPieces {
		return setup, 0, fmt.Errorf("%d pieces, expected at most %d", n, maxPieces)
	}
	setup.EnPassant = chess.NoSquare
	for i := 0; occupied != 0; i, occupied = i+1, occupied&(occupied-1) {
		s := occupied.First() & 63
		code := b[codesAt+i/2] >> (i % 2 * 4) & 15
		piece := chess.MakePiece(chess.Color(code&1), chess.PieceType(code/2))
		switch code {
		case codePassant:
			if piece, err = setPassant(&setup, s); err != nil {
				return setup, 0, err
			}
		case codeWhiteRook:
			piece = chess.MakePiece(chess.White, chess.Rook)
			rights |= cornerOf(s, chess.A1, chess.H1)
		case codeBlackRook:
			piece = chess.MakePiece(chess.Black, chess.Rook)
			rights |= cornerOf(s, chess.A8, chess.H8)
		case codeBlackKing:
			piece = chess.MakePiece(chess.Black, chess.King)
			setup.SideToMove = chess.Black
		}
		setup.Board[s] = piece
	}
	if ep := setup.EnPassant; ep != chess.NoSquare && (ep.Rank() == 2) != (setup.SideToMove == chess.Black) {
		return setup, 0, fmt.Errorf("en passant square %v with %v to move, expected the other side", ep, setup.SideToMove)
	}
	setup.CastlingRooks = usableRights(&setup, rights)
	return setup, rights, nil
}

// setPassant returns the pawn on s that can be taken en passant and sets the
// square after it.
func setPassant(setup *chess.Setup, s chess.Square) (chess.Piece, error) {
	if setup.EnPassant != chess.NoSquare {
		return 0, fmt.Errorf("a second pawn to take en passant on %v, expected one", s)
	}
	switch s.Rank() {
	case 3:
		setup.EnPassant = s - 8
		return chess.MakePiece(chess.White, chess.Pawn), nil
	case 4:
		setup.EnPassant = s + 8
		return chess.MakePiece(chess.Black, chess.Pawn), nil
	}
	return 0, fmt.Errorf("a pawn to take en passant on %v, expected it on rank 4 or 5", s)
}

// cornerOf returns the corner that a rook on s with castling rights stands for.
func cornerOf(s, queenside, kingside chess.Square) chess.Bitboard {
	if s == queenside {
		return queenside.Bitboard()
	}
	return kingside.Bitboard()
}

// usableRights returns those of the rights whose king is on its first square.
func usableRights(setup *chess.Setup, rights chess.Bitboard) chess.Bitboard {
	if setup.Board[e1] != chess.MakePiece(chess.White, chess.King) {
		rights &^= rank1
	}
	if setup.Board[e8] != chess.MakePiece(chess.Black, chess.King) {
		rights &^= rank8
	}
	return rights
}

// decodeMove reads a move of p, which must be legal, or 0, no move.
func decodeMove(v uint16, p *chess.Position) (chess.Move, error) {
	if v == 0 {
		return chess.NoMove, nil
	}
	from, to, promotion := chess.Square(v>>8&63), chess.Square(v>>2&63), v&3
	var kind chess.MoveKind
	switch v >> 14 {
	case typeNormal:
		if kind = plainKind(p, from, to); kind == chess.EnPassant {
			kind = chess.Normal // which it must not be
		}
	case typePromotion:
		kind, promotion = chess.PromoteKnight+chess.MoveKind(promotion), 0
	case typeCastling:
		kind = chess.Castle
	case typeEnPassant:
		kind = chess.EnPassant
	}
	m := chess.NewMove(from, to, kind)
	if promotion != 0 || !p.IsLegal(m) {
		return chess.NoMove, fmt.Errorf("move %#04x, %v%v, is not legal in %s", v, from, to, p.FEN())
	}
	return m, nil
}

// encodeStem writes s, whose position is p by the rules of the format.
func encodeStem(b *[stemSize]byte, s *sample.Sample, p *chess.Position) {
	*b = [stemSize]byte{}
	occupied := p.Occupied()
	binary.BigEndian.PutUint64(b[:], uint64(occupied))
	passant := chess.NoSquare
	if ep := p.EnPassant(); ep != chess.NoSquare {
		passant = ep ^ 8
	}
	rights := p.CastlingRooks()
	for i := 0; occupied != 0; i, occupied = i+1, occupied&(occupied-1) {
		s := occupied.First() & 63
		piece := p.PieceAt(s)
		code := byte(piece.Type())<<1 | byte(piece.Color())
		switch {
		case s == passant:
			code = codePassant
		case rights.Has(s):
			code = codeWhiteRook + byte(piece.Color())
		case piece == chess.MakePiece(chess.Black, chess.King) && p.SideToMove() == chess.Black:
			code = codeBlackKing
		}
		b[codesAt+i/2] |= code << (i % 2 * 4)
	}
	binary.BigEndian.PutUint16(b[moveAt:], encodeMove(s.Move))
	binary.BigEndian.PutUint16(b[scoreAt:], zigzag(int16(s.Score)))
	binary.BigEndian.PutUint16(b[plyAt:], s.Ply|zigzag(int16(s.Result))<<14)
	binary.BigEndian.PutUint16(b[rule50At:], uint16(p.HalfmoveClock()))
}

// encodeMove returns a move as decodeMove reads it.
func encodeMove(m chess.Move) uint16 {
	v := uint16(m.From())<<8 | uint16(m.To())<<2
	switch {
	case m.IsPromotion():
		v |= typePromotion<<14 | uint16(m.Kind()-chess.PromoteKnight)
	case m.IsCastle():
		v |= typeCastling << 14
	case m.IsEnPassant():
		v |= typeEnPassant << 14
	}
	return v
}
