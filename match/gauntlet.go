package match

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// Anchor is a player of known strength.
type Anchor struct {
	Name string
	Elo  float64
	SD   float64 // its standard deviation; 0 fixes the rating
}

// GauntletRating is what a gauntlet against anchors says of one of its first players.
type GauntletRating struct {
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
	Elo      float64 `json:"elo"`      // of the anchor
	Score    float64 `json:"score"`    // share of points in [0,1]
	Expected float64 `json:"expected"` // by the ratings
}

// gauntletDraws is the number of draws that a player is taken to have played against
// every anchor besides. They give a rating to one that wins or loses all.
const gauntletDraws = 1

// gauntletSamples is the number of times pairs are drawn anew.
const gauntletSamples = 1000

// RateGauntlet rates the first players of a gauntlet that has been played, by its log.
// The anchors are its last players, by their names there.
func RateGauntlet(ctx context.Context, cfg Config, anchors []Anchor, warn io.Writer) ([]GauntletRating, error) {
	loader := &PoolLoader{Warn: warn}
	if err := loader.Load(ctx, cfg.Log, nil); err != nil {
		return nil, err
	}
	fit := rating.PoolConfig{PriorDraws: gauntletDraws}
	for _, a := range anchors {
		if player, ok := loader.Pool.Player(a.Name); ok {
			fit.Anchors = append(fit.Anchors, rating.Anchor{Player: player, Elo: a.Elo, SD: a.SD})
		}
	}
	fitted, err := loader.Pool.Fit(fit)
	if err != nil {
		return nil, fmt.Errorf("the nets cannot be rated by these games: %w", err)
	}
	samples, err := loader.Pool.Resample(ctx, fit, fitted, gauntletSamples, rand.New(rand.NewPCG(cfg.Seed, 0)))
	if err != nil {
		return nil, err
	}
	ratings := make([]GauntletRating, len(cfg.Players)-len(anchors))
	for i := range ratings {
		contestant := &cfg.Players[i]
		player, _ := loader.Pool.Player(contestant.Name) // it has played
		ratings[i] = GauntletRating{
			Name: contestant.Name, Net: contestant.Net, Limits: game.LimitsText(contestant.Limits),
			Elo: fitted.Interval(player, samples.Errors),
		}
	}
	return ratings, addScores(ratings, cfg.Log, anchors)
}

// addScores adds the scores against every anchor.
func addScores(ratings []GauntletRating, log string, anchors []Anchor) error {
	text, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	l, err := ReadLog(bytes.NewReader(text))
	if err != nil {
		return err
	}
	for i := range ratings {
		for k, a := range anchors {
			var pairs rating.Pentanomial
			for _, p := range l.Pairs {
				if p.Players == [2]int{i, len(ratings) + k} {
					pairs.Add(p.Outcome(0), p.Outcome(1))
				}
			}
			score, _ := pairs.Games().Score()
			ratings[i].Games += pairs.Games().Games()
			ratings[i].Scores = append(ratings[i].Scores, AnchorScore{
				Anchor: a.Name, Elo: a.Elo, Score: score, Expected: rating.ExpectedScore(ratings[i].Elo.Value - a.Elo),
			})
		}
	}
	return nil
}
