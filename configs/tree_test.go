package configs

import (
	"errors"
	"strings"
	"testing"
)

// TestPlanes: a net of kind planes plays by tree search, with settings of its own.
func TestPlanes(t *testing.T) {
	c, err := Preset("planes")
	if err != nil {
		t.Fatal(err)
	}
	if c.Net.Kind != Planes || c.Actor.Search != TreeSearch {
		t.Errorf("preset planes: net of kind %s, search %s", c.Net.Kind, c.Actor.Search)
	}
	for pair, want := range map[string]string{
		"actor.search=ab":               "expected mcts, which nets of kind planes play with",
		"net.kind=lookup":               `kind: found "lookup", expected nnue or planes`,
		"net.planes=2by32":              "planes:",
		"train.optimiser=ranger":        "expected one of sgd, adamw",
		"train.surprise=1.5":            "train.surprise: found 1.5",
		"train.policy_weight=-1":        "train.policy_weight: found -1",
		"actor.tree.full_share=2":       "actor.tree.full_share: found 2",
		"actor.tree.gumbel=-1":          "actor.tree.gumbel: found -1",
		"actor.tree.noise=1.1":          "actor.tree.noise: found 1.1",
		"actor.tree.temperature=11":     "actor.tree.temperature: found 11",
		"actor.tree.batch=0":            "actor.tree.batch: found 0",
		"actor.tree.threads=0":          "actor.tree.threads: found 0",
		"actor.tree.mate_probe=2":       "expected 0, 1 or 3",
		"actor.tree.temperature_final=": "actor.tree.temperature_final",
	} {
		next := c
		err := next.SetPairs([]string{pair})
		if err == nil {
			err = next.Validate()
		}
		if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", pair, err, want)
		}
	}
}
