package rating

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// reference vectors; the log-likelihood ratios agree with fishtest's code to
// four decimals. The last digit of each figure is the tolerance.
var vectors = []struct {
	counts                     Pentanomial
	elo0, elo1                 float64
	elo, eloMargin, eloDigit   float64
	nElo, nEloMargin, nEloUnit float64
	los, losDigit              float64
	logistic, normalized       float64
}{
	{five(10789, 19328, 33806, 19402, 10543), -3, 1, -0.774, 1.278, 1e-3, -0.952, 1.572, 1e-3, 0.11766, 1e-5, 2.1311, 0.3009},
	{five(39, 8843, 26675, 9240, 44), 0.5, 2.5, 1.577, 1.030, 1e-3, 3.480, 2.274, 1e-3, 0.99865, 1e-5, 0.5555, 2.9417},
	{five(3, 10, 20, 14, 5), 0, 10, 26.78, 49.08, 1e-2, 36.83, 66.77, 1e-2, 0.86015, 1e-5, 0.3481, 0.2704},
	{five(0, 0, 6, 3, 1), 0, 10, 88.67, 78.66, 1e-2, 182.8, 152.3, 1e-1, 0.9907, 1e-4, 0.2835, 0.1961},
	{five(60, 2, 90, 3, 85), 0, 20, 37.05, 34.50, 1e-2, 33.75, 31.08, 1e-2, 0.98335, 1e-5, 1.7606, 1.8659},
}

func five(ll, ld, even, dw, ww int) Pentanomial {
	return Pentanomial{LL: ll, LD: ld, LW: even, DW: dw, WW: ww}
}

func near(t *testing.T, name string, got, want, digit float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 0.51*digit) {
		t.Errorf("%s = %.6f, want %.6f to the digit %g", name, got, want, digit)
	}
}

func TestReferenceVectors(t *testing.T) {
	for _, v := range vectors {
		elo, nElo := v.counts.Elo(), v.counts.NElo()
		eloMargin, ok := elo.Margin()
		nEloMargin, ok2 := nElo.Margin()
		if !ok || !ok2 {
			t.Errorf("%v: no margins", v.counts)
		}
		near(t, "Elo", elo.Value, v.elo, v.eloDigit)
		near(t, "Elo margin", eloMargin, v.eloMargin, v.eloDigit)
		near(t, "nElo", nElo.Value, v.nElo, v.nEloUnit)
		near(t, "nElo margin", nEloMargin, v.nEloMargin, v.nEloUnit)
		near(t, "LOS", v.counts.LOS(), v.los, v.losDigit)
		test := SPRT{Elo0: v.elo0, Elo1: v.elo1, Alpha: 0.05, Beta: 0.05}
		near(t, "logistic LLR", test.LLR(v.counts), v.logistic, 1e-4)
		test.Normalized = true
		near(t, "normalised LLR", test.LLR(v.counts), v.normalized, 1e-4)
	}
}

func TestEloScale(t *testing.T) {
	for elo := -800.0; elo <= 800; elo += 12.5 {
		near(t, "Elo of expected score", Elo(ExpectedScore(elo)), elo, 1e-8)
	}
	near(t, "Elo(0.75)", Elo(0.75), 190.848502, 1e-6)
	if !math.IsInf(Elo(0), -1) || !math.IsInf(Elo(1), 1) {
		t.Errorf("Elo(0) = %v, Elo(1) = %v, want infinities", Elo(0), Elo(1))
	}
}

func TestNoFiniteRating(t *testing.T) {
	for _, c := range []Pentanomial{
		{}, {LL: 3}, {WW: 1},
	} {
		if e := c.Elo(); e.Valid || e.String() != "n/a" {
			t.Errorf("%+v: Elo %v, want n/a", c, e)
		}
		if e := c.NElo(); e.Valid || e.String() != "n/a" {
			t.Errorf("%+v: nElo %v, want n/a", c, e)
		}
		if los := c.LOS(); !(los >= 0 && los <= 1) {
			t.Errorf("%+v: LOS %v", c, los)
		}
		if b, err := json.Marshal(c.Elo()); err != nil || string(b) != `{"value":null,"low":null,"high":null}` {
			t.Errorf("%+v: JSON %s, %v", c, b, err)
		}
	}
	wide := Pentanomial{DW: 1, WW: 2}.Elo()
	if !wide.Valid || !math.IsInf(wide.High, 1) || !strings.HasSuffix(wide.String(), "+/- n/a") {
		t.Errorf("interval past 100 %%: %+v %s", wide, wide)
	}
	if b, err := json.Marshal(wide); err != nil || !strings.HasSuffix(string(b), `"high":null}`) {
		t.Errorf("interval past 100 %%: JSON %s, %v", b, err)
	}
	// Where all ended alike there is a value, but nothing to measure an interval by.
	for _, c := range []Pentanomial{{LW: 1}, {LW: 5, DD: 4}, {DD: 3}} {
		if e := c.Elo(); !e.Valid || math.Abs(e.Value) > 1e-9 || !strings.HasSuffix(e.String(), "0.00 +/- n/a") {
			t.Errorf("%+v: Elo %v, want 0 without an interval", c, e)
		}
	}
	if e := (Pentanomial{LW: 1, DW: 1}).Elo(); e.Value <= 0 || math.IsInf(e.High-e.Low, 0) {
		t.Errorf("two kinds of pairs: Elo %v, want one with an interval", e)
	}
}

// Swapping the players changes the sign of every figure.
func TestMirror(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		p := randomPairs(rng)
		q := Pentanomial{LL: p.WW, LD: p.DW, LW: p.LW, DD: p.DD, DW: p.LD, WW: p.LL}
		near(t, "mirrored LOS", p.LOS(), 1-q.LOS(), 1e-9)
		near(t, "mirrored Elo", p.Elo().Value, -q.Elo().Value, 1e-6)
		for _, normalized := range []bool{false, true} {
			a := SPRT{Elo0: -3, Elo1: 8, Alpha: 0.05, Beta: 0.05, Normalized: normalized}
			b := SPRT{Elo0: -8, Elo1: 3, Alpha: 0.05, Beta: 0.05, Normalized: normalized}
			near(t, "mirrored LLR", a.LLR(p), -b.LLR(q), 1e-6*float64(p.Pairs()))
		}
	}
}

// The counts of games add up game by game.
func TestPairsAreGames(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var p Pentanomial
	var games Trinomial
	for range 500 {
		a, b := Outcome(rng.IntN(3)), Outcome(rng.IntN(3))
		p.Add(a, b)
		games[a]++
		games[b]++
		if p.Games() != games {
			t.Fatalf("pairs %+v give games %v, want %v", p, p.Games(), games)
		}
	}
	if p.Pairs() != 500 || p.LW == 0 || p.DD == 0 {
		t.Errorf("counts %+v", p)
	}
}

func TestRatios(t *testing.T) {
	p := Pentanomial{LL: 1, LD: 2, LW: 6, DD: 3, DW: 4, WW: 4}
	for _, c := range []struct {
		name string
		got  func() (float64, bool)
		want float64
	}{
		{"DrawRatio", p.DrawRatio, 0.45}, {"PairsRatio", p.PairsRatio, 8.0 / 3}, {"BiasRatio", p.BiasRatio, 2},
		{"Score", p.Games().Score, 24.0 / 40},
	} {
		if got, ok := c.got(); !ok || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s = %v %v, want %v", c.name, got, ok, c.want)
		}
	}
	var none Pentanomial
	for _, ratio := range []func() (float64, bool){none.DrawRatio, none.PairsRatio, none.BiasRatio, none.Games().Score} {
		if got, ok := ratio(); ok || got != 0 {
			t.Errorf("ratio of nothing = %v %v", got, ok)
		}
	}
}

func TestValidate(t *testing.T) {
	good := SPRT{Elo0: 0, Elo1: 5, Alpha: 0.05, Beta: 0.05}
	if err := good.Validate(); err != nil {
		t.Errorf("good test refused: %v", err)
	}
	nan := math.NaN()
	for _, bad := range []SPRT{
		{}, {Elo0: 5, Elo1: 5, Alpha: 0.05, Beta: 0.05}, {Elo0: 5, Elo1: 0, Alpha: 0.05, Beta: 0.05},
		{Elo0: nan, Elo1: 5, Alpha: 0.05, Beta: 0.05}, {Elo0: 0, Elo1: math.Inf(1), Alpha: 0.05, Beta: 0.05},
		{Elo1: 5, Beta: 0.05}, {Elo1: 5, Alpha: 0.5, Beta: 0.5}, {Elo1: 5, Alpha: nan, Beta: 0.05},
		{Elo1: 250, Alpha: 0.05, Beta: 0.05, Normalized: true},
	} {
		if err := bad.Validate(); !errors.Is(err, ErrSPRT) {
			t.Errorf("%+v: error %v, want ErrSPRT", bad, err)
		}
	}
}

func TestBounds(t *testing.T) {
	test := SPRT{Elo1: 5, Alpha: 0.05, Beta: 0.05}
	lower, upper := test.Bounds()
	near(t, "lower", lower, -2.9444, 1e-4)
	near(t, "upper", upper, 2.9444, 1e-4)
	for llr, want := range map[float64]Decision{0: Continue, 2.94: Continue, upper: AcceptH1, lower: AcceptH0, -9: AcceptH0, 9: AcceptH1} {
		if got := test.Status(llr); got != want {
			t.Errorf("Status(%v) = %v, want %v", llr, got, want)
		}
	}
}

// Mean lengths of tests whose H1 is true, by White's win, draw and loss
// percentages; and the chance of accepting H1, which then is 1−β.
func TestExpectedLength(t *testing.T) {
	for _, c := range []struct{ win, draw, loss, five, ten, twenty float64 }{
		{54, 2, 44, 12413, 3105, 777}, {60, 5, 35, 11357, 2841, 711}, {80, 2, 18, 7622, 1906, 477},
		{45, 30, 25, 8446, 2112, 529}, {30, 60, 10, 4607, 1152, 289},
	} {
		v := OpeningVariance(c.win, c.draw, c.loss)
		for elo, want := range map[float64]float64{5: c.five, 10: c.ten, 20: c.twenty} {
			test := SPRT{Elo1: elo, Alpha: 0.05, Beta: 0.05}
			pass, pairs := test.ExpectedLength(elo, v)
			near(t, "pairs", pairs, want, 1)
			near(t, "probability", pass, 0.95, 1e-9)
			fail, back := test.ExpectedLength(0, v)
			near(t, "pairs at H0", back, pairs, 1e-3*pairs)
			near(t, "probability at H0", fail, 0.05, 1e-9)
		}
	}
	test := SPRT{Elo0: -5, Elo1: 5, Alpha: 0.05, Beta: 0.05}
	pass, pairs := test.ExpectedLength(0, 0.12)
	beside, pairsBeside := test.ExpectedLength(0.001, 0.12)
	near(t, "probability in the middle", pass, 0.5, 1e-9)
	near(t, "probability beside the middle", beside, 0.5, 1e-3)
	near(t, "pairs beside the middle", pairsBeside, pairs, 1)
	test.Normalized = true
	if _, pairs := test.ExpectedLength(5, 0); !(pairs > 1000 && pairs < 20000) {
		t.Errorf("normalised test expects %v pairs", pairs)
	}
}

// Whatever the counts, both fits are distributions that satisfy their
// hypotheses, and the ratio is finite.
func TestFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		s := randomPairs(rng).sample()
		elo := rng.Float64()*2*maxHypothesis - maxHypothesis
		p := s.likeliestWithMean(ExpectedScore(elo))
		mean, _ := s.moments(&p)
		near(t, "sum of mean fit", total(p), 1, 1e-6)
		near(t, "mean of mean fit", mean, ExpectedScore(elo), 1e-6)

		nElo := (rng.Float64()*2 - 1) * maxNormalizedHypothesis
		p = s.likeliestWithDeviation(deviations(nElo))
		mean, variance := s.moments(&p)
		near(t, "sum of deviation fit", total(p), 1, 1e-6)
		near(t, "nElo of deviation fit", (mean-0.5)/math.Sqrt(variance), deviations(nElo), 1e-6)
		if t.Failed() {
			t.Fatalf("sample %+v, elo %v, nElo %v", s, elo, nElo)
		}
	}
}

func total(p [5]float64) (sum float64) {
	for _, x := range p {
		sum += x
	}
	return sum
}

func randomPairs(rng *rand.Rand) Pentanomial {
	n := func() int { return rng.IntN(1 + rng.IntN(1000)) }
	return Pentanomial{LL: 1 + n(), LD: n(), LW: n(), DD: n(), DW: n(), WW: n()}
}
