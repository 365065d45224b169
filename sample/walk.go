package sample

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Clock says how halfmove clocks count drops, which only crazyhouse has.
type Clock uint8

const (
	// RulesClock counts as chess.Position.Make and Fairy-Stockfish do, which set
	// the clock to 0 at every drop. Formats of files hold it.
	RulesClock Clock = iota
	// PlanesClock counts as search.Advance does, which sets it to 0 at drops of
	// pawns only. Nets on planes know it.
	PlanesClock
)

// Walker goes through the positions of a game and makes samples of them. Its
// methods do not allocate.
type Walker struct {
	Pos chess.Position // in which the move of Ply is made
	Ply int

	plies   int
	outcome chess.Outcome
	clock   Clock
}

// Walk returns a Walker at the beginning of a game of the given number of plies
// that ended in o.
func Walk(start *chess.Position, plies int, o chess.Outcome, clock Clock) Walker {
	return Walker{Pos: *start, plies: plies, outcome: o, clock: clock}
}

// WalkGame is Walk for g.
func WalkGame(g *game.Game, clock Clock) Walker {
	return Walk(&g.Start, len(g.Plies), g.Outcome, clock)
}

// Make goes on by the move of the present ply.
func (w *Walker) Make(m chess.Move) {
	if w.clock == PlanesClock {
		search.Advance(&w.Pos, m)
	} else {
		w.Pos.Make(m)
	}
	w.Ply++
}

// Sample returns the sample of the present ply, whose position stood on the board
// as often before as repetitions says.
func (w *Walker) Sample(ply *game.Ply, repetitions uint8) Sample {
	return Sample{
		Pos: w.Pos, Move: ply.Move, Score: scoreOf(ply), Result: ResultFor(w.Pos.SideToMove(), w.outcome),
		Repetitions: repetitions, Ply: uint16(w.Ply), PliesLeft: uint16(w.plies - w.Ply), Policy: ply.Policy,
	}
}

// scoreOf returns the score of a ply as a sample has it.
func scoreOf(ply *game.Ply) search.Score {
	if !ply.HasScore {
		return NoScore
	}
	return ply.Score
}

// Keys are the keys of a game's positions, in order.
type Keys []uint64

// Repetitions returns how often the last position stood on the board before.
func (k Keys) Repetitions() (n uint8) {
	last := len(k) - 1
	for back := last - 4; back >= 0; back -= 2 {
		if k[back] == k[last] {
			n++
		}
	}
	return n
}

// From appends to dst the samples of g, in the order of the game: of all plies
// that may be trained on, with clocks of the given kind. A game without an outcome
// has none.
func From(g *game.Game, clock Clock, dst []Sample) []Sample {
	if g.Outcome == chess.Ongoing {
		return dst
	}
	var buf [256]uint64
	keys := Keys(buf[:0])
	w := WalkGame(g, clock)
	for i := range g.Plies {
		ply := &g.Plies[i]
		keys = append(keys, w.Pos.Key())
		if ply.Train {
			dst = append(dst, w.Sample(ply, keys.Repetitions()))
		}
		w.Make(ply.Move)
	}
	return dst
}

// ResultFor returns the outcome of a finished game for side c: 1 win, 0 draw,
// −1 loss.
func ResultFor(c chess.Color, o chess.Outcome) int8 {
	switch o {
	case chess.Win(c):
		return 1
	case chess.Win(c.Other()):
		return -1
	}
	return 0
}
