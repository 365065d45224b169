package configs

import (
	"errors"
	"strings"
	"testing"
)

// TestNodesGrowth: games have the nodes of the last stage whose games were stored, and
// those who play them elsewhere have the same stages.
func TestNodesGrowth(t *testing.T) {
	c, err := Preset("laptop")
	if err != nil {
		t.Fatal(err)
	}
	for _, games := range []uint64{0, 1 << 60} {
		if n := c.Actor.NodesAt(games); n != c.Actor.Nodes || n != c.Actor.MostNodes() {
			t.Errorf("without growth, %d games: %d nodes, expected %d", games, n, c.Actor.Nodes)
		}
	}
	c.Actor.NodesGrowth = "20k: 400;100000 :  2k"
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	for games, want := range map[uint64]uint64{0: c.Actor.Nodes, 19_999: c.Actor.Nodes, 20_000: 400, 99_999: 400, 100_000: 2000, 1 << 60: 2000} {
		if n := c.Actor.NodesAt(games); n != want {
			t.Errorf("%d games: %d nodes, expected %d", games, n, want)
		}
	}
	if n := c.Actor.MostNodes(); n != 2000 {
		t.Errorf("at most %d nodes, expected 2000", n)
	}
	if got, err := WithShared(c, Shared(c), "shared"); err != nil || got.Actor.NodesGrowth != c.Actor.NodesGrowth {
		t.Errorf("shared: %+v, error %v", got.Actor, err)
	}
}

func TestNodesGrowthRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"20k":                    "expected GAMES: NODES",
		"20k: many":              `"many"`,
		"0: 400":                 `"0"`,
		"20k: 400;":              "expected GAMES: NODES",
		"20k: 400; 20k: 800":     "found 20000 games, expected more than the 20000 before",
		"20k: 400; 100k: 400":    "found 400 nodes, expected more than the 400 before",
		"20k: 150":               "found 150 nodes, expected more than the 150 before",
		"20k: 9999999999999999k": "actor.nodes_growth",
	} {
		c, err := Preset("laptop")
		if err != nil {
			t.Fatal(err)
		}
		c.Actor.NodesGrowth = text
		if err := c.Validate(); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, expected %q", text, err, want)
		}
	}
}
