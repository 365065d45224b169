package match

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// ladderDraws is the number of draws that a player is taken to have played against
// every anchor besides. They give a rating to one that wins or loses all.
const ladderDraws = 1

// ladderSamples is the number of times pairs are drawn anew.
const ladderSamples = 1000

// rating rates the player by the first pairs in the log of each match.
func (l *Ladder) rating(ctx context.Context, pairs []int) (LadderRating, error) {
	r := LadderRating{Name: l.Player.Name, Net: l.Player.Net, Limits: game.LimitsText(l.Player.Limits)}
	var pool rating.Pool
	counts := make([]rating.Pentanomial, len(l.Anchors))
	for i := range l.Anchors {
		played, err := readPairs(l.log(i))
		if err != nil {
			return r, err
		}
		for _, p := range played {
			if p.Number >= pairs[i] {
				continue
			}
			counts[i].Add(p.Outcome(0), p.Outcome(1))
			if err := pool.Add(pairGames(l.Player.Name, l.Anchors[i].Name, &p)...); err != nil {
				return r, err
			}
		}
		r.Games += counts[i].Games().Games()
	}
	fit := rating.PoolConfig{PriorDraws: ladderDraws}
	for i := range l.Anchors {
		if player, ok := pool.Player(l.Anchors[i].Name); ok {
			fit.Anchors = append(fit.Anchors, rating.Anchor{Player: player, Elo: l.Anchors[i].Elo, SD: l.Anchors[i].SD})
		}
	}
	if r.Games == 0 {
		return r, fmt.Errorf("%w: found none", errNoRating)
	}
	fitted, err := pool.Fit(fit)
	if err != nil {
		return r, fmt.Errorf("%w: %w", errNoRating, err)
	}
	samples, err := pool.Resample(ctx, fit, fitted, ladderSamples, rand.New(rand.NewPCG(l.Match.Seed, 0)))
	if err != nil {
		return r, err
	}
	player, _ := pool.Player(l.Player.Name) // it has played
	// By few pairs that ended alike resampling knows no error, but the likelihood does.
	r.Elo = fitted.Interval(player, samples.Errors)
	if fitted.Errors.SD(player) > samples.Errors.SD(player) {
		r.Elo = fitted.Interval(player, fitted.Errors)
	}
	for i := range l.Anchors {
		a := &l.Anchors[i]
		score, _ := counts[i].Games().Score()
		r.Scores = append(r.Scores, AnchorScore{
			Anchor: a.Name, Elo: a.Elo, Games: counts[i].Games().Games(), Score: score,
			Expected: rating.ExpectedScore(r.Elo.Value - a.Elo), Difference: counts[i].Elo(),
		})
	}
	return r, nil
}

// readPairs returns the pairs of a log in the order of their numbers, none if it has not been begun.
func readPairs(path string) ([]Pair, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	log, err := readLog(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	// Resampling depends on the order, the order in which they finished on the machine.
	slices.SortFunc(log.Pairs, func(a, b Pair) int { return cmp.Compare(a.Number, b.Number) })
	return log.Pairs, nil
}
