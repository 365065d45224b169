package selfplay

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/search"
)

// TestOlderSide: as many games as asked for, both sides alike, and the same again.
func TestOlderSide(t *testing.T) {
	const games = 20_000
	for _, share := range []float64{0, 0.2, 1} {
		c := configs.Actor{OlderShare: share}
		n, white := 0.0, 0.0
		for i := range games {
			side, number, wanted := olderSide(c, 1, verifyID(i))
			if s, k, w := olderSide(c, 1, verifyID(i)); s != side || k != number || w != wanted {
				t.Fatal("not the same again")
			}
			if wanted {
				n++
				white += 1 - float64(side)
			}
		}
		if math.Abs(n-games*share) > 6*math.Sqrt(games*share*(1-share)) || math.Abs(white-n/2) > 3*math.Sqrt(n) {
			t.Errorf("share %g: %g of %d, %g of them White", share, n, games, white)
		}
	}
}

// olderConfig is verifyConfig with older nets.
func olderConfig(t *testing.T) configs.Config {
	cfg := verifyConfig(t)
	cfg.Actor.OlderShare, cfg.Actor.OlderNets = 0.6, 3
	return cfg
}

// mixed plays the game of an id against an older net.
func (m *maker) mixed(t *testing.T, newest, older *net, id game.ID) []byte {
	t.Helper()
	side, _, _ := olderSide(m.settings, m.seed, id)
	g, err := m.play(t.Context(), against(m.open(t, newest), newest, m.open(t, older), older, side), id)
	if err != nil {
		t.Fatal(err)
	}
	return encoded(t, g)
}

// wanting returns the first id from number n on that does, or does not, want an older
// net.
func (m *maker) wanting(wants bool, n int) game.ID {
	for ; ; n++ {
		if _, _, wanted := olderSide(m.settings, m.seed, evil(n)); wanted == wants {
			return evil(n)
		}
	}
}

// TestOlderGames: such a game is that of two players with a net each, and the older
// one's positions are trained on only if the settings say so.
func TestOlderGames(t *testing.T) {
	t.Parallel()
	for _, train := range []bool{false, true} {
		cfg := olderConfig(t)
		cfg.Actor.OlderTrain = train
		m := newMaker(t, cfg)
		a, b := verifyNets(t, cfg)
		for i := range 4 {
			id := verifyID(i)
			g, err := game.Decode(m.mixed(t, a, b, id))
			if err != nil {
				t.Fatal(err)
			}
			older, _, _ := olderSide(cfg.Actor, cfg.Seed, id)
			players, nets := [2]*actorPlayer{m.open(t, a), m.open(t, a)}, [2]string{a.ID, a.ID}
			players[older], nets[older] = m.open(t, b), b.ID
			c, seed := cfg.Actor, gameSeed(cfg.Seed, id)
			rng := rand.New(rand.NewPCG(seed, 0))
			opening, err := m.opening(t.Context(), players[older.Other()], rng)
			if err != nil {
				t.Fatal(err)
			}
			want, err := game.Play(t.Context(), players[0], players[1], opening, game.Config{
				Limits: game.Both(search.Limits{Nodes: c.Nodes}), MaxPlies: c.MaxPlies, WinScore: search.Score(c.WinScore), WinPlies: c.WinPlies,
				NoAdjudicateShare: c.PlayOutShare, Noise: game.Noise{Plies: c.RandomPlies, Prob: c.RandomProb},
			}, rng)
			if err != nil {
				t.Fatal(err)
			}
			want.ID, want.Seed, want.Nets, want.Build = id.String(), seed, nets, m.build
			mover, trained := want.Start.SideToMove(), [2]int{}
			for i := range want.Plies {
				want.Plies[i].Train = want.Plies[i].Train && (train || mover != older)
				if g.Plies[i].Train {
					trained[mover]++
				}
				mover = mover.Other()
			}
			if !bytes.Equal(encoded(t, g), encoded(t, want)) {
				t.Errorf("game %d is another", i)
			}
			if trained[older.Other()] == 0 || (trained[older] > 0) != train {
				t.Errorf("game %d: %v positions to train on, older %v", i, trained, older)
			}
		}
	}
}

// TestVerifyOlder: games against older nets are the same again, and so are those that
// wanted one and had none; others are caught.
func TestVerifyOlder(t *testing.T) {
	t.Parallel()
	cfg := olderConfig(t)
	m := newMaker(t, cfg)
	a, b := verifyNets(t, cfg)
	wanted, unwanted := m.wanting(true, 1), m.wanting(false, 1)
	v := newTestVerifier(cfg, a, b)
	defer v.close()
	for _, good := range [][]byte{
		m.mixed(t, a, b, wanted), m.record(t, m.open(t, a), a, wanted), m.mixed(t, b, a, m.wanting(true, 20)), m.record(t, m.open(t, b), b, unwanted),
	} {
		if verdicts, err := v.verdicts(t.Context(), good); err != nil || len(verdicts) > 0 {
			t.Fatalf("good game: %v, error %v", verdicts, err)
		}
	}
	if v.stats.Same != 4 {
		t.Fatalf("counted %+v", v.stats)
	}
	for name, forged := range map[string][]byte{
		"sides changed": altered(t, m.mixed(t, a, b, wanted), func(g *game.Game) { g.Nets[0], g.Nets[1] = g.Nets[1], g.Nets[0] }),
		"one net alone": altered(t, m.record(t, m.open(t, a), a, wanted), func(g *game.Game) { g.Nets[0] = b.ID }),
		"not wanted":    m.mixed(t, a, b, unwanted),
		"trained on both": altered(t, m.mixed(t, a, b, wanted), func(g *game.Game) {
			for i := range g.Plies {
				g.Plies[i].Train = g.Plies[i].HasScore
			}
		}),
		"a foreign opponent": altered(t, m.mixed(t, a, b, wanted), func(g *game.Game) {
			g.Nets[slices.Index(g.Nets[:], b.ID)] = foreignNet
		}),
	} {
		v := newTestVerifier(cfg, a, b)
		if verdicts, err := v.verdicts(t.Context(), m.mixed(t, a, b, m.wanting(true, 40))); err != nil || len(verdicts) > 0 {
			t.Fatalf("good game: %v, error %v", verdicts, err)
		}
		verdicts, err := v.verdicts(t.Context(), forged)
		if err != nil || len(verdicts) != 1 || !strings.HasPrefix(verdicts[0].What, "found ") {
			t.Errorf("%s: %v, error %v", name, verdicts, err)
		}
		v.close()
	}
}

// TestVerifyOlderSettings: a game with two nets by settings that are not at hand is
// skipped.
func TestVerifyOlderSettings(t *testing.T) {
	t.Parallel()
	cfg := olderConfig(t)
	m := newMaker(t, cfg)
	a, b := verifyNets(t, cfg)
	v := newTestVerifier(cfg, a, b)
	v.history = func(context.Context) (actorHistory, error) {
		return actorHistory{Settings: []configs.Actor{verifyConfig(t).Actor}}, nil
	}
	if verdicts, err := v.verdicts(t.Context(), m.mixed(t, a, b, m.wanting(true, 1))); err != nil || len(verdicts) > 0 || v.stats.Skipped[skipSettings] != 1 {
		t.Errorf("%v, %+v, error %v", verdicts, v.stats, err)
	}
}

// TestActorPlaysOlderNets: games of a loop name a net that was published before the
// other, and the side of the older one is not trained on.
func TestActorPlaysOlderNets(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	cfg := smallConfig(t)
	cfg.Actor.OlderShare, cfg.Actor.OlderNets, cfg.Gate.Elo0, cfg.Gate.Elo1 = 1, 2, -1000, -900
	first := loopOnce(t, dir, cfg, Limits{Generation: 1, For: patience})
	loopOnce(t, dir, cfg, Limits{Generation: first.ActorGeneration + 1, For: patience})
	loopOnce(t, dir, cfg, Limits{Games: 8, For: patience})
	published := passedNets(t, dir)
	mixed := 0
	r := openRun(t, dir, cfg)
	run := r.id()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.VisitGames(filepath.Join(dir, replayDir), func(g *game.Game) bool {
		if g.Nets[0] == g.Nets[1] {
			return true
		}
		mixed++
		id, err := game.ParseID(run, g.ID)
		if err != nil {
			t.Fatal(err)
		}
		older, _, _ := olderSide(cfg.Actor, cfg.Seed, id)
		from, to := slices.Index(published, g.Nets[older]), slices.Index(published, g.Nets[older.Other()])
		if from < 0 || to <= from || to-from > cfg.Actor.OlderNets {
			t.Errorf("net %d of the published plays against net %d", to, from)
		}
		mover := g.Start.SideToMove()
		for _, p := range g.Plies {
			if p.Train && mover == older {
				t.Fatalf("game %s: a position of the older net is trained on", g.ID)
			}
			mover = mover.Other()
		}
		return true
	}, func(d replay.Damage) { t.Error(d) }); err != nil {
		t.Fatal(err)
	}
	if mixed == 0 {
		t.Errorf("no game against an older net; published are %v", published)
	}
}
