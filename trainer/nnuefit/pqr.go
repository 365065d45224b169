package nnuefit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Triple is a position p of a game, the position q after the move played there,
// and the position r after a random other one. To learn from triples is to learn
// that players choose moves for a reason, without scores or results.
type Triple struct {
	P    sample.Sample
	Q, R chess.Position
}

// TripleCounts says what became of the samples that Triples looked at, each
// under the first of the fields that applies.
type TripleCounts struct {
	Samples  int // all
	NoMove   int // no legal move is known to have been played
	Forced   int // no other move was legal
	Terminal int // the game is over in q or r, of which the features say nothing
	Kept     int
}

// Triples appends to dst a triple for each of the samples that has one. The
// random move is a drop as often as the moves played are, where the player has a
// hand, and then any of its kind: of all legal moves most are drops, and mostly
// senseless, which a net would learn to recognise and nothing else.
func Triples(rng *rand.Rand, samples []sample.Sample, dst []Triple) ([]Triple, TripleCounts) {
	n := TripleCounts{Samples: len(samples)}
	drops := dropShare(samples)
	var legal, others chess.MoveList
	for i := range samples {
		s := &samples[i]
		legal.N = 0
		s.Pos.Legal(&legal)
		move, known := otherMove(rng, s, &legal, &others, drops)
		switch {
		case !known:
			n.NoMove++
			continue
		case move == chess.NoMove:
			n.Forced++
			continue
		}
		t := Triple{P: *s, Q: s.Pos, R: s.Pos}
		t.Q.Make(s.Move)
		t.R.Make(move)
		if !t.Q.HasLegalMove() || !t.R.HasLegalMove() {
			n.Terminal++
			continue
		}
		n.Kept++
		dst = append(dst, t)
	}
	return dst, n
}

// dropShare is how many of the moves that players with a hand made were drops.
func dropShare(samples []sample.Sample) float64 {
	drops, hands := 0, 0
	for i := range samples {
		if s := &samples[i]; s.Pos.Hand(s.Pos.SideToMove()).Total() > 0 {
			hands++
			if s.Move.IsDrop() {
				drops++
			}
		}
	}
	if hands == 0 {
		return 0
	}
	return float64(drops) / float64(hands)
}

// otherMove draws one of the legal moves other than the one played, with the
// given probability a drop if there is the choice; NoMove if there is none. known
// says whether the move played is known and legal. others is scratch space.
func otherMove(rng *rand.Rand, s *sample.Sample, legal, others *chess.MoveList, drops float64) (move chess.Move, known bool) {
	if s.Partial {
		return chess.NoMove, false
	}
	others.N = 0
	dropped := 0
	for _, m := range legal.Slice() {
		switch {
		case m == s.Move:
			known = true
		case m.IsDrop(): // to the front
			others.Add(m)
			others.Moves[dropped], others.Moves[others.N-1] = m, others.Moves[dropped]
			dropped++
		default:
			others.Add(m)
		}
	}
	choice := others.Slice()
	if !known || len(choice) == 0 {
		return chess.NoMove, known
	}
	if dropped > 0 && dropped < len(choice) {
		if rng.Float64() < drops {
			choice = choice[:dropped]
		} else {
			choice = choice[dropped:]
		}
	}
	return choice[rng.IntN(len(choice))], true
}

// PQR holds the settings of learning from triples. With f the net's value for
// the side to move in units of Config.NetScale, a triple's loss is
//
//	−log σ(f(r)−f(q)) − Pair·(log σ(f(p)+f(q)) + log σ(−f(p)−f(q)) + 2·log 2) + Target·t
//
// The player has just moved in q and r and prefers q: it is worse for the
// opponent, whose turn it is. The second term, zero where f(p) = −f(q), says that
// a good move changes nothing; as a move is worth a tempo, which is much in
// crazyhouse, a Pair well below 1 may serve better. t is p's ordinary loss: the
// first two terms rank positions and leave open what a value means.
type PQR struct {
	Pair   float64 // weight of the second term
	Target float64 // weight of p's loss against its score and result
}

// RankingLoss is the name of a Ranker's loss in trainer.Settings.
const RankingLoss Loss = "pqr"

// PQROf returns the weights for a Ranker that settings ask for, nil if theirs is
// another loss.
func PQROf(s trainer.Settings) *PQR {
	if Loss(s.Loss) != RankingLoss {
		return nil
	}
	return &PQR{Pair: s.PQRPair, Target: s.PQRTarget}
}

// terms are the two parts of a triple's loss that are about values alone, with
// their derivatives with respect to the three values.
type terms struct {
	rank, pair float64
	dp, dq, dr float64 // of rank + Pair·pair
}

func (c PQR) terms(p, q, r float64) terms {
	miss, sum := logistic.Sigmoid(q-r), p+q
	pull := c.Pair * (2*logistic.Sigmoid(sum) - 1)
	return terms{
		rank: logistic.Softplus(q - r),
		pair: logistic.Softplus(sum) + logistic.Softplus(-sum) - 2*math.Ln2,
		dp:   pull, dq: miss + pull, dr: -miss,
	}
}

// Validate reports weights out of range. The error wraps trainer.ErrConfig.
func (c PQR) Validate() error {
	wrong := check.Of(trainer.ErrConfig)
	check.Within(wrong, "pqr_pair", c.Pair, 0, 100)
	check.Within(wrong, "pqr_target", c.Target, 0, 100)
	return wrong.Err()
}

// tripleAt returns position i of triples laid out as p, q, r, p, q, r …
func tripleAt(triples []Triple, i int) *chess.Position {
	switch t := &triples[i/3]; i % 3 {
	case 0:
		return &t.P.Pos
	case 1:
		return &t.Q
	default:
		return &t.R
	}
}

// FitPQR makes one step on triples and returns their mean loss before the step.
// h.Lambda is for PQR.Target. On trainer.ErrDiverged nothing has changed.
func (m *Model) FitPQR(triples []Triple, c PQR, h trainer.Hyper) (float64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	if err := trainer.CheckFit(len(triples), h, MaxRate); err != nil {
		return 0, err
	}
	in := m.positions(3*len(triples), func(i int) *chess.Position { return tripleAt(triples, i) })
	in.examples = len(triples)
	objective, mix, losses := m.objective(), m.mix(h.Lambda), make([]terms, len(triples))
	in.outputs = func(all []float32) {
		value := func(i int) float64 { return objective.gain * float64(all[i]) }
		for k := range losses {
			losses[k] = c.terms(value(3*k), value(3*k+1), value(3*k+2))
		}
	}
	in.loss = func(i int, output float64) (loss, derivative float64) {
		t := &losses[i/3]
		switch i % 3 {
		case 1:
			return 0, t.dq * objective.gain
		case 2:
			return 0, t.dr * objective.gain
		}
		loss, derivative = t.rank+c.Pair*t.pair, t.dp*objective.gain
		if c.Target > 0 {
			l, d := objective.at(output, m.target(&triples[i/3].P, mix))
			loss, derivative = loss+c.Target*l, derivative+c.Target*d
		}
		return loss, derivative
	}
	return m.fit(in, h.LearningRate)
}

// PQRLoss is how well a model ranks triples. Losses are means per triple.
type PQRLoss struct {
	Mean    float64 // as FitPQR has it
	Rank    float64 // −log σ(f(r)−f(q)); log 2 for a net that knows nothing
	Pair    float64 // the second term without its weight; 0 where values change signs only
	Ranked  float64 // share of triples with f(r) > f(q), ties half
	Triples int
}

// LossPQR measures the averaged net on triples; it changes nothing.
func (m *Model) LossPQR(triples []Triple, c PQR, lambda float64) (PQRLoss, error) {
	l := PQRLoss{Triples: len(triples)}
	objective, mix := m.objective(), m.mix(lambda)
	var f [3]float64
	m.outputs(3*len(triples), func(i int) *chess.Position { return tripleAt(triples, i) }, func(i int, raw float64) {
		if f[i%3] = raw / m.cfg.NetScale; i%3 < 2 {
			return
		}
		t := c.terms(f[0], f[1], f[2])
		l.Rank += t.rank
		l.Pair += t.pair
		l.Mean += t.rank + c.Pair*t.pair
		if c.Target > 0 {
			p, _ := objective.at(f[0]/objective.gain, m.target(&triples[i/3].P, mix))
			l.Mean += c.Target * p
		}
		switch {
		case f[2] > f[1]:
			l.Ranked++
		case f[2] == f[1]:
			l.Ranked += 0.5
		}
	})
	if n := float64(len(triples)); n > 0 {
		l.Mean, l.Rank, l.Pair, l.Ranked = l.Mean/n, l.Rank/n, l.Pair/n, l.Ranked/n
	}
	return l, trainer.Finite(l.Mean)
}

// Ranker trains a Model on triples made of the samples it is given; it is a
// trainer.Model, which a trainer.Trainer drives with any source. Random moves
// follow from its seed and the number of steps made, so that a run resumed makes
// the same. What else a Model does, it does alike.
type Ranker struct {
	*Model
	settings PQR
	seed     uint64
}

var _ trainer.Model = (*Ranker)(nil)

// NewRanker returns a Ranker of m, which may be new or trained. Errors wrap
// trainer.ErrConfig.
func NewRanker(m *Model, c PQR, seed uint64) (*Ranker, error) {
	return &Ranker{m, c, seed}, c.Validate()
}

// Fit makes one step on the triples of batch and returns their mean loss before
// the step. A batch without any is refused with trainer.ErrConfig.
func (r *Ranker) Fit(batch []sample.Sample, h trainer.Hyper) (float64, error) {
	triples, n := Triples(rand.New(rand.NewPCG(r.seed, r.Steps())), batch, make([]Triple, 0, len(batch)))
	if n.Kept == 0 {
		return 0, fmt.Errorf("%w: no triples in a batch of %d: %d without a known move, %d forced, %d terminal",
			trainer.ErrConfig, n.Samples, n.NoMove, n.Forced, n.Terminal)
	}
	return r.FitPQR(triples, r.settings, h)
}

// Loss measures the averaged net on samples: Mean is the mean loss of their
// triples, the same ones every time, Rank and Ranked are what PQRLoss says of
// them, the rest is as Model.Loss has it.
func (r *Ranker) Loss(samples []sample.Sample, lambda float64) (trainer.Loss, error) {
	l, err := r.Model.Loss(samples, lambda)
	if err != nil {
		return l, err
	}
	triples, _ := Triples(rand.New(rand.NewPCG(r.seed, heldOutStream)), samples, nil)
	ranked, err := r.LossPQR(triples, r.settings, lambda)
	l.Mean, l.Triples, l.Rank, l.Ranked = ranked.Mean, ranked.Triples, ranked.Rank, ranked.Ranked
	return l, err
}

// heldOutStream separates the triples that are measured from those of all steps.
const heldOutStream = math.MaxUint64
