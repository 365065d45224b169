package lab

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/match/rating"
)

// planted are games of players with known strengths: rows with nets whose strengths scatter,
// openings that favour a side, the same ones for all seeds.
type planted struct {
	rows           []float64 // Elo
	anchor         bool      // one more player at 0, whose rating is given
	unrated        bool      // one more player at 0, whose rating is not given
	seeds, pairs   int
	seedSD, bookSD float64
	allSD          float64 // of what a seed does to all rows alike
	suitSD         float64 // of what an opening does to a row in every seed
}

func (p *planted) field(rng *rand.Rand) *Field {
	f := &Field{Rows: len(p.rows), Players: len(p.rows), Seeds: p.seeds}
	if p.anchor || p.unrated {
		f.Players++
	}
	f.Given, f.SD = make([]*float64, f.Players), make([]float64, f.Players)
	if p.anchor {
		f.Given[f.Rows] = new(float64)
	}
	book, suit := make([]float64, p.pairs), square(max(p.pairs, f.Players)) // suit by player and opening
	for k := range book {
		book[k] = 30 + p.bookSD*rng.NormFloat64()
		for i := range p.rows {
			if p.suitSD > 0 {
				suit[i][k] = p.suitSD * rng.NormFloat64()
			}
		}
	}
	for s := range p.seeds {
		elo := make([]float64, f.Players)
		all := 0.0
		if p.allSD > 0 {
			all = p.allSD * rng.NormFloat64()
		}
		for i, e := range p.rows {
			elo[i] = e + all + p.seedSD*rng.NormFloat64()
		}
		for a := range f.Players {
			for b := a + 1; b < f.Players; b++ {
				m := Scores{Seed: s, A: a, B: b}
				for k := range p.pairs {
					d := elo[a] + suit[a][k] - elo[b] - suit[b][k]
					m.Pairs = append(m.Pairs, [2]rating.Outcome{outcome(rng, d+book[k]), outcome(rng, d-book[k])})
				}
				f.Scores = append(f.Scores, m)
			}
		}
	}
	return f
}

func outcome(rng *rand.Rand, elo float64) rating.Outcome {
	const draws = 0.1
	switch x, win := rng.Float64(), rating.ExpectedScore(elo); {
	case x < draws*2*min(win, 1-win):
		return rating.Draw
	case rng.Float64() < win:
		return rating.Win
	}
	return rating.Loss
}

func rate(t *testing.T, p planted, rng *rand.Rand) *Ratings {
	t.Helper()
	r, err := Rate(t.Context(), p.field(rng), 1)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Differences that were planted are found, with the right sign, between the right rows, and the
// others are not.
func TestPlantedDifferences(t *testing.T) {
	p := planted{rows: []float64{120, 0, 0, -100}, anchor: true, seeds: 4, pairs: 150, seedSD: 10, bookSD: 80}
	r := rate(t, p, rand.New(rand.NewPCG(1, 1)))
	if !r.Absolute {
		t.Error("an anchor was given")
	}
	for _, d := range r.Differences {
		truth := p.rows[d.A] - p.rows[d.B]
		if want := truth != 0; d.Found != want || truth*d.Elo < 0 {
			t.Errorf("rows %d and %d, %g apart: found %+v", d.A, d.B, truth, d)
		}
	}
	for i, row := range r.Rows {
		if math.Abs(row.Elo-p.rows[i]) > 40 || len(row.Seeds) != p.seeds {
			t.Errorf("row %d at %g: found %+v", i, p.rows[i], row)
		}
	}
}

// trials are simulated comparisons, each of its own seed.
const trials = 80

// Of comparisons without any difference about one in twenty or fewer names one, also where nets of
// one row differ much or an opening suits a row in every seed, and intervals hold the truth as often as they say, or, where
// nets of one row are alike, more often.
func TestNoDifferences(t *testing.T) {
	for _, p := range []planted{
		{rows: make([]float64, 3), seeds: 3, pairs: 30, seedSD: 40, bookSD: 100},
		{rows: make([]float64, 3), seeds: 3, pairs: 30, bookSD: 100},
		{rows: make([]float64, 4), seeds: 2, pairs: 30, seedSD: 20, anchor: true},
		{rows: make([]float64, 3), seeds: 1, pairs: 40, bookSD: 100},
		{rows: make([]float64, 3), seeds: 5, pairs: 40, suitSD: 200},
		{rows: make([]float64, 3), seeds: 4, pairs: 40, seedSD: 20, suitSD: 200},
		{rows: make([]float64, 3), seeds: 4, pairs: 40, seedSD: 20},
	} {
		false_, held, all := 0, 0, 0
		for trial := range uint64(trials) {
			r := rate(t, p, rand.New(rand.NewPCG(trial, 2)))
			named := false
			for _, d := range r.Differences {
				named = named || d.Found
				if all++; d.Low <= 0 && d.High >= 0 {
					held++
				}
			}
			if named {
				false_++
			}
		}
		t.Logf("%+v: %d of %d name a difference, %d of %d intervals hold 0", p, false_, trials, held, all)
		if false_ > trials/10 {
			t.Errorf("%+v: %d of %d comparisons name a difference where there is none", p, false_, trials)
		}
		if share := float64(held) / float64(all); share < 0.92 {
			t.Errorf("%+v: %.3f of the intervals hold 0, expected about 0.95 or more", p, share)
		}
	}
}

// The intervals of ratings hold the truth as often as they say: of one row and of several, on the
// scale of an anchor and of anchors on that of the rows, also where a seed moves all rows.
func TestRatingIntervals(t *testing.T) {
	for _, p := range []planted{
		{rows: make([]float64, 1), seeds: 3, pairs: 20, seedSD: 80, anchor: true},
		{rows: make([]float64, 1), seeds: 3, pairs: 20, seedSD: 80, unrated: true},
		{rows: make([]float64, 2), seeds: 3, pairs: 20, seedSD: 20, allSD: 80, anchor: true},
		{rows: make([]float64, 2), seeds: 3, pairs: 20, seedSD: 20, allSD: 80, unrated: true},
	} {
		held, all := 0, 0
		width := 0.0
		for trial := range uint64(2 * trials) {
			r := rate(t, p, rand.New(rand.NewPCG(trial, 6)))
			list := r.Rows
			if p.unrated {
				list = r.Anchors
			}
			for _, e := range list {
				if all++; e.Low <= 0 && e.High >= 0 {
					held++
				}
				width += e.High - e.Low
			}
		}
		share := float64(held) / float64(all)
		t.Logf("%+v: %.3f of %d intervals hold the truth, width %.0f", p, share, all, width/float64(all))
		if share < 0.92 || share > 0.99 {
			t.Errorf("%+v: %.3f of the intervals hold the truth, expected about 0.95", p, share)
		}
	}
}

// More rows say nothing more about an effect that a seed has on all rows alike. With such an
// effect and without it, intervals contain the truth as often as they should.
func TestSeedsOfAllRows(t *testing.T) {
	f := &Field{Rows: 5, Players: 5, Seeds: 3}
	for _, tc := range []struct{ all, own float64 }{{50, 10}, {30, 30}, {0, 30}} {
		rng := rand.New(rand.NewPCG(1, 7))
		held, rated := 0, 0
		for range 1000 {
			r, by := &Ratings{Absolute: true, common: square(f.Players)}, make([]seedRatings, f.Seeds)
			for s := range by {
				all := tc.all * rng.NormFloat64()
				for range f.Players {
					by[s].elo = append(by[s].elo, all+tc.own*rng.NormFloat64())
				}
				by[s].spread, by[s].priors = square(f.Players), square(f.Players) // games without end
			}
			r.pool(f, by)
			for _, e := range r.Rows {
				if rated++; e.Low <= 0 && e.High >= 0 {
					held++
				}
			}
		}
		share := float64(held) / float64(rated)
		t.Logf("%+v: %.3f hold the truth", tc, share)
		if share < 0.92 || share > 0.98 {
			t.Errorf("%+v: %.3f of the intervals hold the truth, expected about 0.95", tc, share)
		}
	}
}

// A row alone has the error that its nets show: by three of them at 1500, 1600 and 1700 the next
// may be anywhere near.
func TestOneRow(t *testing.T) {
	f := &Field{Rows: 1, Players: 2, Seeds: 3}
	r := &Ratings{Absolute: true, Seeds: 3, common: square(2)}
	var by []seedRatings
	for _, elo := range []float64{1500, 1600, 1700} {
		by = append(by, seedRatings{[]float64{elo, 1000}, [][]float64{{100, 100}, {100, 0}}, square(2)})
	}
	r.pool(f, by)
	if e := r.Rows[0]; math.Abs(e.Margin()-248.4) > 0.1 { // t of 0.975 and two degrees, 4.303, times 100/√3
		t.Errorf("found %+v, margin %.1f, expected 248.4", e, e.Margin())
	}
	if math.Abs(r.SeedSD-99.5) > 0.1 || r.Freedom != 2 { // √(100² − 100)
		t.Errorf("found a deviation of %.2f of %d degrees, expected 99.5 of 2", r.SeedSD, r.Freedom)
	}
	if a := r.Anchors[0]; a.Low != 1000 || a.High != 1000 {
		t.Errorf("found an anchor at %+v, expected it fixed", a)
	}
}

// The error of a rating that is given does not fall with the number of seeds, is in no difference
// of rows that it moves alike, and explains nothing of what lies between nets of a row.
func TestGivenErrorOfSeeds(t *testing.T) {
	const sd = 40
	p := planted{rows: []float64{0, 0}, seeds: 3, pairs: 40, seedSD: 60, anchor: true}
	f := p.field(rand.New(rand.NewPCG(1, 8)))
	fixed, err := Rate(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	f.SD[f.Rows] = sd
	soft, err := Rate(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	if a := soft.Anchors[0]; math.Abs(a.Margin()-1.96*sd) > 0.1 || fixed.Anchors[0].Margin() != 0 {
		t.Errorf("the anchor has ± %.2f, expected %.2f", a.Margin(), 1.96*sd)
	}
	for i := range soft.Rows {
		if games := math.Abs(soft.Rows[i].Games - fixed.Rows[i].Games); games > 1e-6 || soft.Rows[i].Margin() < 1.96*sd {
			t.Errorf("row %d: found %+v, expected the spread by games of %+v and at least ± %.2f", i, soft.Rows[i], fixed.Rows[i], 1.96*sd)
		}
	}
	if d, e := soft.Differences[0], fixed.Differences[0]; math.Abs(d.Low-e.Low) > 1e-6 || math.Abs(d.High-e.High) > 1e-6 {
		t.Errorf("the difference of rows is %+v, expected %+v as with a fixed anchor", d, e)
	}
	if math.Abs(soft.SeedSD-fixed.SeedSD) > 1e-6 || fixed.SeedSD == 0 {
		t.Errorf("nets of a row lie %g apart, expected %g as with a fixed anchor", soft.SeedSD, fixed.SeedSD)
	}
}

// A difference of the size that the statement of power names is found about as often as it says.
func TestPower(t *testing.T) {
	p := planted{rows: []float64{0, 0}, seeds: 6, pairs: 60, seedSD: 15, bookSD: 50}
	detected := 0.0
	for trial := range uint64(20) {
		detected += rate(t, p, rand.New(rand.NewPCG(trial, 3))).Detected / 20
	}
	p.rows[0] = detected
	found := 0
	for trial := range uint64(trials) {
		if rate(t, p, rand.New(rand.NewPCG(trial, 4))).Differences[0].Found {
			found++
		}
	}
	if share := float64(found) / trials; share < 0.65 || share > 0.92 {
		t.Errorf("a difference of %.0f Elo was found in %.2f of the comparisons, expected about %.1f", detected, share, power)
	}
}

// A row that lost every game is not known to a few Elo.
func TestLostAll(t *testing.T) {
	f := &Field{Rows: 2, Players: 3, Seeds: 1, Given: make([]*float64, 3), SD: make([]float64, 3)}
	for _, m := range [][2]int{{0, 1}, {0, 2}, {1, 2}} {
		s := Scores{A: m[0], B: m[1]}
		for k := range 10 {
			pair := [2]rating.Outcome{rating.Win, rating.Win}
			if m[0] == 1 {
				pair = [2]rating.Outcome{rating.Win, rating.Outcome(2 * (k % 2))}
			}
			s.Pairs = append(s.Pairs, pair)
		}
		f.Scores = append(f.Scores, s)
	}
	r, err := Rate(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := r.Differences[0]; d.High-d.Low < 300 || d.Elo < 300 {
		t.Errorf("found %+v, expected a wide interval", d)
	}
}

// The order of rows does not matter.
func TestRateOrder(t *testing.T) {
	p := planted{rows: []float64{50, 0, -20}, seeds: 2, pairs: 20, seedSD: 10}
	f := p.field(rand.New(rand.NewPCG(5, 5)))
	r, err := Rate(t.Context(), f, 1)
	if err != nil {
		t.Fatal(err)
	}
	swapped := *f
	swapped.Scores = nil
	for _, m := range f.Scores { // row 0 becomes 2
		m.A, m.B = 2-m.A, 2-m.B
		m.A, m.B = m.B, m.A
		turned := make([][2]rating.Outcome, len(m.Pairs))
		for i, pair := range m.Pairs {
			turned[i] = [2]rating.Outcome{rating.Win - pair[1], rating.Win - pair[0]}
		}
		m.Pairs = turned
		swapped.Scores = append(swapped.Scores, m)
	}
	s, err := Rate(t.Context(), &swapped, 1)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r.Rows {
		if a, b := r.Rows[i], s.Rows[2-i]; math.Abs(a.Elo-b.Elo) > 1e-6 || math.Abs(a.Low-b.Low) > 1e-6 {
			t.Errorf("row %d: %+v in one order, %+v in the other", i, a, b)
		}
	}
}

func TestHolm(t *testing.T) {
	list := []Difference{{P: 0.04}, {P: 0.01}, {P: 0.03}, {P: 0.9}}
	holm(list)
	for i, want := range []float64{0.09, 0.04, 0.09, 0.9} { // by hand: ×2 lifted, ×4, ×3, ×1
		if math.Abs(list[i].Adjusted-want) > 1e-12 || list[i].Found != (want < 0.05) {
			t.Errorf("p %g: found %+v, expected %g", list[i].P, list[i], want)
		}
	}
}
