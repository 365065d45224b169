package nnuefit

import (
	"fmt"
	"math/rand/v2"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// evalChunk is the number of positions measured at once; it bounds memory.
const evalChunk = 4096

// Model is a float net of one architecture with its optimiser. It is not safe
// for concurrent use; a call spreads over Config.Workers goroutines itself.
type Model struct {
	core *core
	arch nnue.Architecture
	set  features.Set
	cfg  Config

	start   PSQTStart // of rows never touched; empty after Load
	targets []float64 // of the batch, as a win probability
}

// targetBlock is how many targets one parallel task computes.
const targetBlock = 1024

var _ trainer.Model = (*Model)(nil)

// New returns a model with its first weights drawn from seed: layers at random,
// virtual rows at random and real rows at zero, or without factoriser real rows
// at random, the PSQT weights of real rows as Config.PSQTStart says, all stacks
// alike. Errors wrap nnue.ErrArchitecture or trainer.ErrConfig.
func New(arch nnue.Architecture, cfg Config, seed uint64) (*Model, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	set, err := arch.Set()
	if err != nil {
		return nil, err
	}
	s := shape{
		features: set.Size(), anchors: set.Anchors(),
		width: arch.Width, psqt: arch.PSQT, stacks: arch.Stacks, l2: arch.L2, l3: arch.L3,
		square: arch.Activation == nnue.SCReLU, pairs: arch.Activation == nnue.Pairwise,
	}
	if cfg.Factorise {
		s.virtual, s.toVirtual = factoriser(set)
	}
	m := &Model{core: newCore(s, cfg, newScales(arch), quantLimits(set, arch, cfg)), arch: arch, set: set, cfg: cfg, start: cfg.PSQTStart}
	m.core.start(rand.New(rand.NewPCG(seed, startStream)), m.startWeights())
	m.core.startMean(cfg.MeanDecay)
	return m, nil
}

// factoriser returns the number of virtual rows of a set and which of them each
// feature adds to its own: the one it shares with the features that differ in
// the own king's place only. In a sum the features of summands without kings have a
// virtual row each. A set without kings' places has no virtual rows.
func factoriser(set features.Set) (virtual int, toVirtual []int32) {
	shared := false
	toVirtual = make([]int32, set.Size())
	for _, part := range features.Parts(set) {
		groups := features.GroupsOf(part.Set)
		shared = shared || groups.Count > 1
		if h, ok := part.Set.(features.HalfKAv2); ok {
			for f := range h.Size() {
				toVirtual[part.First+f] = int32(virtual + h.Virtual(f))
			}
			virtual += h.VirtualSize()
			continue
		}
		for group := range groups.Count {
			for i := range groups.Size {
				toVirtual[part.First+groups.Feature(group, i)] = int32(virtual + i)
			}
		}
		virtual += groups.Size
	}
	if !shared {
		return 0, nil
	}
	return virtual, toVirtual
}

// startStream separates the first weights from other uses of the same seed.
const startStream = 0x6e6e7565666974 // "nnuefit"

// Architecture returns the shape of the net.
func (m *Model) Architecture() nnue.Architecture { return m.arch }

// Rows returns the numbers of the transformer's rows: of real ones, one for each
// feature, and of virtual ones, which features that differ in the king's place only
// share; without factoriser 0.
func (m *Model) Rows() (real, virtual int) { return m.core.features, m.core.virtual }

// Steps returns the number of optimiser steps made.
func (m *Model) Steps() uint64 { return m.core.optimiser.step }

// ScoreScale returns the scale of sample scores in raw units.
func (m *Model) ScoreScale() float64 { return m.cfg.ScoreScale }

// SetScoreScale changes the scale of sample scores, in raw units, from the next
// batch on; it is part of a checkpoint. See FitScale.
func (m *Model) SetScoreScale(raw float64) error {
	cfg := m.cfg
	cfg.ScoreScale = raw
	if err := cfg.Validate(); err != nil {
		return err
	}
	m.cfg = cfg
	return nil
}

// ScoreOffset returns what is taken from sample scores, in raw units.
func (m *Model) ScoreOffset() float64 { return m.cfg.ScoreOffset }

// SetScoreOffset changes what is taken from sample scores, in raw units, from the next
// batch on; it is part of a checkpoint. See FitScale.
func (m *Model) SetScoreOffset(raw float64) error {
	cfg := m.cfg
	cfg.ScoreOffset = raw
	if err := cfg.Validate(); err != nil {
		return err
	}
	m.cfg = cfg
	return nil
}

// SetQuantise has the net compute with the integer net's rounding, or not, from the
// next batch on, as Config.Quantise does. It is no part of a checkpoint.
func (m *Model) SetQuantise(on bool) { m.cfg.Quantise, m.core.quantised = on, on }

// Fit makes one step on batch and returns its mean loss before the step. On
// trainer.ErrDiverged nothing has changed.
func (m *Model) Fit(batch []sample.Sample, h trainer.Hyper) (float64, error) {
	if err := trainer.CheckFit(len(batch), h, MaxRate); err != nil {
		return 0, err
	}
	in, loss := m.positions(len(batch), func(i int) *chess.Position { return &batch[i].Pos }), m.objective()
	// The loss is asked for stack by stack, when samples have left the cache.
	m.targets = grow(m.targets, len(batch))
	mix := m.mix(h.Lambda)
	parallel.Blocks(m.cfg.Workers, len(batch), targetBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			m.targets[i] = m.target(&batch[i], mix)
		}
	})
	in.loss = func(i int, output float64) (float64, float64) { return loss.at(output, m.targets[i]) }
	return m.fit(in, h.LearningRate)
}

// MaxRate is the highest learning rate that a step may have.
const MaxRate = 1.0

// fit makes a step of the numeric core.
func (m *Model) fit(in *input, lr float64) (float64, error) {
	loss, err := m.core.fit(in, lr)
	if err != nil {
		return loss, fmt.Errorf("step %d: %w", m.Steps()+1, err)
	}
	return loss, nil
}

// positions shows n positions to the numeric core.
func (m *Model) positions(n int, at func(i int) *chess.Position) *input {
	return &input{
		n: n, examples: n,
		features: func(i, side int, dst []int32) []int32 {
			p := at(i)
			return m.set.Active(p, p.SideToMove()^chess.Color(side), dst)
		},
		anchor: func(i, side int) int {
			p := at(i)
			return m.set.Anchor(p, p.SideToMove()^chess.Color(side))
		},
		bucket: func(i int) int { return m.arch.Bucket(at(i)) },
	}
}

// outputs calls f with the averaged net's output for each of n positions, in raw
// units, in order.
func (m *Model) outputs(n int, position func(i int) *chess.Position, f func(i int, raw float64)) {
	c := m.core.averaged()
	for first := 0; first < n; first += evalChunk {
		in := m.positions(min(evalChunk, n-first), func(i int) *chess.Position { return position(first + i) })
		for i, out := range c.evaluate(in) {
			f(first+i, float64(out)*m.core.scales.unit)
		}
	}
}

// sampleOutputs is outputs for samples.
func (m *Model) sampleOutputs(samples []sample.Sample, f func(i int, raw float64)) {
	m.outputs(len(samples), func(i int) *chess.Position { return &samples[i].Pos }, f)
}

// Values returns the averaged net's values of positions in raw units, seen by
// the side to move, in order; it changes nothing.
func (m *Model) Values(positions []chess.Position) []float64 {
	values := make([]float64, 0, len(positions))
	m.outputs(len(positions), func(i int) *chess.Position { return &positions[i] },
		func(_ int, raw float64) { values = append(values, raw) })
	return values
}

// Evaluate is Values for one position.
func (m *Model) Evaluate(p *chess.Position) float64 { return m.Values([]chess.Position{*p})[0] }

// Loss measures the averaged net on samples; it changes nothing.
func (m *Model) Loss(samples []sample.Sample, lambda float64) (trainer.Loss, error) {
	var l trainer.Loss
	results, agree, objective, mix := 0, 0, m.objective(), m.mix(lambda)
	m.sampleOutputs(samples, func(i int, raw float64) {
		s := &samples[i]
		score, result := m.scoreTarget(s), resultTarget(s)
		at := func(target float64) float64 {
			loss, _ := objective.at(raw/m.core.scales.unit, target)
			return loss
		}
		l.Mean += at(mix.Of(s, score, result))
		l.Score += at(score)
		if !s.NoResult {
			results++
			l.Result += at(result)
		}
		if s.Result != 0 {
			l.Decided++
			if raw*float64(s.Result) > 0 {
				agree++
			}
		}
	})
	l.Positions = len(samples)
	if n := float64(l.Positions); n > 0 {
		l.Mean, l.Score = l.Mean/n, l.Score/n
	}
	l.Result /= float64(max(1, results))
	if l.Decided > 0 {
		l.SignAccuracy = float64(agree) / float64(l.Decided)
	}
	return l, trainer.Finite(l.Mean)
}
