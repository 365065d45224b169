package mcts

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// line returns the principal variation that begins with the root's move of the
// given index. A mate is played out to its end if memory and probe know it.
func (t *tree) line(index int) []chess.Move {
	var pv []chess.Move
	pos := t.start
	n, i := t.node(t.root), index
	for {
		m := t.choicesOf(n)[i].move
		pv = append(pv, m)
		search.Advance(&pos, m)
		if i >= int(n.shown) {
			return pv
		}
		id := t.kidsOf(n)[i].node
		if id < firstNode || len(pv) >= search.MaxPly {
			return pv
		}
		n = t.node(id)
		if i = t.expected(n); i < 0 {
			return t.finish(pv, &pos, n)
		}
	}
}

// expected returns the index of the move of n that is expected, -1 if none was
// tried: the shortest win, the longest loss, else the most tried.
func (t *tree) expected(n *node) int {
	best, most := -1, uint32(0)
	for i, k := range t.kidsOf(n) {
		if k.node == noNode {
			continue
		}
		child := t.node(k.node)
		worth := k.visits
		switch n.proof {
		case won:
			if child.proof != lost {
				continue
			}
			worth = 1<<16 - uint32(child.distance)
		case lost:
			worth = 1 + uint32(child.distance)
		default:
			if child.proof == won {
				continue
			}
		}
		if worth > most {
			best, most = i, worth
		}
	}
	return best
}

// finish plays the mate of n, whose position is pos, out by the probe.
func (t *tree) finish(pv []chess.Move, pos *chess.Position, n *node) []chess.Move {
	side, left := n.proof, int(n.distance)
	if side != won && side != lost {
		return pv
	}
	for ; left > 0 && len(pv) < search.MaxPly; left-- {
		pos.Legal(&t.moves)
		m := t.moves.Moves[0]
		if side == won {
			var plies int
			if m, plies = t.probe(pos, &t.moves, min(left, 3)); plies == 0 || plies > left {
				return pv
			}
			left = plies
			side = lost
		} else {
			side = won
		}
		pv = append(pv, m)
		pos.Make(m)
		if !pos.HasLegalMove() {
			return pv
		}
	}
	return pv
}
