package generate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/search"
)

func newEngine() (game.Player, error) {
	return ab.New(func() ab.Evaluator { return ab.NewMaterial() }, ab.Options{HashMB: 1}), nil
}

// settings make short games quickly.
func settings() Settings {
	return Settings{
		Variant: chess.Crazyhouse, Player: "material", Net: "material",
		Limits: search.Limits{Nodes: 60}, EvalLimit: 1000, EvalDiffLimit: 240, DrawByScore: true,
		Random:      Random{MinPly: 1, MaxPly: 24, Count: 5, MultiPVDiff: search.MateScore},
		WriteMinPly: 4, WriteMaxPly: 200, SeenMB: 1,
	}
}

func config(t *testing.T, f dataset.Format) Config {
	t.Helper()
	return Config{
		Settings: settings(), Seed: 7, New: newEngine, Count: 600, Build: "test", Format: f,
		Output: filepath.Join(t.TempDir(), "games."+f.String()),
	}
}

func mustRun(t *testing.T, cfg Config) ([]byte, Progress) {
	t.Helper()
	p, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if p.Positions < cfg.Count {
		t.Fatalf("%d positions, want %d", p.Positions, cfg.Count)
	}
	return read(t, cfg.Output), p
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// games returns those of a .chain file, replayed.
func games(t *testing.T, file []byte) (list []*game.Game) {
	t.Helper()
	r := chain.NewReader(bytes.NewReader(file))
	for {
		record, err := r.Record(nil)
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		g, err := game.Decode(record)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, g)
	}
}

// samples returns those of a file.
func samples(t *testing.T, r sample.Reader) (list []sample.Sample) {
	t.Helper()
	for {
		var s sample.Sample
		if err := r.Read(&s); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
}

func TestGames(t *testing.T) {
	cfg := config(t, dataset.Chain)
	file, p := mustRun(t, cfg)
	list := games(t, file)
	if len(list) != int(p.Games) || p.Next != uint64(len(list)) {
		t.Fatalf("%d games, progress %+v", len(list), p)
	}
	run, err := cfg.run()
	if err != nil {
		t.Fatal(err)
	}
	trained, known := 0, map[uint64]bool{}
	for i, g := range list {
		if g.ID != gameID(run, uint64(i)) || g.Seed != cfg.Seed || g.Nets != [2]string{"material", "material"} || g.Limits != "nodes 60" || g.Build != "test" {
			t.Fatalf("game %d: %s seed %d, nets %q, limits %q, build %q", i, g.ID, g.Seed, g.Nets, g.Limits, g.Build)
		}
		drawn := 0
		line := chess.NewLine(g.Start)
		for n, ply := range g.Plies {
			pos := line.Pos()
			if !ply.HasScore {
				if drawn++; n >= 24 || ply.Train {
					t.Errorf("game %d, ply %d: drawn, train %v", i, n, ply.Train)
				}
			}
			if ply.Train {
				trained++
				if n < cfg.WriteMinPly || pos.InCheck() || ply.Score >= decided || known[identity(pos)] {
					t.Errorf("game %d, ply %d: should not be trained on", i, n)
				}
				known[identity(pos)] = true
			}
			line.Push(ply.Move)
		}
		if want := min(5, len(g.Plies)); drawn > 5 || len(g.Plies) >= 24 && drawn != want {
			t.Errorf("game %d of %d plies: %d drawn", i, len(g.Plies), drawn)
		}
	}
	if trained != int(p.Positions) || p.Counts.Kept != uint64(p.Positions) {
		t.Errorf("%d positions, progress %+v", trained, p)
	}
	for why, n := range map[sample.Reason]uint64{sample.Untrained: p.Counts.Untrained, sample.Early: p.Counts.Early, sample.Unquiet: p.Counts.Unquiet} {
		if n == 0 {
			t.Errorf("none left out: %v", why)
		}
	}
}

func TestThreadsAndSavingDoNotMatter(t *testing.T) {
	cfg := config(t, dataset.Chain)
	cfg.Count = 2500 // more than a block
	want, _ := mustRun(t, cfg)
	cfg.Threads, cfg.SaveInterval = 3, time.Millisecond
	cfg.Output = filepath.Join(t.TempDir(), "again.chain")
	if got, _ := mustRun(t, cfg); !bytes.Equal(got, want) {
		t.Errorf("%d bytes with three threads, %d with one", len(got), len(want))
	}
	info, err := chain.Recover(bytes.NewReader(want))
	if err != nil || info.Plies < blockPlies == (info.Blocks > 1) {
		t.Errorf("%+v, %v", info, err)
	}
	cfg.Seed++
	cfg.Output = filepath.Join(t.TempDir(), "other.chain")
	if got, _ := mustRun(t, cfg); bytes.Equal(got, want) {
		t.Error("the same with another seed")
	}
}

// The other formats have the positions of the games' marks.
func TestFormatsAgree(t *testing.T) {
	file, _ := mustRun(t, config(t, dataset.Chain))
	want := samples(t, chain.NewReader(bytes.NewReader(file)))
	binFile, _ := mustRun(t, config(t, dataset.Bin))
	plainFile, _ := mustRun(t, config(t, dataset.Plain))
	for name, r := range map[string]sample.Reader{
		"bin":   bin.NewReader(bytes.NewReader(binFile), chess.Crazyhouse, bin.Bits512),
		"plain": plain.NewReader(bytes.NewReader(plainFile), chess.Crazyhouse),
	} {
		got := samples(t, r)
		if len(got) != len(want) {
			t.Fatalf("%s: %d positions, want %d", name, len(got), len(want))
		}
		for i := range got {
			score := sample.Convert(want[i].Score, sample.CentipawnUnit, sample.InternalUnit)
			if identity(&got[i].Pos) != identity(&want[i].Pos) || got[i].Score != score || got[i].Result != want[i].Result || got[i].Ply != want[i].Ply {
				t.Fatalf("%s: position %d: %+v, want %+v", name, i, got[i], want[i])
			}
		}
	}
}

func TestSettingsOfGames(t *testing.T) {
	book, err := chess.ParseFEN(chess.Crazyhouse, "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R[] w KQkq - 2 3")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		set   func(*Config)
		check func(*game.Game) error
	}{
		"depths": {func(c *Config) {
			c.MinDepth, c.MaxDepth, c.Limits, c.Random.Count = 1, 2, search.Limits{}, 0
		}, func(g *game.Game) error {
			if g.Limits != "depth 2 from depth 1" || !g.Plies[0].HasScore {
				return fmt.Errorf("limits %q", g.Limits)
			}
			return nil
		}},
		"random at once, among the best": {func(c *Config) {
			c.Random.MinPly, c.Random.MultiPV, c.Random.MultiPVDepth = -1, 4, 1
		}, func(g *game.Game) error {
			for i, p := range g.Plies {
				if p.HasScore != (i >= 5) {
					return fmt.Errorf("ply %d: score %v", i, p.HasScore)
				}
			}
			return nil
		}},
		"short, not by score": {func(c *Config) {
			c.WriteMaxPly, c.EvalLimit, c.DrawByScore, c.WriteMinPly = 20, 0, false, 0
		}, func(g *game.Game) error {
			if len(g.Plies) > 20 || len(g.Plies) == 20 && g.Outcome == chess.Draw && g.Reason != game.PlyLimit {
				return fmt.Errorf("%d plies, %s", len(g.Plies), game.ReasonText(g.Reason))
			}
			return nil
		}},
		"no draws": {func(c *Config) { c.SkipDraws, c.WriteMaxPly = true, 60 }, func(g *game.Game) error {
			if g.Outcome == chess.Draw {
				return errors.New("drawn")
			}
			return nil
		}},
		"book": {func(c *Config) {
			c.Opening = func(uint64) (game.Opening, error) { return game.Opening{Start: book}, nil }
		}, func(g *game.Game) error {
			if g.Start != book {
				return errors.New(g.Start.FEN())
			}
			return nil
		}},
		"captures": {func(c *Config) { c.SkipCaptures = true }, func(g *game.Game) error {
			pos := g.Start
			for i, p := range g.Plies {
				if p.Train && (pos.IsCapture(p.Move) || p.Move.IsPromotion()) {
					return fmt.Errorf("ply %d", i)
				}
				pos.Make(p.Move)
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, dataset.Chain)
			cfg.Count = 200
			tc.set(&cfg)
			file, _ := mustRun(t, cfg)
			for i, g := range games(t, file) {
				if err := tc.check(g); err != nil {
					t.Errorf("game %d: %v", i, err)
				}
			}
		})
	}
}

func TestBadSettings(t *testing.T) {
	for name, set := range map[string]func(*Config){
		"no limit":   func(c *Config) { c.Limits = search.Limits{} },
		"depth":      func(c *Config) { c.MinDepth, c.MaxDepth = 5, 3 },
		"clock":      func(c *Config) { c.Limits.Time = [2]time.Duration{1, 1} },
		"random":     func(c *Config) { c.Random.Count = -1 },
		"random ply": func(c *Config) { c.Random.MaxPly = 1 << 40 },
		"no plies":   func(c *Config) { c.WriteMinPly, c.WriteMaxPly = 400, 400 },
		"no window":  func(c *Config) { c.Random.Count, c.Random.MinPly, c.Random.MaxPly = 5, 30, 24 },
		"plies":      func(c *Config) { c.WriteMaxPly = 1 << 20 },
		"count":      func(c *Config) { c.Count = 0 },
		"table":      func(c *Config) { c.SeenMB = -1 },
		"output":     func(c *Config) { c.Output = "" },
	} {
		cfg := config(t, dataset.Chain)
		set(&cfg)
		if _, err := Run(t.Context(), cfg); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// broken fails at some of its searches.
type broken struct {
	game.Player
	searches *int
	every    int
}

func (b broken) Search(ctx context.Context, line *chess.Line, lim search.Limits) (search.Result, error) {
	if *b.searches++; *b.searches%b.every == 0 {
		return search.Result{}, errors.New("crashed")
	}
	return b.Player.Search(ctx, line, lim)
}

// Quiet keeps the games those of the player.
func (b broken) Quiet(line *chess.Line) (static, settled search.Score) {
	return b.Player.(search.Quieter).Quiet(line)
}

func TestPlayerThatFails(t *testing.T) {
	cfg := config(t, dataset.Chain)
	want, _ := mustRun(t, cfg)
	searches := 0
	cfg.Output = filepath.Join(t.TempDir(), "broken.chain")
	every := 400
	cfg.New = func() (game.Player, error) {
		p, err := newEngine()
		return broken{p, &searches, every}, err
	}
	if got, _ := mustRun(t, cfg); !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
	every = 1
	cfg.Output = filepath.Join(t.TempDir(), "never.chain")
	if _, err := Run(t.Context(), cfg); err == nil || errors.Is(err, context.Canceled) {
		t.Errorf("a player that always fails: %v", err)
	}
}
