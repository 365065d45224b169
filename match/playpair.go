package match

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/engine"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/xboard"
)

// byColor gives the two instances by colour: A is White in game 0, Black in game 1.
func byColor(sides [2]*instance, game int) [2]*instance {
	return [2]*instance{chess.White: sides[game], chess.Black: sides[1-game]}
}

// failure says which player lost a game by failing, and how.
type failure struct {
	instance *instance // nil: neither
	err      error
}

// ErrCannotBegin says that a player cannot be given the opening of a game, which is no fault
// of its play.
var ErrCannotBegin = errors.New("match: player cannot be given the opening")

// noWay are the errors of players that lack a way to be given positions of a kind. One that
// cannot be given a single position, such as an engine that is not told of promoted pieces,
// loses the games from it, so that no match ends by two openings of the 5,000 in our book.
var noWay = []error{engine.ErrVariant, xboard.ErrNoSetboard, xboard.ErrNoHands}

// playGame plays one game to its end. A player that fails loses and is
// replaced before the next.
func playGame(ctx context.Context, players [2]*instance, opening game.Opening, cfg game.Config, rng *rand.Rand) (*game.Game, failure, error) {
	for c, s := range players {
		cfg.Limits[c] = s.contestant.Limits
	}
	g, err := game.Play(ctx, players[chess.White], players[chess.Black], opening, cfg, rng)
	var broken *game.PlayerError
	var failed failure
	switch {
	case errors.As(err, &broken) && slices.ContainsFunc(noWay, func(why error) bool { return errors.Is(err, why) }):
		return nil, failure{}, fmt.Errorf("%w: %s: %w; random openings (--book none) are moves from the first position",
			ErrCannotBegin, players[broken.Color].contestant.Name, broken.Err)
	case errors.As(err, &broken):
		failed = failure{players[broken.Color], broken}
		if errors.Is(err, errTimeout) {
			g.Reason = game.TimeForfeit
		}
		g.Forfeit(broken.Color, g.Reason)
		failed.instance.stop()
	case err != nil:
		return nil, failure{}, err
	case g.Reason == game.TimeForfeit: // on its clock: slow, but not broken
		failed = failure{players[loser(g)], errClock}
	}
	for c, s := range players {
		g.Nets[c] = s.contestant.Net
	}
	g.Limits = limitsText(&players[chess.White].contestant.Limits, &players[chess.Black].contestant.Limits)
	return g, failed, nil
}

// errClock is the failure of a player that is slow, but not broken.
var errClock = errors.New("clock overstepped")

// loser returns the side that lost a decided game.
func loser(g *game.Game) chess.Color {
	if g.Outcome == chess.WhiteWins {
		return chess.Black
	}
	return chess.White
}

// gameResult makes the record of a game.
func gameResult(g *game.Game, openingPlies int, sides [2]*instance, failed failure) GameResult {
	r := GameResult{Result: g.Outcome.String(), Reason: game.ReasonText(g.Reason), Plies: len(g.Plies) - openingPlies}
	for i, name := range []string{"A", "B"} {
		if failed.instance == sides[i] {
			r.Failed, r.Error = name, shorten(failed.err.Error())
		}
	}
	if tested, _ := g.AdjudicationTested(); tested {
		r.Adjudged = g.Adjudged.String()
	}
	return r
}

// tags returns the PGN tags of game i of a pair, which began from the opening
// with the id given.
func (m *run) tags(p *Pair, i int, opening string) map[string]string {
	white, black := &m.cfg.Players[p.Players[i]], &m.cfg.Players[p.Players[1-i]]
	round, _ := place(p.Number, len(m.encounters))
	tags := map[string]string{
		"Event": m.cfg.event(),
		"Round": fmt.Sprintf("%d.%d", round+1, i+1),
		"White": white.Name, "Black": black.Name,
		"PairId":    fmt.Sprint(p.Number),
		"OpeningId": opening, "Openings": m.cfg.Openings.ID,
		"RunId": m.cfg.RunID,
	}
	if p.Games[i].Error != "" {
		tags["Failure"] = p.Games[i].Error
	}
	return tags
}

// event names the match in a PGN tag.
func (c *Config) event() string {
	if len(c.Players) == 2 {
		return fmt.Sprintf("%s vs %s", c.Players[0].Name, c.Players[1].Name)
	}
	return fmt.Sprintf("%s of %d players", c.Format, len(c.Players))
}

// limitsText describes the limits of both sides in words.
func limitsText(a, b *search.Limits) string {
	text := game.LimitsText(*a)
	if other := game.LimitsText(*b); other != text {
		text += " against " + other
	}
	return text
}
