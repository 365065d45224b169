package chess

// Perft returns the number of sequences of depth legal moves from p; depth 0
// gives 1. It lists the moves of the last ply and takes the length of the list,
// as most programs do.
func Perft(p *Position, depth int) uint64 { return perft(newPerftStack(p, depth), false) }

// PerftCount returns the same number as Perft, counting the moves of the last
// ply without listing them.
func PerftCount(p *Position, depth int) uint64 { return perft(newPerftStack(p, depth), true) }

// perftPly is what one ply of a perft needs.
type perftPly struct {
	pos   Position
	moves MoveList
}

// newPerftStack returns the plies to walk, p at the first of them.
func newPerftStack(p *Position, depth int) []perftPly {
	stack := make([]perftPly, max(depth, 0))
	if depth > 0 {
		stack[0].pos = *p
	}
	return stack
}

// perft counts the moves from the first position of stack to a depth of all its
// plies.
func perft(stack []perftPly, count bool) uint64 {
	if len(stack) == 0 {
		return 1
	}
	ply := &stack[0]
	if len(stack) == 1 && count {
		return uint64(ply.pos.CountLegal())
	}
	ply.pos.Legal(&ply.moves)
	if len(stack) == 1 {
		return uint64(ply.moves.N)
	}
	var n uint64
	next := &stack[1].pos
	for _, m := range ply.moves.Slice() {
		*next = ply.pos
		next.Make(m)
		n += perft(stack[1:], count)
	}
	return n
}
