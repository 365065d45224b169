package allocator

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
)

func rules(seed uint64) *Rules {
	return &Rules{Least: []float64{0.2, 0.02, 0.02, 0.02}, Try: 0.5, Step: 0.15, Sure: 2.5, Seed: seed}
}

func start(t *testing.T, r *Rules) State {
	t.Helper()
	s, err := r.Start([]float64{0.7, 0.1, 0.1, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// world earns as much by a division as the logarithms of its shares, weighted: most
// where shares are as the weights, which make 1.
type world struct {
	weights []float64
	sigma   float64 // of a round's earning
	trend   float64 // by which all earnings change from round to round
	steep   float64 // earned in addition at the beginning, half as much every two rounds
	rng     *rand.Rand
}

func (w *world) earns(division []float64, round int) float64 {
	sum := w.sigma*w.rng.NormFloat64() + w.trend*float64(round) + w.steep*math.Exp2(-float64(round)/2)
	for i, s := range division {
		sum += w.weights[i] * math.Log(s)
	}
	return sum
}

// run lets rules find shares in a world and checks what holds in every round.
func (w *world) run(t *testing.T, r *Rules, s *State, n int) (moves int) {
	t.Helper()
	for round := range n {
		division, sum := r.Division(s), 0.0
		for i, d := range division {
			if sum += d; d < r.Least[i]/2 || s.Shares[i] < r.Least[i]-1e-12 {
				t.Fatalf("round %d: division %v of shares %v, expected at least half of %v", round, division, s.Shares, r.Least)
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("round %d: division %v makes %g", round, division, sum)
		}
		if !r.Fits(s) {
			t.Fatalf("round %d: shares %v do not fit %v", round, s.Shares, r.Least)
		}
		before := slices.Clone(s.Shares)
		if r.Next(s, w.earns(division, round)) > 0 {
			moves++
		}
		for i := 1; i < len(before); i++ {
			if q := s.Shares[i] / before[i]; q > 1+r.Step+1e-9 || q < 1/(1+r.Step)-1e-9 {
				t.Fatalf("round %d: shares %v after %v, expected steps of at most %g", round, s.Shares, before, r.Step)
			}
		}
	}
	return moves
}

// TestFindsTheOptimum: the shares come near those that earn most, without noise, with
// noise, and while all earnings fall.
func TestFindsTheOptimum(t *testing.T) {
	weights := []float64{0.4, 0.35, 0.2, 0.05}
	for name, w := range map[string]world{
		"exact": {}, "noise": {sigma: 0.03}, "noise and trend": {sigma: 0.03, trend: -0.02},
	} {
		for seed := range uint64(20) {
			r := rules(seed)
			s := start(t, r)
			w.weights, w.rng = weights, rand.New(rand.NewPCG(seed, 1))
			w.run(t, r, &s, 4*3*150)
			for i, want := range weights {
				if q := s.Shares[i] / want; q < 0.6 || q > 1/0.6 {
					t.Errorf("%s, seed %d: shares %.3f, expected about %v", name, seed, s.Shares, weights)
					break
				}
			}
		}
	}
}

// TestSteepBeginning: what the first rounds of a net earn, a hundred times as much as
// later ones, keeps no share from moving later.
func TestSteepBeginning(t *testing.T) {
	for _, steep := range []float64{0, 100} {
		moves := 0
		for seed := range uint64(20) {
			r := rules(seed)
			s := start(t, r)
			w := world{weights: []float64{0.4, 0.35, 0.2, 0.05}, sigma: 0.03, steep: steep, rng: rand.New(rand.NewPCG(seed, 5))}
			moves += w.run(t, r, &s, 4*3*20)
		}
		if moves < 20*8 {
			t.Errorf("a beginning steeper by %g: %d moves in 20 runs, expected 8 in each", steep, moves)
		}
	}
}

// TestKeepsTheBounds: a consumer that earns nothing keeps its least share, and so does
// the reference.
func TestKeepsTheBounds(t *testing.T) {
	r := rules(1)
	s := start(t, r)
	w := world{weights: []float64{0.1, 1, 1, 0}, rng: rand.New(rand.NewPCG(1, 1))}
	w.run(t, r, &s, 4*3*100)
	if math.Abs(s.Shares[0]-r.Least[0]) > 0.02 || s.Shares[3] != r.Least[3] {
		t.Errorf("shares %.3f, expected %g first and %g last", s.Shares, r.Least[0], r.Least[3])
	}
}

// TestFitsAtTheBound: a reference that gives all it can keeps its least share, whatever
// is rounded.
func TestFitsAtTheBound(t *testing.T) {
	r := &Rules{Least: []float64{0.5, 0.02, 0.02}, Try: 0.5, Step: 0.15}
	s := State{
		Shares: []float64{math.Nextafter(0.5, 1), math.Nextafter(0.25, 1), 0.25},
		Found:  [][]float64{nil, {1, 1}, nil}, Deviations: make([]float64, scatters),
	}
	if !r.move(&s, 1) || !r.Fits(&s) {
		t.Errorf("shares %v, expected one moved, and at least %v", s.Shares, r.Least)
	}
}

// TestNoiseMovesLittle: where every division earns the same, shares hardly move.
func TestNoiseMovesLittle(t *testing.T) {
	const seeds, experiments = 50, 150
	moves, far := 0, 0
	for seed := range uint64(seeds) {
		r := rules(seed)
		s := start(t, r)
		w := world{weights: make([]float64, 4), sigma: 1, rng: rand.New(rand.NewPCG(seed, 2))}
		moves += w.run(t, r, &s, 4*experiments)
		if slices.ContainsFunc(s.Shares[1:], func(share float64) bool { return share < 0.05 || share > 0.2 }) {
			far++
		}
	}
	if mean := float64(moves) / seeds / experiments; mean > 0.05 {
		t.Errorf("%.3f moves an experiment, expected at most 0.05", mean)
	}
	if far > seeds/10 {
		t.Errorf("%d of %d divisions have a share twice as large or half as large as at first", far, seeds)
	}
}

// TestSame: the same earnings give the same shares, across a restart in between two
// experiments too.
func TestSame(t *testing.T) {
	var found [2]State
	for i := range found {
		r := rules(3)
		s := start(t, r)
		w := world{weights: []float64{0.4, 0.35, 0.2, 0.05}, sigma: 0.1, rng: rand.New(rand.NewPCG(3, 3))}
		for range 2 {
			w.run(t, r, &s, 4*60)
			if i == 1 {
				text, err := json.Marshal(s)
				if err != nil {
					t.Fatal(err)
				}
				s = State{}
				if err := json.Unmarshal(text, &s); err != nil || !r.Fits(&s) {
					t.Fatalf("%s: error %v", text, err)
				}
			}
		}
		found[i] = s
	}
	if !reflect.DeepEqual(found[0], found[1]) {
		t.Errorf("found %+v and %+v", found[0], found[1])
	}
}

// TestBrokenOff: rounds of an experiment broken off do not count, nor does what is not
// finite.
func TestBrokenOff(t *testing.T) {
	r := rules(4)
	a, b := start(t, r), start(t, r)
	w := world{weights: []float64{0.4, 0.35, 0.2, 0.05}, rng: rand.New(rand.NewPCG(4, 4))}
	w.run(t, r, &a, 6)
	w.run(t, r, &b, 4)
	a.BreakOff()
	r.Next(&b, 5)
	if r.Next(&b, math.Inf(1)) != 0 || !reflect.DeepEqual(r.Division(&a), r.Division(&b)) || a.Round != 4 || b.Round != 4 {
		t.Errorf("rounds %d and %d, expected 4", a.Round, b.Round)
	}
	w.run(t, r, &a, 8)
	w.run(t, r, &b, 8)
	if !reflect.DeepEqual(a.Found, b.Found) {
		t.Errorf("found %v and %v", a.Found, b.Found)
	}
}

func TestStartRefuses(t *testing.T) {
	r := rules(1)
	for _, shares := range [][]float64{nil, {1}, {0.7, 0.1, 0.2}, {0.7, 0.1, 0.1, 0.2}, {0.9, 0.09, 0.005, 0.005}, {math.NaN(), 0.1, 0.1, 0.1}, {0.6, 0.1, 0.1, 0.1, 0.1}} {
		if _, err := r.Start(shares); err == nil {
			t.Errorf("%v: no error", shares)
		}
	}
	if r.Fits(&State{Shares: []float64{0.7, 0.1, 0.1, 0.1}}) {
		t.Error("a state without findings fits")
	}
}
