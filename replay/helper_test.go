package replay

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }

func gameID(i int) string { return fmt.Sprintf("game-%06d", i) }

// opening is the number of plies of a test game that are not trained on.
const opening = 4

// testGame is a game of random moves, different for each i.
func testGame(i, maxPlies int) *game.Game {
	rng := newRand(uint64(i))
	g := &game.Game{
		ID: gameID(i), Variant: chess.Crazyhouse, Start: chess.Crazyhouse.Start(),
		Seed: uint64(i), Limits: "nodes 100", Build: "test", Nets: [2]string{"material", "material"},
	}
	line := chess.NewLine(g.Start)
	for len(g.Plies) < maxPlies {
		if g.Outcome, g.Reason = line.Outcome(); g.Outcome != chess.Ongoing {
			return g
		}
		trained := len(g.Plies) >= opening
		ply := game.Ply{Move: game.RandomMove(line.Pos(), rng), HasScore: trained, Train: trained}
		if trained {
			ply.Score = search.Score(rng.IntN(2001) - 1000)
		}
		g.Plies = append(g.Plies, ply)
		line.Push(ply.Move)
	}
	if g.Outcome, g.Reason = line.Outcome(); g.Outcome == chess.Ongoing {
		g.Outcome, g.Reason = chess.Draw, game.PlyLimit
	}
	return g
}

func encode(t testing.TB, g *game.Game) []byte {
	t.Helper()
	b, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// testGames returns n encoded games from number first on, of 10 to 33 plies.
func testGames(t testing.TB, first, n int) [][]byte {
	t.Helper()
	out := make([][]byte, n)
	for i := range out {
		out[i] = encode(t, testGame(first+i, 10+(first+i)%24))
	}
	return out
}

func testOptions() Options {
	return Options{
		Variant: chess.Crazyhouse, MaxBytes: 1 << 20, SegmentBytes: 4 << 10,
		Window: WindowRule{Min: 1_000_000, Exponent: 0.65, Slope: 0.4},
	}
}

func openBuffer(t testing.TB, dir string, o Options) *Buffer {
	t.Helper()
	b, err := Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

func appendGames(t testing.TB, b *Buffer, games [][]byte) Report {
	t.Helper()
	rep, err := b.Append(games)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

// crash closes what a killed process leaves to the operating system, and
// nothing else.
func crash(t testing.TB, b *Buffer) {
	t.Helper()
	b.failed = ErrClosed
	if err := b.release(); err != nil {
		t.Fatal(err)
	}
}

func audit(t testing.TB, dir string) AuditReport {
	t.Helper()
	r, err := Audit(dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// copyDir copies the files of a buffer.
func copyDir(t testing.TB, from string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	return to
}

// rows is the number of training positions in games of testGames.
func rows(games [][]byte) (n uint64) {
	for _, b := range games {
		g, err := game.Decode(b)
		if err != nil {
			panic(err)
		}
		if !sample.HeldOut(g.ID) {
			n += uint64(trainable(g))
		}
	}
	return n
}

func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	names, err := fs.Glob(os.DirFS(dir), "*"+segmentExt)
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
