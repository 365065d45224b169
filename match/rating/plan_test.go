package rating

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

func mustPlan(t *testing.T, p *Pool, r *Ratings, errors Covariance, c PlanConfig) *Plan {
	t.Helper()
	plan, err := p.Plan(t.Context(), r, errors, c)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// The errors a plan expects are those of a fit to its games too, if these go as expected,
// and not a step of them could be left out.
func TestPlanErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 0))
	p := &Pool{}
	elo := [6]float64{-200, -120, -40, 30, 100, 230}
	for range 600 {
		a, b := rng.IntN(6), rng.IntN(6)
		if a == b {
			continue
		}
		result := Loss
		if rng.Float64() < ExpectedScore(elo[a]-elo[b]) {
			result = Win
		}
		if err := p.Add(PoolGame{White: fmt.Sprint(a), Black: fmt.Sprint(b), Result: result}); err != nil {
			t.Fatal(err)
		}
	}
	for _, anchors := range [][]Anchor{nil, {{Player: 2, Elo: 10}}} {
		cfg := PoolConfig{FixWhite: true, Anchors: anchors}
		r := mustFit(t, p, cfg)
		plan := mustPlan(t, p, r, r.Errors, PlanConfig{Margin: 25})
		if !plan.Reached || len(plan.Matches) < 3 {
			t.Fatalf("plan %+v", plan)
		}
		m := newModel(p, cfg, p.tallies())
		x := m.parameters(r)
		for _, match := range plan.Matches {
			for i := range m.edges {
				e := &m.edges[i]
				if e.white == match.Players[0] && e.black == match.Players[1] {
					e.games += float64(match.Games)
					e.real += float64(match.Games)
					e.points += float64(match.Games) * m.score(x, e.edge)
				}
			}
		}
		again, err := m.ratings(x)
		if err != nil {
			t.Fatal(err)
		}
		widest := 0.0
		for i := range elo {
			got, want := plan.Errors.SD(i), again.Errors.SD(i)
			if math.Abs(got-want) > 1e-6*(1+want) {
				t.Errorf("player %d: deviation %v by the plan, %v by a fit", i, got, want)
			}
			widest = max(widest, quantile95*got)
		}
		if widest > 25 || widest < 24 {
			t.Errorf("widest error %v, expected just below 25", widest)
		}
	}
}

// triangle has three equal players, and the seconds of a game between two of them.
func triangle(ab, bc, ac float64) *Pool {
	p := &Pool{}
	for _, m := range []struct {
		white, black string
		seconds      float64
	}{{"A", "B", ab}, {"B", "C", bc}, {"A", "C", ac}} {
		for i := range 40 {
			g := PoolGame{White: m.white, Black: m.black, Result: Win, Seconds: m.seconds}
			if i%2 == 1 {
				g.White, g.Black = g.Black, g.White
			}
			if i%4 >= 2 {
				g.Result = Loss
			}
			if err := p.Add(g); err != nil {
				panic(err)
			}
		}
	}
	return p
}

// To know C against the anchor A, games between the two are best unless those by way of B
// take much less time.
func TestPlanByTime(t *testing.T) {
	for _, c := range []struct {
		ab, bc, ac float64
		direct     bool
	}{{1, 1, 1, true}, {0, 0, 0, true}, {1, 1, 10, false}, {10, 10, 1, true}} {
		p := triangle(c.ab, c.bc, c.ac)
		a, _ := p.Player("A")
		to, _ := p.Player("C")
		r := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: a}}})
		plan := mustPlan(t, p, r, r.Errors, PlanConfig{Margin: 30, Targets: []int{to}})
		games := make(map[[2]int]int)
		for _, m := range plan.Matches {
			games[m.Players] = m.Games
			if (m.Seconds > 0) != (c.ab > 0) {
				t.Errorf("%+v: a match of %g s", c, m.Seconds)
			}
		}
		if direct := games[[2]int{a, to}]; !plan.Reached || direct > 0 != c.direct || c.direct && len(games) > 1 {
			t.Errorf("%+v: planned %v", c, games)
		}
	}
}

// Players who cannot play are in no match, but what is known of them helps.
func TestPlanAmong(t *testing.T) {
	p := triangle(1, 1, 10)
	a, _ := p.Player("A")
	to, _ := p.Player("C")
	r := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: a}}})
	plan := mustPlan(t, p, r, r.Errors, PlanConfig{Margin: 30, Targets: []int{to}, Among: []int{a, to}})
	if !plan.Reached || len(plan.Matches) != 1 || plan.Matches[0].Players != [2]int{a, to} {
		t.Errorf("plan %+v, expected games of the two alone", plan)
	}
	plan = mustPlan(t, p, r, r.Errors, PlanConfig{Margin: 30, Targets: []int{to}, Among: []int{a}})
	if plan.Reached || len(plan.Matches) > 0 {
		t.Errorf("plan %+v, expected none of one player", plan)
	}
}

// A plan's games, played, give errors by resampling near the margin.
func TestPlanPlayed(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 0))
	elo := []float64{-150, -50, 0, 80, 120}
	p := &Pool{}
	play := func(a, b int) {
		game := func(white, black int) PoolGame {
			result := Loss
			if rng.Float64() < ExpectedScore(elo[white]-elo[black]) {
				result = Win
			}
			return PoolGame{White: fmt.Sprint(white), Black: fmt.Sprint(black), Result: result}
		}
		if err := p.Add(game(a, b), game(b, a)); err != nil {
			t.Fatal(err)
		}
	}
	for b := range elo {
		for a := range b {
			for range 20 {
				play(a, b)
			}
		}
	}
	resample := func() (*Ratings, Covariance) {
		r := mustFit(t, p, PoolConfig{})
		s, err := p.Resample(t.Context(), PoolConfig{}, r, 400, rng)
		if err != nil {
			t.Fatal(err)
		}
		return r, s.Errors
	}
	r, errors := resample()
	for _, m := range mustPlan(t, p, r, errors, PlanConfig{Margin: 20}).Matches {
		a, b := numberOf(p, m.Players[0]), numberOf(p, m.Players[1])
		for range m.Games / 2 {
			play(a, b)
		}
	}
	_, errors = resample()
	widest := 0.0
	for i := range elo {
		widest = max(widest, quantile95*errors.SD(i))
	}
	if widest < 17 || widest > 23 {
		t.Errorf("widest error %.1f, expected about 20", widest)
	}
}

// numberOf returns the number that is a player's name.
func numberOf(p *Pool, player int) (n int) {
	fmt.Sscan(p.Players()[player], &n)
	return n
}

// An anchor that is not sure of itself leaves an error that no games take away.
func TestPlanOutOfReach(t *testing.T) {
	p := triangle(1, 1, 1)
	r := mustFit(t, p, PoolConfig{Anchors: []Anchor{{Player: 0, SD: 30}}})
	if plan := mustPlan(t, p, r, r.Errors, PlanConfig{Margin: 20}); plan.Reached || plan.Errors.SD(0) < 29 {
		t.Errorf("reached %v with a deviation of %v", plan.Reached, plan.Errors.SD(0))
	}
	if plan := mustPlan(t, p, r, r.Errors, PlanConfig{Margin: 500}); !plan.Reached || len(plan.Matches) > 0 {
		t.Errorf("plan %+v, expected nothing to play", plan)
	}
}

func TestPlanRefuses(t *testing.T) {
	p := triangle(1, 1, 1)
	r := mustFit(t, p, PoolConfig{})
	other := mustFit(t, randomPool(rand.New(rand.NewPCG(1, 0)), 5, 200), PoolConfig{})
	for _, c := range []struct {
		r      *Ratings
		config PlanConfig
	}{
		{r, PlanConfig{}}, {r, PlanConfig{Margin: math.NaN()}}, {r, PlanConfig{Margin: 20, Targets: []int{3}}},
		{r, PlanConfig{Margin: 20, Targets: []int{-1}}}, {r, PlanConfig{Margin: 20, Among: []int{7}}}, {other, PlanConfig{Margin: 20}},
	} {
		if plan, err := p.Plan(t.Context(), c.r, c.r.Errors, c.config); err == nil {
			t.Errorf("%+v: plan %+v, expected an error", c.config, plan)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Plan(ctx, r, r.Errors, PlanConfig{Margin: 1}); err != context.Canceled {
		t.Errorf("error %v, expected that of the context", err)
	}
}
