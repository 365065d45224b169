package run

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// A rate is of both kinds of nets, and of settings that Run would take.
func TestRate(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(20)))
	rate, err := rateFor(t.Context(), cfg, nil, io.Discard, 20*time.Millisecond)
	if err != nil || rate <= 0 {
		t.Errorf("found %g positions a second, error %v", rate, err)
	}
	cfg.Kind, cfg.Planes = configs.Planes, "residual 1x16 policy=1 value=3/8 heads=wdl,plies"
	planes, err := rateFor(t.Context(), cfg, nil, io.Discard, 20*time.Millisecond)
	if err != nil || planes <= 0 {
		t.Errorf("planes: found %g positions a second, error %v", planes, err)
	}
	cfg.Batch = 0
	if _, err := Rate(t.Context(), cfg, nil, io.Discard); !errors.Is(err, trainer.ErrConfig) {
		t.Errorf("batches of none: error %v, expected ErrConfig", err)
	}
}
