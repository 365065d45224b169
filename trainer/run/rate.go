package run

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Measuring how fast a trainer learns: rounds, the median of which counts.
const (
	rateRounds = 5
	rateSpell  = 500 * time.Millisecond // of CPU time, the least of a round
)

// Rate trains by settings for a few seconds and returns from how many positions the trainer
// learns in a second of one core: of CPU time of this process, which should do nothing else.
// Batches are drawn as in a run; validations and checkpoints do not count. Nothing of the
// training is kept. Games is as in Options. Errors are as those of Run.
func Rate(ctx context.Context, cfg configs.Learn, games map[string]dataset.Extent, progress io.Writer) (float64, error) {
	return rateFor(ctx, cfg, games, progress, rateSpell)
}

// rateFor is Rate with rounds of some CPU time.
func rateFor(ctx context.Context, cfg configs.Learn, games map[string]dataset.Extent, progress io.Writer, spell time.Duration) (float64, error) {
	cfg.Workers = 1
	p, err := newPlan(cfg)
	if err != nil {
		return 0, err
	}
	var share sharing
	share.expect(p)
	defer share.release(p)
	known := extents{}
	maps.Copy(known, games)
	s, err := p.openData(ctx, &share, known, progress)
	if err != nil {
		return 0, err
	}
	defer s.close()
	if s.size == 0 {
		return 0, fmt.Errorf("%w: found no positions to learn from in %s", trainer.ErrConfig, cfg.Data)
	}
	c, err := p.Config(cfg.Seed, anySteps)
	if err != nil {
		return 0, err
	}
	m, err := p.NewModel(c.LearningRate, anySteps, cfg.Seed)
	if err != nil {
		return 0, err
	}
	t, err := trainer.New(m, s, c)
	if err != nil {
		return 0, err
	}
	rates, err := rates(ctx, t, spell)
	if e := t.Close(); err == nil {
		err = e
	}
	if err != nil {
		return 0, err
	}
	slices.Sort(rates)
	return rates[len(rates)/2], nil
}

// rates measures rounds of steps, after a first step that takes up memory.
func rates(ctx context.Context, t *trainer.Trainer, spell time.Duration) ([]float64, error) {
	var list []float64
	if _, err := t.Step(); err != nil {
		return nil, err
	}
	for range rateRounds {
		began, samples := cputime.Process(os.Getpid()), t.Samples()
		spent := time.Duration(0)
		for spent < spell {
			for looked := time.Now(); time.Since(looked) < spell/4; { // to look takes time too
				if err := ctx.Err(); err != nil {
					return nil, err
				}
				if _, err := t.Step(); err != nil {
					return nil, err
				}
			}
			spent = cputime.Process(os.Getpid()) - began
		}
		list = append(list, float64(t.Samples()-samples)/spent.Seconds())
	}
	return list, nil
}
