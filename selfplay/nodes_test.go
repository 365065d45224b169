package selfplay

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// grownConfig is verifyConfig with nodes that grow.
func grownConfig(t *testing.T) configs.Config {
	cfg := verifyConfig(t)
	cfg.Actor.NodesGrowth = "100: 90; 1k: 150"
	return cfg
}

// of returns a net as it is when offered with as many games stored.
func (n *net) of(games uint64) *net { return &net{n.Net, n.generation, games} }

// TestNodesGrowth: a game is that of a run whose actors have as many nodes as the stage
// of its net says, byte for byte.
func TestNodesGrowth(t *testing.T) {
	t.Parallel()
	cfg := grownConfig(t)
	n := randomNNUE(t, cfg, 1)
	for games, nodes := range map[uint64]uint64{0: 60, 99: 60, 100: 90, 5000: 150} {
		m := newMaker(t, cfg)
		fixed := cfg
		fixed.Actor.Nodes, fixed.Actor.NodesGrowth = nodes, ""
		want := newMaker(t, fixed)
		if !bytes.Equal(m.record(t, m.open(t, n), n.of(games), verifyID(1)), want.record(t, want.open(t, n), n, verifyID(1))) {
			t.Errorf("%d games: the game is another than one by %d nodes", games, nodes)
		}
	}
}

// TestVerifyNodesGrowth: a game by the nodes of its net's stage is the same again; one
// by fewer, or that says so and has not, is caught.
func TestVerifyNodesGrowth(t *testing.T) {
	t.Parallel()
	cfg := grownConfig(t)
	cfg.Actor.ResearchShare, cfg.Actor.ResearchNodes = 0.25, 400
	m := newMaker(t, cfg)
	n := randomNNUE(t, cfg, 1).of(100)
	p := m.open(t, n)
	fewer := m.record(t, p, n.of(0), evil(1))
	checkForgeries(t, cfg, n, m.record(t, p, n, verifyID(0)), map[string][]byte{
		"fewer nodes": fewer,
		"lies":        altered(t, fewer, func(g *game.Game) { g.Limits = strings.Replace(g.Limits, "nodes 60", "nodes 90", 1) }),
		"no stage":    altered(t, fewer, func(g *game.Game) { g.Limits = strings.Replace(g.Limits, "nodes 60", "nodes 70", 1) }),
	})
}

// TestActorNodesGrow: games of a loop have the nodes of their net's stage, by its
// manifest, and the status says which, after a restart too.
func TestActorNodesGrow(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Actor.NodesGrowth, cfg.Gate.Elo0, cfg.Gate.Elo1 = "1: 77", -1000, -900
	loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	last := loopOnce(t, dir, cfg, Limits{Games: 4, For: patience})
	if last.Nodes != 77 {
		t.Errorf("status: %d nodes a move, expected 77", last.Nodes)
	}
	r := openRun(t, dir, cfg)
	nets := map[string]uint64{r.firstNet().ID: 0}
	all, err := r.store.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		nets[m.ID] = m.Games
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	grown := 0
	if _, err := replay.VisitGames(filepath.Join(dir, replayDir), func(g *game.Game) bool {
		games, known := nets[g.Nets[0]]
		c := cfg.Actor
		c.Nodes, c.NodesGrowth = c.NodesAt(games), ""
		if !known || g.Limits != limitsTexts(c)[0] {
			t.Errorf("game %s with a net of %d games: limits %q", g.ID, games, g.Limits)
		}
		if games > 0 {
			grown++
		}
		return true
	}, func(d replay.Damage) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	if grown < 4 {
		t.Errorf("%d games by more nodes, expected at least 4", grown)
	}
}
