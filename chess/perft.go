package chess

// Perft returns the number of sequences of depth legal moves from p. It lists
// the moves of the last ply and counts the list, as most programs do; depth 0
// gives 1.
func Perft(p *Position, depth int) uint64 {
	if depth <= 0 {
		return 1
	}
	var l MoveList
	p.Legal(&l)
	if depth == 1 {
		return uint64(l.N)
	}
	var n uint64
	for _, m := range l.Slice() {
		child := *p
		child.Make(m)
		n += Perft(&child, depth-1)
	}
	return n
}

// PerftCount returns the same number as Perft, counting the moves of the last
// ply without listing them.
func PerftCount(p *Position, depth int) uint64 {
	if depth <= 0 {
		return 1
	}
	if depth == 1 {
		return uint64(p.CountLegal())
	}
	var l MoveList
	p.Legal(&l)
	var n uint64
	for _, m := range l.Slice() {
		child := *p
		child.Make(m)
		n += PerftCount(&child, depth-1)
	}
	return n
}

// PerftMove is a move with the number of sequences that begin with it.
type PerftMove struct {
	Move  Move
	Nodes uint64
}

// PerftDivide returns Perft of every legal move of p, in the order of Legal; the
// nodes add up to Perft(p, depth). Depth is at least 1.
func PerftDivide(p *Position, depth int) []PerftMove {
	var l MoveList
	p.Legal(&l)
	moves := make([]PerftMove, l.N)
	for i, m := range l.Slice() {
		child := *p
		child.Make(m)
		moves[i] = PerftMove{m, PerftCount(&child, depth-1)}
	}
	return moves
}
