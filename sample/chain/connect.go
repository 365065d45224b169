package chain

import "github.com/crazyhouse-rl/selfplay/chess"

// connect returns the legal move that leads from one position to another, clocks
// and all, NoMove if none does.
func connect(from, to *chess.Position) chess.Move {
	us := from.SideToMove()
	if to.SideToMove() == us {
		return chess.NoMove
	}
	before, after := from.ByColor(us), to.ByColor(us)
	left, arrived := before&^after, after&^before
	switch {
	case left == 0 && arrived.Count() == 1:
		s := arrived.First()
		if t := to.PieceAt(s).Type(); t < chess.King {
			return joins(from, to, chess.NewDrop(t, s))
		}
	case left.Count() == 1 && arrived.Count() == 1:
		if m := joins(from, to, stepMove(from, to, left.First(), arrived.First())); m != chess.NoMove {
			return m
		}
	}
	// Castling may leave any of four squares; in Chess960 king or rook may stay.
	king := from.King(us)
	for rooks := from.CastlingRooks() & before; rooks != 0; rooks &= rooks - 1 {
		if m := joins(from, to, chess.NewMove(king, rooks.First(), chess.Castle)); m != chess.NoMove {
			return m
		}
	}
	return chess.NoMove
}

// stepMove returns the move that takes a piece from s to t, castling apart.
func stepMove(from, to *chess.Position, s, t chess.Square) chess.Move {
	if from.PieceAt(s).Type() != chess.Pawn {
		return chess.NewMove(s, t, chess.Normal)
	}
	arrived := to.PieceAt(t).Type()
	switch {
	case arrived > chess.Pawn && arrived < chess.King:
		return chess.NewPromotion(s, t, arrived)
	case t == from.EnPassant() && s.File() != t.File():
		return chess.NewMove(s, t, chess.EnPassant)
	case t == s+16 || s == t+16:
		return chess.NewMove(s, t, chess.DoublePush)
	}
	return chess.NewMove(s, t, chess.Normal)
}

// joins returns m if it is legal and leads from one position to the other, else
// NoMove.
func joins(from, to *chess.Position, m chess.Move) chess.Move {
	if !from.IsLegal(m) {
		return chess.NoMove
	}
	next := *from
	if next.Make(m); next != *to {
		return chess.NoMove
	}
	return m
}
