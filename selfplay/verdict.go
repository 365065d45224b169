package selfplay

import (
	"fmt"
	"reflect"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

// Verdict says that a stored game is not what its id, net and settings give.
type Verdict struct {
	Actor string // who sent it; empty if its bytes do not say
	Game  string // its id; empty if its bytes do not say
	Ply   int    // first one that differs, −1 if something before the plies does
	What  string // in words, what was found and what was expected
}

// String says it in one sentence.
func (v Verdict) String() string {
	if v.Ply < 0 {
		return fmt.Sprintf("game %s of actor %s: %s", v.Game, v.Actor, v.What)
	}
	return fmt.Sprintf("game %s of actor %s: ply %d: %s", v.Game, v.Actor, v.Ply, v.What)
}

// difference returns where found differs from want, which was played again under
// the same id: the ply, −1 for what comes before, and what it is in words.
func difference(found, want *game.Game) (ply int, what string) {
	differ := func(what string, a, b any) string { return fmt.Sprintf("found %s %v, expected %v", what, a, b) }
	if a, b := found.Start.FEN(), want.Start.FEN(); a != b || found.Start.Chess960() != want.Start.Chess960() {
		return -1, differ("start", a, b)
	}
	pos := found.Start
	for i, a := range found.Plies {
		if i == len(want.Plies) {
			return i, fmt.Sprintf("found move %s, expected the end by %s", pos.UCI(a.Move), game.ReasonText(want.Reason))
		}
		b := want.Plies[i]
		switch {
		case a.Move != b.Move:
			return i, differ("move", pos.UCI(a.Move), pos.UCI(b.Move))
		case a.Train != b.Train || a.HasScore != b.HasScore:
			return i, differ("a searched move", a.Train, b.Train)
		case a.Score != b.Score:
			return i, differ("score", int(a.Score), int(b.Score))
		case !reflect.DeepEqual(a.Policy, b.Policy):
			return i, "found another policy than expected"
		}
		pos.Make(a.Move)
	}
	n := len(found.Plies)
	if n < len(want.Plies) {
		return n, fmt.Sprintf("found the end by %s, expected move %s", game.ReasonText(found.Reason), pos.UCI(want.Plies[n].Move))
	}
	if a, b := found.Limits, want.Limits; a != b { // of settings that fit, so the plies searched again are others
		return n, differ("limits", a, b)
	}
	ends := func(g *game.Game) string {
		if g.Adjudged == chess.Ongoing {
			return fmt.Sprintf("%v by %s", g.Outcome, game.ReasonText(g.Reason))
		}
		return fmt.Sprintf("%v by %s with verdict %v", g.Outcome, game.ReasonText(g.Reason), g.Adjudged)
	}
	return n, differ("the outcome", ends(found), ends(want))
}
