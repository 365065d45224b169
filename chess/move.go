package chess

// Move is a move in sixteen bits: from in bits 0-5, to in bits 6-11, kind in
// bits 12-15.
//
// Castling goes from the king's square to the square of the castling rook, in
// Chess960 and in standard chess alike. A drop has from = a1. A move means
// something only together with the position it is made in.
type Move uint16

// NoMove is no legal move in any position. Where a null move is allowed it
// stands for that.
const NoMove Move = 0

// MoveKind is what a move does besides going from one square to another.
type MoveKind uint8

// The kinds of move. Promotions and drops run in the order of the piece kinds.
const (
	Normal MoveKind = iota
	EnPassant
	Castle
	DoublePush
	PromoteKnight
	PromoteBishop
	PromoteRook
	PromoteQueen
	DropPawn
	DropKnight
	DropBishop
	DropRook
	DropQueen
)

// NewMove returns the move of the given kind. For Castle, to is the square of
// the castling rook.
func NewMove(from, to Square, kind MoveKind) Move {
	return Move(from) | Move(to)<<6 | Move(kind)<<12
}

// NewDrop returns the drop of a piece of kind t, pawn to queen, on to.
func NewDrop(t PieceType, to Square) Move { return NewMove(0, to, DropPawn+MoveKind(t)) }

// NewPromotion returns the promotion to kind t, knight to queen.
func NewPromotion(from, to Square, t PieceType) Move {
	return NewMove(from, to, PromoteKnight+MoveKind(t-Knight))
}

// From returns the square a piece leaves; a1 for a drop.
func (m Move) From() Square { return Square(m & 63) }

// To returns the square a piece arrives on; for castling that of the rook.
func (m Move) To() Square { return Square(m >> 6 & 63) }

// Kind returns the kind of m.
func (m Move) Kind() MoveKind { return MoveKind(m >> 12) }

// IsDrop reports whether m drops a piece from hand.
func (m Move) IsDrop() bool { return m.Kind() >= DropPawn && m.Kind() <= DropQueen }

// DropType returns the kind of piece dropped, NoPieceType if m is no drop.
func (m Move) DropType() PieceType {
	if !m.IsDrop() {
		return NoPieceType
	}
	return PieceType(m.Kind() - DropPawn)
}

// IsPromotion reports whether m promotes a pawn.
func (m Move) IsPromotion() bool { return m.Kind() >= PromoteKnight && m.Kind() <= PromoteQueen }

// PromotionType returns the kind of piece promoted to, NoPieceType if m is no
// promotion.
func (m Move) PromotionType() PieceType {
	if !m.IsPromotion() {
		return NoPieceType
	}
	return Knight + PieceType(m.Kind()-PromoteKnight)
}

// IsCastle reports whether m castles.
func (m Move) IsCastle() bool { return m.Kind() == Castle }

// IsEnPassant reports whether m captures en passant.
func (m Move) IsEnPassant() bool { return m.Kind() == EnPassant }

// MoveList is a list of moves in a fixed array, so that generating moves needs
// no allocation. Keep one per ply: it is a kilobyte.
//
// It has room for the legal moves of any position. Annealing over all positions
// that ParseFEN accepts, games or not, finds at most 462.
type MoveList struct {
	Moves [512]Move
	N     int // moves in use
}

// Slice returns the moves of the list, sharing its memory.
func (l *MoveList) Slice() []Move { return l.Moves[:l.N] }

// Add appends m. The list must not be full.
func (l *MoveList) Add(m Move) {
	l.Moves[l.N&511] = m
	l.N++
}
