package chess

// castlingInfo describes one way to castle, by where king and rook stand.
type castlingInfo struct {
	empty  Bitboard // must hold no piece other than that king and that rook
	path   Bitboard // squares the king comes to, which must not be attacked
	beyond Bitboard // squares behind the rook, from where its leaving may expose the king
	kingTo Square
	rookTo Square
}

// castlingTable holds the ways to castle by colour and files of king and rook.
var castlingTable [2][8][8]castlingInfo

// castlingOf returns how the king of c castles with the rook, both on the back
// rank.
func castlingOf(c Color, king, rook Square) *castlingInfo {
	return &castlingTable[c&1][king&7][rook&7]
}

// fillCastling builds castlingTable; it needs betweenTable.
func fillCastling() {
	for c := White; c <= Black; c++ {
		base := A8 * Square(c)
		for king := range Square(8) {
			for rook := range Square(8) {
				castlingTable[c][king][rook] = describeCastling(base, base+king, base+rook)
			}
		}
	}
}

// describeCastling describes castling on the back rank that begins at base.
func describeCastling(base, king, rook Square) castlingInfo {
	c := castlingInfo{kingTo: base + 6, rookTo: base + 5}
	c.beyond = ray(rook, direction{1, 0}, 0, 7)
	if rook < king {
		c = castlingInfo{kingTo: base + 2, rookTo: base + 3}
		c.beyond = ray(rook, direction{-1, 0}, 0, 7)
	}
	c.path = betweenTable[king][c.kingTo] | c.kingTo.Bitboard()
	c.empty = c.path | betweenTable[rook][c.rookTo] | c.rookTo.Bitboard()
	c.empty &^= king.Bitboard() | rook.Bitboard()
	return c
}

// canCastle reports whether the side to move, not in check and with the right to
// castle with rook, may do so.
func (p *Position) canCastle(king, rook Square) bool {
	us := p.side & 1
	occ := p.Occupied()
	c := castlingOf(us, king, rook)
	if occ&c.empty != 0 {
		return false
	}
	occ &^= king.Bitboard()
	for path := c.path; path != 0; path &= path - 1 {
		if p.attacked(path.First(), us^1, occ) {
			return false
		}
	}
	snipers := (p.byType[Rook] | p.byType[Queen]) & p.byColor[us^1] & c.beyond
	if snipers == 0 {
		return true
	}
	occ = occ&^rook.Bitboard() | c.kingTo.Bitboard() | c.rookTo.Bitboard()
	return RookAttacks(c.kingTo, occ)&snipers == 0
}
