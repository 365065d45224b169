package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Adjudication are the flags that end games before the rules do.
type Adjudication struct {
	maxPlies int

	winScore   int
	winPlies   int
	drawScore  int
	drawPlies  int
	drawMinPly int

	resignScore int
	resignMoves int

	playOut float64

	flags *pflag.FlagSet
}

// AddFlags declares the flags and sets their defaults.
func (a *Adjudication) AddFlags(f *pflag.FlagSet) {
	a.flags = f
	f.IntVar(&a.maxPlies, "max-plies", 400, "a longer game is a draw")
	f.IntVar(&a.winScore, "win-score", 2500, "adjudicate when both players agree on this score, centipawns; 0: never")
	f.IntVar(&a.winPlies, "win-plies", 6, "plies for which both must agree on --win-score")
	f.IntVar(&a.drawScore, "draw-score", 0, "adjudicate a draw when both players' scores stay within this, centipawns")
	f.IntVar(&a.drawPlies, "draw-plies", 0, "plies for which both scores must stay within --draw-score; 0: never")
	f.IntVar(&a.drawMinPly, "draw-min-ply", 80, "first ply at which a draw is adjudicated")
	f.IntVar(&a.resignScore, "resign-score", 0, "a player whose own score is this far below 0, centipawns, resigns, whatever the other's is; 0: never")
	f.IntVar(&a.resignMoves, "resign-moves", 3, "own moves for which the score must be at --resign-score")
	f.Float64Var(&a.playOut, "play-out", 0, "share of games, 0 to 1, played to their end although adjudicated, which measures how often adjudication is wrong")
}

// Config returns the rules of games that the flags set. The error wraps [ErrUsage].
func (a *Adjudication) Config() (game.Config, error) {
	c := game.Config{
		MaxPlies: a.maxPlies,
		WinScore: search.Score(a.winScore), WinPlies: a.winPlies,
		ResignScore: search.Score(a.resignScore), ResignMoves: a.resignMoves,
		DrawScore: search.Score(a.drawScore), DrawPlies: a.drawPlies, DrawMinPly: a.drawMinPly,
		NoAdjudicateShare: a.playOut,
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("%w: %w", ErrUsage, err)
	}
	return c, cmp.Or(
		Needs(a.flags, "--draw-plies", a.drawPlies > 0, "draw-score", "draw-min-ply"),
		Needs(a.flags, "--resign-score", a.resignScore > 0, "resign-moves"),
		Needs(a.flags, "a --win-score above 0", a.winScore > 0, "win-plies"),
		Needs(a.flags, "--win-score, --resign-score or --draw-plies", a.winScore > 0 || a.resignScore > 0 || a.drawPlies > 0, "play-out"),
	)
}
