package planesfit

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// objective is what a net is measured against.
type objective struct {
	policy, value, plies float64 // weights
	scale                float64 // of scores, in centipawns
	mix                  trainer.Mix
}

func (m *Model) objective(lambda float64) objective {
	c := &m.cfg
	mix := trainer.Mix{Lambda: lambda, Limit: c.LambdaLimit, Beyond: c.LambdaBeyond}
	return objective{c.PolicyWeight, c.ValueWeight, c.PliesWeight, c.ScoreScale / search.RawPerCentipawn, mix}
}

// outcome is the probabilities of loss, draw and win of the side to move.
type outcome [3]float64

// scored returns what a sample's score stands for.
func (o *objective) scored(s *sample.Sample) outcome {
	win := logistic.Sigmoid(float64(s.ScoreOr0()) / o.scale)
	return outcome{1 - win, 0, win}
}

// ended returns a sample's result.
func ended(s *sample.Sample) (t outcome) {
	t[s.Result+1] = 1
	return t
}

// mixed returns what the net should say.
func (o *objective) mixed(s *sample.Sample) outcome {
	t, result := o.scored(s), ended(s)
	for i := range t {
		t[i] = o.mix.Of(s, t[i], result[i])
	}
	return t
}

// measure is sums over positions.
type measure struct {
	loss                 float64 // weighed, samples included
	policy               float64 // the part of it that is of moves, not weighed
	score, result        float64 // of the value against these alone
	moves, hits          int     // positions whose move is known, and those whose likeliest it is
	results              int     // positions with a result
	decided, rightWinner int
}

func (m *measure) add(x *measure) {
	m.loss += x.loss
	m.policy += x.policy
	m.score += x.score
	m.result += x.result
	m.moves += x.moves
	m.hits += x.hits
	m.results += x.results
	m.decided += x.decided
	m.rightWinner += x.rightWinner
}

// loss measures the outputs for a part of a batch, of which weights say how much
// each position counts, and puts the derivatives of its weighed loss in their
// place.
func (p *pass) loss(o *objective, samples []sample.Sample, weights []float64) measure {
	var m measure
	logits := p.logits
	for i := range samples {
		s, weight := &samples[i], weights[i]
		image := logits.Data[i*logits.Stride() : (i+1)*logits.Stride()]
		m.loss += weight * o.policy * p.targets.policyLoss(&m, image, i, weight*o.policy)
		m.loss += weight * o.value * p.heads.valueLoss(&m, p.net, o, s, i, weight*o.value)
		if p.net.plies != nil {
			m.loss += weight * o.plies * p.heads.pliesLoss(s, i, weight*o.plies)
		}
	}
	return m
}

// policyLoss is the cross-entropy of the moves of position i. It replaces the image
// of logits by derivatives times weight.
func (t *targets) policyLoss(m *measure, image []float32, i int, weight float64) float64 {
	from, to := t.from[i], t.from[i+1]
	if !t.known[i] {
		clear(image)
		return 0
	}
	cells, wanted := t.cells[from:to], t.wanted[from:to]
	most, first, best := math.Inf(-1), 0, 0
	for k, cell := range cells {
		if x := float64(image[cell]); x > most {
			most, first = x, k
		}
		if wanted[k] > wanted[best] {
			best = k
		}
	}
	sum, inner := 0.0, 0.0
	for k, cell := range cells {
		x := float64(image[cell]) - most
		sum += math.Exp(x)
		inner += wanted[k] * x
	}
	derivatives := make([]float32, len(cells))
	for k, cell := range cells {
		q := math.Exp(float64(image[cell])-most) / sum
		derivatives[k] = float32(weight * (q - wanted[k]))
	}
	clear(image)
	for k, cell := range cells {
		image[cell] = derivatives[k]
	}
	m.moves++
	if first == best {
		m.hits++
	}
	loss := math.Log(sum) - inner
	m.policy += loss
	return loss
}

// valueLoss is the loss of the value of position i. It replaces the output by its
// derivative times weight.
func (h *heads) valueLoss(m *measure, n *net, o *objective, s *sample.Sample, i int, weight float64) float64 {
	target := o.mixed(s)
	var against func(t outcome) float64
	value := 0.0
	if n.wdl != nil {
		z := h.wdl[3*i : 3*i+3]
		most := float64(max(z[0], z[1], z[2]))
		sum := 0.0
		for _, x := range z {
			sum += math.Exp(float64(x) - most)
		}
		var logs outcome
		for k, x := range z {
			logs[k] = float64(x) - most - math.Log(sum)
			z[k] = float32(weight * (math.Exp(logs[k]) - target[k]))
		}
		value = math.Exp(logs[2]) - math.Exp(logs[0])
		against = func(t outcome) float64 { return -t[0]*logs[0] - t[1]*logs[1] - t[2]*logs[2] }
	} else {
		value = math.Tanh(float64(h.value[i]))
		h.value[i] = float32(weight * 2 * (value - target[2] + target[0]) * (1 - value*value))
		against = func(t outcome) float64 { return (t[2] - t[0] - value) * (t[2] - t[0] - value) }
	}
	m.score += against(o.scored(s))
	if !s.NoResult {
		m.results++
		m.result += against(ended(s))
	}
	if s.Result != 0 {
		m.decided++
		if value*float64(s.Result) > 0 {
			m.rightWinner++
		}
	}
	return against(target)
}

// pliesLoss is the loss of the plies left in position i, otherwise as valueLoss.
func (h *heads) pliesLoss(s *sample.Sample, i int, weight float64) float64 {
	if s.PliesLeft == 0 {
		h.plies[i] = 0
		return 0
	}
	q := logistic.Sigmoid(float64(h.plies[i]))
	e := q - min(float64(s.PliesLeft)/planes.PliesScale, 1)
	h.plies[i] = float32(weight * 2 * e * q * (1 - q))
	return e * e
}
