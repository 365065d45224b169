package wdl

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/search"
)

// fill draws games of each positions, which have one score and one
// winner.
func fill(seed uint64, games, each int, a, b float64) *Tally {
	rng := rand.New(rand.NewPCG(seed, 11))
	t := new(Tally)
	for range games {
		score := search.Score(math.Round(400 * rng.NormFloat64()))
		result := int8(-1)
		if rng.Float64() < logistic.Sigmoid((float64(score)-a)/b) {
			result = 1
		}
		for i := range each {
			t.Add(score, result, i == 0)
		}
	}
	return t
}

func TestFitFindsTheCurve(t *testing.T) {
	for _, want := range [][2]float64{{0, 200}, {15, 100}, {-30, 700}} {
		tally := fill(1, 15_000, 1, want[0], want[1])
		tally.Add(search.MateAfter(3), -1, true)
		c, err := tally.Fit()
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(c.A-want[0]) > 4*c.ErrorA || math.Abs(c.B-want[1]) > 4*c.ErrorB || c.ErrorB > 0.05*want[1] {
			t.Errorf("fitted %+v, want %v", c, want)
		}
		if r := c.ErrorB / c.PositionErrorB; r < 0.6 || r > 1.6 {
			t.Errorf("errors %g and %g of independent positions", c.ErrorB, c.PositionErrorB)
		}
		if c.Mates != 1 || c.Positions != 15_000 || c.Games != 15_001 {
			t.Errorf("counts of %+v", c)
		}
		if p := c.At(c.A); p != 0.5 {
			t.Errorf("%g at A", p)
		}
	}
}

// Every parameter a fit could have near the found one is less likely.
func TestFitIsMostLikely(t *testing.T) {
	tally := fill(2, 3000, 1, 20, 250)
	for i := range 300 { // and some draws
		tally.Add(search.Score(i-150), 0, true)
	}
	c, err := tally.Fit()
	if err != nil {
		t.Fatal(err)
	}
	likelihood := func(a, b float64) (sum float64) {
		for score, cell := range tally.cells {
			for _, r := range cell {
				p := logistic.Sigmoid((float64(score) - a) / b)
				sum += r.points()*math.Log(p) + (float64(r.n())-r.points())*math.Log(1-p)
			}
		}
		return sum
	}
	best := likelihood(c.A, c.B)
	for _, d := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}} {
		if l := likelihood(c.A+d[0], c.B+d[1]); l >= best {
			t.Errorf("%g at %v from the fit, %g there", l, d, best)
		}
	}
}

// Positions of a game say the same again: errors do not shrink with them.
func TestErrorsAreOfGames(t *testing.T) {
	once, err := fill(3, 4000, 1, 0, 200).Fit()
	if err != nil {
		t.Fatal(err)
	}
	often, err := fill(3, 4000, 25, 0, 200).Fit()
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(often.ErrorB/once.ErrorB-1) > 1e-6 || math.Abs(5*often.PositionErrorB/once.PositionErrorB-1) > 1e-6 {
		t.Errorf("%+v of positions once, %+v of each 25 times", once, often)
	}
}

func TestFitRefuses(t *testing.T) {
	alike, backwards, separable := new(Tally), new(Tally), new(Tally)
	for i := range 500 {
		score := search.Score(2*i - 499)
		sign := int8(1)
		if score < 0 {
			sign = -1
		}
		alike.Add(score, 1, true)
		separable.Add(score, sign, true)
		backwards.Add(score, -sign, true)
	}
	for name, tally := range map[string]*Tally{
		"none": new(Tally), "few": fill(4, 99, 1, 0, 200), "alike": alike, "separable": separable, "backwards": backwards,
	} {
		if c, err := tally.Fit(); !errors.Is(err, ErrNoFit) {
			t.Errorf("%s: %+v, error %v, want ErrNoFit", name, c, err)
		}
	}
}

func TestBins(t *testing.T) {
	tally := fill(5, 8_000, 3, 0, 200)
	c, err := tally.Fit()
	if err != nil {
		t.Fatal(err)
	}
	bins := tally.Bins(&c, 100, 600)
	positions := uint64(0)
	for i, b := range bins {
		positions += b.Positions
		if i > 0 && i < len(bins)-1 && (b.Score < float64(b.Low) || b.Score >= float64(b.High) || b.Low != bins[i-1].High) {
			t.Errorf("bin %+v", b)
		}
		if b.Error <= 0 || math.Abs(b.Observed-b.Fitted) > 5*b.Error {
			t.Errorf("observed %g ± %g, fitted %g from %d", b.Observed, b.Error, b.Fitted, b.Low)
		}
	}
	if positions != 24_000 || len(bins) != 13 || bins[6].Low != -50 || bins[6].High != 50 {
		t.Errorf("%d positions in %d bins, %+v in the middle", positions, len(bins), bins[6])
	}
	if err := Draw("test", &c, bins).Save(filepath.Join(t.TempDir(), "a.png")); err != nil {
		t.Error(err)
	}
}
