// Package sample makes training samples of games: positions with the move
// played, the search's score and the game's result, all from the side to move's
// point of view. It also has what the codecs of sample files share: Reader,
// Writer, the units of scores.
package sample

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Sample is one position to train on.
type Sample struct {
	Pos chess.Position
	// Move is the move played or, in formats that keep it instead, the best
	// move of the search.
	Move chess.Move
	// Score is for the side to move, in centipawns where it comes from a game
	// and in the Unit of the Reader where it comes from a file. It is NoScore if
	// there is none.
	Score search.Score
	// Result is the game's result for the side to move: 1 win, 0 draw, −1 loss.
	Result int8
	// NoResult says that Result, which is 0, means nothing: the game did not pass
	// through the position, or the format of the file keeps no results. Writers of
	// formats that do write a draw.
	NoResult bool
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

// NoScore is the score of a sample without one, in every unit: VALUE_NONE of
// Stockfish, which its tools write into files. Formats keep it as any other score.
// Samples of plies without a score have it too.
const NoScore search.Score = 32002

// HasScore reports whether s has a score.
func (s *Sample) HasScore() bool { return s.Score != NoScore }

// ScoreOr0 returns the score, or 0, that of an even position, for a sample without
// one.
func (s *Sample) ScoreOr0() search.Score {
	if s.Score == NoScore {
		return 0
	}
	return s.Score
}

// ResultForWhite returns the game's result for White: 1 win, 0 draw, −1 loss.
func (s *Sample) ResultForWhite() int8 {
	if s.Pos.SideToMove() == chess.Black {
		return -s.Result
	}
	return s.Result
}

// HeldOutEvery is the share of games kept from training: one in HeldOutEvery.
const HeldOutEvery = 20

// HeldOut reports whether the game of the given id is kept from training, for
// measuring the loss on games never seen. It depends on the id alone, so every
// process and every restart splits alike; all positions of a game are
// on one side.
func HeldOut(id string) bool { return HeldOutOf([]byte(id), HeldOutEvery) }

// HeldOutOf is HeldOut for a share of one game in every, and for games that
// other bytes than an id tell apart.
func HeldOutOf(id []byte, every uint64) bool {
	sum := sha256.Sum256(id)
	return binary.LittleEndian.Uint64(sum[:])%every == 0
}
