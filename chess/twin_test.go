package chess

import "testing"

// twin is the rules written down a second time, slowly and plainly: a mailbox
// without bitboards, moves tried out one by one. It is what the fast code is
// compared with.
type twin struct {
	v        *Variant
	board    [64]Piece
	promoted [64]bool
	hands    [2][5]int
	side     Color
	castling [64]bool // rooks that may castle
	ep       Square
	halfmove int
}

func twinOf(p *Position) *twin {
	w := &twin{v: p.Variant(), side: p.SideToMove(), ep: p.EnPassant(), halfmove: p.HalfmoveClock()}
	for s := A1; s <= H8; s++ {
		w.board[s] = p.PieceAt(s)
		w.promoted[s] = p.Promoted().Has(s)
		w.castling[s] = p.CastlingRooks().Has(s)
	}
	for c := White; c <= Black; c++ {
		for t := Pawn; t <= Queen; t++ {
			w.hands[c][t] = p.Hand(c).Count(t)
		}
	}
	return w
}

// step returns the square some files and ranks away, NoSquare off the board.
func step(s Square, files, ranks int) Square {
	f, r := s.File()+files, s.Rank()+ranks
	if f < 0 || f > 7 || r < 0 || r > 7 {
		return NoSquare
	}
	return NewSquare(f, r)
}

var (
	knightSteps = [][2]int{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}
	rookSteps   = [][2]int{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}
	bishopSteps = [][2]int{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}
	queenSteps  = append(append([][2]int{}, rookSteps...), bishopSteps...)
)

// reach returns the squares the piece on s attacks.
func (w *twin) reach(s Square) []Square {
	pc := w.board[s]
	up := 1 - 2*int(pc.Color())
	far := 7
	var steps [][2]int
	switch pc.Type() {
	case Pawn:
		steps, far = [][2]int{{-1, up}, {1, up}}, 1
	case Knight:
		steps, far = knightSteps, 1
	case Bishop:
		steps = bishopSteps
	case Rook:
		steps = rookSteps
	case Queen:
		steps = queenSteps
	case King:
		steps, far = queenSteps, 1
	}
	var squares []Square
	for _, d := range steps {
		for n := 1; n <= far; n++ {
			to := step(s, n*d[0], n*d[1])
			if to == NoSquare {
				break
			}
			squares = append(squares, to)
			if w.board[to] != NoPiece {
				break
			}
		}
	}
	return squares
}

func (w *twin) attacked(s Square, by Color) bool {
	for from := A1; from <= H8; from++ {
		if w.board[from] == NoPiece || w.board[from].Color() != by {
			continue
		}
		for _, to := range w.reach(from) {
			if to == s {
				return true
			}
		}
	}
	return false
}

func (w *twin) king(c Color) Square {
	for s := A1; s <= H8; s++ {
		if w.board[s] == MakePiece(c, King) {
			return s
		}
	}
	return NoSquare
}

func (w *twin) inCheck(c Color) bool { return w.attacked(w.king(c), c.Other()) }

// pseudoLegal returns the moves that are legal but for the safety of the king;
// castling is complete.
func (w *twin) pseudoLegal() []Move {
	var moves []Move
	for s := A1; s <= H8; s++ {
		switch pc := w.board[s]; {
		case pc == NoPiece:
			for t := Pawn; t <= Queen; t++ {
				if w.hands[w.side][t] > 0 && (t != Pawn || s.Rank() > 0 && s.Rank() < 7) {
					moves = append(moves, NewDrop(t, s))
				}
			}
		case pc.Color() != w.side:
		case pc.Type() == Pawn:
			moves = append(moves, w.pawnMoves(s)...)
		default:
			for _, to := range w.reach(s) {
				if w.board[to] == NoPiece || w.board[to].Color() != w.side {
					moves = append(moves, NewMove(s, to, Normal))
				}
			}
		}
		if w.castling[s] && w.board[s].Color() == w.side && w.canCastle(s) {
			moves = append(moves, NewMove(w.king(w.side), s, Castle))
		}
	}
	return moves
}

func (w *twin) pawnMoves(s Square) []Move {
	var moves []Move
	up := 1 - 2*int(w.side)
	add := func(to Square) {
		if to.Rank() == 0 || to.Rank() == 7 {
			for t := Knight; t <= Queen; t++ {
				moves = append(moves, NewPromotion(s, to, t))
			}
			return
		}
		moves = append(moves, NewMove(s, to, Normal))
	}
	if one := step(s, 0, up); w.board[one] == NoPiece {
		add(one)
		two := step(s, 0, 2*up)
		if s.Rank() == 1+5*int(w.side) && w.board[two] == NoPiece {
			moves = append(moves, NewMove(s, two, DoublePush))
		}
	}
	for _, to := range w.reach(s) {
		if to == w.ep {
			moves = append(moves, NewMove(s, to, EnPassant))
		} else if w.board[to] != NoPiece && w.board[to].Color() != w.side {
			add(to)
		}
	}
	return moves
}

// canCastle tries castling with the rook square by square.
func (w *twin) canCastle(rook Square) bool {
	king := w.king(w.side)
	base := king - Square(king.File())
	kingTo, rookTo := base+6, base+5
	if rook < king {
		kingTo, rookTo = base+2, base+3
	}
	free := *w
	free.board[king], free.board[rook] = NoPiece, NoPiece
	for s := min(rook, rookTo); s <= max(rook, rookTo); s++ {
		if free.board[s] != NoPiece {
			return false
		}
	}
	withRook := free
	withRook.board[rook] = w.board[rook]
	for s := min(king, kingTo); s <= max(king, kingTo); s++ {
		if free.board[s] != NoPiece || withRook.attacked(s, w.side.Other()) {
			return false
		}
	}
	return true // the king's safety on arrival is tried like that of any move
}

// apply returns the position after m.
func (w *twin) apply(m Move) *twin {
	n := *w
	us := w.side
	from, to := m.From(), m.To()
	n.side, n.ep, n.halfmove = us.Other(), NoSquare, w.halfmove+1
	if m.IsDrop() {
		n.hands[us][m.DropType()]--
		n.board[to] = MakePiece(us, m.DropType())
		n.halfmove = 0
		return &n
	}
	pc, promoted := n.board[from], n.promoted[from]
	n.lift(from)
	if pc.Type() == King {
		for s := A1; s <= H8; s++ {
			if n.castling[s] && n.board[s].Color() == us {
				n.castling[s] = false
			}
		}
	}
	if m.IsCastle() {
		n.lift(to)
		if to > from {
			n.board[to-to%8+6], n.board[to-to%8+5] = pc, MakePiece(us, Rook)
		} else {
			n.board[to-to%8+2], n.board[to-to%8+3] = pc, MakePiece(us, Rook)
		}
		return &n
	}
	victim := to
	if m.IsEnPassant() {
		victim = NewSquare(to.File(), from.Rank())
	}
	if taken := n.board[victim]; taken != NoPiece {
		t := taken.Type()
		if n.promoted[victim] {
			t = Pawn
		}
		if n.v.CapturesToHand {
			n.hands[us][t]++
		}
		n.lift(victim)
		n.halfmove = 0
	}
	if pc.Type() == Pawn {
		n.halfmove = 0
	}
	if m.IsPromotion() {
		pc, promoted = MakePiece(us, m.PromotionType()), n.v.CapturesToHand
	}
	n.board[to], n.promoted[to] = pc, promoted
	if m.Kind() == DoublePush {
		for _, files := range []int{-1, 1} {
			if s := step(to, files, 0); s != NoSquare && n.board[s] == MakePiece(us.Other(), Pawn) {
				n.ep = (from + to) / 2
			}
		}
	}
	return &n
}

// lift empties a square.
func (w *twin) lift(s Square) {
	w.board[s], w.promoted[s], w.castling[s] = NoPiece, false, false
}

// legal returns the legal moves.
func (w *twin) legal() map[Move]bool {
	moves := map[Move]bool{}
	for _, m := range w.pseudoLegal() {
		if !w.apply(m).inCheck(w.side) {
			moves[m] = true
		}
	}
	return moves
}

// TestTwinPerft keeps the twin itself honest.
func TestTwinPerft(t *testing.T) {
	var perft func(w *twin, depth int) int
	perft = func(w *twin, depth int) int {
		if depth == 0 {
			return 1
		}
		n := 0
		for m := range w.legal() {
			n += perft(w.apply(m), depth-1)
		}
		return n
	}
	for _, c := range []struct {
		v     *Variant
		fen   string
		depth int
		want  int
	}{
		{Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 2, 2039},
		{Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 3, 2812},
		{Crazyhouse, "4k3/1Q~6/8/8/4b3/8/Kpp5/8[] b - - 0 1", 3, 5445},
	} {
		p := mustParse(t, c.v, c.fen)
		if got := perft(twinOf(&p), c.depth); got != c.want {
			t.Errorf("twin perft(%q, %d) = %d, want %d", c.fen, c.depth, got, c.want)
		}
	}
}
