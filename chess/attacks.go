package chess

// Attack tables. Sliding pieces use fancy magic bitboards: the blockers on a
// piece's lines, multiplied by a number that spreads them without harmful
// collisions, index a table of attack sets packed square after square.

// magic finds the attacks of one slider on one square.
type magic struct {
	mask   Bitboard // squares whose occupation matters: the lines without their last squares
	factor uint64
	offset uint32 // of this square's sets in the table
	shift  uint8
}

var (
	rookMagics   [64]magic
	bishopMagics [64]magic
	rookTable    [102400]Bitboard // Σ over squares of 2^(bits of mask)
	bishopTable  [5248]Bitboard

	knightTable  [64]Bitboard
	kingTable    [64]Bitboard
	pawnTable    [2][64]Bitboard
	betweenTable [64][64]Bitboard
	lineTable    [64][64]Bitboard // the whole rank, file or diagonal through two squares, or none
)

// direction is one step in files and ranks.
type direction struct{ file, rank int }

var (
	rookDirections   = [4]direction{{0, 1}, {0, -1}, {1, 0}, {-1, 0}}
	bishopDirections = [4]direction{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}
)

// RookAttacks returns the squares a rook on s attacks when the squares of occ
// are occupied, the first blocker on each line included.
func RookAttacks(s Square, occ Bitboard) Bitboard {
	m := &rookMagics[s&63]
	return rookTable[m.offset+uint32(uint64(occ&m.mask)*m.factor>>(m.shift&63))]
}

// BishopAttacks returns the squares a bishop on s attacks, as RookAttacks does.
func BishopAttacks(s Square, occ Bitboard) Bitboard {
	m := &bishopMagics[s&63]
	return bishopTable[m.offset+uint32(uint64(occ&m.mask)*m.factor>>(m.shift&63))]
}

// QueenAttacks returns the squares a queen on s attacks, as RookAttacks does.
func QueenAttacks(s Square, occ Bitboard) Bitboard {
	return RookAttacks(s, occ) | BishopAttacks(s, occ)
}

// KnightAttacks returns the squares a knight on s attacks.
func KnightAttacks(s Square) Bitboard { return knightTable[s&63] }

// KingAttacks returns the squares a king on s attacks.
func KingAttacks(s Square) Bitboard { return kingTable[s&63] }

// PawnAttacks returns the squares a pawn of colour c on s attacks.
func PawnAttacks(c Color, s Square) Bitboard { return pawnTable[c&1][s&63] }

// PawnCaptures returns the squares that pawns of c attack towards the a-file and
// towards the h-file.
func PawnCaptures(c Color, pawns Bitboard) (left, right Bitboard) {
	if c == White {
		return pawns &^ fileA << 7, pawns &^ fileH << 9
	}
	return pawns &^ fileA >> 9, pawns &^ fileH >> 7
}

// Between returns the squares strictly between a and b if they share a rank,
// file or diagonal, else none.
func Between(a, b Square) Bitboard { return betweenTable[a&63][b&63] }

// attacksOf returns the squares a piece of kind t and colour c on s attacks.
func attacksOf(t PieceType, c Color, s Square, occ Bitboard) Bitboard {
	switch t {
	case Pawn:
		return PawnAttacks(c, s)
	case Knight:
		return KnightAttacks(s)
	case Bishop:
		return BishopAttacks(s, occ)
	case Rook:
		return RookAttacks(s, occ)
	case Queen:
		return QueenAttacks(s, occ)
	default:
		return KingAttacks(s)
	}
}

// ray walks from s until a blocker, which it includes, or at most n steps.
func ray(s Square, d direction, occ Bitboard, n int) Bitboard {
	var set Bitboard
	f, r := s.File()+d.file, s.Rank()+d.rank
	for ; n > 0 && f >= 0 && f < 8 && r >= 0 && r < 8; n-- {
		b := NewSquare(f, r).Bitboard()
		set |= b
		if occ&b != 0 {
			break
		}
		f, r = f+d.file, r+d.rank
	}
	return set
}

// rays is the union of the four rays of a slider.
func rays(s Square, dirs *[4]direction, occ Bitboard) Bitboard {
	var set Bitboard
	for _, d := range dirs {
		set |= ray(s, d, occ, 7)
	}
	return set
}

func init() {
	fillMagics(&rookMagics, rookTable[:], &rookDirections, &rookFactors)
	fillMagics(&bishopMagics, bishopTable[:], &bishopDirections, &bishopFactors)
	for s := A1; s <= H8; s++ {
		fillSteps(s)
		for t := A1; t <= H8; t++ {
			fillLine(s, t)
		}
	}
	fillCastling()
}

// fillMagics builds the magics and the table of one kind of slider.
func fillMagics(magics *[64]magic, table []Bitboard, dirs *[4]direction, factors *[64]uint64) {
	offset := uint32(0)
	for s := A1; s <= H8; s++ {
		var mask Bitboard
		for _, d := range dirs {
			whole := ray(s, d, 0, 7)
			mask |= ray(s, d, 0, whole.Count()-1)
		}
		m := magic{mask: mask, factor: factors[s], offset: offset, shift: uint8(64 - mask.Count())}
		magics[s] = m
		for occ := Bitboard(0); ; { // every subset of mask
			table[offset+uint32(uint64(occ)*m.factor>>m.shift)] = rays(s, dirs, occ)
			if occ = (occ - mask) & mask; occ == 0 {
				break
			}
		}
		offset += 1 << mask.Count()
	}
}

// fillSteps sets the attacks of knight, king and pawns on s.
func fillSteps(s Square) {
	for _, d := range [...]direction{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}} {
		knightTable[s] |= ray(s, d, 0, 1)
	}
	for i := range 4 {
		kingTable[s] |= ray(s, rookDirections[i], 0, 1) | ray(s, bishopDirections[i], 0, 1)
	}
	for _, file := range [...]int{-1, 1} {
		pawnTable[White][s] |= ray(s, direction{file, 1}, 0, 1)
		pawnTable[Black][s] |= ray(s, direction{file, -1}, 0, 1)
	}
}

// fillLine sets what lies between and on the line of two squares.
func fillLine(a, b Square) {
	for _, dirs := range [...]*[4]direction{&rookDirections, &bishopDirections} {
		if a != b && rays(a, dirs, 0).Has(b) {
			ends := a.Bitboard() | b.Bitboard()
			lineTable[a][b] = rays(a, dirs, 0)&rays(b, dirs, 0) | ends
			betweenTable[a][b] = rays(a, dirs, b.Bitboard()) & rays(b, dirs, a.Bitboard())
		}
	}
}
