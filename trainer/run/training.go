package run

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

// Training is a net and how it is trained, in the terms of the packages that do it:
// what a run on given data and a loop have in common.
type Training struct {
	Variant  *chess.Variant
	Kind     string // configs.NNUE or configs.Planes
	Settings trainer.Settings

	nnue   nnue.Architecture // of kind nnue
	planes arch.Architecture // of kind planes
	pqr    *nnuefit.PQR      // nil unless the loss is of triples
}

// anySteps stands for the length of a run that is not known yet. Which values a
// schedule takes does not depend on it.
const anySteps = 1000

// CheckSettings reports every setting that a net of the kind cannot be trained by,
// by its name. Endless says that the training has no end, as a loop's. Errors wrap
// trainer.ErrConfig.
func CheckSettings(kind string, s trainer.Settings, endless bool) error {
	wrong := check.Of(trainer.ErrConfig)
	total := uint64(anySteps)
	if endless {
		total = 0
	}
	t := Training{Kind: kind, Settings: s}
	_, err := t.Config(0, total)
	wrong.Add(err)
	if kind == configs.Planes {
		wrong.Add(planesfit.ConfigOf(s, 0).Validate())
		wrong.That(!s.QuietLeaf, "quiet_leaf", s.QuietLeaf, "false with planes: a leaf has no move to learn")
		return wrong.Err()
	}
	wrong.Add(nnuefit.ConfigOf(s).Validate())
	if pqr := nnuefit.PQROf(s); pqr != nil {
		wrong.Add(pqr.Validate())
		wrong.That(!s.QuietLeaf, "quiet_leaf", s.QuietLeaf, "false with loss pqr: a leaf has no move to learn")
		wrong.That(s.Mirror == 0, "mirror", s.Mirror, "0 with loss pqr: mirror images are of no game")
	}
	return wrong.Err()
}

// NewTraining returns the training of a net by settings that CheckSettings has no
// objection to. Errors wrap configs.ErrInvalid.
func NewTraining(variant string, net configs.Net, s trainer.Settings) (*Training, error) {
	t := &Training{Kind: net.Kind, Settings: s}
	var err error
	if t.Variant, err = chess.ParseVariant(variant); err != nil {
		return nil, err
	}
	if net.Kind == configs.Planes {
		t.planes, err = net.Shape()
		return t, err
	}
	t.nnue, err = net.Architecture(variant)
	t.pqr = nnuefit.PQROf(s)
	return t, err
}

// Config returns the settings of a Trainer for a run of total steps, 0 for one
// without end.
func (t *Training) Config(seed, total uint64) (trainer.Config, error) {
	if t.Kind == configs.Planes {
		return t.Settings.Config(seed, total, planesfit.MaxRate)
	}
	return t.Settings.Config(seed, total, nnuefit.MaxRate)
}

// Model is a net that is trained: an *nnuefit.Model, an *nnuefit.Ranker or a
// *planesfit.Model.
type Model interface {
	trainer.Model
	// ScoreScale returns the scale of scores in raw units.
	ScoreScale() float64
	SetScoreScale(raw float64) error
}

// NewModel returns a model with nothing learned, with its first weights drawn from
// seed, for a run of total steps, 0 for one without end, by a schedule of the
// learning rate.
func (t *Training) NewModel(rate trainer.Schedule, total, seed uint64) (Model, error) {
	if t.Kind == configs.Planes {
		return planesfit.New(t.planes, t.Variant, planesfit.ConfigOf(t.Settings, peak(rate, total)), seed)
	}
	m, err := nnuefit.New(t.nnue, nnuefit.ConfigOf(t.Settings), seed)
	if err != nil || t.pqr == nil {
		return m, err
	}
	return nnuefit.NewRanker(m, *t.pqr, seed)
}

// peak returns the highest learning rate in a run of total steps, of one without
// end the highest that the schedule can get to.
func peak(rate trainer.Schedule, total uint64) float64 {
	if total == 0 {
		return rate.Max()
	}
	highest := 0.0
	for step := range total {
		highest = max(highest, rate.At(step))
	}
	return highest
}

// nnueOf returns the NNUE model that is, or is within, m.
func nnueOf(m Model) (*nnuefit.Model, bool) {
	if r, ok := m.(*nnuefit.Ranker); ok {
		return r.Model, true
	}
	n, ok := m.(*nnuefit.Model)
	return n, ok
}

// SetQuantise has an NNUE model compute with its integer net's rounding, or not.
func SetQuantise(m Model, on bool) {
	if n, ok := nnueOf(m); ok {
		n.SetQuantise(on)
	}
}

// Scores say which win probabilities scores of samples stand for, in raw units:
// σ((score − Offset) / Scale). Only NNUE models have an offset.
type Scores struct{ Scale, Offset float64 }

// ScoresOf returns what a model takes scores for.
func ScoresOf(m Model) Scores {
	s := Scores{Scale: m.ScoreScale()}
	if n, ok := nnueOf(m); ok {
		s.Offset = n.ScoreOffset()
	}
	return s
}

// Set has a model take scores so.
func (s Scores) Set(m Model) error {
	if n, ok := nnueOf(m); ok {
		if err := n.SetScoreOffset(s.Offset); err != nil {
			return err
		}
	}
	return m.SetScoreScale(s.Scale)
}

// FitScores has a model take scores for what samples say, with fit_offset the offset
// too, and returns both. Samples that do not determine it leave the model as it is: the
// error wraps nnuefit.ErrNoFit.
func (t *Training) FitScores(m Model, samples []sample.Sample) (found Scores, err error) {
	found.Offset, found.Scale, err = nnuefit.FitScale(samples)
	if err != nil {
		return Scores{}, err
	}
	used := found
	if !t.Settings.FitOffset {
		used.Offset = 0
	}
	return found, used.Set(m)
}

// Architecture returns the net's architecture in words.
func (t *Training) Architecture() string {
	if t.Kind == configs.Planes {
		return t.planes.String()
	}
	return t.nnue.String()
}

// Describe fills in what a net of the training is, made by a model.
func (t *Training) Describe(m *nets.Manifest, of Model) {
	m.Kind, m.Architecture = t.Kind, t.Architecture()
	if t.Kind == configs.Planes {
		m.Features = planes.EncoderVersion
		return
	}
	m.Features = t.nnue.Features
	if n, ok := nnueOf(of); ok {
		m.PSQTStart = string(n.PSQTStart())
	}
}
