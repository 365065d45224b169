package binpack

import "github.com/crazyhouse-rl/selfplay/chess"

// Squares with a part in castling.
const (
	e1 chess.Square = 4
	e8 chess.Square = 60

	rank1 chess.Bitboard = 0xff
	rank8 chess.Bitboard = 0xff << 56
)

// afterMove makes the legal move m and keeps what follows to the rules of the
// format.
func afterMove(p *chess.Position, m chess.Move) {
	p.Make(m)
	trimEnPassant(p)
}

// trimEnPassant takes the en passant square of p away unless some pawn of the
// side to move attacks it whose capture does not expose its king to a bishop,
// rook or queen. Checks by other pieces do not matter.
func trimEnPassant(p *chess.Position) {
	ep := p.EnPassant()
	if ep == chess.NoSquare {
		return
	}
	us, them := p.SideToMove(), p.SideToMove().Other()
	king := p.King(us)
	queens := p.Pieces(them, chess.Queen)
	diagonal, straight := p.Pieces(them, chess.Bishop)|queens, p.Pieces(them, chess.Rook)|queens
	captured := ep ^ 8
	after := p.Occupied() ^ ep.Bitboard() ^ captured.Bitboard()
	for pawns := chess.PawnAttacks(them, ep) & p.Pieces(us, chess.Pawn); pawns != 0; pawns &= pawns - 1 {
		occ := after ^ pawns&-pawns
		if chess.BishopAttacks(king, occ)&diagonal|chess.RookAttacks(king, occ)&straight == 0 {
			return
		}
	}
	p.ClearEnPassant()
}

// backRank returns the rank that the pieces of c start on.
func backRank(c chess.Color) chess.Bitboard {
	if c == chess.White {
		return rank1
	}
	return rank8
}

// keepRights returns the castling rights, given as the rooks' corners, that are
// left when a piece goes from one square to another.
func keepRights(rights chess.Bitboard, m chess.Move) chess.Bitboard {
	touched := m.From().Bitboard() | m.To().Bitboard()
	if touched.Has(e1) {
		touched |= rank1
	}
	if touched.Has(e8) {
		touched |= rank8
	}
	return rights &^ touched
}

// choices are the moves of one piece that the format numbers: those to the
// squares of to in ascending order, each in as many kinds as there are, then
// castling with the rooks of castle. Whether a move leaves its king in check, or
// castling is possible at this time, plays no part.
type choices struct {
	to     chess.Bitboard
	castle chess.Bitboard
	kinds  int // 4 for promotions, in the order N, B, R, Q; else 1
}

// choicesOf returns the choices of the side to move's piece on from, rights being
// the rooks with which p may castle.
func choicesOf(p *chess.Position, rights chess.Bitboard, from chess.Square) choices {
	us := p.SideToMove()
	own, occ := p.ByColor(us), p.Occupied()
	c := choices{kinds: 1}
	switch p.PieceAt(from).Type() {
	case chess.Pawn:
		return pawnChoices(p, from)
	case chess.Knight:
		c.to = chess.KnightAttacks(from) &^ own
	case chess.Bishop:
		c.to = chess.BishopAttacks(from, occ) &^ own
	case chess.Rook:
		c.to = chess.RookAttacks(from, occ) &^ own
	case chess.Queen:
		c.to = chess.QueenAttacks(from, occ) &^ own
	case chess.King:
		c.to = chess.KingAttacks(from) &^ own
		c.castle = rights & backRank(us)
	}
	return c
}

// pawnChoices returns the choices of the side to move's pawn on from.
func pawnChoices(p *chess.Position, from chess.Square) choices {
	us, empty := p.SideToMove(), ^p.Occupied()
	targets := p.ByColor(us.Other())
	if ep := p.EnPassant(); ep != chess.NoSquare {
		targets |= ep.Bitboard()
	}
	c := choices{to: chess.PawnAttacks(us, from) & targets, kinds: 1}
	start, last := 1, 6 // ranks a pawn starts on and promotes from
	one := from.Bitboard() << 8 & empty
	two := one << 8 & empty
	if us == chess.Black {
		start, last = last, start
		one = from.Bitboard() >> 8 & empty
		two = one >> 8 & empty
	}
	c.to |= one
	switch from.Rank() {
	case start:
		c.to |= two
	case last:
		c.kinds = 4
	}
	return c
}

// count returns the number of choices.
func (c *choices) count() int { return c.to.Count()*c.kinds + c.castle.Count() }

// at returns choice number i of the piece on from.
func (c *choices) at(p *chess.Position, from chess.Square, i int) chess.Move {
	if moves := c.to.Count() * c.kinds; i >= moves {
		return chess.NewMove(from, nth(c.castle, i-moves), chess.Castle)
	}
	if c.kinds == 4 {
		return chess.NewMove(from, nth(c.to, i/4), chess.PromoteKnight+chess.MoveKind(i%4))
	}
	to := nth(c.to, i)
	return chess.NewMove(from, to, plainKind(p, from, to))
}

// number returns the number of the legal move m among the choices of its piece.
func (c *choices) number(m chess.Move) int {
	if m.IsCastle() {
		return c.to.Count() + rank(c.castle, m.To())
	}
	if m.IsPromotion() {
		return 4*rank(c.to, m.To()) + int(m.Kind()-chess.PromoteKnight)
	}
	return rank(c.to, m.To())
}

// plainKind returns the kind of a move that neither castles nor promotes.
func plainKind(p *chess.Position, from, to chess.Square) chess.MoveKind {
	switch {
	case p.PieceAt(from).Type() != chess.Pawn:
		return chess.Normal
	case to == p.EnPassant():
		return chess.EnPassant
	case from^to == 16:
		return chess.DoublePush
	}
	return chess.Normal
}
