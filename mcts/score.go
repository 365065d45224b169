package mcts

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/search"
)

// LogOdds is how many centipawns multiply the odds by e: half the score at which the
// expected result is tanh(1), as a score s stands for tanh(s/400). With it 100
// centipawns are worth what they are worth to a net trained on scores of alpha-beta
// engines.
const LogOdds = 200

// Score returns the expected result q, from -1 to 1, as centipawns: the s with
// q = tanh(s/400), kept clear of the scores that announce mates.
func Score(q float64) search.Score {
	const most = float64(search.MateScore - search.MaxPly - 1)
	s := LogOdds * math.Log((1+q)/(1-q))
	return search.Score(math.Round(max(-most, min(s, most))))
}
