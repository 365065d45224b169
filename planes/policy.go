package planes

import "github.com/crazyhouse-rl/selfplay/chess"

// Shape of the policy: plane by plane, row by row.
const (
	PolicyPlanes = 81                // ways to move
	PolicySize   = PolicyPlanes * 64 // cells
	Labels       = 2272              // cells that a move on an empty board reaches
)

// First planes of the policy by how a piece moves. A cell lies on the square the
// move comes from; a drop's on the square it goes to.
const (
	policyQueen     = 0  // 8 directions of 7 distances
	policyKnight    = 56 // 8 leaps
	policyPromotion = 64 // to 4 kinds in 3 directions, queens included
	policyDrop      = 76 // of 5 kinds
)

// step is a way to go, in files and rows.
type step struct{ file, row int }

var (
	// queenSteps are the directions of queen-like moves: clockwise from north.
	queenSteps = [8]step{{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, -1}, {-1, 0}, {-1, 1}}
	// knightSteps are the leaps of knights, in the order of their planes.
	knightSteps = [8]step{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}
)

// from returns the square that lies n steps from s, false if it is off the board.
func (st step) from(s chess.Square, n int) (chess.Square, bool) {
	file, row := s.File()+n*st.file, s.Rank()+n*st.row
	if file < 0 || file > 7 || row < 0 || row > 7 {
		return chess.NoSquare, false
	}
	return chess.NewSquare(file, row), true
}

var (
	// moveCells holds the cells of moves by the squares they come from and go
	// to, promotions and drops apart; -1 if no piece moves so.
	moveCells = newMoveCells()
	labels    = newLabels()
	// labelCells holds the cell of each label, cellLabels the reverse, -1 where
	// there is no label.
	labelCells, cellLabels = newLabelCells()
)

func newMoveCells() (cells [64][64]int16) {
	for from := chess.A1; from <= chess.H8; from++ {
		for i := range cells[from] {
			cells[from][i] = -1
		}
		for i, st := range queenSteps {
			for n := 1; n <= 7; n++ {
				if to, ok := st.from(from, n); ok {
					cells[from][to] = int16((policyQueen+7*i+n-1)*64 + int(from))
				}
			}
		}
		for i, st := range knightSteps {
			if to, ok := st.from(from, 1); ok {
				cells[from][to] = int16((policyKnight+i)*64 + int(from))
			}
		}
	}
	return cells
}

// Cell returns the cell, from 0 to PolicySize-1, of the legal move m in p. No two
// legal moves of a position share a cell. Castling lies where UCI puts it: on the
// king's two steps or, in Chess960, on the way from the king to its rook.
func Cell(p *chess.Position, m chess.Move) int {
	flip := chess.A8 * chess.Square(p.SideToMove())
	if m.IsCastle() && !p.Chess960() {
		m = twoSteps(m)
	}
	return cellOf(m, flip)
}

// cellOf returns the cell of a move on squares that flip mirrors: A1 leaves them,
// A8 turns Black's view into White's.
func cellOf(m chess.Move, flip chess.Square) int {
	from, to := m.From()^flip, m.To()^flip
	switch {
	case m.IsDrop():
		return (policyDrop+int(m.DropType()))*64 + int(to)
	case m.IsPromotion():
		way := 3*int(m.PromotionType()-chess.Knight) + to.File() - from.File() + 1
		return (policyPromotion+way)*64 + int(from)
	}
	return int(moveCells[from&63][to&63])
}

// twoSteps returns castling as the king's move of two squares.
func twoSteps(m chess.Move) chess.Move {
	king, rook := m.From(), m.To()
	if rook > king {
		return chess.NewMove(king, king+2, chess.Normal)
	}
	return chess.NewMove(king, king-2, chess.Normal)
}

// Label returns label i, from 0 to Labels-1: a move of White in the form of UCI.
// Black's moves have the label of their mirror image.
func Label(i int) string {
	m := labels[i]
	if m.IsDrop() {
		return m.DropType().String() + "@" + m.To().String()
	}
	s := m.From().String() + m.To().String()
	if m.IsPromotion() {
		s += string("nbrq"[m.PromotionType()-chess.Knight])
	}
	return s
}

// LabelCell returns the cell of label i, from 0 to Labels-1.
func LabelCell(i int) int { return int(labelCells[i]) }

// CellLabel returns the label of a cell from 0 to PolicySize-1, -1 if it has none.
// Nets with a flat policy have one output for every label.
func CellLabel(cell int) int { return int(cellLabels[cell]) }

// newLabels lists the labels in the order of CrazyAra's list: moves by origin,
// promotions, drops.
func newLabels() []chess.Move {
	list := make([]chess.Move, 0, Labels)
	for file := range 8 {
		for row := range 8 {
			list = appendMoves(list, chess.NewSquare(file, row))
		}
	}
	for file := range 8 {
		for _, t := range []chess.PieceType{chess.Queen, chess.Rook, chess.Bishop, chess.Knight} {
			list = appendPromotions(list, file, t)
		}
	}
	for file := range 8 {
		for row := range 8 {
			for t := chess.Pawn; t <= chess.Queen; t++ {
				if t != chess.Pawn || row != 0 && row != 7 {
					list = append(list, chess.NewDrop(t, chess.NewSquare(file, row)))
				}
			}
		}
	}
	return list
}

// appendMoves appends the moves of a queen and a knight on from: along the row,
// the file, both diagonals, each from its low end, then the leaps.
func appendMoves(list []chess.Move, from chess.Square) []chess.Move {
	add := func(st step, n int) {
		if to, ok := st.from(from, n); ok && n != 0 {
			list = append(list, chess.NewMove(from, to, chess.Normal))
		}
	}
	for _, line := range []step{{1, 0}, {0, 1}, {1, 1}, {1, -1}} {
		for n := -7; n <= 7; n++ {
			add(line, n)
		}
	}
	for _, leap := range []step{{-2, -1}, {-1, -2}, {-2, 1}, {1, -2}, {2, -1}, {-1, 2}, {2, 1}, {1, 2}} {
		add(leap, 1)
	}
	return list
}

// appendPromotions appends the promotions to t of a pawn on file: straight on and
// captures to the left and right, each downwards and upwards. No pawn promotes
// downwards as the side to move sees it; those labels are never used.
func appendPromotions(list []chess.Move, file int, t chess.PieceType) []chess.Move {
	for _, side := range []int{0, -1, 1} {
		for _, st := range []step{{side, -1}, {side, 1}} {
			row := 1
			if st.row > 0 {
				row = 6
			}
			from := chess.NewSquare(file, row)
			if to, ok := st.from(from, 1); ok {
				list = append(list, chess.NewPromotion(from, to, t))
			}
		}
	}
	return list
}

func newLabelCells() (cells [Labels]int16, reverse [PolicySize]int16) {
	for i := range reverse {
		reverse[i] = -1
	}
	for i, m := range labels {
		cell := cellOf(m, chess.A1)
		cells[i], reverse[cell] = int16(cell), int16(i)
	}
	return cells, reverse
}
