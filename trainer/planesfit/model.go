package planesfit

import (
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Model is a net of one architecture with its optimiser. It is not safe for
// concurrent use; a call spreads over Config.Workers goroutines itself.
type Model struct {
	net     *net
	variant *chess.Variant
	cfg     Config

	steps, born   uint64    // made, and when the moments began at zero
	first, second []float32 // moments of the derivatives; SGD has but the first
	mean          []float32 // the averaged net, in the order of all parameters; nil: none

	gradient []float32 // of the last batch
	sums     []float64 // of its groups
	weights  []float64 // of its samples
	groups   []group
	workers  []*work
}

var _ trainer.Model = (*Model)(nil)

// New returns a model with its first weights drawn from seed, see
// arch.Architecture.New. Errors wrap arch.ErrArchitecture or trainer.ErrConfig.
func New(a arch.Architecture, v *chess.Variant, cfg Config, seed uint64) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	tensors, err := a.New(rand.New(rand.NewPCG(seed, startStream)))
	if err != nil {
		return nil, err
	}
	return newModel(a, tensors, v, cfg), nil
}

// startStream separates the first weights from other uses of the same seed.
const startStream = 0x706c616e6573 // "planes"

// newModel returns a model that goes on from the numbers of tensors.
func newModel(a arch.Architecture, tensors arch.Params, v *chess.Variant, cfg Config) *Model {
	m := &Model{net: newNet(a, tensors), variant: v, cfg: cfg}
	p := m.net.params
	m.gradient, m.sums = make([]float32, p.trained), make([]float64, len(p.running()))
	m.first = make([]float32, p.trained)
	if cfg.Optimiser == trainer.AdamW {
		m.second = make([]float32, p.trained)
	}
	if cfg.MeanDecay > 0 {
		m.mean = slices.Clone(p.all)
	}
	return m
}

// Architecture returns the shape of the net.
func (m *Model) Architecture() arch.Architecture { return m.net.arch }

// Steps returns the number of optimiser steps made.
func (m *Model) Steps() uint64 { return m.steps }

// ScoreScale returns the scale of sample scores in raw units.
func (m *Model) ScoreScale() float64 { return m.cfg.ScoreScale }

// SetScoreScale changes the scale of sample scores, in raw units, from the next
// batch on; it is part of a checkpoint.
func (m *Model) SetScoreScale(raw float64) error {
	cfg := m.cfg
	cfg.ScoreScale = raw
	if err := cfg.Validate(); err != nil {
		return err
	}
	m.cfg = cfg
	return nil
}

// averaged returns the numbers of the averaged net, or the net's where there is no
// average.
func (m *Model) averaged() []float32 {
	if m.mean != nil {
		return m.mean
	}
	return m.net.params.all
}

// Loss measures the averaged net on samples; it changes nothing. Score and Result
// of the result are those of the value alone.
func (m *Model) Loss(samples []sample.Sample, lambda float64) (trainer.Loss, error) {
	total := m.measure(samples, lambda, nil)
	n := float64(max(1, len(samples)))
	l := trainer.Loss{
		Mean: total.loss / n, Score: total.score / n, Result: total.result / float64(max(1, total.results)),
		Positions: len(samples), Decided: total.decided, Moves: total.moves,
		Policy:       total.policy / float64(max(1, total.moves)),
		MoveAccuracy: float64(total.hits) / float64(max(1, total.moves)),
		SignAccuracy: float64(total.rightWinner) / float64(max(1, total.decided)),
	}
	return l, trainer.Finite(l.Mean)
}

// Values returns the averaged net's expected results, −1 to 1, of positions for the
// side to move; it changes nothing.
func (m *Model) Values(samples []sample.Sample) []float64 {
	values := make([]float64, len(samples))
	m.measure(samples, 1, func(p *pass, from int) {
		for i := range p.n {
			values[from+i] = p.heads.result(p.net, i)
		}
	})
	return values
}

// measure adds up the losses of samples and gives see, if it is not nil, each part
// of them with the outputs of the averaged net, before their activations.
func (m *Model) measure(samples []sample.Sample, lambda float64, see func(p *pass, from int)) measure {
	all := m.averaged()
	m.net.pack(all)
	ones := make([]float64, len(samples))
	for i := range ones {
		ones[i] = 1
	}
	o := m.objective(lambda)
	count := m.inGroups(len(samples), func(w *work, g *group, from, to int) {
		p := pass{w, all, to - from, false}
		w.load(samples[from:to])
		p.forward()
		if see != nil {
			see(&p, from)
		}
		part := p.loss(&o, samples[from:to], ones[from:to])
		g.measure.add(&part)
	}, false)
	var total measure
	for i := range count {
		total.add(&m.groups[i].measure)
	}
	return total
}
