package match

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/book"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrConfig is wrapped by every error about the settings of a match.
var ErrConfig = errors.New("match: bad configuration")

// MaxPlayers is the most players of a match.
const MaxPlayers = 64

// Contestant is one of the players of a match.
type Contestant struct {
	// Name stands in results and PGN; no two players have the same.
	Name string
	// New makes a player. It is called once for every pair of this contestant
	// played at a time, and again after a player has failed. A player that is
	// an io.Closer is closed when it is no longer used.
	New func() (game.Player, error)
	// Fresh has a player made for every pair. The result of a match can only
	// be repeated, and a resumed one be what it would have been, if a player's
	// answers depend on nothing before NewGame, or before New if it is Fresh.
	// Some engines keep tables from one game to the next.
	Fresh bool
	// Limits bound every search, by depth, nodes or time for the move, or give
	// the player a clock for the game: Time[c] and Inc[c] when it plays colour
	// c.
	Limits search.Limits
	// Threads is how many threads a search uses; 0 means 1. Nothing depends on
	// it but [Config.Load] and [Config.Bound].
	Threads int
	// Net is the id of the net the player uses, for records.
	Net string
	// Settings says in free words what else decides the player's moves, e.g.
	// its hash size or an engine's options. With Name, Net and Limits it is
	// part of what the log of a match must agree with.
	Settings string
}

// Config says what a match is. Players, Variant, Openings and Pairs are
// required.
type Config struct {
	// Players are the 2 to MaxPlayers contestants. Their order is part of the
	// schedule.
	Players []Contestant
	// Format says who meets whom.
	Format Format
	// Seeds is the number of players, from the first, that a Gauntlet is for;
	// 0 means 1. A RoundRobin has none.
	Seeds int

	Variant *chess.Variant
	// Openings gives every round its opening, which all encounters play.
	Openings Openings
	// Pairs is the most pairs to play in each encounter of two players. A
	// match that was played to its end may be continued with a greater number.
	// No more than [Config.Bound] are played.
	Pairs int
	// Concurrency is the number of pairs played at a time; 0 means 1. Neither it
	// nor the order in which pairs finish changes the result.
	Concurrency int
	// SPRT ends a match of two players once it decides; nil plays all pairs.
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

	// FailureEnds says that a player that fails, but for overstepping its clock, does not
	// lose its game: the match ends with a [FailureError], and the pair is neither counted
	// nor in the log, so that it is played again when the match goes on. It is for
	// matches whose players are instruments, not rivals. Pairs played by PlayPair are
	// taken as they come.
	FailureEnds bool

	// PlayPair, if not nil, plays the pairs in place of Run, Concurrency of them at
	// a time: on other machines, say. No players are made then, OnGame is not
	// called, and OnPair has no games if PlayPair returns none. Its context ends
	// when the match does or the sequential test has decided, after which nothing
	// it returns matters; an error before that ends the match. What it returns is
	// checked as by [Task.Check].
	PlayPair func(ctx context.Context, t Task) (Played, error)

	// Log is the path of the match log; empty keeps none. If the file holds
	// pairs of this match they are not played again. No two matches use a log
	// at the same time.
	Log string
	// PGN is the path of a file the games are added to, pair by pair in the
	// order they finish; empty keeps none. With a Log, every pair in the log
	// has its games there once, whenever the match was killed: what a pair not
	// in the log left behind is cut off.
	PGN string
	// PGNOptions say what the comments of the PGN hold.
	PGNOptions game.PGNOptions
	// RunID and Build, the version of the program, are written into the PGN, and
	// Build into the log. Nothing depends on them.
	RunID, Build string

	// OnGame, if not nil, is called when a game begins and when it ends, and
	// OnPair after every pair played, once it is in the log, with its two games
	// and the result so far. There is one call of either at a time.
	OnGame func(e GameEvent)
	OnPair func(p Pair, games [2]*game.Game, r Result)

	// OnResume, if not nil, is called once, before the first pair is played, with the result
	// of the pairs that the log holds already; it is not called if it holds none.
	OnResume func(r Result)
}

// GameEvent says that a game of a match begins or has ended.
type GameEvent struct {
	Pair, Game int    // number of the pair, and 0 or 1
	White      string // names
	Black      string
	Played     *game.Game // nil: the game begins
	Failure    string     // how the loser failed, if it did
}

// Number counts the games of a match from 1, those of a pair together.
func (e *GameEvent) Number() int { return 2*e.Pair + e.Game + 1 }

// Bound returns the most pairs that an encounter can play with each telling something of
// its own: as many as there are different openings, if a game can only be played in one
// way. A pair that is played again then says nothing new, but would count as if it did.
func (c *Config) Bound() int {
	varies := func(p Contestant) bool { return p.Threads > 1 || !book.Repeatable(&p.Limits) }
	if c.Openings.Distinct == 0 || c.Game.Noise.Prob > 0 || slices.ContainsFunc(c.Players, varies) {
		return MaxPairs
	}
	return c.Openings.Distinct
}

// rounds returns the most pairs that each encounter plays.
func (c *Config) rounds() int { return min(c.Pairs, c.Bound()) }

// Games returns the number of games of the whole match.
func (c *Config) Games() int { return 2 * c.rounds() * len(c.encounters()) }

// Load returns the number of threads the match keeps busy at most: in each pair
// played at a time, one of the players thinks.
func (c *Config) Load() int {
	threads := 1
	for i := range c.Players {
		threads = max(threads, c.Players[i].Threads)
	}
	return threads * max(1, min(c.Concurrency, c.Games()/2))
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
	case len(c.Players) < 2 || len(c.Players) > MaxPlayers:
		return bad("%d players, expected 2 to %d", len(c.Players), MaxPlayers)
	case c.Format != RoundRobin && c.Format != Gauntlet:
		return bad("format %d", c.Format)
	case c.Format == RoundRobin && c.Seeds != 0:
		return bad("%d seeds in a round robin, expected none", c.Seeds)
	case c.Seeds < 0 || c.Seeds >= len(c.Players):
		return bad("%d seeds, expected fewer than the %d players", c.Seeds, len(c.Players))
	case c.Pairs < 1 || c.Pairs > MaxPairs:
		return bad("%d pairs, expected 1 to %d", c.Pairs, MaxPairs)
	case c.Concurrency < 0:
		return bad("concurrency %d, expected 0 or more", c.Concurrency)
	case c.MoveTimeout < 0:
		return bad("move timeout %v, expected 0 or more", c.MoveTimeout)
	case c.SPRT != nil && len(c.Players) != 2:
		return bad("a sequential test of %d players, expected 2", len(c.Players))
	case c.PGN != "" && c.PGN == c.Log:
		return bad("log and PGN are both %s, expected two files", c.Log)
	}
	names := make(map[string]bool)
	for i := range c.Players {
		p := &c.Players[i]
		if err := p.validate(); err != nil {
			return fmt.Errorf("%w: player %d (%q): %w", ErrConfig, i+1, p.Name, err)
		}
		if p.New == nil && c.PlayPair == nil {
			return bad("player %d (%q): no way to make one", i+1, p.Name)
		}
		if names[p.Name] {
			return bad("two players are called %q, expected different names", p.Name)
		}
		names[p.Name] = true
	}
	if err := c.Game.Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if c.SPRT != nil {
		return c.SPRT.Validate()
	}
	return nil
}

func (p *Contestant) validate() error {
	for _, text := range []string{p.Name, p.Net, p.Settings} {
		if !utf8.ValidString(text) { // the log could not be read again
			return fmt.Errorf("found %q, expected UTF-8 in name, net and settings: name the player, its file or its options otherwise", text)
		}
	}
	l := &p.Limits
	switch {
	case p.Name == "":
		return errors.New("no name")
	case p.Threads < 0:
		return fmt.Errorf("%d threads, expected 0 or more", p.Threads)
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
		"max plies":       fmt.Sprint(g.MaxPlies),
		"adjudicate win":  fmt.Sprintf("%d cp for %d plies", g.WinScore, g.WinPlies),
		"adjudicate draw": fmt.Sprintf("%d cp for %d plies from ply %d", g.DrawScore, g.DrawPlies, g.DrawMinPly),
		"played out":      fmt.Sprint(g.NoAdjudicateShare),
		"noise":           fmt.Sprintf("%g before ply %d", g.Noise.Prob, g.Noise.Plies),
		"time margin":     g.TimeMargin.String(),
		"move timeout":    c.MoveTimeout.String(),
	}
	if g.ResignMoves > 0 && g.ResignScore > 0 {
		s["adjudicate resign"] = fmt.Sprintf("%d cp for %d moves", g.ResignScore, g.ResignMoves)
	}
	if g.MoveTimeMargin > 0 {
		s["move time margin"] = g.MoveTimeMargin.String()
	}
	if len(c.Players) > 2 {
		s["format"] = c.formatText()
	}
	for i := range c.Players {
		p, key := &c.Players[i], playerKey(i)
		s[key] = p.Name
		s[key+".net"] = p.Net
		s[key+".limits"] = game.LimitsText(p.Limits)
		s[key+".settings"] = p.Settings
		if p.Fresh {
			s[key+".fresh"] = "every pair"
		}
	}
	maps.DeleteFunc(s, func(_, value string) bool { return value == "" })
	return s
}

// Settings name everything the games of the match follow from, as its log has them.
func (c *Config) Settings() map[string]string { return c.schedule() }

// Key identifies everything the games of the match follow from: two matches with the
// same key have the same pairs. It is 16 hexadecimal digits, and stands in every line of
// the log.
func (c *Config) Key() string { return c.schedule().hash() }

// playerKey is the name in the schedule of the player with an index.
func playerKey(i int) string { return fmt.Sprintf("player %d", i+1) }

// conditions says in one line what is played.
func (c *Config) conditions() string {
	limits := game.LimitsText(c.Players[0].Limits)
	for i := range c.Players[1:] {
		if other := game.LimitsText(c.Players[i+1].Limits); other != limits {
			limits = "each its own limits"
			if len(c.Players) == 2 {
				limits = limitsText(&c.Players[0].Limits, &c.Players[1].Limits)
			}
			break
		}
	}
	text := fmt.Sprintf("%s, %s, %s", c.Variant.Name, limits, c.Openings.ID)
	if len(c.Players) > 2 {
		text = c.formatText() + ", " + text
	}
	return text
}
