package rating

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// games are n games of two players with the same result for White.
func games(p *Pool, white, black string, wins, draws, losses int) {
	for outcome, n := range [3]int{losses, draws, wins} {
		for range n {
			if err := p.Add(PoolGame{White: white, Black: black, Result: Outcome(outcome)}); err != nil {
				panic(err)
			}
		}
	}
}

func mustFit(t *testing.T, p *Pool, c PoolConfig) *Ratings {
	t.Helper()
	r, err := p.Fit(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// randomPool plays pairs between players of random strength; openings favour
// one colour more or less.
func randomPool(rng *rand.Rand, players, pairs int) *Pool {
	p, elo := &Pool{}, make([]float64, players)
	for i := range elo {
		elo[i] = rng.NormFloat64() * 150
	}
	for range pairs {
		a, b := rng.IntN(players), rng.IntN(players)
		if a == b {
			continue
		}
		bias := 40 + rng.NormFloat64()*200
		play := func(white, black int) PoolGame {
			win := ExpectedScore(elo[white]-elo[black]+bias) - 0.05
			result := Loss
			if x := rng.Float64(); x < win {
				result = Win
			} else if x < win+0.1 {
				result = Draw
			}
			return PoolGame{White: fmt.Sprint(white), Black: fmt.Sprint(black), Result: result}
		}
		if err := p.Add(play(a, b), play(b, a)); err != nil {
			panic(err)
		}
	}
	return p
}

// predict returns the probabilities of White's win, draw and loss in a game of
// two players.
func predict(r *Ratings, white, black int) (win, draw, loss float64) {
	p := ExpectedScore(r.Elo[white] + r.White - r.Elo[black])
	draw = davidson(p, r.DrawRate)
	return p - draw/2, draw, 1 - p - draw/2
}

// Two players without White's advantage have the rating and the error that the
// formulas for a match give.
func TestPoolOfTwo(t *testing.T) {
	var p Pool
	games(&p, "a", "b", 40, 13, 21)
	games(&p, "b", "a", 18, 9, 31)
	match := Trinomial{21 + 18, 13 + 9, 40 + 31}
	r := mustFit(t, &p, PoolConfig{FixWhite: true})
	mean, _ := match.Score()
	near(t, "difference", r.Elo[0]-r.Elo[1], Elo(mean), 1e-8)
	near(t, "sum", r.Elo[0]+r.Elo[1], 0, 1e-8)
	variance := 0.0 // of a game's score
	for i, n := range match {
		d := float64(i)/2 - mean
		variance += d * d * float64(n) / float64(match.Games())
	}
	sd := math.Sqrt(variance/float64(match.Games())) * eloUnit / (mean * (1 - mean))
	near(t, "error", r.Errors.DifferenceSD(0, 1), sd, 1e-6)
	near(t, "error against the mean", r.Errors.SD(0), sd/2, 1e-6)
	near(t, "superiority", r.Superiority(0, 1, r.Errors), normalCDF(Elo(mean)/sd), 1e-6)
	near(t, "superiority of the other", r.Superiority(1, 0, r.Errors), 1-normalCDF(Elo(mean)/sd), 1e-6)
	_, draw, _ := predict(r, 0, 1)
	near(t, "draws", draw, 22.0/132, 1e-9)
	if games, _ := p.Record(0); games != match {
		t.Errorf("record %v, want %v", games, match)
	}
}

// With White's advantage, each colour's score gives one equation.
func TestPoolWhiteAdvantage(t *testing.T) {
	var p Pool
	games(&p, "a", "b", 70, 0, 30)
	games(&p, "b", "a", 55, 0, 45)
	r := mustFit(t, &p, PoolConfig{})
	near(t, "advantage", r.White, (Elo(0.70)+Elo(0.55))/2, 1e-8)
	near(t, "difference", r.Elo[0]-r.Elo[1], (Elo(0.70)-Elo(0.55))/2, 1e-8)
	// Logits of two independent scores.
	sd := eloUnit / 2 * math.Sqrt(1/(100*0.7*0.3)+1/(100*0.55*0.45))
	near(t, "error of the advantage", r.WhiteSD, sd, 1e-6)
	near(t, "error of the difference", r.Errors.DifferenceSD(0, 1), sd, 1e-6)
	fixed := mustFit(t, &p, PoolConfig{FixWhite: true, White: 50})
	near(t, "fixed advantage", fixed.White, 50, 1e-9)
	near(t, "its error", fixed.WhiteSD, 0, 1e-12)
}

// At the solution every player has the score expected of it, White has, and
// there are as many draws as expected; probabilities are such.
func TestPoolScoresAreExpected(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for players := 2; players < 12; players++ {
		p := randomPool(rng, players, 60*players)
		r := mustFit(t, p, PoolConfig{})
		var white, expectedWhite, draws, expectedDraws, sum float64
		scored, expected := make([]float64, players), make([]float64, players)
		for _, g := range p.results {
			e := p.edges[g.edge]
			score := float64(g.outcome) / 2
			win, draw, loss := predict(r, e.white, e.black)
			if !(win > 0 && draw > 0 && loss > 0) {
				t.Fatalf("probabilities %v %v %v", win, draw, loss)
			}
			near(t, "Davidson's ratio", draw/math.Sqrt(win*loss), 2*r.DrawRate/(1-r.DrawRate), 1e-9)
			near(t, "sum of probabilities", win+draw+loss, 1, 1e-12)
			white, expectedWhite = white+score, expectedWhite+win+draw/2
			scored[e.white] += score
			scored[e.black] += 1 - score
			expected[e.white] += win + draw/2
			expected[e.black] += loss + draw/2
			if Outcome(g.outcome) == Draw {
				draws++
			}
			expectedDraws += draw
		}
		near(t, "White's score", expectedWhite, white, 1e-6)
		near(t, "draws", expectedDraws, draws, 1e-6)
		for i := range scored {
			near(t, "score", expected[i], scored[i], 1e-6)
			sum += r.Elo[i]
		}
		near(t, "mean rating", sum, 0, 1e-6)
	}
}

// The gradient and Hessian are those of the likelihood, by differences.
func TestPoolDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	p := randomPool(rng, 5, 100)
	m := newModel(p, PoolConfig{Anchors: []Anchor{{Player: 1, Elo: 70}, {Player: 3, Elo: -20, SD: 30}}, PriorDraws: 1}, p.tallies())
	x := make([]float64, m.size)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	const h = 1e-5
	gradient, hessian := m.gradient(x), m.hessian(x)
	for i := range x {
		at := func(d float64) []float64 {
			y := append([]float64(nil), x...)
			y[i] += d
			return y
		}
		near(t, "gradient", gradient[i], (m.logLikelihood(at(h))-m.logLikelihood(at(-h)))/(2*h), 1e-4)
		up, down := m.gradient(at(h)), m.gradient(at(-h))
		for j := range x {
			near(t, "Hessian", hessian.At(i, j), -(up[j]-down[j])/(2*h), 1e-4)
			near(t, "symmetry", hessian.At(i, j), hessian.At(j, i), 1e-12)
		}
	}
	factor, ok := factorise(hessian)
	if !ok {
		t.Fatal("not positive definite")
	}
	var unit mat.Dense
	if err := factor.SolveTo(&unit, hessian); err != nil {
		t.Fatal(err)
	}
	for i := range m.size {
		for j := range m.size {
			want := 0.0
			if i == j {
				want = 1
			}
			near(t, "inverse times matrix", unit.At(i, j), want, 1e-9)
		}
	}
}

// Swapping all colours and results changes only the sign of White's advantage.
func TestPoolMirror(t *testing.T) {
	p := randomPool(rand.New(rand.NewPCG(3, 3)), 6, 300)
	var q Pool
	for _, name := range p.names {
		q.player(name)
	}
	for _, g := range p.results {
		e := p.edges[g.edge]
		if err := q.Add(PoolGame{White: p.names[e.black], Black: p.names[e.white], Result: Win - Outcome(g.outcome)}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := mustFit(t, p, PoolConfig{}), mustFit(t, &q, PoolConfig{})
	near(t, "advantage", a.White, -b.White, 1e-7)
	for i := range a.Elo {
		near(t, "rating", a.Elo[i], b.Elo[i], 1e-7)
		near(t, "error", a.Errors.SD(i), b.Errors.SD(i), 1e-7)
	}
}

// With every rating and White's advantage fixed there is nothing to fit.
func TestPoolAllFixed(t *testing.T) {
	var p Pool
	games(&p, "a", "b", 3, 2, 1)
	r := mustFit(t, &p, PoolConfig{Anchors: []Anchor{{Player: 0, Elo: 30}, {Player: 1, Elo: 10}}, FixWhite: true, White: 20})
	if r.Elo[0] != 30 || r.Elo[1] != 10 || r.White != 20 || r.Errors.SD(0) != 0 || r.WhiteSD != 0 {
		t.Errorf("fixed at 30 and 10 with an advantage of 20, found %+v", r)
	}
	near(t, "draw rate", davidson(ExpectedScore(40), r.DrawRate), 2.0/6, 1e-9)
}

func TestPoolAnchors(t *testing.T) {
	p := randomPool(rand.New(rand.NewPCG(4, 4)), 5, 400)
	free := mustFit(t, p, PoolConfig{})
	one := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: 2, Elo: 1800}}})
	near(t, "anchor", one.Elo[2], 1800, 1e-9)
	for i := range free.Elo {
		near(t, "shifted rating", one.Elo[i]-1800, free.Elo[i]-free.Elo[2], 1e-6)
		near(t, "error of a difference", one.Errors.DifferenceSD(i, 0), free.Errors.DifferenceSD(i, 0), 1e-6)
	}
	near(t, "error against the anchor", one.Errors.SD(0), free.Errors.DifferenceSD(0, 2), 1e-6)
	if sd := one.Errors.SD(2); sd != 0 {
		t.Errorf("the anchor has the error %v", sd)
	}
	two := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: 0, Elo: 100}, {Player: 1, Elo: 100}}})
	if s := two.Superiority(0, 1, two.Errors); s != 0.5 {
		t.Errorf("superiority of equal anchors is %v", s)
	}
	near(t, "second anchor", two.Elo[1], 100, 1e-9)
	// A weak anchor sets the level and little else; a strong one is almost fixed.
	weak := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: 2, Elo: 1800, SD: 40}}})
	near(t, "level by a weak anchor", weak.Elo[2], 1800, 1e-6)
	near(t, "its error", weak.Errors.SD(2), 40, 1e-3)
	both := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: 0, Elo: 0, SD: 0.1}, {Player: 1, Elo: 500, SD: 500}}})
	near(t, "strong anchor", both.Elo[0], 0, 0.1)
	if math.Abs(both.Elo[1]-both.Elo[0]-(free.Elo[1]-free.Elo[0])) > 10 {
		t.Errorf("weak second anchor moves the difference to %v, from %v", both.Elo[1]-both.Elo[0], free.Elo[1]-free.Elo[0])
	}
}

func TestPoolConnectivity(t *testing.T) {
	var p Pool
	games(&p, "a", "b", 1, 0, 1)
	games(&p, "c", "d", 0, 2, 0)
	var unconnected *UnconnectedError
	_, err := p.Fit(PoolConfig{})
	if !errors.As(err, &unconnected) || !unconnected.Apart || len(unconnected.Groups) != 2 || !strings.Contains(err.Error(), "{a, b}") {
		t.Fatalf("two islands: %v", err)
	}
	if _, err := p.Fit(PoolConfig{PriorDraws: 1}); !errors.Is(err, ErrUnconnected) {
		t.Errorf("prior draws between islands: %v", err)
	}
	r := mustFit(t, &p, PoolConfig{Anchors: []Anchor{{Player: 0}, {Player: 2, Elo: 100}}, FixWhite: true})
	near(t, "player of an anchored island", r.Elo[3], 100, 1e-6)

	games(&p, "c", "a", 3, 0, 0)
	_, err = p.Fit(PoolConfig{})
	if !errors.As(err, &unconnected) || unconnected.Apart || fmt.Sprint(unconnected.Groups) != "[[c d] [a b]]" {
		t.Errorf("one island won everything: %v", err)
	}
	if r := mustFit(t, &p, PoolConfig{PriorDraws: 2}); !(r.Elo[2] > r.Elo[0]) {
		t.Errorf("with prior draws: %v", r.Elo)
	}
	games(&p, "b", "d", 1, 0, 0)
	mustFit(t, &p, PoolConfig{FixWhite: true})

	p = Pool{}
	for i := range 40 {
		games(&p, fmt.Sprint(i), fmt.Sprint(i+1), 1, 0, 0)
	}
	if _, err := p.Fit(PoolConfig{}); !errors.Is(err, ErrUnconnected) || len(err.Error()) > 300 || !strings.Contains(err.Error(), "41 groups") {
		t.Errorf("a chain: %v", err)
	}
}

func TestPoolWhiteAdvantageWithoutBound(t *testing.T) {
	var p Pool
	games(&p, "a", "b", 5, 0, 0)
	games(&p, "b", "a", 5, 0, 0)
	if _, err := p.Fit(PoolConfig{}); !errors.Is(err, ErrWhiteAdvantage) {
		t.Errorf("White won everything: %v", err)
	}
	r := mustFit(t, &p, PoolConfig{FixWhite: true})
	near(t, "rating", r.Elo[0], 0, 1e-9)
	p = Pool{}
	games(&p, "a", "b", 5, 1, 3)
	if _, err := p.Fit(PoolConfig{}); !errors.Is(err, ErrWhiteAdvantage) {
		t.Errorf("colours never swapped: %v", err)
	}
	mustFit(t, &p, PoolConfig{FixWhite: true, White: 20})
}

// A chain of players far apart is rated as the sum of its links.
func TestPoolLongChain(t *testing.T) {
	var p Pool
	const links = 30
	for i := range links {
		games(&p, fmt.Sprint(i+1), fmt.Sprint(i), 90, 0, 10)
		games(&p, fmt.Sprint(i), fmt.Sprint(i+1), 10, 0, 90)
	}
	r := mustFit(t, &p, PoolConfig{})
	first, _ := p.Player("0")
	last, _ := p.Player(fmt.Sprint(links))
	near(t, "length", r.Elo[last]-r.Elo[first], links*Elo(0.9), 1e-5)
	near(t, "advantage", r.White, 0, 1e-6)
}

func TestPoolRefuses(t *testing.T) {
	var p Pool
	for _, g := range []PoolGame{{"a", "a", Win, 0}, {"a", "b", 3, 0}, {"a", "b", -1, 0}, {"a", "b", Win, -1}, {"a", "b", Win, math.Inf(1)}, {"a", "b", Win, math.NaN()}} {
		if err := p.Add(PoolGame{White: "a", Black: "b", Result: Win}, g); !errors.Is(err, ErrPool) {
			t.Errorf("%v: error %v", g, err)
		}
	}
	if len(p.results) != 0 || len(p.Players()) != 0 {
		t.Errorf("refused blocks left %d games of %v", len(p.results), p.Players())
	}
	if _, err := p.Fit(PoolConfig{}); !errors.Is(err, ErrPool) {
		t.Errorf("no games: %v", err)
	}
	games(&p, "a", "b", 1, 1, 1)
	nan := math.NaN()
	for _, c := range []PoolConfig{
		{Anchors: []Anchor{{Player: 2}}}, {Anchors: []Anchor{{Player: -1}}}, {Anchors: []Anchor{{}, {}}},
		{Anchors: []Anchor{{Elo: nan}}}, {Anchors: []Anchor{{SD: -1}}}, {Anchors: []Anchor{{SD: nan}}}, {Anchors: []Anchor{{SD: 1e9}}},
		{FixWhite: true, White: math.Inf(1)}, {PriorDraws: -1}, {PriorDraws: nan},
	} {
		if _, err := p.Fit(c); !errors.Is(err, ErrPool) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
	for i := range maxPlayers - 2 {
		games(&p, "a", fmt.Sprint(i), 1, 0, 0)
	}
	if err := p.Add(PoolGame{White: "a", Black: "one more", Result: Win}); !errors.Is(err, ErrPool) {
		t.Errorf("player %d: %v", maxPlayers+1, err)
	}
	if err := p.Add(PoolGame{White: "7", Black: "8", Result: Win}); err != nil {
		t.Errorf("known players in a full pool: %v", err)
	}
}

// Where games are independent, resampling finds the error of the Hessian; where
// two games of a block always have one result each, it finds less.
func TestResampling(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	resample := func(p *Pool, seed uint64) (*Ratings, *Resampling) {
		t.Helper()
		r := mustFit(t, p, PoolConfig{})
		s, err := p.Resample(context.Background(), PoolConfig{}, r, 400, rand.New(rand.NewPCG(seed, 0)))
		if err != nil {
			t.Fatal(err)
		}
		return r, s
	}
	var single, paired Pool
	for range 500 {
		a, b := Outcome(2*rng.IntN(2)), Outcome(2*rng.IntN(2))
		err := errors.Join(single.Add(PoolGame{White: "a", Black: "b", Result: a}), single.Add(PoolGame{White: "b", Black: "a", Result: b}),
			paired.Add(PoolGame{White: "a", Black: "b", Result: a}, PoolGame{White: "b", Black: "a", Result: a})) // White or Black wins both
		if err != nil {
			t.Fatal(err)
		}
	}
	r, s := resample(&single, 1)
	if ratio := s.Errors.DifferenceSD(0, 1) / r.Errors.DifferenceSD(0, 1); math.Abs(ratio-1) > 0.1 || s.Done != 400 || s.Failed != 0 {
		t.Errorf("independent games: %v of the Hessian's error, %d done, %d failed", ratio, s.Done, s.Failed)
	}
	if ratio := s.WhiteSD / r.WhiteSD; math.Abs(ratio-1) > 0.1 {
		t.Errorf("independent games: %v of the Hessian's error of White's advantage", ratio)
	}
	if _, again := resample(&single, 1); again.Errors.SD(0) != s.Errors.SD(0) {
		t.Error("the same seed gives other errors")
	}
	r, s = resample(&paired, 2)
	if sd := s.Errors.DifferenceSD(0, 1); sd > 1e-6 {
		t.Errorf("pairs that always split: error %v, want 0", sd)
	}
	if ratio := s.WhiteSD / r.WhiteSD; math.Abs(ratio-math.Sqrt2) > 0.15 {
		t.Errorf("pairs that always split: %v of the Hessian's error of White's advantage, want √2", ratio)
	}
	if _, pairs := paired.Record(0); pairs != (Pentanomial{LW: 500}) || len(paired.ends) != 500 || len(paired.results) != 1000 {
		t.Errorf("pairs %+v, %d blocks, %d games", pairs, len(paired.ends), len(paired.results))
	}

	var few Pool
	games(&few, "a", "b", 1, 0, 1)
	games(&few, "b", "a", 1, 0, 1)
	if _, s := resample(&few, 3); s.Failed == 0 || s.Done+s.Failed != 400 {
		t.Errorf("four games: %d done, %d failed", s.Done, s.Failed)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := few.Resample(ctx, PoolConfig{}, mustFit(t, &few, PoolConfig{}), 9, rng); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := few.Resample(context.Background(), PoolConfig{}, r, 1, rng); !errors.Is(err, ErrPool) {
		t.Errorf("one sample: %v", err)
	}
}

// Intervals hold the truth in 95 of 100 pools drawn from the model.
func TestPoolCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	truth := &Ratings{Elo: []float64{-120, -20, 40, 100}, White: 35, DrawRate: 0.2}
	const pools = 400
	inside, white := 0, 0
	for range pools {
		var p Pool
		for i := range truth.Elo {
			p.player(fmt.Sprint(i))
		}
		for range 100 {
			for a := range truth.Elo {
				for b := range truth.Elo {
					if a == b {
						continue
					}
					win, draw, _ := predict(truth, a, b)
					result := Loss
					if x := rng.Float64(); x < win {
						result = Win
					} else if x < win+draw {
						result = Draw
					}
					if err := p.Add(PoolGame{White: p.names[a], Black: p.names[b], Result: result}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		r := mustFit(t, &p, PoolConfig{})
		for i, elo := range truth.Elo {
			if e := r.Interval(i, r.Errors); e.Low <= elo && elo <= e.High {
				inside++
			}
		}
		if e := r.WhiteInterval(); e.Low <= truth.White && truth.White <= e.High {
			white++
		}
	}
	n := float64(pools * len(truth.Elo))
	if share := float64(inside) / n; math.Abs(share-0.95) > 4*math.Sqrt(0.95*0.05/n) {
		t.Errorf("%.4f of the intervals hold the truth, want 0.95", share)
	}
	if share := float64(white) / pools; math.Abs(share-0.95) > 4*math.Sqrt(0.95*0.05/pools) {
		t.Errorf("%.4f of the intervals hold White's advantage, want 0.95", share)
	}
}

func TestDavidson(t *testing.T) {
	for _, even := range []float64{0, 0.01, 0.3, 0.5, 0.99} {
		near(t, "even players", davidson(0.5, even), even, 1e-9)
		for p := 0.01; p < 1; p += 0.01 {
			d := davidson(p, even)
			if !(d >= 0 && d <= 2*math.Min(p, 1-p)) {
				t.Fatalf("davidson(%v, %v) = %v", p, even, d)
			}
			near(t, "mirror", d, davidson(1-p, even), 1e-12)
		}
	}
}

func TestRoundsNear(t *testing.T) {
	for round, want := range map[string]string{
		"1": "1 2 0", "2": "2 1 3", "3.1": "3.1 3.2 3.0", "7.2": "7.2 7.1 7.3", "-": "", "?": "", "": "", "-4": "", "99999999999999999999": "",
	} {
		if got := strings.Join(roundsNear(round), " "); got != want {
			t.Errorf("rounds near %q: %q, expected %q", round, got, want)
		}
	}
}
