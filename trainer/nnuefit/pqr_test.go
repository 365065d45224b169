package nnuefit

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// greedySamples plays games in which every second move takes the most valuable
// piece it can, of which a net can learn that pieces are worth having.
func greedySamples(seed uint64, n int) []sample.Sample {
	rng := rand.New(rand.NewPCG(seed, 97))
	var out []sample.Sample
	var moves chess.MoveList
	for len(out) < n {
		p := chess.Crazyhouse.Start()
		for range 60 {
			moves.N = 0
			if p.Legal(&moves); moves.N == 0 {
				break
			}
			m := moves.Moves[rng.IntN(moves.N)]
			if best := greedy(&p, &moves); best != chess.NoMove && rng.IntN(2) == 0 {
				m = best
				score := balance(&p)
				out = append(out, sample.Sample{Pos: p, Move: m, Result: int8(min(max(score, -1), 1))})
			}
			p.Make(m)
		}
	}
	return out[:n]
}

// greedy is the move that wins most at once, NoMove if none wins anything.
func greedy(p *chess.Position, moves *chess.MoveList) chess.Move {
	best, most := chess.NoMove, -balance(p)
	for _, m := range moves.Slice() {
		after := *p
		after.Make(m)
		if b := balance(&after); b < most { // seen by the opponent
			best, most = m, b
		}
	}
	return best
}

// TestPQRSign holds the loss to its meaning with a value made by hand, material:
// who takes a queen rather than move a pawn has moved well.
func TestPQRSign(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/3q4/4P3/8/P7/4K3[] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	after := func(uci string) float64 {
		m, err := p.ParseUCI(uci)
		if err != nil {
			t.Fatal(err)
		}
		next := p
		next.Make(m)
		return float64(balance(&next)) / 100
	}
	good, bad := after("e4d5"), after("a2a3")
	if good >= 0 {
		t.Fatalf("the opponent is %g up after losing a queen", good)
	}
	value := float64(balance(&p)) / 100
	right, wrong := PQR{}.terms(value, good, bad), PQR{}.terms(value, bad, good)
	if !(right.rank < 0.01 && wrong.rank > 5) {
		t.Errorf("loss %g of taking the queen, %g of leaving it", right.rank, wrong.rank)
	}
	if !(wrong.dq > 0.9 && wrong.dr < -0.9) {
		t.Errorf("derivatives %g, %g do not lower the played move's value for the opponent", wrong.dq, wrong.dr)
	}
}

// TestPQRTerms holds constants and derivatives of the loss.
func TestPQRTerms(t *testing.T) {
	if x := (PQR{Pair: 1}).terms(0, 0, 0); math.Abs(x.rank-math.Ln2) > 1e-12 || math.Abs(x.pair) > 1e-12 {
		t.Errorf("a net that knows nothing has %g and %g", x.rank, x.pair)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		c := PQR{Pair: rng.Float64()}
		f := [3]float64{6 * rng.NormFloat64(), 6 * rng.NormFloat64(), 6 * rng.NormFloat64()}
		at := func(i int, d float64) float64 {
			g := f
			g[i] += d
			x := c.terms(g[0], g[1], g[2])
			return x.rank + c.Pair*x.pair
		}
		x := c.terms(f[0], f[1], f[2])
		if x.pair < -1e-12 || math.Abs(c.terms(f[0], -f[0], 0).pair) > 1e-12 {
			t.Fatalf("pair %g of %v", x.pair, f)
		}
		for i, got := range []float64{x.dp, x.dq, x.dr} {
			const eps = 1e-5
			if want := (at(i, eps) - at(i, -eps)) / (2 * eps); math.Abs(got-want) > 1e-6 {
				t.Fatalf("derivative %d at %v is %g, want %g", i, f, got, want)
			}
		}
	}
}

// TestTriples holds the rules by which triples are made.
func TestTriples(t *testing.T) {
	samples := greedySamples(50, 800)
	samples[0].Move = chess.NoMove
	samples[1].Partial = true
	for i, forced := range map[int]string{
		2: "k7/8/8/8/8/8/8/1R5K[] b - - 0 1",  // a8a7 is all there is
		3: "k7/8/1K6/8/8/8/8/7R[p] w - - 0 1", // h1h8 mates
	} {
		p, err := chess.ParseFEN(chess.Crazyhouse, forced)
		if err != nil {
			t.Fatal(err)
		}
		samples[i] = sample.Sample{Pos: p}
		if samples[i].Move, err = p.ParseUCI(map[int]string{2: "a8a7", 3: "h1h8"}[i]); err != nil {
			t.Fatal(err)
		}
	}
	triples, n := Triples(rand.New(rand.NewPCG(2, 2)), samples, nil)
	if n.Samples != len(samples) || n.NoMove != 2 || n.Forced < 1 || n.Terminal < 1 || n.Kept != len(triples) ||
		n.NoMove+n.Forced+n.Terminal+n.Kept != n.Samples {
		t.Errorf("counts %+v for %d triples", n, len(triples))
	}
	drops, hands := 0, 0
	for i := range triples {
		x := &triples[i]
		if x.Q == x.R || x.Q.SideToMove() != x.R.SideToMove() || x.Q.SideToMove() == x.P.Pos.SideToMove() {
			t.Fatalf("triple %d of %s: q %s, r %s", i, x.P.Pos.FEN(), x.Q.FEN(), x.R.FEN())
		}
		if !x.Q.HasLegalMove() || !x.R.HasLegalMove() {
			t.Fatalf("triple %d ends the game", i)
		}
		us := x.P.Pos.SideToMove()
		if before := x.P.Pos.Hand(us).Total(); before > 0 {
			hands++
			if x.R.Hand(us).Total() < before {
				drops++
			}
		}
	}
	// Greedy players never drop.
	if want := dropShare(samples) * float64(hands); hands < 50 || math.Abs(float64(drops)-want) > 0.1*float64(hands) {
		t.Errorf("%d drops in %d triples with a hand, expected about %g", drops, hands, want)
	}
	again, _ := Triples(rand.New(rand.NewPCG(2, 2)), samples, nil)
	for i := range again {
		if again[i] != triples[i] {
			t.Fatal("the same seed gives other triples")
		}
	}
}

// TestDropsByShare draws other moves where both kinds are legal.
func TestDropsByShare(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QRN] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	s := sample.Sample{Pos: p}
	if s.Move, err = p.ParseUCI("e1e2"); err != nil {
		t.Fatal(err)
	}
	var legal, others chess.MoveList
	p.Legal(&legal)
	rng := rand.New(rand.NewPCG(3, 3))
	const n = 2000
	drops := 0
	for range n {
		m, known := otherMove(rng, &s, &legal, &others, 0.3)
		if !known || m == s.Move || !p.IsLegal(m) {
			t.Fatalf("drew %v", m)
		}
		if m.IsDrop() {
			drops++
		}
	}
	if math.Abs(float64(drops)/n-0.3) > 0.05 {
		t.Errorf("%d drops of %d, expected three in ten", drops, n)
	}
}

// TestFitPQR learns to rank, from first weights and from a checkpoint of ordinary
// training, with workers that make no difference.
func TestFitPQR(t *testing.T) {
	arch := architectures()["All + Hand"]
	samples := greedySamples(51, 1000)
	known, held := samples[:700], samples[700:]
	settings := PQR{Pair: 0.1, Target: 0.1}
	cfg := testConfig()
	cfg.MeanDecay = 0
	var saved bytes.Buffer
	trained, err := New(arch, cfg, 1)
	if err != nil {
		t.Fatal(err)
	}
	fit(t, trained, randomSamples(52, 300), 300, 2)
	if err := trained.Checkpoint(&saved); err != nil {
		t.Fatal(err)
	}
	for name, checkpoint := range map[string][]byte{"scratch": nil, "checkpoint": saved.Bytes()} {
		var rankers [2]*Ranker
		for i := range rankers {
			cfg.Workers = 1 + 3*i
			m, err := New(arch, cfg, 2)
			if err != nil {
				t.Fatal(err)
			}
			if checkpoint != nil {
				if err := m.Restore(bytes.NewReader(checkpoint)); err != nil {
					t.Fatal(err)
				}
			}
			if rankers[i], err = NewRanker(m, settings, 7); err != nil {
				t.Fatal(err)
			}
		}
		r := rankers[0]
		triples, _ := Triples(rand.New(rand.NewPCG(4, 4)), held, nil)
		before, err := r.LossPQR(triples, settings, 0)
		if err != nil {
			t.Fatal(err)
		}
		for step := range 30 {
			for i, r := range rankers {
				if i == 1 && step >= 5 {
					continue
				}
				if _, err := r.Fit(known, trainer.Hyper{LearningRate: 3e-3}); err != nil {
					t.Fatal(err)
				}
			}
			if step == 4 {
				sameBits(t, rankers[0].core, rankers[1].core)
			}
		}
		after, err := r.LossPQR(triples, settings, 0)
		if err != nil {
			t.Fatal(err)
		}
		if !(after.Ranked > 0.85 && after.Mean < 0.8*before.Mean && after.Triples == len(triples)) {
			t.Errorf("%s: held-out %+v after training, %+v before", name, after, before)
		}
		l, err := r.Loss(held, 0)
		if err != nil {
			t.Fatal(err)
		}
		if plain, _ := r.Model.Loss(held, 0); l.Mean == plain.Mean || l.Result != plain.Result {
			t.Errorf("%s: Ranker's loss %+v, model's %+v", name, l, plain)
		}
	}
}

func TestFitPQRRefuses(t *testing.T) {
	m := newModel(t, nnue.Narrow(16), 1)
	if _, err := m.FitPQR(nil, PQR{}, testHyper); !errors.Is(err, trainer.ErrConfig) {
		t.Errorf("no triples: %v", err)
	}
	for _, c := range []PQR{{Pair: -1}, {Target: math.NaN()}} {
		if _, err := NewRanker(m, c, 1); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
		if _, err := m.FitPQR(make([]Triple, 1), c, testHyper); !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	r, err := NewRanker(m, PQR{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Fit(randomSamples(1, 5), testHyper); !errors.Is(err, trainer.ErrConfig) { // no moves in them
		t.Errorf("samples without moves: %v", err)
	}
}
