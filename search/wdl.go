package search

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
)

// The meaning of scores of alpha-beta search, fitted by "selfplay stats wdl" to
// 24,009 positions of 1,491 games of the program's net against itself, 2,000 nodes a
// move.
const (
	// LogOdds is how many centipawns multiply the odds by e: a score s stands for
	// an expected result of σ(s/LogOdds). Its standard error is 17.
	LogOdds = 397.0

	// evenDraws is the share of draws among games that are even. At other scores
	// it falls as p(1−p) does, p being the expected result.
	evenDraws = 0.01
)

// WDL are the chances of the side to move to win, draw and lose, per mille. They
// sum to 1000; the zero WDL says nothing.
type WDL struct{ Win, Draw, Loss int }

// WDL returns what a score stands for whose unit of log-odds is logOdds centipawns.
// A mate is sure.
func (s Score) WDL(logOdds float64) WDL {
	switch {
	case s.IsMate() && s > 0:
		return WDL{Win: 1000}
	case s.IsMate():
		return WDL{Loss: 1000}
	}
	p := logistic.Sigmoid(float64(s) / logOdds)
	draw := evenDraws * 4 * p * (1 - p)
	w := WDL{Win: int(math.Round(1000 * (p - draw/2))), Loss: int(math.Round(1000 * (1 - p - draw/2)))}
	w.Draw = 1000 - w.Win - w.Loss
	return w
}

// Expected returns the expected result, 0 to 1, a draw counting half.
func (w WDL) Expected() float64 { return (float64(w.Win) + float64(w.Draw)/2) / 1000 }
