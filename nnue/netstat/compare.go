package netstat

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/nnue"
)

// ErrCount says that values and positions are not as many, or none.
var ErrCount = errors.New("values and positions do not match")

// NearUnits is the difference, in raw units, within which the published protocol
// finds nearly all positions.
const NearUnits = 50

// Difference says how an integer network departs from the float network it was
// rounded from. Differences are integer minus float, in raw units, 208 to a
// pawn, seen by the side to move.
type Difference struct {
	Positions int     `json:"positions"`
	Mean      float64 `json:"mean"`
	Deviation float64 `json:"deviation"` // standard
	P999      float64 `json:"p999"`      // 99.9th percentile of the magnitude
	Near      float64 `json:"within_50"` // share of positions within ±50 units
	// MeanWin and MaxWin are magnitudes of the difference in win probability,
	// 0 to 1: that of a value v is σ(v / Scale).
	MeanWin float64 `json:"mean_win"`
	MaxWin  float64 `json:"max_win"`
	Scale   float64 `json:"scale"`
	// SameSign is the share of positions of which the two do not name different
	// winners; 0 names none.
	SameSign float64 `json:"same_sign"`
	Worst    Case    `json:"worst"` // the largest magnitude
}

// Case is one position and what both networks say of it, in raw units.
type Case struct {
	FEN     string  `json:"fen"`
	Float   float64 `json:"float"`
	Integer float64 `json:"integer"`
}

// Values are what a net says of positions, in raw units for the side to move.
func Values(n *nnue.Network, positions []chess.Position) []float64 {
	acc := nnue.NewAccumulator(n)
	values := make([]float64, len(positions))
	for i := range positions {
		acc.Reset(&positions[i])
		values[i] = float64(acc.Raw(&positions[i]))
	}
	return values
}

// Compare measures the difference between values of the same positions by a
// float and by an integer network. scale is above 0. The error wraps ErrCount.
func Compare(positions []chess.Position, float, integer []float64, scale float64) (Difference, error) {
	n := len(positions)
	if n == 0 || len(float) != n || len(integer) != n {
		return Difference{}, fmt.Errorf("%w: found %d positions, %d and %d values", ErrCount, n, len(float), len(integer))
	}
	d := Difference{Positions: n, Scale: scale}
	sizes := make([]float64, n)
	worst := 0
	var squares float64
	near, same := 0, 0 // counts
	for i := range n {
		diff := integer[i] - float[i]
		size := math.Abs(diff)
		sizes[i] = size
		d.Mean += diff / float64(n)
		squares += diff * diff
		win := math.Abs(logistic.Sigmoid(integer[i]/scale) - logistic.Sigmoid(float[i]/scale))
		d.MeanWin += win / float64(n)
		d.MaxWin = max(d.MaxWin, win)
		if size > sizes[worst] {
			worst = i
		}
		if size <= NearUnits {
			near++
		}
		if integer[i]*float[i] >= 0 {
			same++
		}
	}
	d.Deviation = math.Sqrt(max(squares/float64(n)-d.Mean*d.Mean, 0))
	d.Near, d.SameSign = float64(near)/float64(n), float64(same)/float64(n)
	d.Worst = Case{FEN: positions[worst].FEN(), Float: float[worst], Integer: integer[worst]}
	slices.Sort(sizes)
	d.P999 = Percentile(sizes, 0.999)
	return d, nil
}

// Percentile returns the smallest of the values, which rise, that at least the
// given share of them does not exceed.
func Percentile(rising []float64, share float64) float64 {
	i := int(math.Ceil(share*float64(len(rising)))) - 1
	return rising[min(max(i, 0), len(rising)-1)]
}
