// Package search holds the words every engine and every caller of one share:
// what a search is asked for ([Limits]), what it says while it runs ([Info])
// and what it answers ([Result]). It contains no algorithm.
//
// Scores are centipawns from the side to move's point of view throughout, as
// in the UCI protocol.
package search

import (
	"errors"
	"strconv"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// ErrNoLegalMoves is returned, usually wrapped, when a search is asked for a
// move in a position that has none: checkmate or stalemate.
var ErrNoLegalMoves = errors.New("search: no legal moves")

// Score is the value of a position in centipawns (1/100 of a pawn), positive
// when the side to move stands better. Values within [MaxPly] of ±[MateScore]
// are not centipawns but forced mates: MateScore-n says that the side to move
// mates in n plies, n-MateScore that it is mated in n plies.
type Score int

const (
	// MateScore is the score of having just mated; a checkmated side to
	// move has -MateScore.
	MateScore Score = 32000

	// Infinite lies outside the range of every score, for use as a bound.
	Infinite Score = 32500

	// MaxPly is the greatest distance from the root, in plies, that a
	// search reaches. It bounds the distance to a mate a score can express.
	MaxPly = 128
)

// Scores of networks and of Fairy-Stockfish's tools are in raw units.
const (
	// CentipawnsPerPawn is how many centipawns a pawn is worth.
	CentipawnsPerPawn = 100

	// RawPerPawn is how many raw units a pawn is worth: the units that
	// Fairy-Stockfish computes with, in which this is its value of a pawn in
	// the endgame, displayed as one pawn.
	RawPerPawn = 208

	// RawPerCentipawn converts centipawns to raw units.
	RawPerCentipawn = 1.0 * RawPerPawn / CentipawnsPerPawn
)

// MateAfter returns the score of the side to move mating in the given number of
// plies, which must lie in [0, MaxPly].
func MateAfter(plies int) Score { return MateScore - Score(plies) }

// MatedAfter returns the score of the side to move being mated in the given
// number of plies, which must lie in [0, MaxPly].
func MatedAfter(plies int) Score { return Score(plies) - MateScore }

// IsMate reports whether s announces a forced mate by either side.
func (s Score) IsMate() bool {
	return s >= MateScore-MaxPly || s <= MaxPly-MateScore
}

// MateIn returns the distance to mate in full moves of the mating side, as UCI
// counts it: positive if the side to move mates, negative if it is mated, and
// 0 if it is mated already or if s is no mate score.
func (s Score) MateIn() int {
	switch {
	case !s.IsMate():
		return 0
	case s > 0:
		return int(MateScore-s+1) / 2
	default:
		return -int(s+MateScore) / 2
	}
}

// String returns the score as it stands behind the word score in UCI: "cp 12"
// or "mate -3".
func (s Score) String() string { return string(s.AppendTo(nil)) }

// AppendTo appends the form of [Score.String] to dst.
func (s Score) AppendTo(dst []byte) []byte {
	if s.IsMate() {
		return strconv.AppendInt(append(dst, "mate "...), int64(s.MateIn()), 10)
	}
	return strconv.AppendInt(append(dst, "cp "...), int64(s), 10)
}

// Bound says how a score relates to the true value of a position.
type Bound uint8

const (
	Exact Bound = iota // the score is the value
	Lower              // the value is at least the score
	Upper              // the value is at most the score
)

// String returns "exact", "lowerbound" or "upperbound"; the last two are UCI's
// words.
func (b Bound) String() string {
	switch b {
	case Exact:
		return "exact"
	case Lower:
		return "lowerbound"
	case Upper:
		return "upperbound"
	}
	return "Bound(" + strconv.Itoa(int(b)) + ")"
}

// Limits says when a search has to stop and what it may look at. A zero field
// sets no limit; the first limit reached ends the search. With the zero Limits a
// search runs until its context ends or it has reached MaxPly.
type Limits struct {
	// Depth is the number of iterations of iterative deepening, in plies.
	Depth int

	// Nodes is the number of positions visited. Engines of this module stop
	// exactly at it (with one thread), so the same search always gives the
	// same answer.
	Nodes uint64

	// MoveTime is the time for this move.
	MoveTime time.Duration

	// Time and Inc are the clocks: what each side has left and what it gains
	// per move, indexed by [chess.Color]. A zero Time with a non-zero Inc is
	// a clock too; Time and Inc both zero for the side to move is no clock.
	Time, Inc [2]time.Duration

	// MovesToGo is the number of moves until the next time control; 0 means
	// that Time must do for the rest of the game.
	MovesToGo int

	// Mate asks for a mate in so many moves: the search stops once it has
	// proved a mate (or being mated) at most so many moves away.
	Mate int

	// Infinite keeps the search from answering before it is stopped, even
	// if it has reached its greatest depth or another limit.
	Infinite bool

	// Ponder runs the search on the opponent's time: limits of time count
	// only from the ponder hit, and the search does not answer before it is
	// hit or stopped.
	Ponder bool

	// SearchMoves restricts the root to these moves. Moves that are not
	// legal are ignored; if none is left, all legal moves are searched.
	SearchMoves []chess.Move

	// MultiPV is the number of best root moves to report, each with its own
	// score and line; 0 means 1.
	MultiPV int

	// Overhead is the time lost per move outside the search (transport,
	// GUI), which is taken off every allowance of time.
	Overhead time.Duration
}

// Clock reports whether the limits hold a clock for side c.
func (l *Limits) Clock(c chess.Color) bool { return l.Time[c] != 0 || l.Inc[c] != 0 }

// Bounded reports whether the limits end a search for side c by themselves.
func (l *Limits) Bounded(c chess.Color) bool {
	return l.Clock(c) || l.Depth > 0 || l.Nodes > 0 || l.Mate > 0 || l.MoveTime > 0
}

// Info is one progress report of a running search.
type Info struct {
	Depth    int           // iteration, in plies
	SelDepth int           // greatest distance from the root reached, in plies
	MultiPV  int           // 1 for the best root move, 2 for the second, …
	Score    Score         // of PV[0], side to move at the root
	Bound    Bound         // what Score says about the value
	WDL      WDL           // what Score stands for; zero: not said
	Nodes    uint64        // positions visited so far, all threads
	Elapsed  time.Duration // since the search began
	Hashfull int           // share of the table in use, per mille
	PV       []chess.Move  // principal variation from the root; the receiver may keep it
}

// Result is the answer of a finished search.
type Result struct {
	Move   chess.Move   // best move, legal
	Ponder chess.Move   // expected reply, legal after Move; chess.NoMove if unknown
	Score  Score        // of Move, side to move at the root
	Bound  Bound        // what Score says about the value: a limit may end a search before it is known
	PV     []chess.Move // principal variation; PV[0] == Move
	Nodes  uint64       // positions visited, all threads
	Depth  int          // last finished iteration, in plies; 0 if none finished
	// SelDepth is the greatest distance from the root reached in it; 0 if
	// unknown.
	SelDepth int
	Elapsed  time.Duration // wall-clock time of the search; 0 if unknown
	// Lines are the best root moves, best first, when more than one was
	// asked for by MultiPV; empty otherwise. Lines[0] agrees with Move,
	// Score, Bound and PV.
	Lines []RootLine

	// Visits says how often a tree search tried the legal moves it tried at
	// all, best first; nil from other engines, empty where a proof left nothing
	// to try.
	Visits []MoveVisits
	// Policy is what the search has made of the moves' probabilities: what a
	// net is to learn. Its probabilities sum to 1; moves that have none are left
	// out. It is nil from other engines and from searches too cheap to teach.
	Policy []MoveProb
	// Surprise is the relative entropy of Policy and the priors the search began
	// with, KL(Policy‖priors) in nats; 0 without a policy.
	Surprise float64
}

// MoveVisits is how often a root move was tried.
type MoveVisits struct {
	Move   chess.Move
	Visits uint32
}

// MoveProb is the probability of a root move.
type MoveProb struct {
	Move chess.Move
	Prob float32
}

// RootLine is one root move of a search for several best moves.
type RootLine struct {
	Score Score        // side to move at the root
	Bound Bound        // what Score says about the value
	PV    []chess.Move // PV[0] is the root move
}

// Quieter is a player that says how quiet a position is: its static evaluation and what
// quiescence search makes of it, in centipawns from the side to move, which is not in check.
type Quieter interface {
	Quiet(line *chess.Line) (static, settled Score)
}
