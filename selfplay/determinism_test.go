package selfplay

import (
	"bytes"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/planes/arch/archtest"
	"github.com/crazyhouse-rl/selfplay/planes/runtimes"
	"github.com/crazyhouse-rl/selfplay/player"
)

// maker plays games as the actor of a run with these settings, without the run.
type maker struct {
	*gameMaker
	style style
}

func newMaker(t testing.TB, cfg configs.Config) *maker {
	t.Helper()
	r := &Run{cfg: cfg, status: newSharedStatus(), log: slog.New(slog.DiscardHandler)}
	var err error
	if r.variant, err = chess.ParseVariant(cfg.Variant); err != nil {
		t.Fatal(err)
	}
	m := &maker{}
	if m.style, err = newStyle(r); err != nil {
		t.Fatal(err)
	}
	b, err := r.openingBook(t.Context(), cfg.Actor.Book)
	if err != nil {
		t.Fatal(err)
	}
	m.gameMaker = newGameMaker(cfg.Actor, r.variant, b, cfg.Seed, "test", r.log)
	return m
}

// open returns a player that is closed with the test.
func (m *maker) open(t testing.TB, n *net) *actorPlayer {
	t.Helper()
	p, err := m.style.player(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.release)
	return p
}

// record plays a game and encodes it.
func (m *maker) record(t testing.TB, p *actorPlayer, n *net, id game.ID) []byte {
	g, err := m.play(t.Context(), alone(p, n), id)
	if err != nil {
		t.Error(err)
		return nil
	}
	b, err := game.Encode(nil, g)
	if err != nil {
		t.Error(err)
	}
	return b
}

// randomNNUE is a net of the configuration's architecture with random weights.
func randomNNUE(t testing.TB, cfg configs.Config, seed uint64) *net {
	t.Helper()
	a, err := cfg.Net.Architecture(cfg.Variant)
	if err != nil {
		t.Fatal(err)
	}
	n, err := nnuetest.Random(a, seed)
	if err != nil {
		t.Fatal(err)
	}
	return &net{&player.Net{ID: netID(byte(seed)), NNUE: n}, 1, 0}
}

// netID is an id that nets of a run may have.
func netID(n byte) string { return string(bytes.Repeat([]byte{'a' + n%6}, 64)) }

func verifyID(n int) game.ID {
	return game.ID{Run: "r", Actor: "a1", Epoch: n / 7, Worker: n % 2, Counter: uint64(n)}
}

// TestGamesFollowFromTheirIDs is the law that verification rests on: whatever a
// player played before, at whatever level its kernels compute, a game by alpha-beta
// search with a number of nodes has the same bytes. It is not parallel, as the level
// is that of all goroutines.
func TestGamesFollowFromTheirIDs(t *testing.T) {
	cfg := smallConfig(t)
	cfg.Actor.HashMB, cfg.Actor.Nodes, cfg.Actor.MaxPlies, cfg.Actor.BookShare = 1, 300, 40, 0.3
	n := randomNNUE(t, cfg, 1)
	const games = 6
	var want [games][]byte
	m := newMaker(t, cfg)
	for i := range want {
		want[i] = m.record(t, m.open(t, n), n, verifyID(i)) // each by a fresh player
	}
	for level := kernel.Generic; level <= kernel.Best(); level++ {
		restore, err := kernel.Force(level)
		if err != nil {
			t.Fatal(err)
		}
		p := m.open(t, n)
		for i := games - 1; i >= 0; i-- {
			if got := m.record(t, p, n, verifyID(i)); !bytes.Equal(got, want[i]) {
				t.Errorf("level %v: game %d differs after %d others", level, i, games-1-i)
			}
		}
		restore()
	}
}

// TestTreeGamesFollowFromTheirIDs is the same law for tree search with a number of
// playouts: games that share batches with others, on several threads, have the bytes
// of games played alone.
func TestTreeGamesFollowFromTheirIDs(t *testing.T) {
	t.Parallel()
	const games, workers = 8, 4
	for _, name := range []string{runtimes.Native, runtimes.Int8} {
		t.Run(name, func(t *testing.T) {
			cfg := treeConfig(t)
			cfg.Net.Planes = "residual 2x16 value=2/8"
			cfg.Actor.Nodes, cfg.Actor.MaxPlies = 24, 30
			cfg.Actor.Tree.Runtime, cfg.Actor.Tree.Noise = name, 0.25
			cfg.Actor.Tree.PlayoutCap = mcts.PlayoutCap{Full: 0.5, Fast: 6}
			model := archtest.Net(t, cfg.Net.Planes, 1)
			file, err := runtimes.FromModel(model)
			if err != nil {
				t.Fatal(err)
			}
			n := &net{&player.Net{ID: netID(0), Planes: file}, 1, 0}

			var want [games][]byte
			alone := cfg
			alone.Actor.Tree.Threads, alone.Actor.Tree.Batch = 1, 1
			m := newMaker(t, alone)
			for i := range want {
				want[i] = m.record(t, m.open(t, n), n, verifyID(i))
			}
			together := cfg
			together.Actor.Tree.Threads, together.Actor.Tree.Batch = 2, 3
			m = newMaker(t, together)
			var group sync.WaitGroup
			for w := range workers {
				p := m.open(t, n)
				group.Go(func() {
					for i := w; i < games; i += workers {
						if got := m.record(t, p, n, verifyID(i)); !bytes.Equal(got, want[i]) {
							t.Errorf("game %d differs among others", i)
						}
					}
				})
			}
			group.Wait()
		})
	}
}

// TestFullTreesFollowFromTheirIDs: so do games whose trees outgrow their memory.
func TestFullTreesFollowFromTheirIDs(t *testing.T) {
	t.Parallel()
	cfg := treeConfig(t)
	cfg.Actor.HashMB, cfg.Actor.Nodes, cfg.Actor.MaxPlies, cfg.Actor.OpeningScore = 1, 4000, 12, 10000
	n := &net{Net: player.NoNet(player.TreeSearch)}
	m := newMaker(t, cfg)
	used := m.open(t, n)
	m.record(t, used, n, verifyID(0))
	if a, b := m.record(t, used, n, verifyID(1)), m.record(t, m.open(t, n), n, verifyID(1)); !bytes.Equal(a, b) {
		t.Error("a game differs after another")
	}
}

// TestPlayingBuild: games of tree search say where their floats are others.
func TestPlayingBuild(t *testing.T) {
	if got := playingBuild(configs.Actor{Search: configs.AlphaBeta}, "v1"); got != "v1" {
		t.Errorf("alpha-beta search: %q", got)
	}
	usual := runtime.GOARCH == "amd64" && kernel.Best() > kernel.Generic
	if got := playingBuild(configs.Actor{Search: configs.TreeSearch}, "v1"); (got == "v1") != usual {
		t.Errorf("tree search at level %v: %q", kernel.Best(), got)
	}
}
