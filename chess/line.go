package chess

import "slices"

// Line is a start position and the moves made from it: what repetition needs to
// know, and what UCI's "position … moves …" says.
type Line struct {
	positions []Position // start first, current last
	moves     []Move
	keys      []uint64 // of positions
}

// NewLine returns a line without moves.
func NewLine(start Position) *Line {
	return &Line{positions: []Position{start}, keys: []uint64{start.repetitionKey()}}
}

// Start returns the position the line begins from. It must not be changed.
func (l *Line) Start() *Position { return &l.positions[0] }

// Pos returns the current position. It must not be changed and is valid until
// the next Push or Pop.
func (l *Line) Pos() *Position { return &l.positions[len(l.positions)-1] }

// At returns the position after the first n moves, as Pos does.
func (l *Line) At(n int) *Position { return &l.positions[n] }

// Moves returns the moves made, sharing the line's memory.
func (l *Line) Moves() []Move { return l.moves }

// Len returns the number of moves made.
func (l *Line) Len() int { return len(l.moves) }

// Keys returns the keys of all positions, the start first and the current one
// last, sharing the line's memory. An en passant square is part of them only if a pawn may
// capture there, so that they tell repetitions by the rules.
func (l *Line) Keys() []uint64 { return l.keys }

// Grow makes room for n more moves, so that pushing them allocates nothing.
func (l *Line) Grow(n int) {
	l.positions = slices.Grow(l.positions, n)
	l.moves = slices.Grow(l.moves, n)
	l.keys = slices.Grow(l.keys, n)
}

// Push makes the legal move m.
func (l *Line) Push(m Move) {
	p := *l.Pos()
	p.Make(m)
	l.positions = append(l.positions, p)
	l.moves = append(l.moves, m)
	l.keys = append(l.keys, p.repetitionKey())
}

// repetitionKey is the key of the position, by which positions are the same in which the same
// moves are legal: without an en passant square where no pawn may capture, as it is pinned, or
// another piece gives check.
func (p *Position) repetitionKey() uint64 {
	if p.ep == NoSquare {
		return p.key
	}
	var moves MoveList
	p.Legal(&moves)
	if slices.ContainsFunc(moves.Slice(), Move.IsEnPassant) {
		return p.key
	}
	return p.key ^ keyEP[p.ep&7]
}

// Pop takes the last move back. There must be one.
func (l *Line) Pop() {
	n := len(l.moves) - 1
	l.positions = l.positions[:n+1]
	l.moves = l.moves[:n]
	l.keys = l.keys[:n+1]
}

// Clone returns a copy that shares nothing with l.
func (l *Line) Clone() *Line {
	return &Line{slices.Clone(l.positions), slices.Clone(l.moves), slices.Clone(l.keys)}
}

// Repetitions returns how many earlier positions of the line have the key of the
// current one. In crazyhouse captures and pawn moves can be undone by drops, so
// it looks back to the start.
func (l *Line) Repetitions() int { return Repetitions(l.keys) }

// Repetitions returns how many of the keys of a line's positions, in order, equal
// the last: those of the same side to move, four plies back or more.
func Repetitions(keys []uint64) int {
	last := len(keys) - 1
	n := 0
	for i := last - 4; i >= 0; i -= 2 {
		if keys[i] == keys[last] {
			n++
		}
	}
	return n
}

// Outcome is how a game stands.
type Outcome uint8

// The outcomes.
const (
	Ongoing Outcome = iota
	WhiteWins
	BlackWins
	Draw
)

// String returns the PGN result: "*", "1-0", "0-1" or "1/2-1/2".
func (o Outcome) String() string {
	return [...]string{"*", "1-0", "0-1", "1/2-1/2"}[o&3]
}

// Win returns the outcome in which c wins.
func Win(c Color) Outcome { return WhiteWins + Outcome(c&1) }

// Reason is why a game is over.
type Reason uint8

// The reasons the rules know. Values from 16 are for other packages, for ends
// that are agreed or imposed.
const (
	NoReason Reason = iota
	Checkmate
	Stalemate
	Repetition
	FiftyMoves
	InsufficientMaterial
)

// String returns the reason in words.
func (r Reason) String() string {
	names := [...]string{"none", "checkmate", "stalemate", "repetition", "fifty moves", "insufficient material"}
	if int(r) >= len(names) {
		return "other"
	}
	return names[r]
}

// Outcome returns how the game stands by the rules of its variant, and why it is
// over if it is. A third occurrence of a position draws without being claimed.
func (l *Line) Outcome() (Outcome, Reason) {
	p := l.Pos()
	if !p.HasLegalMove() {
		if p.InCheck() {
			return Win(p.side.Other()), Checkmate
		}
		return Draw, Stalemate
	}
	if r := l.DrawReason(); r != NoReason {
		return Draw, r
	}
	return Ongoing, NoReason
}

// DrawReason returns why the game is drawn by the rules of its variant although
// there may be legal moves, NoReason if it is not. It is Outcome for those who
// know that there is a legal move, which takes longest to find out.
func (l *Line) DrawReason() Reason {
	p := l.Pos()
	v := p.Variant()
	switch {
	case l.Repetitions() >= 2:
		return Repetition
	case v.FiftyMoveRule && p.halfmove >= 100:
		return FiftyMoves
	case v.InsufficientMaterial && p.InsufficientMaterial():
		return InsufficientMaterial
	}
	return NoReason
}

// InsufficientMaterial reports whether the pieces on the board cannot mate by
// any series of moves: bare kings, a single knight, or bishops all on squares of
// one colour. Whether that ends a game is for the variant to say.
func (p *Position) InsufficientMaterial() bool {
	if p.byType[Pawn]|p.byType[Rook]|p.byType[Queen] != 0 {
		return false
	}
	knights, bishops := p.byType[Knight], p.byType[Bishop]
	if knights != 0 {
		return knights.Count() == 1 && bishops == 0
	}
	return bishops&lightSquares == 0 || bishops&^lightSquares == 0
}
