package selfplay

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// plainGame is the game of an id with nothing but one net, one number of nodes and
// the settings of openings, noise and ends: what games are by default.
func plainGame(t *testing.T, m *maker, p *actorPlayer, n *net, id game.ID) *game.Game {
	t.Helper()
	c, seed := m.settings, gameSeed(m.seed, id)
	rng := rand.New(rand.NewPCG(seed, 0))
	p.seed(seed)
	opening, err := m.opening(t.Context(), p, rng)
	if err != nil {
		t.Fatal(err)
	}
	g, err := game.Play(t.Context(), p, p, opening, game.Config{
		Limits: game.Both(search.Limits{Nodes: c.Nodes}), MaxPlies: c.MaxPlies, WinScore: search.Score(c.WinScore), WinPlies: c.WinPlies,
		NoAdjudicateShare: c.PlayOutShare, Noise: game.Noise{Plies: c.RandomPlies, Prob: c.RandomProb},
	}, rng)
	if err != nil {
		t.Fatal(err)
	}
	g.ID, g.Seed, g.Nets, g.Build = id.String(), seed, [2]string{n.ID, n.ID}, m.build
	return g
}

func encoded(t *testing.T, g *game.Game) []byte {
	t.Helper()
	b, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDefaultGames: what is off by default changes no byte of a game.
func TestDefaultGames(t *testing.T) {
	t.Parallel()
	for _, preset := range []string{"laptop", "tiny"} {
		cfg, err := configs.Preset(preset)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Actor.Nodes, cfg.Actor.MaxPlies = 50, 50
		m, n := newMaker(t, cfg), randomNNUE(t, cfg, 1)
		p := m.open(t, n)
		for i := range 5 {
			if !bytes.Equal(m.record(t, p, n, verifyID(i)), encoded(t, plainGame(t, m, p, n, verifyID(i)))) {
				t.Errorf("%s: game %d is another", preset, i)
			}
		}
	}
}

// researchConfig is verifyConfig with positions searched again.
func researchConfig(t *testing.T) configs.Config {
	cfg := verifyConfig(t)
	cfg.Actor.ResearchShare, cfg.Actor.ResearchNodes = 0.25, 400
	return cfg
}

// TestResearch: of a game as it is without, only the scores of the plies that it names
// are others, as many as the share says; they are those of searches with as many nodes,
// by a fresh player, the last position first.
func TestResearch(t *testing.T) {
	t.Parallel()
	cfg := researchConfig(t)
	m, n := newMaker(t, cfg), randomNNUE(t, cfg, 1)
	changed := 0
	for i := range 6 {
		g, err := game.Decode(m.record(t, m.open(t, n), n, verifyID(i)))
		if err != nil {
			t.Fatal(err)
		}
		plain := plainGame(t, m, m.open(t, n), n, verifyID(i))
		played, plies := game.SplitResearch(g.Limits)
		if played != "nodes 60 research nodes 400" || !slices.Equal(plies, game.MostSurprising(plain, 0.25)) {
			t.Fatalf("game %d: limits %q, expected those of %v", i, g.Limits, game.MostSurprising(plain, 0.25))
		}
		fresh := m.open(t, n)
		for _, ply := range slices.Backward(plies) {
			line := chess.NewLine(g.Start)
			for _, p := range g.Plies[:ply] {
				line.Push(p.Move)
			}
			r, err := fresh.Search(t.Context(), line, search.Limits{Nodes: 400})
			if err != nil || r.Score != g.Plies[ply].Score {
				t.Errorf("game %d, ply %d: score %d, expected %d, error %v", i, ply, g.Plies[ply].Score, r.Score, err)
			}
			if r.Score != plain.Plies[ply].Score {
				changed++
			}
			plain.Plies[ply].Score = r.Score
		}
		plain.Limits = g.Limits
		if !bytes.Equal(encoded(t, g), encoded(t, plain)) {
			t.Errorf("game %d differs by more than its scores", i)
		}
	}
	if changed == 0 {
		t.Error("no score was changed")
	}
}

// TestResearchStops: a game broken off while positions are searched again has no
// scores of searches cut short.
func TestResearchStops(t *testing.T) {
	t.Parallel()
	cfg := researchConfig(t)
	m, n := newMaker(t, cfg), randomNNUE(t, cfg, 1)
	p := m.open(t, n)
	g := plainGame(t, m, p, n, verifyID(1))
	before := encoded(t, g)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := m.research(ctx, p, g); err == nil || !bytes.Equal(before, encoded(t, g)) {
		t.Errorf("error %v, expected one and the game as it was", err)
	}
}

// TestVerifyResearch: games whose positions were searched again are the same again; one
// that only says so, or leaves one out, is caught.
func TestVerifyResearch(t *testing.T) {
	t.Parallel()
	cfg := researchConfig(t)
	m, n := newMaker(t, cfg), randomNNUE(t, cfg, 1)
	p := m.open(t, n)
	good := m.record(t, p, n, verifyID(0))
	plain := encoded(t, plainGame(t, m, p, n, evil(1)))
	checkForgeries(t, cfg, n, good, map[string][]byte{
		"not searched again": altered(t, plain, func(g *game.Game) {
			g.Limits = game.ResearchText(g.Limits, researchLimits(cfg.Actor), game.MostSurprising(g, cfg.Actor.ResearchShare))
		}),
		"says nothing": plain,
		"one left out": altered(t, m.record(t, p, n, evil(1)), func(g *game.Game) {
			_, plies := game.SplitResearch(g.Limits)
			g.Limits = game.ResearchText("nodes 60", researchLimits(cfg.Actor), plies[1:])
		}),
	})
}
