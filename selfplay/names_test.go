package selfplay

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// The settings name the optimisers and losses that there are.
func TestSettingsNameEveryChoice(t *testing.T) {
	c, err := configs.Preset("laptop")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range trainer.Optimisers() {
		for _, l := range nnuefit.Losses() {
			c.Train.Optimiser, c.Train.Loss = string(o), string(l)
			if err := c.Validate(); err != nil {
				t.Errorf("%s, %s: %v", o, l, err)
			}
		}
	}
}
