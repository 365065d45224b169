package match

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Anchor is an opponent of known strength.
type Anchor struct {
	Contestant
	Elo float64
	SD  float64 // its standard deviation; 0 fixes the rating
}

// Ladder rates a player by games against opponents of known strength, more of them
// against those that say the most for their time, until the rating is sure enough.
type Ladder struct {
	// Match is what the match against each anchor has in common: variant, openings,
	// rules, seed. Players, Pairs, Log and the functions are set by Rate.
	Match   Config
	Player  Contestant
	Anchors []Anchor
	// Pairs are played against every anchor, whatever the rating.
	Pairs int
	// Margin is half of the 95 % interval, Elo, at which no more pairs are played; 0
	// plays no more than Pairs against every anchor. Most is the most pairs in all;
	// against one anchor they are also at most [Config.Bound].
	Margin float64
	Most   int
	// Dir is the directory of the logs, one for each anchor. What they hold is not
	// played again, and the rating is then what it would have been without a stop.
	Dir string
	// OnStart, if not nil, is called before each match, and OnPair after each pair.
	OnStart func(cfg *Config)
	OnPair  func(p Pair, anchor *Anchor)
	// OnRating, if not nil, has the rating after each round of matches.
	OnRating func(r LadderRating)
}

// LadderRating is what games against anchors say of a player.
type LadderRating struct {
	Name   string          `json:"name"`
	Net    string          `json:"net"` // id
	Limits string          `json:"limits"`
	Elo    rating.Estimate `json:"elo"`
	Games  int             `json:"games"`
	Scores []AnchorScore   `json:"scores"`
}

// AnchorScore is the player's score against one anchor.
type AnchorScore struct {
	Anchor   string  `json:"anchor"`
	Elo      float64 `json:"elo"` // of the anchor
	Games    int     `json:"games"`
	Score    float64 `json:"score"`    // share of points in [0,1]
	Expected float64 `json:"expected"` // by the ratings
	// Difference is the player's Elo less the anchor's by their own games alone.
	Difference rating.Estimate `json:"difference"`
}

// Rate plays what is missing and returns the rating. It plays rounds: Pairs against
// every anchor first, then as many as the interval seems to need, at most as many as
// there are already, divided by what a pair tells of the rating for the nodes it
// costs. What is played follows from the results alone, so that a ladder that was
// stopped goes on as if it had not been.
//
// With an error the rating is that of the last whole round, which has no games if there
// is none. Errors are those of [Run], [ErrConfig] and those of the ratings.
func (l *Ladder) Rate(ctx context.Context) (LadderRating, error) {
	var last LadderRating
	if err := l.validate(); err != nil {
		return last, err
	}
	pairs := slices.Repeat([]int{l.Pairs}, len(l.Anchors))
	for {
		for i := range l.Anchors {
			cfg := l.match(i, pairs[i])
			if l.OnStart != nil {
				l.OnStart(&cfg)
			}
			if _, err := Run(ctx, cfg); err != nil {
				return last, err
			}
		}
		r, err := l.rating(ctx, pairs)
		if err != nil {
			return last, err
		}
		last = r
		if l.OnRating != nil {
			l.OnRating(r)
		}
		if !l.grow(pairs, &r) {
			return r, nil
		}
	}
}

func (l *Ladder) validate() error {
	switch {
	case len(l.Anchors) == 0:
		return fmt.Errorf("%w: a ladder without opponents", ErrConfig)
	case l.Dir == "":
		return fmt.Errorf("%w: a ladder without a directory for its logs", ErrConfig)
	case l.Pairs < 1:
		return fmt.Errorf("%w: %d pairs against every opponent, expected 1 or more", ErrConfig, l.Pairs)
	case l.Margin < 0:
		return fmt.Errorf("%w: a margin of %v Elo, expected 0 or more", ErrConfig, l.Margin)
	}
	return nil
}

// Key identifies the opponents, their ratings and all else that the games follow from but
// who the player is: only ratings with the same key compare. It is 16 hexadecimal digits.
func (l *Ladder) Key() string {
	cfg := l.Match
	cfg.Players = []Contestant{{Limits: l.Player.Limits, Settings: l.Player.Settings}}
	for i := range l.Anchors {
		cfg.Players = append(cfg.Players, l.Anchors[i].Contestant)
	}
	s := cfg.schedule()
	for i := range l.Anchors {
		s[playerKey(i+1)+".rating"] = fmt.Sprintf("%g, standard deviation %g", l.Anchors[i].Elo, l.Anchors[i].SD)
	}
	return s.hash()
}

// match is the match against an anchor, of a number of pairs.
func (l *Ladder) match(anchor, pairs int) Config {
	a := &l.Anchors[anchor]
	cfg := l.Match
	cfg.Players = []Contestant{l.Player, a.Contestant}
	cfg.Pairs, cfg.Log = pairs, l.log(anchor)
	cfg.FailureEnds = true // games that an engine loses by dying say nothing of its opponent
	if l.OnPair != nil {
		cfg.OnPair = func(p Pair, _ [2]*game.Game, _ Result) { l.OnPair(p, a) }
	}
	return cfg
}

// log is the path of the log of the match against an anchor. The net's id is part of
// it: another net of the same name is another player.
func (l *Ladder) log(anchor int) string {
	name := fmt.Sprintf("%s-%.12s-%s.jsonl", l.Player.Name, l.Player.Net, l.Anchors[anchor].Name)
	return filepath.Join(l.Dir, strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, name))
}

// Rating returns the rating by all pairs in the logs, as far as they go. It may be
// called while Rate plays, but by OnPair only.
func (l *Ladder) Rating(ctx context.Context) (LadderRating, error) {
	return l.rating(ctx, slices.Repeat([]int{MaxPairs}, len(l.Anchors)))
}

// grow adds the pairs of another round, and is false if there is none.
func (l *Ladder) grow(pairs []int, r *LadderRating) bool {
	played := 0
	for _, n := range pairs {
		played += n
	}
	margin, ok := r.Elo.Margin()
	if l.Margin == 0 || ok && margin <= l.Margin || played >= l.Most {
		return false
	}
	more := played // twice as many: an early rating is not relied on for long
	if ok {
		// The error falls with the square root of the pairs. A little is added, as a
		// round costs more than a few pairs.
		needed := 1.03*float64(played)*(margin/l.Margin)*(margin/l.Margin) + 1
		more = min(more, int(needed)-played)
	}
	more = max(1, min(more, l.Most-played))
	weights, bounds := make([]float64, len(pairs)), make([]int, len(pairs))
	for i := range weights {
		cfg := l.match(i, pairs[i])
		if bounds[i] = cfg.Bound(); pairs[i] < bounds[i] {
			weights[i] = l.weight(i, r.Elo.Value)
		}
	}
	if slices.Max(weights) == 0 { // every opening was played against every anchor
		return false
	}
	for i, n := range apportion(more, weights) {
		pairs[i] = min(pairs[i]+n, bounds[i])
	}
	return true
}

// weight is what a game against an anchor tells of a player's rating, for what it
// costs. A score's variance is at the same time the slope of the score by the rating.
func (l *Ladder) weight(anchor int, elo float64) float64 {
	a := &l.Anchors[anchor]
	e := rating.ExpectedScore(elo - a.Elo)
	return e * (1 - e) / (cost(&l.Player.Limits) + cost(&a.Limits) + moveNodes)
}

const (
	moveNodes     = 500 // a move costs the time of about as many nodes besides its search
	nodesPerMilli = 500
)

// cost is about the number of nodes that a move takes. It only divides games
// among opponents.
func cost(limits *search.Limits) float64 {
	switch {
	case limits.Nodes > 0:
		return float64(limits.Nodes)
	case limits.MoveTime > 0:
		return nodesPerMilli * float64(limits.MoveTime.Milliseconds())
	case limits.Time[0] > 0:
		return nodesPerMilli * float64(limits.Time[0].Milliseconds()/40+limits.Inc[0].Milliseconds())
	}
	return 2 * moveNodes
}

// apportion divides n by weights, not all of which are 0. The parts add up to n, and those
// that are rounded up have the largest remainders.
func apportion(n int, weights []float64) []int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	parts, order, left := make([]int, len(weights)), make([]int, len(weights)), n
	rest := make([]float64, len(weights))
	for i, w := range weights {
		exact := float64(n) * w / sum
		parts[i], order[i] = int(exact), i
		rest[i] = exact - float64(parts[i])
		left -= parts[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rest[b], rest[a]) })
	for i := range left {
		parts[order[i%len(order)]]++
	}
	return parts
}

// errNoRating says that no rating follows from the games played.
var errNoRating = errors.New("the player cannot be rated by these games")
