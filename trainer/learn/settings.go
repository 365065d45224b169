package learn

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
	"github.com/crazyhouse-rl/selfplay/trainer/planesfit"
)

// ErrConfig says that a setting is out of range.
var ErrConfig = errors.New("unusable settings")

// ErrNoData says that settings name no data. It wraps ErrConfig.
var ErrNoData = fmt.Errorf("%w: found no data, expected files, directories or replay:DIR", ErrConfig)

// Check reports settings that no run can follow, as far as that can be told
// without the data. Errors wrap ErrConfig or configs.ErrInvalid, or are those of
// the packages that the settings are for.
func Check(cfg configs.Learn) error {
	_, err := newPlan(cfg)
	return err
}

// plan is the settings of a run in the terms of the packages that follow them.
type plan struct {
	cfg     configs.Learn
	variant *chess.Variant
	arch    nnue.Architecture
	fit     nnuefit.Config
	filter  sample.Filter
	planes  *planesPlan    // nil: an NNUE net
	pqr     *nnuefit.PQR   // nil unless the loss is of triples
	newbob  trainer.Newbob // off if Decay is 0
	weights []weight       // of the data, nil for all positions alike
}

// newPlan checks everything that can be checked without the data.
func newPlan(cfg configs.Learn) (*plan, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	p := &plan{cfg: cfg, fit: fitConfig(cfg), filter: filter(cfg)}
	var err error
	if p.variant, err = chess.ParseVariant(cfg.Variant); err != nil {
		return nil, err
	}
	if p.arch, err = cfg.Architecture(cfg.Variant); err != nil {
		return nil, err
	}
	switch {
	case cfg.Kind == configs.Planes:
		p.planes, err = newPlanesPlan(cfg)
	case cfg.Loss != pqrLoss && !slices.Contains(nnuefit.Losses(), nnuefit.Loss(cfg.Loss)):
		err = fmt.Errorf("%w: loss: found %q, expected one of %q or %q", ErrConfig, cfg.Loss, nnuefit.Losses(), pqrLoss)
	default:
		err = p.fit.Validate()
	}
	if err != nil {
		return nil, err
	}
	if cfg.Loss == pqrLoss && p.planes == nil {
		p.pqr = &nnuefit.PQR{Pair: cfg.PQRPair, Target: cfg.PQRTarget}
		if err := p.pqr.Validate(); err != nil {
			return nil, err
		}
		p.filter.RequireGame = true
		if err := checkGames(cfg); err != nil {
			return nil, err
		}
	}
	if err := checkSchedules(cfg); err != nil {
		return nil, err
	}
	if cfg.NewbobDecay > 0 && cfg.NewbobDecay < 1 { // 1 is how the guide switches it off
		p.newbob = trainer.Newbob{Decay: cfg.NewbobDecay, Trials: cfg.NewbobTries, KeepLatest: cfg.NewbobKeep}
		if cfg.HeldOut == 0 {
			return nil, fmt.Errorf("%w: found newbob with 0 positions to measure, expected some", ErrConfig)
		}
	}
	if len(cfg.Data) == 0 {
		return nil, ErrNoData
	}
	if cfg.Weights != "" {
		if p.weights, err = parseWeights(cfg.Weights, len(cfg.Data)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// checkSchedules refuses schedules that cannot be read or that some step of a run,
// however long, could not follow.
func checkSchedules(cfg configs.Learn) error {
	rate := nnuefit.MaxRate
	if cfg.Kind == configs.Planes {
		rate = planesfit.MaxRate
	}
	for _, s := range []struct {
		key, text string
		most      float64
	}{{"lr", cfg.LR, rate}, {"lambda", cfg.Lambda, 1}} {
		const any = 1000 // steps, which a schedule's highest value does not depend on
		schedule, err := trainer.ParseSchedule(s.text, any)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrConfig, s.key, err)
		}
		if highest := schedule.Max(); highest > s.most {
			return fmt.Errorf("%w: %s: found %q, which reaches %g, expected at most %g", ErrConfig, s.key, s.text, highest, s.most)
		}
	}
	return nil
}

// pqrLoss is the loss of triples among the values of the setting loss.
const pqrLoss = "pqr"

// checkGames refuses what makes no triples: data that do not say which moves were
// played, and mirror images, which have none.
func checkGames(cfg configs.Learn) error {
	if cfg.Mirror > 0 {
		return fmt.Errorf("%w: found mirror %g with loss pqr, expected 0", ErrConfig, cfg.Mirror)
	}
	names := cfg.Data
	if cfg.Validation != "" {
		names = append(slices.Clone(names), cfg.Validation)
	}
	for _, name := range names {
		format, err := dataset.FormatOf(name)
		if err != nil {
			return err
		}
		if format != dataset.Chain && format != dataset.Replay {
			return fmt.Errorf("%w: %s: found a file of samples, expected whole games for loss pqr: a .chain file or replay:DIR", ErrConfig, name)
		}
	}
	return nil
}

func fitConfig(cfg configs.Learn) nnuefit.Config {
	c := nnuefit.DefaultConfig()
	c.NetScale, c.Power = cfg.NetScale, cfg.Power
	if cfg.ScoreScale > 0 {
		c.ScoreScale = cfg.ScoreScale
	}
	if c.Loss = nnuefit.Loss(cfg.Loss); cfg.Loss == pqrLoss {
		c.Loss = nnuefit.PowerLoss // of the target
	}
	c.LambdaLimit, c.LambdaBeyond = search.Score(min(cfg.LambdaLimit, int(sample.MaxScore))), cfg.Lambda2
	c.Optimiser, c.Momentum, c.Nesterov = trainer.Optimiser(cfg.Optimiser), cfg.Momentum, cfg.Nesterov
	c.HiddenLimit, c.OutputLimit, c.TransformerLimit = cfg.HiddenLimit, cfg.OutputLimit, cfg.TransformerLimit
	c.GradientNorm, c.Quantise = cfg.GradientNorm, cfg.Quantise
	c.WeightDecay, c.MeanDecay = cfg.WeightDecay, cfg.MeanDecay
	c.PSQTStart = nnuefit.PSQTStart(cfg.PSQTStart)
	c.RowRate, c.Epsilon, c.Factorise = cfg.RowRate, cfg.Epsilon, cfg.Factorise
	if c.Workers = cfg.Workers; c.Workers == 0 {
		c.Workers = runtime.GOMAXPROCS(0)
	}
	return c
}

func filter(cfg configs.Learn) sample.Filter {
	return sample.Filter{
		SkipInCheck: cfg.SkipInCheck, SkipCaptures: cfg.SkipCaptures, RequireScore: cfg.RequireScore,
		MinPly: cfg.MinPly, MaxScore: search.Score(min(cfg.MaxScore, int(sample.MaxScore))),
		ThinPly: cfg.ThinPly, SkipDraws: cfg.SkipDraws, Keep: sample.KeepOf(cfg.RandomSkip), SkipDuplicates: cfg.SkipDuplicates,
	}
}
