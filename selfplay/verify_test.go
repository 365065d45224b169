package selfplay

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// verifyConfig is small, with everything in it that makes games differ.
func verifyConfig(t testing.TB) configs.Config {
	t.Helper()
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Actor.Nodes, cfg.Actor.MaxPlies, cfg.Actor.HashMB = 60, 40, 1
	cfg.Actor.RandomPlies, cfg.Actor.RandomProb = 30, 0.2
	return cfg
}

// newTestVerifier returns one that has the given nets and plays every game again,
// whose actors have had the settings of cfg alone.
func newTestVerifier(cfg configs.Config, nets ...*net) *verifier {
	variant, err := chess.ParseVariant(cfg.Variant)
	if err != nil {
		panic(err)
	}
	r := &Run{cfg: cfg, variant: variant, opt: Options{Build: "test"}, log: slog.New(slog.DiscardHandler), status: newSharedStatus()}
	if r.style, err = newStyle(r); err != nil {
		panic(err)
	}
	v := newVerifier(r, func(context.Context) (actorHistory, error) {
		return actorHistory{Settings: []configs.Actor{cfg.Actor}, Whole: true}, nil
	})
	v.runID, v.share = "r", 1
	v.loadNet = func(_ context.Context, id string) (*net, error) {
		if i := slices.IndexFunc(nets, func(n *net) bool { return n.ID == id }); i >= 0 {
			return nets[i], nil
		}
		return nil, bus.ErrNoNet
	}
	v.findNet = func(_ context.Context, id string) netPlace {
		switch {
		case id == foreignNet:
			return netForeign
		case slices.ContainsFunc(nets, func(n *net) bool { return n.ID == id }):
			return netAtHand
		}
		return netGone
	}
	return v
}

// verdicts returns those that a game leads to.
func (v *verifier) verdicts(ctx context.Context, stored []byte) (all []Verdict, err error) {
	err = v.consider(ctx, stored, func(verdict Verdict) error {
		all = append(all, verdict)
		return nil
	})
	return all, err
}

// foreignNet is the id of a net that no trainer published.
var foreignNet = strings.Repeat("f", 64)

// evil is the id of a game by the actor that forges.
func evil(n int) game.ID { return game.ID{Run: "r", Actor: "evil", Counter: uint64(n)} }

// altered decodes a record and encodes it again after a change.
func altered(t testing.TB, record []byte, change func(*game.Game)) []byte {
	t.Helper()
	g, err := game.Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	change(g)
	b, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// forgery makes a game that is not what its id says. The verdict on it begins with
// the text.
type forgery struct {
	name, what string
	make       func(t testing.TB, n int) []byte
}

// forgeries of games with net a, if there is another net b.
func forgeries(t testing.TB, cfg configs.Config, a, b *net) []forgery {
	honest := newMaker(t, cfg)
	p := honest.open(t, a)
	by := func(change func(*configs.Actor), with *net) func(testing.TB, int) []byte {
		other := cfg
		change(&other.Actor)
		m := newMaker(t, other)
		p := m.open(t, with)
		return func(t testing.TB, n int) []byte {
			return altered(t, m.record(t, p, with, evil(n)), func(g *game.Game) {
				g.Limits, g.Nets = game.LimitsText(limitsOf(cfg.Actor)), [2]string{a.ID, a.ID}
			})
		}
	}
	change := func(change func(*game.Game)) func(testing.TB, int) []byte {
		return func(t testing.TB, n int) []byte {
			for ; ; n += 1000 { // until one has not ended by the rules, so that the change leaves a legal game
				b := honest.record(t, p, a, evil(n))
				if h, err := game.DecodeHeader(b); err != nil || h.Reason >= game.PlyLimit {
					return altered(t, b, change)
				}
			}
		}
	}
	chosen := func(c *configs.Actor) { c.OpeningMin, c.OpeningMax = 0, 1 }
	return []forgery{
		{"result", "found the outcome", change(func(g *game.Game) {
			o := chess.WhiteWins
			if g.Outcome == o {
				o = chess.BlackWins
			}
			g.Outcome, g.Adjudged, g.Reason = o, o, game.AdjudicatedWin
		})},
		{"weaker search", "found ", by(func(c *configs.Actor) { c.Nodes = 10 }, a)},
		{"a little weaker search", "found ", by(func(c *configs.Actor) { c.Nodes = c.Nodes * 3 / 4 }, a)},
		{"scores", "found score", change(func(g *game.Game) {
			for i := range g.Plies {
				if ply := &g.Plies[i]; ply.HasScore {
					ply.Score = max(-search.MateScore, min(search.MateScore, ply.Score+20))
				}
			}
		})},
		{"one score", "found score", change(func(g *game.Game) {
			g.Plies[len(g.Plies)-1].Score ^= 1
			g.Plies[len(g.Plies)-1].HasScore = true
		})},
		{"cut short", "found the end", change(func(g *game.Game) {
			g.Plies = g.Plies[:len(g.Plies)-1]
			g.Outcome, g.Adjudged, g.Reason = chess.Draw, chess.Ongoing, game.PlyLimit
		})},
		{"opening", "found ", by(chosen, a)},
		{"another net", "found ", by(func(*configs.Actor) {}, b)},
		{"no random moves", "found ", by(func(c *configs.Actor) { c.RandomProb = 0 }, a)},
		{"copy", "found seed", func(t testing.TB, n int) []byte {
			return altered(t, honest.record(t, p, a, verifyID(n)), func(g *game.Game) { g.ID = evil(n).String() })
		}},
		{"copy with the right seed", "found ", func(t testing.TB, n int) []byte {
			return altered(t, honest.record(t, p, a, verifyID(n)), func(g *game.Game) { g.ID, g.Seed = evil(n).String(), gameSeed(cfg.Seed, evil(n)) })
		}},
		{"a net of its own", "found net", change(func(g *game.Game) { g.Nets = [2]string{foreignNet, foreignNet} })},
		{"another build and a seed that is liked", "found seed", change(func(g *game.Game) { g.Build, g.Seed = "v9", 7 })},
		{"limits never in force", "found limits", change(func(g *game.Game) { g.Limits = "nodes 5" })},
	}
}

func verifyNets(t testing.TB, cfg configs.Config) (a, b *net) {
	a, b = randomNNUE(t, cfg, 1), randomNNUE(t, cfg, 2)
	return a, b
}

// TestForgedGamesAreCaught: every way to forge a game is seen when the game is played
// again, and blamed on who sent it.
func TestForgedGamesAreCaught(t *testing.T) {
	t.Parallel()
	cfg := verifyConfig(t)
	a, b := verifyNets(t, cfg)
	m := newMaker(t, cfg)
	good := m.record(t, m.open(t, a), a, verifyID(0))
	for _, f := range forgeries(t, cfg, a, b) {
		t.Run(f.name, func(t *testing.T) {
			v := newTestVerifier(cfg, a, b)
			defer v.close()
			if verdicts, err := v.verdicts(t.Context(), good); err != nil || len(verdicts) > 0 {
				t.Fatalf("good game: %v, error %v", verdicts, err)
			}
			verdicts, err := v.verdicts(t.Context(), f.make(t, 1))
			if err != nil || len(verdicts) != 1 || verdicts[0].Actor != "evil" || !strings.HasPrefix(verdicts[0].What, f.what) {
				t.Fatalf("forged game: %v, error %v", verdicts, err)
			}
			t.Log(verdicts[0])
			if verdicts, err := v.verdicts(t.Context(), f.make(t, 2)); err != nil || len(verdicts) > 0 || v.stats.Skipped[skipExcluded] != 1 {
				t.Errorf("accused a second time: %v, error %v", verdicts, err)
			}
		})
	}
}

// TestGarbageIsCaught: what is no game of the run gets a verdict that accuses nobody
// whom it does not prove to have sent it.
func TestGarbageIsCaught(t *testing.T) {
	t.Parallel()
	cfg := verifyConfig(t)
	a, _ := verifyNets(t, cfg)
	m := newMaker(t, cfg)
	good := m.record(t, m.open(t, a), a, verifyID(0))
	sealed := game.Seal(good, ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	broken := bytes.Clone(sealed)
	broken[40]++
	noise := make([]byte, 300)
	for i := range noise {
		noise[i] = byte(rand.N(256))
	}
	for name, b := range map[string][]byte{
		"nothing": nil, "random bytes": noise, "cut": good[:50], "broken seal": broken,
		"id of another run": altered(t, good, func(g *game.Game) { g.ID = "q" + g.ID }),
	} {
		v := newTestVerifier(cfg, a)
		if verdicts, err := v.verdicts(t.Context(), sealed); err != nil || len(verdicts) > 0 {
			t.Fatalf("good game: %v, error %v", verdicts, err)
		}
		verdicts, err := v.verdicts(t.Context(), b)
		if err != nil || len(verdicts) != 1 || verdicts[0].Actor != "" || verdicts[0].What == "" {
			t.Errorf("%s: %v, error %v", name, verdicts, err)
		}
		v.close()
	}
}

// TestHonestGamesPass: games of any actor, worker and settings that were in force are
// the same again, and what cannot be compared is skipped and counted.
func TestHonestGamesPass(t *testing.T) {
	t.Parallel()
	now := verifyConfig(t)
	before := now
	before.Actor.RandomProb = 0.5
	older := before
	older.Actor.Nodes, older.Actor.Workers = 40, 7
	a, b := verifyNets(t, now)
	v := newTestVerifier(now, a)
	v.history = func(context.Context) (actorHistory, error) {
		return actorHistory{Settings: []configs.Actor{now.Actor, before.Actor, older.Actor}}, nil
	}
	var games [][]byte
	for i, cfg := range []configs.Config{now, before, older, now, before, older} {
		m := newMaker(t, cfg)
		id := verifyID(i)
		id.Actor = []string{localActor, "a1", "b2"}[i%3]
		games = append(games, m.record(t, m.open(t, a), a, id))
	}
	weaker := now
	weaker.Actor.Nodes = 11
	m := newMaker(t, weaker)
	good := m.record(t, m.open(t, a), a, verifyID(9))
	noisier := now
	noisier.Actor.RandomProb = 0.9
	m = newMaker(t, noisier)
	noisy := m.record(t, m.open(t, a), a, verifyID(11))
	m = newMaker(t, now)
	games = append(games,
		good, noisy, // under settings that the history does not reach back to
		m.record(t, m.open(t, b), b, verifyID(10)),
		altered(t, good, func(g *game.Game) { g.Build = "v9" }),
	)
	next := func(context.Context) ([]byte, error) {
		if len(games) == 0 {
			return nil, io.EOF
		}
		b := games[0]
		games = games[1:]
		return b, nil
	}
	if err := v.run(t.Context(), next, func(v Verdict) error { return errors.New(v.String()) }); err != nil {
		t.Fatal(err)
	}
	want := map[string]uint64{skipBuild: 1, skipNet: 1, skipSettings: 2}
	if v.stats.Seen != 10 || v.stats.Same != 6 || v.stats.Differ != 0 || fmt.Sprint(v.stats.Skipped) != fmt.Sprint(want) {
		t.Errorf("counted %+v", v.stats)
	}
}

// TestBrokenVerifierAccusesNobody: one that finds no game the same, or whose own games
// change, stops with a sentence.
func TestBrokenVerifierAccusesNobody(t *testing.T) {
	t.Parallel()
	cfg := verifyConfig(t)
	cfg.Actor.MaxPlies = 20
	a, b := verifyNets(t, cfg)
	m := newMaker(t, cfg)
	p := m.open(t, a)
	t.Run("nothing is the same", func(t *testing.T) {
		v := newTestVerifier(cfg, &net{&player.Net{ID: a.ID, NNUE: b.NNUE}, 1, 0})
		defer v.close()
		for i := 1; ; i++ {
			verdicts, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(i)))
			if len(verdicts) > 0 || i < maxDiffering && err != nil {
				t.Fatalf("game %d: %v, error %v", i, verdicts, err)
			}
			if i == maxDiffering {
				if !errors.Is(err, ErrVerifier) {
					t.Errorf("game %d: %v", i, err)
				}
				return
			}
		}
	})
	t.Run("it breaks later", func(t *testing.T) {
		v := newTestVerifier(cfg, a)
		defer v.close()
		if _, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(1))); err != nil {
			t.Fatal(err)
		}
		v.cfg.Seed++ // as if its memory was damaged
		verdicts, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(2)))
		if !errors.Is(err, ErrVerifier) || len(verdicts) > 0 || !strings.Contains(err.Error(), "differs now") {
			t.Errorf("%v, error %v", verdicts, err)
		}
	})
	t.Run("a forged game is the first", func(t *testing.T) {
		v := newTestVerifier(cfg, a)
		defer v.close()
		forged := altered(t, m.record(t, p, a, evil(1)), func(g *game.Game) { g.Plies[len(g.Plies)-1].Score ^= 1; g.Plies[len(g.Plies)-1].HasScore = true })
		if verdicts, err := v.verdicts(t.Context(), forged); err != nil || len(verdicts) > 0 {
			t.Fatalf("before proof: %v, error %v", verdicts, err)
		}
		verdicts, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(3)))
		if err != nil || len(verdicts) != 1 || verdicts[0].Actor != "evil" {
			t.Errorf("with proof: %v, error %v", verdicts, err)
		}
	})
}

// TestVerifyTreeGames: games of tree search, played in batches with others, are the
// same; those of another net and those with altered policies differ.
func TestVerifyTreeGames(t *testing.T) {
	t.Parallel()
	cfg := treeConfig(t)
	cfg.Actor.Nodes, cfg.Actor.MaxPlies, cfg.Actor.Tree.Noise = 16, 24, 0.25
	file := func(id, seed int) *net {
		f, err := runtimes.FromModel(archtest.Net(t, cfg.Net.Planes, uint64(seed)))
		if err != nil {
			t.Fatal(err)
		}
		return &net{&player.Net{ID: netID(byte(id)), Planes: f}, 1, 0}
	}
	a, other := file(0, 1), file(0, 2)
	m := newMaker(t, cfg)
	v := newTestVerifier(cfg, a)
	defer v.close()
	p := m.open(t, a)
	for i := range 3 {
		if verdicts, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(i))); err != nil || len(verdicts) > 0 {
			t.Fatalf("%v, error %v", verdicts, err)
		}
	}
	policy := altered(t, m.record(t, p, a, evil(1)), func(g *game.Game) {
		for i := range g.Plies {
			if q := g.Plies[i].Policy; q != nil && len(q.Moves) > 1 && q.Moves[len(q.Moves)-1].Weight > 1 {
				q.Moves[len(q.Moves)-1].Weight--
			}
		}
	})
	q := newMaker(t, cfg)
	id := evil(2)
	id.Actor = "worse"
	for i, forged := range [][]byte{policy, q.record(t, q.open(t, other), other, id)} {
		verdicts, err := v.verdicts(t.Context(), forged)
		if err != nil || len(verdicts) != 1 || verdicts[0].Actor != []string{"evil", "worse"}[i] {
			t.Errorf("%d: %v, error %v", i, verdicts, err)
		}
	}
	cfg.Actor.Tree.Runtime = runtimes.OnnxGo
	v.had, v.history = nil, func(context.Context) (actorHistory, error) {
		return actorHistory{Settings: []configs.Actor{cfg.Actor}, Whole: true}, nil
	}
	if _, err := v.verdicts(t.Context(), m.record(t, p, a, verifyID(4))); err != nil || v.stats.Skipped[skipRuntime] != 1 {
		t.Errorf("counted %+v, error %v", v.stats, err)
	}
}

// TestShare: as many games are played again as were asked for, not always the same.
func TestShare(t *testing.T) {
	const games = 200_000
	for _, share := range []float64{0, 0.01, 1} {
		n := 0
		for range games {
			if chosen(share) {
				n++
			}
		}
		if sigma := math.Sqrt(games * share * (1 - share)); math.Abs(float64(n)-games*share) > 6*sigma {
			t.Errorf("share %v: %d of %d", share, n, games)
		}
	}
}

// checkForgeries has a fresh verifier play the good game again, which is the same, and then
// each forged one, which is caught.
func checkForgeries(t *testing.T, cfg configs.Config, n *net, good []byte, forgeries map[string][]byte) {
	t.Helper()
	for name, forged := range forgeries {
		v := newTestVerifier(cfg, n)
		if verdicts, err := v.verdicts(t.Context(), good); err != nil || len(verdicts) > 0 || v.stats.Same != 1 {
			t.Fatalf("good game: %v, %+v, error %v", verdicts, v.stats, err)
		}
		verdicts, err := v.verdicts(t.Context(), forged)
		if err != nil || len(verdicts) != 1 || !strings.HasPrefix(verdicts[0].What, "found ") {
			t.Errorf("%s: %v, error %v", name, verdicts, err)
		}
		v.close()
	}
}
