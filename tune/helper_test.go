package tune

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// played plays pairs by chance alone: two games, without draws, whose result is drawn
// by the difference of the strengths of A and B, in Elo. It answers alike for the same
// pair.
func played(strength func(Values) float64) func(context.Context, int, Values, Values) (int, error) {
	return func(ctx context.Context, pair int, a, b Values) (int, error) {
		rng := rand.New(rand.NewPCG(1, uint64(pair)))
		score := rating.ExpectedScore(strength(a) - strength(b))
		points := 0
		for range 2 {
			if rng.Float64() < score {
				points += 2
			}
		}
		return points, ctx.Err()
	}
}

// number reads the value of a number.
func number(t *testing.T, v Values, n Number) float64 {
	x, err := strconv.Atoi(v[n.Key])
	if err != nil || x < n.Low || x > n.High {
		t.Errorf("found %s=%s, expected a whole number from %d to %d", n.Key, v[n.Key], n.Low, n.High)
	}
	return float64(x)
}

// valley is a strength that falls with the square of the distance from the best values:
// by one Elo where a number is its width away.
func valley(t *testing.T, numbers []Number, best, width []float64) func(Values) float64 {
	return func(v Values) float64 {
		elo := 0.0
		for i, n := range numbers {
			elo -= math.Pow((number(t, v, n)-best[i])/width[i], 2)
		}
		return elo
	}
}

// three numbers as those of a search: wide, narrow and about zero.
func three() ([]Number, []float64, []float64) {
	return []Number{
			{Key: "margin", Low: 5, High: 400, Start: 45, Step: 20, Rate: DefaultRate},
			{Key: "plies", Low: 1, High: 8, Start: 2, Step: 0.5, Rate: DefaultRate},
			{Key: "bonus", Low: -2048, High: 4096, Start: 1500, Step: 300, Rate: DefaultRate},
		},
		[]float64{120, 5, -200}, // best
		[]float64{10, 0.4, 150} // a distance that costs an Elo
}
