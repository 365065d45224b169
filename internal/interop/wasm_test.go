//go:build interop

package interop

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// positions plays random games and returns n of their positions not in check,
// which is where Fairy-Stockfish's eval command answers.
func positions(n int) []chess.Position {
	rng := rand.New(rand.NewPCG(1, 2))
	var out []chess.Position
	var moves chess.MoveList
	for {
		p := chess.Crazyhouse.Start()
		for range 120 {
			moves.N = 0
			p.Legal(&moves)
			if moves.N == 0 {
				break
			}
			p.Make(moves.Moves[rng.IntN(moves.N)])
			if p.InCheck() || rng.IntN(12) > 0 {
				continue
			}
			if out = append(out, p); len(out) == n {
				return out
			}
		}
	}
}

// trainedNet writes a net of Fairy-Stockfish's architecture that has seen a few
// batches, so that no part of it is zero, and returns it with its path.
func trainedNet(t *testing.T) (*nnue.Network, string) {
	t.Helper()
	model, err := nnuefit.New(nnue.Fairy(), nnuefit.DefaultConfig(), 1)
	if err != nil {
		t.Fatal(err)
	}
	var batch []sample.Sample
	for i, p := range positions(1024) {
		batch = append(batch, sample.Sample{Pos: p, Score: search.Score(i%601 - 300), Result: int8(i%3 - 1)})
	}
	for range 8 {
		if _, err := model.Fit(batch, trainer.Hyper{LearningRate: 0.01, Lambda: 0.5}); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "crazyhouse-interop.nnue")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := model.Export(f, batch[:64]); err != nil {
		t.Fatal(err)
	}
	net, err := nnue.ReadFile(path, chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	return net, path
}

// engine is the npm package's UCI engine under Node.js.
type engine struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Scanner
}

func startEngine(t *testing.T, net string) *engine {
	t.Helper()
	// Node's own fetch makes the package look for its files on the web.
	cmd := exec.CommandContext(t.Context(), "node", "--no-experimental-fetch", "node_modules/fairy-stockfish-nnue.wasm/uci.js")
	cmd.Env = append(os.Environ(), "UCI_NNUE_FILE="+net)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v; it comes with make interop", err)
	}
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "quit\n")
		hung := time.AfterFunc(10*time.Second, func() { _ = cmd.Process.Kill() })
		defer hung.Stop()
		_ = cmd.Wait()
	})
	return &engine{t, in, bufio.NewScanner(out)}
}

func (e *engine) send(format string, args ...any) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.in, format+"\n", args...); err != nil {
		e.t.Fatal(err)
	}
}

// value returns the number on the next line that begins with label.
func (e *engine) value(label string) string {
	e.t.Helper()
	for e.out.Scan() {
		if rest, ok := strings.CutPrefix(e.out.Text(), label); ok {
			return strings.Fields(rest)[0]
		}
	}
	e.t.Fatalf("found the end of the engine's output, expected %q", label)
	return ""
}

// TestFairyStockfishEvaluatesOurNet has the WebAssembly build of Fairy-Stockfish
// load a net of ours and compares the two numbers that its eval command shows.
func TestFairyStockfishEvaluatesOurNet(t *testing.T) {
	net, path := trainedNet(t)
	e := startEngine(t, path)
	e.send("uci\nsetoption name UCI_Variant value crazyhouse\nsetoption name Use NNUE value true")
	shown := map[string]bool{}
	for _, p := range positions(100) {
		e.send("position fen %s\neval", p.FEN())
		ours := net.Evaluate(&p)
		sign := 1.0 // it shows White's point of view, in pawns of 208 units
		if p.SideToMove() == chess.Black {
			sign = -1
		}
		for _, v := range []struct {
			label string
			value int
		}{{"NNUE evaluation", ours.Raw}, {"Final evaluation", ours.Final}} {
			want := fmt.Sprintf("%+.2f", sign*float64(v.value)/208)
			got := e.value(v.label)
			if strings.Trim(got+want, "+-0.") == "" {
				continue // the sign of zero has no meaning
			}
			if got != want {
				t.Errorf("%s: %s: found %s, expected %s", p.FEN(), v.label, got, want)
			}
			shown[got] = true
		}
	}
	if len(shown) < 50 {
		t.Errorf("found %d different values, expected a net that tells positions apart", len(shown))
	}
}
