package chess

import "context"

// Perft returns the number of sequences of depth legal moves from p; depth 0
// gives 1. It lists the moves of the last ply and takes the length of the list,
// as most programs do.
func Perft(p *Position, depth int) uint64 { return perft(newPerftStack(p, depth), false) }

// PerftCount returns the same number as Perft, counting the moves of the last
// ply without listing them.
func PerftCount(p *Position, depth int) uint64 { return perft(newPerftStack(p, depth), true) }

// PerftContext is count, which is Perft or PerftCount, but returns early with the
// error of ctx.
func PerftContext(ctx context.Context, p *Position, depth int, count func(*Position, int) uint64) (uint64, error) {
	const short = 3 // plies that take little time from any position
	if depth <= short {
		return count(p, depth), ctx.Err()
	}
	var nodes uint64
	var moves MoveList
	p.Legal(&moves)
	for _, m := range moves.Slice() {
		child := *p
		child.Make(m)
		n, err := PerftContext(ctx, &child, depth-1, count)
		if err != nil {
			return 0, err
		}
		nodes += n
	}
	return nodes, nil
}

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
