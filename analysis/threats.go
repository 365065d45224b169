package analysis

import (
	"context"
	"errors"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/xboard"
)

// leastGain is what a drop that neither checks nor mates must gain to be a threat, in
// centipawns: about what the right to move is worth and a pawn.
const leastGain = 150

// Threat is a drop that the side not to move would play if it were to move.
type Threat struct {
	UCI   string `json:"uci"`
	SAN   string `json:"san"`
	Check bool   `json:"check"`
	// Mate is in how many moves the drop mates, 0 if it does not.
	Mate int `json:"mate"`
	// Gain is by how much the score would be better for that side than it is, in
	// centipawns; 0 of drops that mate.
	Gain int `json:"gain"`
	// Line is what follows, the drop first, in SAN; empty if the drop mates.
	Line string `json:"line"`
}

// threats returns the drops that the side not to move threatens, those that mate at
// once first, at most as many others as lines are asked for. Score is that of the
// position, seen by the side to move. Of a player that cannot search some moves only, as
// an engine by CECP, there are only those that mate at once.
func (a *Analyst) threats(ctx context.Context, p *chess.Position, score search.Score) ([]Threat, error) {
	all := []Threat{}
	if p.InCheck() || p.Hand(p.SideToMove().Other()).Empty() {
		return all, nil
	}
	passed := *p
	passed.MakeNull()
	var moves chess.MoveList
	passed.Legal(&moves)
	var others []chess.Move
	for _, m := range moves.Slice() {
		switch {
		case !m.IsDrop():
		case mates(&passed, m):
			all = append(all, Threat{UCI: passed.UCI(m), SAN: passed.SAN(m), Check: true, Mate: 1})
		default:
			others = append(others, m)
		}
	}
	if len(others) == 0 {
		return all, nil
	}
	lim := a.Limits
	lim.MultiPV, lim.SearchMoves = a.Lines, others
	res, err := a.Player.Search(ctx, chess.NewLine(passed), lim)
	if err == nil {
		err = ctx.Err()
	}
	switch {
	case errors.Is(err, xboard.ErrLimits):
		return all, nil
	case err != nil:
		return nil, err
	}
	for _, l := range bestLines(&res) {
		m := l.PV[0]
		if !m.IsDrop() { // an engine that searches all moves
			continue
		}
		t := Threat{UCI: passed.UCI(m), SAN: passed.SAN(m), Check: passed.GivesCheck(m), Line: game.MovesText(&passed, l.PV)}
		if l.Score.IsMate() && l.Score > 0 {
			t.Mate = l.Score.MateIn()
		} else if !l.Score.IsMate() && !score.IsMate() {
			t.Gain = int(l.Score + score)
		}
		if t.Mate > 0 || t.Gain >= leastGain || t.Check && t.Gain > 0 {
			all = append(all, t)
		}
	}
	return all, nil
}

// mates reports whether a move mates.
func mates(p *chess.Position, m chess.Move) bool {
	after := *p
	after.Make(m)
	return after.InCheck() && !after.HasLegalMove()
}
