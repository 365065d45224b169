package mcts

import "github.com/crazyhouse-rl/selfplay/chess"

// probe looks for the shortest mate of the side to move in p, whose legal moves
// are given, in at most the given number of plies, 1 or 3, with checks only. It
// returns the first move and the length in plies, 0 if there is none. Where 3 plies
// could meet the fifty-move rule it looks at one.
func (t *tree) probe(p *chess.Position, moves *chess.MoveList, plies int) (chess.Move, int) {
	if plies < 1 {
		return chess.NoMove, 0
	}
	checks := &t.mating[0]
	checks.N = copy(checks.Moves[:], moves.Slice())
	p.KeepChecks(checks)
	for _, m := range checks.Slice() {
		child := *p
		child.Make(m)
		if !child.HasLegalMove() {
			return m, 1
		}
	}
	if plies < 3 || t.rules.fifty && p.HalfmoveClock() >= 98 {
		return chess.NoMove, 0
	}
	for _, m := range checks.Slice() {
		child := *p
		child.Make(m)
		if t.matedInTwo(&child) {
			return m, 3
		}
	}
	return chess.NoMove, 0
}

// matedInTwo reports whether every reply of p's side to move, which is in check,
// lets it be mated by the next move. There must be a reply.
func (t *tree) matedInTwo(p *chess.Position) bool {
	replies := &t.mating[1]
	p.Legal(replies)
	for _, r := range replies.Slice() {
		child := *p
		child.Make(r)
		if !t.matesAtOnce(&child) {
			return false
		}
	}
	return true
}

// matesAtOnce reports whether p's side to move has a move that mates.
func (t *tree) matesAtOnce(p *chess.Position) bool {
	checks := &t.mating[2]
	p.LegalChecks(checks)
	for _, m := range checks.Slice() {
		child := *p
		child.Make(m)
		if !child.HasLegalMove() {
			return true
		}
	}
	return false
}
