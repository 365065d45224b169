package puzzles

import (
	"errors"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// ErrBudget says that a proof would take more positions than its Prover may look at.
var ErrBudget = errors.New("puzzles: proof too long")

// Prover proves forced mates against every defence, by looking at all of them.
type Prover struct {
	// Budget is how many positions a proof may look at.
	Budget int

	left  int
	known map[proofKey]bool
}

// proofKey is a question: does the side to move mate in this many moves?
type proofKey struct {
	position uint64
	moves    int
	checks   bool // by checks alone
}

// Mating returns the moves that mate in at most n moves of the side to move, n from 1,
// whatever the other side does: all of them, but no more than most. The error is
// [ErrBudget].
func (pr *Prover) Mating(p *chess.Position, n, most int) ([]chess.Move, error) {
	pr.begin()
	var mating []chess.Move
	for _, m := range ordered(p) {
		forced, err := pr.forced(p, m, n, false)
		if err != nil {
			return nil, err
		}
		if forced {
			if mating = append(mating, m); len(mating) == most {
				break
			}
		}
	}
	return mating, nil
}

// Checks reports whether the move m mates in at most n moves, itself counted, if every
// later move of its side is a check: then it does mate, but if not it may still. The
// error is [ErrBudget].
func (pr *Prover) Checks(p *chess.Position, m chess.Move, n int) (bool, error) {
	pr.begin()
	return pr.forced(p, m, n, true)
}

func (pr *Prover) begin() { pr.left, pr.known = pr.Budget, make(map[proofKey]bool) }

// forced reports whether after the move m every reply can be answered by a mate in
// what is left of n moves.
func (pr *Prover) forced(p *chess.Position, m chess.Move, n int, checks bool) (bool, error) {
	check := p.GivesCheck(m)
	if n == 1 && !check {
		return false, nil
	}
	if pr.left--; pr.left < 0 {
		return false, ErrBudget
	}
	after := *p
	after.Make(m)
	if n == 1 {
		return !after.HasLegalMove(), nil
	}
	var replies chess.MoveList
	after.Legal(&replies)
	if replies.N == 0 {
		return check, nil // no mate by stalemate
	}
	for _, reply := range replies.Slice() {
		next := after
		next.Make(reply)
		mates, err := pr.mates(&next, n-1, checks)
		if err != nil || !mates {
			return false, err
		}
	}
	return true, nil
}

// mates reports whether the side to move mates in at most n moves.
func (pr *Prover) mates(p *chess.Position, n int, checks bool) (bool, error) {
	key := proofKey{p.Key(), n, checks}
	if mates, known := pr.known[key]; known {
		return mates, nil
	}
	mates := false
	for _, m := range ordered(p) {
		if checks && !p.GivesCheck(m) {
			break
		}
		forced, err := pr.forced(p, m, n, checks)
		if err != nil {
			return false, err
		}
		if forced {
			mates = true
			break
		}
	}
	pr.known[key] = mates
	return mates, nil
}

// ordered returns the legal moves, checks first.
func ordered(p *chess.Position) []chess.Move {
	var list chess.MoveList
	p.Legal(&list)
	moves := make([]chess.Move, 0, list.N)
	for _, check := range []bool{true, false} {
		for _, m := range list.Slice() {
			if p.GivesCheck(m) == check {
				moves = append(moves, m)
			}
		}
	}
	return moves
}
