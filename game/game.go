package game

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Ways for a game to end that are not in the rules of chess. Their values are
// part of the record format.
const (
	// PlyLimit is a draw because the game had as many plies as it may have.
	PlyLimit chess.Reason = 16 + iota
	// AdjudicatedWin is a win because both players' scores agreed on it.
	AdjudicatedWin
	// AdjudicatedDraw is a draw because both players' scores stayed near zero.
	AdjudicatedDraw
	// TimeForfeit is a loss for using more time than there was.
	TimeForfeit
	// IllegalMove is a loss for answering with a move that is not legal.
	IllegalMove
	// EngineFailure is a loss because the player failed to answer at all.
	EngineFailure
	// Abandoned marks a game that was stopped: it has no outcome.
	Abandoned
	// NoAnswer is a loss because the player never answered, though its search
	// had no limit of time.
	NoAnswer
	// Resigned is a loss because the loser's own scores said so, or because it
	// resigned by itself, which counts as a verdict too.
	Resigned
)

// ReasonText returns r in words, for the reasons of this package and those of
// package chess.
func ReasonText(r chess.Reason) string {
	switch r {
	case PlyLimit:
		return "ply limit"
	case AdjudicatedWin:
		return "adjudicated win"
	case AdjudicatedDraw:
		return "adjudicated draw"
	case TimeForfeit:
		return "time forfeit"
	case IllegalMove:
		return "illegal move"
	case EngineFailure:
		return "engine failure"
	case Abandoned:
		return "abandoned"
	case NoAnswer:
		return "no answer"
	case Resigned:
		return "resigned"
	}
	return r.String()
}

// MaxGamePlies is the most plies a game may have.
const MaxGamePlies = 4096

// Ply is one half-move of a game and what the search said before it. The record
// keeps Move, Score, HasScore, Train and Policy; the rest is for PGN, and 0 if
// unknown.
type Ply struct {
	Move chess.Move
	// Depth is the last iteration the search finished, SelDepth the greatest
	// distance from the root it reached, both in plies, at most 255.
	Depth, SelDepth uint8
	// HasScore says that Score was set: opening and random moves have none.
	HasScore bool
	// Train says that Move is the search's own choice, so that the position
	// may be trained on. It is false for opening and random moves, and
	// for those of searches that Config.QuickNodes ended.
	Train bool
	// Score is the search's value of the position before the move, in
	// centipawns from the mover's side, within ±search.MateScore.
	Score search.Score
	// Policy is what a tree search made of the legal moves, without any after a
	// search too cheap to teach; nil if there was no tree search.
	Policy *search.Policy
	// Nodes is the number of positions the search visited.
	Nodes uint64
	// Elapsed is the time of the search, as the player measured it.
	Elapsed time.Duration
	// Clock is what the mover had left after the move, increment included, in
	// a game it has a clock in.
	Clock time.Duration
}

// Game is a game played, with its provenance. Texts are at most 250 bytes.
type Game struct {
	ID      string // unique among all games; a UUID packs best
	Variant *chess.Variant
	Start   chess.Position
	Plies   []Ply // opening moves included

	// Outcome is Ongoing only in a game that was broken off; such a game
	// cannot be encoded.
	Outcome chess.Outcome
	Reason  chess.Reason
	// Adjudged is the verdict of the score adjudication, Ongoing if it gave
	// none. In a game that was played out all the same it may differ from
	// Outcome: the adjudication would have been wrong.
	Adjudged chess.Outcome

	Seed   uint64    // of the random source that made opening and noise
	Nets   [2]string // ids of the nets of White and Black, or "material"
	Limits string    // of each search, as LimitsText gives them
	Build  string    // version of the program that played

	// What follows is for PGN and not part of the record.

	// TimeControls are those of White and Black in the form of the tag
	// TimeControl, "-" for none, "" if unknown.
	TimeControls [2]string
	// Began and Ended are the wall-clock times of the game; the caller of Play
	// sets them if it wants them in the PGN.
	Began, Ended time.Time
	// PVs holds, for every ply, the line the search expected, its own move
	// first; nil unless Config.KeepPV asked for it.
	PVs [][]chess.Move
}

// Line returns the start position with all moves made.
func (g *Game) Line() *chess.Line {
	line := chess.NewLine(g.Start)
	for _, p := range g.Plies {
		line.Push(p.Move)
	}
	return line
}

// hasPolicies reports whether any ply of g has a policy.
func (g *Game) hasPolicies() bool {
	return slices.ContainsFunc(g.Plies, func(p Ply) bool { return p.Policy != nil })
}

// AdjudicationTested reports whether the score adjudication gave a verdict on a
// game that was nevertheless played to an end by the rules, and if so whether
// the verdict was wrong.
func (g *Game) AdjudicationTested() (tested, wrong bool) {
	tested = g.Adjudged != chess.Ongoing && g.Outcome != chess.Ongoing && byRules(g.Reason)
	return tested, tested && g.Adjudged != g.Outcome
}

// EndText says in one sentence how a game ended, in the words of fastchess that
// programs look for in its output: "White mates", "Black loses on time", "Draw by
// adjudication: ply limit". It is "unterminated" for a game without an outcome.
func EndText(o chess.Outcome, r chess.Reason) string {
	winner, loser := "White", "Black"
	switch o {
	case chess.BlackWins:
		winner, loser = loser, winner
	case chess.Draw:
		switch r {
		case AdjudicatedDraw:
			return "Draw by adjudication"
		case PlyLimit:
			return "Draw by adjudication: " + ReasonText(r)
		case chess.Repetition:
			return "Draw by 3-fold repetition"
		case chess.FiftyMoves:
			return "Draw by fifty moves rule"
		case chess.InsufficientMaterial:
			return "Draw by insufficient mating material"
		}
		return "Draw by " + ReasonText(r)
	case chess.Ongoing:
		return "unterminated"
	}
	switch r {
	case chess.Checkmate:
		return winner + " mates"
	case AdjudicatedWin:
		return winner + " wins by adjudication"
	case Resigned:
		return winner + " wins by adjudication: " + loser + " resigns"
	case TimeForfeit:
		return loser + " loses on time"
	case IllegalMove:
		return loser + " makes an illegal move"
	case NoAnswer:
		return loser + "'s connection stalls"
	case EngineFailure:
		return loser + " disconnects"
	}
	return winner + " wins by " + ReasonText(r)
}

// Forfeit ends g as lost for the given side, for a reason such as
// IllegalMove or EngineFailure.
func (g *Game) Forfeit(loser chess.Color, why chess.Reason) {
	g.Outcome, g.Reason = chess.Win(loser.Other()), why
}

// byRules reports whether r is an end by the rules of chess.
func byRules(r chess.Reason) bool { return r != chess.NoReason && r < PlyLimit }

// adjudicated reports whether r is a verdict of the score adjudication.
func adjudicated(r chess.Reason) bool {
	return r == AdjudicatedWin || r == AdjudicatedDraw || r == Resigned
}

// ErrOutcome says that a game's outcome contradicts its reason, or the rules.
var ErrOutcome = errors.New("game: inconsistent outcome")

// checkOutcome compares what g says about its end with what line, the whole
// game replayed, says by the rules.
func (g *Game) checkOutcome(line *chess.Line) error {
	outcome, reason := line.Outcome()
	if outcome != chess.Ongoing || byRules(g.Reason) {
		if g.Outcome != outcome || g.Reason != reason {
			return fmt.Errorf("%w: found %v by %s, but the final position is %v by %s",
				ErrOutcome, g.Outcome, ReasonText(g.Reason), outcome, ReasonText(reason))
		}
		return nil
	}
	var ok bool
	switch g.Reason {
	case PlyLimit:
		ok = g.Outcome == chess.Draw
	case AdjudicatedDraw:
		ok = g.Outcome == chess.Draw && g.Adjudged == chess.Draw
	case AdjudicatedWin, Resigned:
		ok = isWin(g.Outcome) && g.Adjudged == g.Outcome
	case TimeForfeit, IllegalMove, EngineFailure, NoAnswer:
		ok = isWin(g.Outcome)
	}
	if !ok {
		return fmt.Errorf("%w: found %v by %s with adjudication verdict %v, which is no way for a game to end",
			ErrOutcome, g.Outcome, ReasonText(g.Reason), g.Adjudged)
	}
	return nil
}

func isWin(o chess.Outcome) bool { return o == chess.WhiteWins || o == chess.BlackWins }
