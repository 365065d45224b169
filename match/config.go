package match

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrConfig is wrapped by every error about the settings of a match.
var ErrConfig = errors.New("match: bad configuration")

// Contestant is one of the two sides of a match.
type Contestant struct {
	// Name stands in results and PGN; the two names differ.
	Name string
	// New makes a player. It is called once for every pair played at a time,
	// and again after a player has failed. A player that is an io.Closer is
	// closed when it is no longer used. The result of a match can only be
	// repeated if a player's answers depend on nothing before NewGame.
	New func() (game.Player, error)
	// Limits bound every search, by depth, nodes or time for the move, or give
	// the player a clock for the game: Time[c] and Inc[c] when it plays colour
	// c.
	Limits search.Limits
	// Net is the id of the net the player uses, for records.
	Net string
	// Settings says in free words what else decides the player's moves, e.g.
	// its hash size or an engine's options. With Name, Net and Limits it is
	// part of what the log of a match must agree with.
	Settings string
}

// Config says what a match is. A, B, Variant, Openings and Pairs are required.
type Config struct {
	A, B     Contestant
	Variant  *chess.Variant
	Openings Openings

	// Pairs is the most pairs to play. A match that was played to its end may
	// be continued with a greater number.
	Pairs int
	// Concurrency is the number of pairs played at a time; 0 means 1. It does
	// not change the result.
	Concurrency int
	// SPRT ends the match once it decides; nil plays all pairs.
	SPRT *rating.SPRT

	// Game holds the ply limit, the adjudication and the margin of clocks. Its
	// Limits are not used.
	Game game.Config
	// Seed feeds, with the number of pair and game, the random source that
	// every game is played with. Openings have their own seed.
	Seed uint64
	// MoveTimeout is the wall-clock time after which a player that has not
	// answered loses the game, whatever its limits; 0 waits for ever. Players
	// must return when the context of their search ends.
	MoveTimeout time.Duration

	// Log is the path of the match log; empty keeps none. If the file holds
	// pairs of this match they are not played again.
	Log string
	// PGN, if not nil, gets every game of a pair once the pair is in the log.
	// Pairs come in the order they finish.
	PGN io.Writer
	// RunID and Build are written into the PGN.
	RunID, Build string
	// OnPair, if not nil, is called after every pair played, one call at a
	// time, with its two games and the result so far.
	OnPair func(p Pair, games [2]*game.Game, r Result)
}

func (c *Config) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", ErrConfig, fmt.Sprintf(format, args...))
	}
	switch {
	case c.Variant == nil:
		return bad("no variant")
	case c.Openings.Opening == nil:
		return bad("no openings")
	case c.Pairs < 1:
		return bad("%d pairs, expected at least 1", c.Pairs)
	case c.Concurrency < 0:
		return bad("concurrency %d, expected 0 or more", c.Concurrency)
	case c.MoveTimeout < 0:
		return bad("move timeout %v, expected 0 or more", c.MoveTimeout)
	case c.A.Name == c.B.Name:
		return bad("both players are called %q, expected different names", c.A.Name)
	}
	for _, p := range []*Contestant{&c.A, &c.B} {
		if err := p.validate(); err != nil {
			return fmt.Errorf("%w: player %q: %w", ErrConfig, p.Name, err)
		}
	}
	if c.SPRT != nil {
		return c.SPRT.Validate()
	}
	return nil
}

func (p *Contestant) validate() error {
	l := &p.Limits
	switch {
	case p.Name == "":
		return errors.New("no name")
	case p.New == nil:
		return errors.New("no way to make one")
	case l.Infinite || l.Ponder:
		return errors.New("limits without end or on the opponent's time, expected depth, nodes, time for the move or clocks")
	case l.MovesToGo != 0:
		return fmt.Errorf("limits with %d moves to go, expected one time control for the game", l.MovesToGo)
	case l.Clock(chess.White) != l.Clock(chess.Black):
		return errors.New("limits with a clock for one colour only, expected both or none")
	case l.Depth <= 0 && l.Nodes == 0 && l.MoveTime <= 0 && !l.Clock(chess.White):
		return errors.New("no limits, expected depth, nodes, time for the move or clocks")
	}
	return nil
}

// schedule names everything the games of the match follow from. What is empty
// has no name: a name that is added leaves the logs valid that do not use it.
func (c *Config) schedule() schedule {
	g := &c.Game
	s := schedule{
		"variant":         c.Variant.Name,
		"openings":        c.Openings.ID,
		"seed":            fmt.Sprint(c.Seed),
		"a":               c.A.Name,
		"a.net":           c.A.Net,
		"a.limits":        game.LimitsText(c.A.Limits),
		"a.settings":      c.A.Settings,
		"b":               c.B.Name,
		"b.net":           c.B.Net,
		"b.limits":        game.LimitsText(c.B.Limits),
		"b.settings":      c.B.Settings,
		"max plies":       fmt.Sprint(g.MaxPlies),
		"adjudicate win":  fmt.Sprintf("%d cp for %d plies", g.WinScore, g.WinPlies),
		"adjudicate draw": fmt.Sprintf("%d cp for %d plies from ply %d", g.DrawScore, g.DrawPlies, g.DrawMinPly),
		"played out":      fmt.Sprint(g.NoAdjudicateShare),
		"noise":           fmt.Sprintf("%g before ply %d", g.Noise.Prob, g.Noise.Plies),
		"time margin":     g.TimeMargin.String(),
		"move timeout":    c.MoveTimeout.String(),
	}
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// conditions says in one line what is played.
func (c *Config) conditions() string {
	return fmt.Sprintf("%s, %s, %s", c.Variant.Name, limitsText(&c.A.Limits, &c.B.Limits), c.Openings.ID)
}
