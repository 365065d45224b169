package chess

import "github.com/crazyhouse-rl/selfplay/internal/splitmix"

// Random numbers of the position key. They come from a fixed seed, so that a
// key means the same position in every run.
var (
	keyPiece    [16][64]uint64 // by Piece and square
	keyPromoted [64]uint64
	keyHand     [2][5][maxHand + 1]uint64 // by colour, kind and count
	keyCastling [64]uint64                // by square of a rook that may castle
	keyEP       [8]uint64                 // by file
	keySide     uint64                    // Black to move
)

func init() {
	r := splitmix.Source(1070372)
	fill := func(keys []uint64) {
		for i := range keys {
			keys[i] = r.Uint64()
		}
	}
	for i := range keyPiece {
		fill(keyPiece[i][:])
	}
	fill(keyPromoted[:])
	for c := range keyHand {
		for t := range keyHand[c] {
			fill(keyHand[c][t][1:]) // an empty hand has key 0
		}
	}
	fill(keyCastling[:])
	fill(keyEP[:])
	keySide = r.Uint64()
	fillCycles()
}

// castlingKey returns the part of the key that the rooks of a set of castling
// rights make.
func castlingKey(rooks Bitboard) uint64 {
	var key uint64
	for ; rooks != 0; rooks &= rooks - 1 {
		key ^= keyCastling[rooks.First()&63]
	}
	return key
}

// computeKey returns the key of p from nothing but the position itself. Make
// keeps it up to date step by step.
func (p *Position) computeKey() uint64 {
	key := castlingKey(p.castling)
	for occ := p.Occupied(); occ != 0; occ &= occ - 1 {
		s := occ.First() & 63
		key ^= keyPiece[p.board[s]&15][s]
	}
	for marks := p.promoted; marks != 0; marks &= marks - 1 {
		key ^= keyPromoted[marks.First()&63]
	}
	for c := White; c <= Black; c++ {
		for t := Pawn; t <= Queen; t++ {
			key ^= keyHand[c][t][p.hands[c].Count(t)]
		}
	}
	if p.ep != NoSquare {
		key ^= keyEP[p.ep&7]
	}
	if p.side == Black {
		key ^= keySide
	}
	return key
}
