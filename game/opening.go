package game

import (
	"fmt"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// Opening is where a game begins: a position and moves made from it without
// asking the players.
type Opening struct {
	Start chess.Position
	Moves []chess.Move
	// ID tells the opening from others of the same source, for records; it
	// may be empty.
	ID string
}

// dropShare is the share of drops among random moves where both drops and
// board moves are legal. In games of engines it is near 0.38 there; drawn evenly
// from all legal moves it would be far higher, for every empty square is a
// drop.
const dropShare = 0.375

// openingTries bounds the walks RandomOpening makes before it gives up.
const openingTries = 1000

// RandomMove draws a legal move of p, which must have one: first whether to
// drop or to move a piece, in the ratio games have, then evenly.
func RandomMove(p *chess.Position, rng *rand.Rand) chess.Move {
	var list chess.MoveList
	p.Legal(&list)
	drops := 0
	for _, m := range list.Slice() {
		if m.IsDrop() {
			drops++
		}
	}
	board := list.N - drops
	drop := board == 0 || drops > 0 && rng.Float64() < dropShare
	n := board
	if drop {
		n = drops
	}
	skip := rng.IntN(n)
	for _, m := range list.Slice() {
		if m.IsDrop() != drop {
			continue
		}
		if skip == 0 {
			return m
		}
		skip--
	}
	return chess.NoMove // not reached: there are n moves of this kind
}

// RandomOpening walks minPlies to maxPlies random legal plies, drawn as by
// RandomMove, from start. Even and odd lengths are equally likely if the range has
// both, so that each side is to move as often as the other. Walks that end the game
// or let the side to move mate at once are dropped, and so are those that accept,
// if not nil, refuses; after 1000 in a row the error is ErrOpening. An error of
// accept is returned as it is.
func RandomOpening(start chess.Position, rng *rand.Rand, minPlies, maxPlies int, accept func(*chess.Line) (bool, error)) (Opening, error) {
	if minPlies < 0 || maxPlies < minPlies || maxPlies >= MaxGamePlies {
		return Opening{}, fmt.Errorf("%w: %d to %d plies, expected a range within 0 to %d", ErrOpening, minPlies, maxPlies, MaxGamePlies-1)
	}
	for range openingTries {
		line := walk(start, rng, OpeningPlies(rng, minPlies, maxPlies))
		if line == nil || matesAtOnce(line.Pos()) {
			continue
		}
		if accept != nil {
			ok, err := accept(line)
			if err != nil {
				return Opening{}, err
			}
			if !ok {
				continue
			}
		}
		return Opening{Start: start, Moves: line.Moves()}, nil
	}
	return Opening{}, fmt.Errorf("%w: none accepted of %d walks of %d to %d plies", ErrOpening, openingTries, minPlies, maxPlies)
}

// OpeningPlies draws a number of plies from lo to hi: its parity first, if the
// range has both, then evenly.
func OpeningPlies(rng *rand.Rand, lo, hi int) int {
	if lo == hi {
		return lo
	}
	lo += rng.IntN(2)
	return lo + 2*rng.IntN((hi-lo)/2+1)
}

// walk makes n random moves, or returns nil if the game ends on the way.
func walk(start chess.Position, rng *rand.Rand, n int) *chess.Line {
	line := chess.NewLine(start)
	for range n {
		line.Push(RandomMove(line.Pos(), rng))
		if outcome, _ := line.Outcome(); outcome != chess.Ongoing {
			return nil
		}
	}
	return line
}

// matesAtOnce reports whether the side to move has a mate in one.
func matesAtOnce(p *chess.Position) bool {
	var list chess.MoveList
	p.Legal(&list)
	for _, m := range list.Slice() {
		child := *p
		child.Make(m)
		if child.InCheck() && !child.HasLegalMove() {
			return true
		}
	}
	return false
}
