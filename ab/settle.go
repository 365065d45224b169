package ab

import (
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Bounds of Settle. Few positions reach them: those where a king is chased, or many
// pieces hang, and these never come to rest.
const (
	settlePlies = 12
	settleNodes = 600
)

// Settle plays from a position until it is quiet: captures that lose nothing and
// promotions to a queen, by both sides as long as they gain by them, and moves out of
// check. It is a quiescence search without drops, by [Material], whose best line it
// returns with its end. The end's evaluation, from the side to move of p, is what that
// search says of p. The line is empty if nothing gains.
//
// It is false if the position has no quiet end: the line goes on too long, or ends in
// check or with the game.
//
// The same position has the same end, whatever was searched before.
func Settle(p *chess.Position) (end chess.Position, line []chess.Move, ok bool) {
	s := settler{values: settleHand}
	if !p.Variant().CapturesToHand {
		s.values = settleChess
	}
	_, line = s.search(p, 0, -settleInfinite, settleInfinite)
	end = *p
	for _, m := range line {
		end.Make(m)
	}
	return end, line, s.nodes <= settleNodes && len(line) < settlePlies && !end.InCheck() && end.HasLegalMove()
}

// settleInfinite is beyond every evaluation, and settleMate beyond those of positions
// that are not mate.
const (
	settleInfinite = 1 << 20
	settleMate     = 1 << 19
)

var (
	settleHand  = newValues(materialHand.board, materialHand.hand, true)
	settleChess = newValues(materialChess.board, materialChess.hand, false)
)

// settler is one such search.
type settler struct {
	values *values
	eval   Material
	nodes  int
}

// search returns what p is worth to its side to move, and the line to the position
// that is worth that. Beyond its bound of nodes it returns anything.
func (s *settler) search(p *chess.Position, ply, alpha, beta int) (best int, line []chess.Move) {
	if s.nodes++; s.nodes > settleNodes {
		return 0, nil
	}
	if ply == settlePlies {
		return s.eval.Evaluate(p), nil
	}
	var list chess.MoveList
	if p.InCheck() {
		best = ply - settleMate
		p.Legal(&list)
	} else {
		best = s.eval.Evaluate(p)
		p.LegalCaptures(&list)
	}
	for _, m := range s.order(p, &list) {
		if best >= beta {
			break
		}
		if !p.InCheck() && !s.values.exchangeAtLeast(p, m, 0) {
			continue
		}
		child := *p
		child.Make(m)
		v, rest := s.search(&child, ply+1, -beta, -max(alpha, best))
		if -v > best {
			best, line = -v, append([]chess.Move{m}, rest...)
		}
	}
	return best, line
}

// order sorts moves: what captures most comes first.
func (s *settler) order(p *chess.Position, list *chess.MoveList) []chess.Move {
	moves := list.Slice()
	slices.SortStableFunc(moves, func(a, b chess.Move) int { return s.values.captured(p, b) - s.values.captured(p, a) })
	return moves
}
