package generate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// ErrConfig is wrapped by every error about the settings of a run.
var ErrConfig = errors.New("generate: bad settings")

// Settings say what the games of a run are. Scores are centipawns.
type Settings struct {
	Variant *chess.Variant `json:"-"`
	// Player names the player and all that its moves depend on, Net the net it
	// uses; see game.Game.Nets.
	Player, Net string
	// Openings names the way Config.Opening chooses; empty without.
	Openings string

	// MinDepth and MaxDepth bound the depth of a search, which is drawn evenly for
	// each ply; both 0 is no limit. Limits are those besides depth.
	MinDepth, MaxDepth int
	Limits             search.Limits

	// EvalLimit adjudicates: a game is won after winPlies successive scores of
	// at least that for the same side, in 80 % of the games. 0 is never.
	EvalLimit search.Score
	// EvalDiffLimit is how far static evaluation and quiescence search may be
	// apart in a position to train on.
	EvalDiffLimit search.Score
	// DrawByScore adjudicates a draw from ply 80 on after eight scores of 0.
	DrawByScore bool

	Random Random

	// WriteMinPly is the first ply to train on. At WriteMaxPly a game is a draw.
	WriteMinPly, WriteMaxPly int
	// SkipDraws leaves drawn games out.
	SkipDraws bool
	// SkipCaptures leaves out positions whose best move captures or promotes.
	SkipCaptures bool
	// SeenMB is the size of the table that positions are looked up in, MiB; 0 is
	// none. Of those that share a place in it the last is known.
	SeenMB int
}

// Random says which moves are drawn at random.
type Random struct {
	// Count plies from MinPly to MaxPly, the first ply of the game being 1.
	// With MinPly -1 they are the first ones.
	MinPly, MaxPly, Count int
	// KingMoves N > 0 prefers, in one of N cases, a move of the king, and then
	// makes the reply random in one of two.
	KingMoves int
	// MultiPV N > 0 draws among the N best moves of a search, to the depth
	// given, that are worse than the best by at most MultiPVDiff.
	MultiPV, MultiPVDepth int
	MultiPVDiff           search.Score
}

// Config says how a run goes.
type Config struct {
	Settings
	Seed uint64

	// New makes a player, once for each game played at a time and again after
	// one has failed. A player that is an io.Closer is closed in the end.
	New func() (game.Player, error)
	// Opening returns the opening of a game, always the same for the same
	// number; nil begins games at the start position. It is called from several
	// goroutines.
	Opening func(number uint64) (game.Opening, error)

	// Count is how many positions to train on make the run complete. The game
	// that has the last one is written whole.
	Count int64
	// Threads is the number of games played at a time; 0 means 1.
	Threads int

	Output string         // file
	Format dataset.Format // Chain, Bin or Plain
	// SaveEvery is the number of positions after which another file, NAME_1 and so
	// on, begins with the next game; 0: never.
	SaveEvery int64
	// SaveInterval is how long games may wait to be saved; 0 means 10 s. The
	// files do not depend on it.
	SaveInterval time.Duration
	Build        string // version of the program, for records

	// Note is called with what was found at the beginning; Progress is called every
	// ProgressInterval. Both may be nil, and are called one at a time.
	Note             func(string)
	Progress         func(Progress)
	ProgressInterval time.Duration
}

// formats are those of files: whole games, or positions to train on. The name of
// each, with a dot, is its extension.
var formats = []dataset.Format{dataset.Chain, dataset.Bin, dataset.Plain}

// ParseFormat returns the format of a name. The error wraps ErrConfig.
func ParseFormat(name string) (dataset.Format, error) {
	for _, f := range formats {
		if f.String() == name {
			return f, nil
		}
	}
	return 0, fmt.Errorf("%w: format: found %q, expected chain, bin or plain", ErrConfig, name)
}

// decided is the score at which a game ends at once, and from which on positions
// say nothing: 10000 of the 208 that are a pawn in Fairy-Stockfish.
var decided = sample.Convert(10000, sample.InternalUnit, sample.CentipawnUnit)

// Adjudication.
const (
	winPlies    = 4
	playedOut   = 0.2 // share of games without the limit
	drawPlies   = 8
	drawFromPly = 80
)

// bounds of settings that take memory.
const (
	maxRandom = 1000
	maxSeenMB = 1 << 16
)

func (c *Config) validate() error {
	bad := func(name string, found any, expected string) error {
		return fmt.Errorf("%w: %s: found %v, expected %s", ErrConfig, name, found, expected)
	}
	l, r := &c.Limits, &c.Random
	switch {
	case c.Variant == nil || c.New == nil:
		return fmt.Errorf("%w: no variant or no player", ErrConfig)
	case c.MinDepth < 0 || c.MaxDepth < c.MinDepth || c.MaxDepth > search.MaxPly:
		return bad("depth", fmt.Sprintf("%d to %d", c.MinDepth, c.MaxDepth), fmt.Sprintf("a range within 1 to %d", search.MaxPly))
	case c.MaxDepth == 0 && l.Nodes == 0 && l.MoveTime <= 0:
		return fmt.Errorf("%w: searches have no limit, expected depth, nodes or time for the move", ErrConfig)
	case l.Depth != 0 || l.Infinite || l.Ponder || l.Clock(chess.White) || l.Clock(chess.Black):
		return fmt.Errorf("%w: found limits %s, expected nodes or time for the move beside the depth", ErrConfig, game.LimitsText(*l))
	case c.EvalLimit < 0 || c.EvalDiffLimit < 0:
		return bad("limits of evaluation", fmt.Sprintf("%d and %d", c.EvalLimit, c.EvalDiffLimit), "none negative")
	case r.Count < 0 || r.Count > maxRandom || r.MinPly < -1 || r.MaxPly < 0 || r.MaxPly > game.MaxGamePlies:
		return bad("random moves", fmt.Sprintf("%d from ply %d to %d", r.Count, r.MinPly, r.MaxPly), fmt.Sprintf("0 to %d from ply -1 or more to 0 to %d", maxRandom, game.MaxGamePlies))
	case r.Count > 0 && r.MinPly > r.MaxPly:
		return bad("random moves", fmt.Sprintf("%d from ply %d to %d", r.Count, r.MinPly, r.MaxPly), "a last ply that is not before the first")
	case r.KingMoves < 0 || r.MultiPV < 0 || r.MultiPV > maxRandom || r.MultiPVDiff < 0 || r.MultiPVDepth < 0:
		return bad("random moves", fmt.Sprintf("of the king %d, best of %d, depth %d, difference %d", r.KingMoves, r.MultiPV, r.MultiPVDepth, r.MultiPVDiff), "none negative")
	case c.WriteMaxPly < 1 || c.WriteMaxPly > game.MaxGamePlies || c.WriteMinPly < 0 || c.WriteMinPly >= c.WriteMaxPly:
		return bad("plies to write", fmt.Sprintf("%d to %d", c.WriteMinPly, c.WriteMaxPly), fmt.Sprintf("a range within 0 to %d", game.MaxGamePlies))
	case c.SeenMB < 0 || c.SeenMB > maxSeenMB:
		return bad("table of positions", c.SeenMB, fmt.Sprintf("0 to %d MiB", maxSeenMB))
	case c.Count < 1 || c.SaveEvery < 0 || c.Threads < 0:
		return bad("count, save every and threads", fmt.Sprintf("%d, %d and %d", c.Count, c.SaveEvery, c.Threads), "a positive count and nothing negative")
	case c.Output == "" || !slices.Contains(formats, c.Format):
		return fmt.Errorf("%w: no output file, or format %d", ErrConfig, c.Format)
	}
	return nil
}

// run returns what identifies the games of these settings and seed.
func (c *Config) run() (string, error) {
	text, err := json.Marshal(struct {
		Variant string
		Seed    uint64
		Settings
	}{c.Variant.Name, c.Seed, c.Settings})
	if err != nil {
		return "", fmt.Errorf("generate: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// limitsText describes the searches in words.
func (s *Settings) limitsText() string {
	limits := s.Limits
	limits.Depth = s.MaxDepth
	text := game.LimitsText(limits)
	if s.MinDepth != s.MaxDepth {
		text = fmt.Sprintf("%s from depth %d", text, s.MinDepth)
	}
	return text
}
