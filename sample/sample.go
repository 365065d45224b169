// Package sample makes training samples of games: positions with the move
// played, the search's score and the game's result, all from the side to move's
// point of view. It also has what the codecs of sample files share: Reader,
// Writer, the units of scores.
package sample

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Sample is one position to train on.
type Sample struct {
	Pos chess.Position
	// Move is the move played or, in formats that keep it instead, the best
	// move of the search.
	Move chess.Move
	// Score is for the side to move, in centipawns where it comes from a game
	// and in the Unit of the Reader where it comes from a file.
	Score search.Score
	// Result is the game's result for the side to move: 1 win, 0 draw, −1 loss.
	Result int8
	// Repetitions says how often the position stood on the board earlier in its
	// game, as far as that is known.
	Repetitions uint8
	Ply         uint16 // plies since the start of the game, opening moves counted
	// Partial says that the piece that Move drops or promotes to is not known,
	// because the format does not keep it. Move then names a pawn dropped or a
	// promotion to queen, as a placeholder only.
	Partial bool
	// PliesLeft is the number of plies from here to the end of the game, where
	// it is 0, as it is if the number is not known.
	PliesLeft uint16
	// Policy is what the search made of the legal moves, nil if only Move is
	// known.
	Policy *Policy
}

// Policy is a search's distribution over the legal moves.
type Policy = search.Policy

// MoveWeight is a move's share of a distribution.
type MoveWeight = search.MoveWeight

// Filter says which positions not to train on, besides those before opening
// and random moves, which never serve. The zero Filter keeps all others.
type Filter struct {
	SkipInCheck bool // the side to move is in check
	// SkipCaptures leaves out positions whose best move is a capture or a
	// promotion: their evaluation is the search's business. Drops are quiet.
	SkipCaptures bool
	RequireScore bool         // no score was recorded
	MinPly       int          // fewer plies were made since the start of the game
	MaxScore     search.Score // the score is beyond ±MaxScore; 0 is no limit
}

// Counts says what became of the plies From looked at. Each ply is counted once,
// under the first reason, in the order of the fields, that speaks against it.
type Counts struct {
	Plies      uint64 // all
	Untrained  uint64 // opening and random moves
	Early      uint64 // Filter.MinPly
	NoScore    uint64 // Filter.RequireScore
	LargeScore uint64 // Filter.MaxScore
	InCheck    uint64 // Filter.SkipInCheck
	Captures   uint64 // Filter.SkipCaptures
	Kept       uint64
}

// Add adds the counts of other to c.
func (c *Counts) Add(other Counts) {
	c.Plies += other.Plies
	c.Untrained += other.Untrained
	c.Early += other.Early
	c.NoScore += other.NoScore
	c.LargeScore += other.LargeScore
	c.InCheck += other.InCheck
	c.Captures += other.Captures
	c.Kept += other.Kept
}

// From appends to dst the samples of g that pass f, in the order of the game,
// and adds to n, unless it is nil, what became of the plies. A game without an
// outcome has no samples. A ply without a score has Score 0.
func From(g *game.Game, f Filter, n *Counts, dst []Sample) []Sample {
	if g.Outcome == chess.Ongoing {
		return dst
	}
	if n == nil {
		n = new(Counts)
	}
	pos := g.Start
	for i := range g.Plies {
		ply := &g.Plies[i]
		n.Plies++
		if why := f.against(n, &pos, ply, i); why != nil {
			*why++
		} else {
			n.Kept++
			dst = append(dst, Of(&pos, ply, i, g.Outcome))
		}
		pos.Make(ply.Move)
	}
	return dst
}

// Of returns the sample of ply i, played in pos, of a game that ended so.
func Of(pos *chess.Position, ply *game.Ply, i int, o chess.Outcome) Sample {
	return Sample{
		Pos: *pos, Move: ply.Move, Score: ply.Score, Result: ResultFor(pos.SideToMove(), o),
		Ply: uint16(i), Policy: ply.Policy,
	}
}

// Complete fills in what From leaves out of samples of g, which are in the order of
// the game, as not all nets ask for it: Repetitions and PliesLeft. It has the
// halfmove clocks of the positions count as nets on planes know them, see
// search.Advance.
func Complete(g *game.Game, samples []Sample) {
	keys := make([]uint64, 0, len(g.Plies))
	pos := g.Start
	for i := range g.Plies {
		if len(samples) == 0 {
			return
		}
		keys = append(keys, pos.Key())
		if s := &samples[0]; int(s.Ply) == i {
			s.PliesLeft, s.Repetitions = uint16(len(g.Plies)-i), 0
			s.Pos.SetClocks(pos.HalfmoveClock(), pos.FullmoveNumber())
			for back := i - 4; back >= 0; back -= 2 {
				if keys[back] == keys[i] {
					s.Repetitions++
				}
			}
			samples = samples[1:]
		}
		search.Advance(&pos, g.Plies[i].Move)
	}
}

// Traits is what a Filter asks of a position and the move played there.
type Traits struct {
	InCheck bool
	Capture bool // or a promotion
}

// TraitsOf returns the traits of the position in which m is played.
func TraitsOf(pos *chess.Position, m chess.Move) Traits {
	return Traits{InCheck: pos.InCheck(), Capture: isCapture(pos, m)}
}

// Passes reports whether From keeps ply i, whose position has the given traits,
// of a game that ended.
func (f *Filter) Passes(ply *game.Ply, i int, t Traits) bool {
	return f.againstPly(new(Counts), ply, i) == nil && !(f.SkipInCheck && t.InCheck) && !(f.SkipCaptures && t.Capture)
}

// against returns the count of the first reason not to train on a ply, or nil.
func (f *Filter) against(n *Counts, pos *chess.Position, ply *game.Ply, i int) *uint64 {
	if why := f.againstPly(n, ply, i); why != nil {
		return why
	}
	switch {
	case f.SkipInCheck && pos.InCheck():
		return &n.InCheck
	case f.SkipCaptures && isCapture(pos, ply.Move):
		return &n.Captures
	}
	return nil
}

// againstPly is against for the reasons that take no position.
func (f *Filter) againstPly(n *Counts, ply *game.Ply, i int) *uint64 {
	switch {
	case !ply.Train:
		return &n.Untrained
	case i < f.MinPly:
		return &n.Early
	case f.RequireScore && !ply.HasScore:
		return &n.NoScore
	case f.MaxScore != 0 && (ply.Score > f.MaxScore || ply.Score < -f.MaxScore):
		return &n.LargeScore
	}
	return nil
}

func isCapture(pos *chess.Position, m chess.Move) bool { return m.IsPromotion() || pos.IsCapture(m) }

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

// HeldOutEvery is the share of games kept from training: one in so many.
const HeldOutEvery = 20

// HeldOut reports whether the game of the given id is kept from training, for
// measuring the loss on games never seen. It depends on the id alone, so every
// process and every restart splits alike; all positions of a game are
// on one side.
func HeldOut(id string) bool {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])%HeldOutEvery == 0
}
