package planesfit

import (
	"fmt"
	"math"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// groupCount is into how many groups the parts of a batch go at most. It bounds how
// many workers can share a batch.
const groupCount = 16

// group is what the parts of one group of a batch sum up to, in their order.
type group struct {
	gradient []float32
	// sums are, in the places of the running means and variances, the sums of
	// n·mean and of n·(variance + mean²) over parts of n positions.
	sums    []float64
	first   int // of the running numbers among all parameters
	measure measure
}

// MaxRate is the highest learning rate that a step may have.
const MaxRate = math.MaxFloat32

// Fit makes one step on batch and returns its mean loss before the step. On
// trainer.ErrDiverged nothing has changed.
func (m *Model) Fit(batch []sample.Sample, h trainer.Hyper) (float64, error) {
	if err := trainer.CheckFit(len(batch), h, MaxRate); err != nil {
		return 0, err
	}
	loss := m.differentiate(batch, h.Lambda).loss
	norm := math.Sqrt(squaredNorm(m.gradient))
	if err := trainer.Finite(loss + norm); err != nil {
		return loss, fmt.Errorf("step %d: %w", m.steps+1, err)
	}
	if limit := m.cfg.GradientNorm; limit > 0 && norm > limit {
		kernel.FloatScale(m.gradient, float32(limit/norm))
	}
	m.update(h.LearningRate, len(batch))
	return loss, nil
}

func squaredNorm(x []float32) float64 {
	sum := 0.0
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum
}

// differentiate leaves in m.gradient the derivatives of the batch's mean loss and
// in m.sums the sums of the group type. loss of the result is a mean.
func (m *Model) differentiate(batch []sample.Sample, lambda float64) measure {
	all := m.net.params.all
	m.net.pack(all)
	m.weights = slices.Grow(m.weights[:0], len(batch))[:len(batch)]
	sampleWeights(m.weights, batch, m.cfg.SurpriseShare)
	for i := range m.weights {
		m.weights[i] /= float64(len(batch))
	}
	o := m.objective(lambda)
	count := m.inGroups(len(batch), func(w *work, g *group, from, to int) {
		p := pass{w, all, to - from, true}
		w.load(batch[from:to])
		p.forward()
		part := p.loss(&o, batch[from:to], m.weights[from:to])
		g.measure.add(&part)
		p.back(g.gradient)
	}, true)
	clear(m.gradient)
	clear(m.sums)
	var total measure
	for i := range count {
		g := &m.groups[i]
		kernel.FloatAdd(m.gradient, g.gradient)
		for k, x := range g.sums {
			m.sums[k] += x
		}
		total.add(&g.measure)
	}
	return total
}

// inGroups cuts n positions into parts, gives them to groups, and calls f for each
// part, those of a group one after the other. It returns how many groups there are.
// With learning set, groups begin at zero and take what their worker has summed up.
func (m *Model) inGroups(n int, f func(w *work, g *group, from, to int), learning bool) int {
	parts := (n + m.cfg.Part - 1) / m.cfg.Part
	groups := min(groupCount, parts)
	for len(m.groups) < groups {
		p := m.net.params
		m.groups = append(m.groups, group{make([]float32, p.trained), make([]float64, len(p.running())), p.trained, measure{}})
	}
	for len(m.workers) < min(m.cfg.Workers, groups) {
		m.workers = append(m.workers, newWork(m.net, m.cfg.Part))
	}
	parallel.Do(len(m.workers), groups, func(worker, i int) {
		w, g := m.workers[worker], &m.groups[i]
		g.measure = measure{}
		if learning {
			clear(g.gradient)
			clear(g.sums)
		}
		for k := parts * i / groups; k < parts*(i+1)/groups; k++ {
			f(w, g, n*k/parts, n*(k+1)/parts)
		}
		if learning {
			w.flush(g)
		}
	})
	return groups
}

// flush adds what a worker has summed up to a group, and begins anew.
func (w *work) flush(g *group) {
	for i, u := range w.net.units {
		u.flush(w.units[i], g)
	}
	w.logitsGradient.flush(w.net.logits, g.gradient)
}

// update makes the optimiser's step for a batch of n positions.
func (m *Model) update(rate float64, n int) {
	m.steps++
	rule := m.rule(rate)
	rates := rule.Rates(m.steps-m.born, rate, 1)
	damped, undamped := rule.Update(rates, rate, 1, true), rule.Update(rates, rate, 1, false)
	p := m.net.params
	for _, part := range p.parts {
		u := &undamped
		if part.decays {
			u = &damped
		}
		var second []float32
		if m.second != nil {
			second = part.of(m.second)
		}
		u.Apply(part.of(p.all), part.of(m.first), second, part.of(m.gradient))
	}
	m.follow(n)
	if m.mean != nil {
		kernel.FloatLerp(m.mean, p.all, float32(1-trainer.MeanKeep(m.cfg.MeanDecay, m.steps)))
	}
}

// rule returns the optimiser for a step at a rate.
func (m *Model) rule(rate float64) trainer.Rule {
	c := &m.cfg
	return trainer.Rule{
		Optimiser: c.Optimiser, Momentum: m.momentum(rate), Nesterov: true,
		Beta1: c.Beta1, Beta2: c.Beta2, Epsilon: c.Epsilon,
		WeightDecay: c.WeightDecay, DecayInGradient: true,
	}
}

// momentum returns that of a step at a rate.
func (m *Model) momentum(rate float64) float64 {
	c := &m.cfg
	if c.PeakRate == 0 {
		return c.Momentum
	}
	return c.Momentum - (c.Momentum-c.LeastMomentum)*min(rate/c.PeakRate, 1)
}

// follow moves running means and variances towards those of a batch of n positions.
func (m *Model) follow(n int) {
	p, share := m.net.params, m.cfg.NormMomentum
	for _, u := range m.net.units {
		for i := range u.norm.channels {
			at, square := u.norm.mean.from+i, u.norm.variance.from+i
			mean := m.sums[at-p.trained] / float64(n)
			variance := max(0, m.sums[square-p.trained]/float64(n)-mean*mean)
			p.all[at] += float32(share * (mean - float64(p.all[at])))
			p.all[square] += float32(share * (variance - float64(p.all[square])))
		}
	}
}
