package clitest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/mockengine"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// NarrowNet writes a random net and returns it with its path.
func NarrowNet(t *testing.T) (*nnue.Network, string) {
	t.Helper()
	n, err := nnuetest.Random(nnue.Narrow(16), 5)
	if err != nil {
		t.Fatal(err)
	}
	n.Description = "random, narrow"
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "random.nnue")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return n, path
}

// SmallRun makes a run's directory with one game in its replay buffer and
// returns it with the game's id.
func SmallRun(t *testing.T) (dir, id string) {
	t.Helper()
	record, err := os.ReadFile("../../../game/testdata/v1/crazyhouse.game")
	if err != nil {
		t.Fatal(err)
	}
	g, err := game.Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	replaytest.Store(t, filepath.Join(dir, "replay"), record)
	return dir, g.ID
}

// MockPlayer writes the mock engine with a script as a player of the command
// line.
func MockPlayer(script, settings string) string {
	command, args := mockengine.Command(script)
	return fmt.Sprintf(`uci:"%s" %s "%s",name=mock%s`, command, args[0], args[1], settings)
}

// PositionsFile writes three positions as FEN and EPD.
func PositionsFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "positions.epd")
	text := "# three\n" +
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1\n" +
		"r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R[Pn] b KQkq - bm O-O;\n" +
		"2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1\n"
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// PlanesFile writes a small net with random weights for a variant.
func PlanesFile(t *testing.T, v *chess.Variant) string {
	t.Helper()
	a, err := arch.Parse("2x32")
	if err != nil {
		t.Fatal(err)
	}
	p, err := a.New(rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	m, err := a.Model(p, planes.NewMeta(v))
	if err != nil {
		t.Fatal(err)
	}
	file, err := onnx.Encode(m)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), v.Name+".onnx")
	if err := os.WriteFile(path, file, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// Games makes a file of games and returns its path. The commands are those of
// gensfen.
func Games(t *testing.T, commands []*cobra.Command) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "games.chain")
	args := []string{"gensfen", "--nodes", "20", "--hash", "1", "--count", "4000", "--output", path}
	if _, stderr, code := Run(t, commands, "", args...); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return path
}
