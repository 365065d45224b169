package run

import (
	"fmt"
	"slices"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// ErrNoData says that settings name no data. It wraps trainer.ErrConfig.
var ErrNoData = fmt.Errorf("%w: found no data, expected files, directories or replay:DIR", trainer.ErrConfig)

// Check reports settings that no run can follow, as far as that is known
// without the data. Errors wrap trainer.ErrConfig or configs.ErrInvalid, or are those of
// the packages that the settings are for.
func Check(cfg configs.Learn) error {
	_, err := newPlan(cfg)
	return err
}

// plan is the settings of a run in the terms of the packages that follow them.
type plan struct {
	*Training
	cfg     configs.Learn
	filter  sample.Filter
	newbob  trainer.Newbob // off if Decay is 0
	weights []weight       // of the data, nil for all positions alike
}

const (
	mostEpochs = 1_000_000 // so that steps can be counted
	mostMemory = 1 << 20   // MiB
)

// newPlan checks everything that can be checked without the data.
func newPlan(cfg configs.Learn) (*plan, error) {
	p := &plan{cfg: cfg, filter: cfg.Filter()}
	p.filter.SkipDuplicates = cfg.SkipDuplicates
	wrong := check.Of(trainer.ErrConfig)
	wrong.Add(cfg.Validate())
	wrong.Add(CheckSettings(cfg.Kind, cfg.Settings, false))
	if cfg.Kind == configs.NNUE && nnuefit.PQROf(cfg.Settings) != nil {
		p.filter.RequireGame = true
		wrong.Add(checkGames(cfg))
	}
	wrong.That(cfg.Epochs > 0 && cfg.Epochs <= mostEpochs, "epochs", cfg.Epochs, fmt.Sprintf("more than 0 and at most %d", mostEpochs))
	check.Within(wrong, "memory_mb", cfg.MemoryMB, 0, mostMemory)
	wrong.That(cfg.Newest >= 0 && cfg.Newest < 1, "newest", cfg.Newest, "0 to less than 1")
	check.Within(wrong, "newbob_decay", cfg.NewbobDecay, 0, 1)
	for _, n := range []struct {
		key   string
		found int
	}{{"report_every", cfg.ReportEvery}, {"save_every", cfg.SaveEvery}, {"newbob_trials", cfg.NewbobTries}} {
		check.Natural(wrong, n.key, n.found)
	}
	if cfg.NewbobDecay > 0 && cfg.NewbobDecay < 1 { // 1 is how the guide switches it off
		p.newbob = trainer.Newbob{Decay: cfg.NewbobDecay, Trials: cfg.NewbobTries, KeepLatest: cfg.NewbobKeep}
		wrong.Add(p.newbob.Validate())
		wrong.That(cfg.HeldOut > 0, "held_out", cfg.HeldOut, "some positions for newbob to judge by")
	}
	var err error
	if cfg.Weights != "" && len(cfg.Data) > 0 {
		p.weights, err = parseWeights(cfg.Weights, len(cfg.Data))
		wrong.Add(err)
	}
	if err := wrong.Err(); err != nil {
		return nil, err
	}
	if len(cfg.Data) == 0 {
		return nil, ErrNoData
	}
	p.Training, err = NewTraining(cfg.Variant, cfg.Net, cfg.Settings)
	return p, err
}

// checkGames refuses data that make no triples, as they do not say which moves were
// played.
func checkGames(cfg configs.Learn) error {
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
			return fmt.Errorf("%w: %s: found a file of samples, expected whole games for loss pqr: a .chain file or replay:DIR", trainer.ErrConfig, name)
		}
	}
	return nil
}
