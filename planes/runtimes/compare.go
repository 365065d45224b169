package runtimes

import (
	"errors"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Difference is how far what a runtime computes of a plane net is from what another
// does, the reference. All is from the side to move's view, over legal moves alone.
type Difference struct {
	Positions int `json:"positions"` // with legal moves
	// KL is the mean Kullback-Leibler divergence of the runtime's policy from
	// the reference's, in nats; Best the share of positions in which both like
	// the same move best; Given the mean of what the reference's probability of
	// the move liked best falls short of its own best move's.
	KL      float64 `json:"kl"`
	KLP99   float64 `json:"kl_p99"`
	Best    float64 `json:"best_move"`
	Given   float64 `json:"given_up"`
	Value   float64 `json:"value"` // mean difference, -1 to 1
	P999    float64 `json:"value_p999"`
	Largest float64 `json:"value_max"`
	Worst   string  `json:"worst"` // position of the largest
}

// Compare sums up how far leaves are from what the reference makes of the same
// positions, all of which have legal moves. None at all is an error.
func Compare(reference, other []search.Leaf) (Difference, error) {
	if len(reference) == 0 {
		return Difference{}, errors.New("found no position with legal moves")
	}
	c := Difference{Positions: len(reference)}
	n := float64(len(reference))
	var divergences, values []float64
	same := 0 // best moves
	for i := range reference {
		p, q := reference[i].Priors, other[i].Priors
		kl := 0.0
		for j := range p {
			if p[j] > 0 {
				kl += float64(p[j]) * math.Log(float64(p[j])/max(float64(q[j]), math.SmallestNonzeroFloat32))
			}
		}
		divergences = append(divergences, max(kl, 0))
		best, liked := slices.Index(p, slices.Max(p)), slices.Index(q, slices.Max(q))
		if best == liked {
			same++
		}
		c.Given += float64(p[best]-p[liked]) / n
		off := math.Abs(float64(reference[i].Value - other[i].Value))
		if values = append(values, off); off > c.Largest || i == 0 {
			c.Largest, c.Worst = off, reference[i].Pos.FEN()
		}
		c.KL, c.Value = c.KL+max(kl, 0)/n, c.Value+off/n
	}
	c.Best = float64(same) / n
	slices.Sort(divergences)
	slices.Sort(values)
	c.KLP99, c.P999 = netstat.Percentile(divergences, 0.99), netstat.Percentile(values, 0.999)
	return c, nil
}
