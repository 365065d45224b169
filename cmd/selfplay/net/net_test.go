package net

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

func TestNetInspectAndImport(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	out, _, code := selfplayCommand(t, "", "net", "inspect", path)
	if code != 0 || !strings.Contains(out, `"random, narrow"`) || !strings.Contains(out, "crazyhouse") {
		t.Errorf("inspect: exit %d, output %q", code, out)
	}
	copied := filepath.Join(t.TempDir(), "copy.nnue")
	if _, stderr, code := selfplayCommand(t, "", "net", "import", path, copied); code != 0 {
		t.Fatalf("import: exit %d, error %q", code, stderr)
	}
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(copied); err != nil || !bytes.Equal(again, original) {
		t.Errorf("the copy differs, error %v", err)
	}
	if again, _, _ := selfplayCommand(t, "", "net", "inspect", copied); again != out {
		t.Errorf("inspect prints %q, of the copy %q", out, again)
	}

	truncated := filepath.Join(t.TempDir(), "truncated.nnue")
	for _, n := range []int{0, 3, 100, len(original) / 2, len(original) - 1} {
		if err := os.WriteFile(truncated, original[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"net", "inspect", truncated}, {"net", "import", truncated, copied}} {
			if _, stderr, code := selfplayCommand(t, "", args...); code != 1 || !strings.Contains(stderr, "truncated.nnue") {
				t.Errorf("%s of %d bytes: exit %d, error %q", args[1], n, code, stderr)
			}
		}
	}
	if again, err := os.ReadFile(copied); err != nil || !bytes.Equal(again, original) {
		t.Errorf("a failed import changed what it should have replaced, error %v", err)
	}
}

func TestNetExport(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	exported := filepath.Join(t.TempDir(), "exported.nnue")
	_, stderr, code := selfplayCommand(t, "", "net", "export", path, exported)
	if code != 1 || !strings.Contains(stderr, "random.nnue: Fairy-Stockfish does not load such a net") || !strings.Contains(stderr, "Width: found 16, expected 512") {
		t.Errorf("narrow net: exit %d, error %q", code, stderr)
	}
	if _, err := os.Stat(exported); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the refused export left a file, error %v", err)
	}

	if err := os.WriteFile(path, nnuetest.A.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "net", "export", path, exported); code != 0 {
		t.Fatalf("fairy net: exit %d, error %q", code, stderr)
	}
	if got, err := os.ReadFile(exported); err != nil || nets.Hash(got) != nnuetest.A.SHA256 {
		t.Errorf("the exported file is not the one that Fairy-Stockfish loads, error %v", err)
	}
}

// saveNet writes a net to a file of its own directory.
func saveNet(t *testing.T, n *nnue.Network) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "net.nnue")
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestNetInspectFinds plants a dead neuron, a saturating group and an overflow.
func TestNetInspectFinds(t *testing.T) {
	n, _ := clitest.NarrowNet(t)
	for f := range n.Features().Size() {
		n.FTRow(f)[7] = 0
	}
	n.FTBias[7] = -1
	for i := range n.Stacks[4].L2Weights[:8] {
		n.Stacks[4].L2Weights[i] = 127
	}
	n.Stacks[5].L2Bias[0] = math.MaxInt32
	path := saveNet(t, n)
	manifest := nets.Manifest{Schema: nets.ManifestSchema, Kind: nets.KindNNUE, Variant: "crazyhouse", Generation: 12, Step: 3456}
	manifest.ID = nets.Hash(nil)
	text, err := manifest.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(strings.TrimSuffix(path, ".nnue")+".json", text, 0o644); err != nil {
		t.Fatal(err)
	}

	out, stderr, code := selfplayCommand(t, "", "net", "inspect", path, "--positions", clitest.PositionsFile(t))
	for _, want := range []string{
		"crazyhouse HalfKAv2 16+8-16-32-1 x8 by pieces in hand",
		"55296, of them", "at most 32 active",
		"generation 12, step 3456", "of another net: found id " + manifest.ID,
		"overflow      possible: stack 5: ", "output 0 of layer 2",
		"saturation    possible in builds of Fairy-Stockfish", "the first in stack 4, layer 2, output 0",
		"transformer weights", "884736",
		"  transformer, always 0: 7\n",
		"in 3 positions, by stack 1 0 1 0 0 0 0 1",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if code != 0 || stderr != "" || t.Failed() {
		t.Errorf("exit %d, error %q, output\n%s", code, stderr, out)
	}

	out, _, code = selfplayCommand(t, "", "net", "inspect", path, "--positions", clitest.PositionsFile(t), "--json")
	var r netstat.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, error %v", code, err)
	}
	if r.Architecture != n.Architecture() || r.Manifest.Step != 3456 || r.Overflow == "" || len(r.Saturations) == 0 ||
		r.Features.Size != 55296 || r.Activity.Positions != 3 || r.Dead[0] != (netstat.Neuron{Layer: "transformer", Index: 7, Why: "always 0"}) {
		t.Errorf("found %+v", r)
	}
}

// TestNetInspectBuiltin: the program's own net has an id, but no file and no manifest.
func TestNetInspectBuiltin(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("builtin.json", []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := selfplayCommand(t, "", "net", "inspect", "builtin", "--json")
	var r netstat.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, error %q, %v", code, stderr, err)
	}
	if r.ID != builtin.ID(chess.Crazyhouse) || r.Variant != "crazyhouse" || r.Manifest != nil {
		t.Errorf("found %s of %s, manifest %v, expected %s", r.ID, r.Variant, r.Manifest, builtin.ID(chess.Crazyhouse))
	}
}

func TestNetInspectDraws(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	dir := filepath.Join(t.TempDir(), "a", "neurons")
	for _, format := range []string{"png", "svg"} {
		out, stderr, code := selfplayCommand(t, "", "net", "inspect", path, "--draw", dir, "--neurons", "0, 15", "--king", "g1", "--format", format)
		if code != 0 {
			t.Fatalf("exit %d, error %q", code, stderr)
		}
		for _, name := range []string{"neuron-0000." + format, "neuron-0015." + format} {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err != nil || info.Size() < 10_000 || !strings.Contains(out, "wrote "+file) {
				t.Errorf("%s: error %v, output %q", name, err, out)
			}
		}
	}
	svg, err := os.ReadFile(filepath.Join(dir, "neuron-0015.svg"))
	if err != nil || !strings.Contains(string(svg), "neuron 15") || !strings.Contains(string(svg), "own king on g1") || !strings.Contains(string(svg), "enemy hand") {
		t.Errorf("the drawing lacks its titles, error %v", err)
	}
}

func TestNetUsageErrors(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	for _, tc := range []struct {
		args []string
		want []string
	}{
		{[]string{"inspect", path, "--draw", "x", "--neurons", "1,16"}, []string{`"16"`, "0 to 15"}},
		{[]string{"inspect", path, "--draw", "x", "--king", "k9"}, []string{"--king", "k9"}},
		{[]string{"inspect", path, "--king", "g1"}, []string{"--king", "without --draw"}},
		{[]string{"inspect", path, "--draw", "x", "--format", "gif"}, []string{`"gif"`, "png or svg"}},
		{[]string{"inspect", path, "--positions", "a", "--replay", "b"}, []string{"--positions", "--replay"}},
		{[]string{"export", "--to", "shredder", path, "x"}, []string{`"shredder"`, "fairy-stockfish"}},
		{[]string{"import", path, filepath.Dir(path)}, []string{"directory", "name of a file"}},
		{[]string{"quantcheck", path, "--plot", "x.jpg"}, []string{"--plot", `"x.jpg"`, ".png or .svg"}},
		{[]string{"quantcheck", path, "--scale", "0"}, []string{"--scale", "found 0"}},
		{[]string{"quantcheck", path, "--max-p999=-1"}, []string{"--max-p999", "found -1"}},
		{[]string{"quantcheck", path, "--count=-1"}, []string{"--count", "found -1"}},
		{[]string{"quantcheck", path, "--count", "0"}, []string{"--count", "found 0"}},
		{[]string{"quantcheck", path, "--runtime", "native"}, []string{"--runtime without a plane net"}},
		{[]string{"quantcheck", path, "--against", "onnxgo"}, []string{"--against without a plane net"}},
		{[]string{"quantcheck", path, "--library", "x.so"}, []string{"--library without a plane net"}},
	} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"net"}, tc.args...)...)
		if code != 2 || out != "" {
			t.Errorf("%q: exit %d, output %q, expected 2 and none", tc.args, code, out)
		}
		for _, want := range tc.want {
			if !strings.Contains(stderr, want) {
				t.Errorf("%q: error %q lacks %q", tc.args, stderr, want)
			}
		}
	}
}

// TestNetExportStockfish12 writes a chess net, then one that overflows.
func TestNetExportStockfish12(t *testing.T) {
	n, err := nnuetest.Random(nnue.HalfKP(), 1)
	if err != nil {
		t.Fatal(err)
	}
	path, out := saveNet(t, n), filepath.Join(t.TempDir(), "out.nnue")
	if _, stderr, code := selfplayCommand(t, "", "net", "export", "--to", "stockfish-12", path, out); code != 0 {
		t.Fatalf("exit %d, error %q", code, stderr)
	}
	read, err := nnue.ReadFile(out, chess.Chess)
	if err != nil || read.Architecture() != nnue.HalfKP() {
		t.Errorf("read back: error %v", err)
	}
	if _, stderr, code := selfplayCommand(t, "", "net", "export", path, out); code != 1 || !strings.Contains(stderr, "Features: found HalfKP, expected HalfKAv2") {
		t.Errorf("to Fairy-Stockfish: exit %d, error %q", code, stderr)
	}
	for f := range n.Features().Size() {
		n.FTRow(f)[3] = 2000
	}
	if _, stderr, code := selfplayCommand(t, "", "net", "export", "--to", "stockfish-12", saveNet(t, n), out); code != 1 || !strings.Contains(stderr, "accumulator 3") {
		t.Errorf("a net that overflows: exit %d, error %q", code, stderr)
	}
}

func TestQuantcheck(t *testing.T) {
	_, path := clitest.NarrowNet(t)
	plot := filepath.Join(t.TempDir(), "plot.svg")
	out, stderr, code := selfplayCommand(t, "", "net", "quantcheck", path, "--positions", clitest.PositionsFile(t), "--json", "--plot", plot)
	var r quantReport
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 {
		t.Fatalf("exit %d, error %v %q", code, err, stderr)
	}
	if r.Positions != 3 || r.P999 <= 0 || r.P999 > 500 || r.Worst.FEN == "" || math.Abs(r.Worst.Integer-r.Worst.Float) != r.P999 {
		t.Errorf("found %+v", r)
	}
	if text, err := os.ReadFile(plot); err != nil || !strings.Contains(string(text), "Integer net less float net, 3 positions") {
		t.Errorf("plot: error %v", err)
	}

	play := []string{"net", "quantcheck", path, "--count", "200", "--max-p999"}
	first, _, code := selfplayCommand(t, "", append(play, "10000")...)
	if code != 0 || !strings.Contains(first, "positions        200\n") || !strings.Contains(first, "without rounded activations") {
		t.Errorf("self-play: exit %d, output\n%s", code, first)
	}
	again, stderr, code := selfplayCommand(t, "", append(play, "0.001")...)
	if code != 1 || again != first || !strings.Contains(stderr, "99.9th percentile: found ") || !strings.Contains(stderr, "expected at most 0.001") {
		t.Errorf("above the bound: exit %d, error %q, output\n%s", code, stderr, again)
	}
}

// TestQuantcheckCheckpoint compares a net with the checkpoint it came from, and
// with another.
func TestQuantcheckCheckpoint(t *testing.T) {
	dir := t.TempDir()
	checkpoint := func(seed uint64) (*nnuefit.Model, string) {
		model, err := nnuefit.New(nnue.Narrow(16), nnuefit.DefaultConfig(), seed)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := trainer.New(model, noSource{}, trainer.Config{BatchSize: 1, Seed: seed, LearningRate: trainer.Constant(0), Lambda: trainer.Constant(0)})
		if err != nil {
			t.Fatal(err)
		}
		sub := filepath.Join(dir, string(rune('a'+seed)))
		if err := tr.Checkpoint(sub, nil); err != nil {
			t.Fatal(err)
		}
		return model, filepath.Join(sub, "step-000000000000.checkpoint")
	}
	model, own := checkpoint(1)
	_, other := checkpoint(2)
	n, err := model.Network()
	if err != nil {
		t.Fatal(err)
	}
	path := saveNet(t, n)
	run := func(name string) string {
		out, stderr, code := selfplayCommand(t, "", "net", "quantcheck", path, "--positions", clitest.PositionsFile(t), "--checkpoint", name)
		if code != 0 {
			t.Fatalf("exit %d, error %q", code, stderr)
		}
		return out
	}
	if out := run(own); !strings.Contains(out, "step 0, of which the net is the export") || !strings.Contains(out, "within ±50       100.0000 %") {
		t.Errorf("its own checkpoint: output\n%s", out)
	}
	if out := run(other); !strings.Contains(out, "of which the net is not the export") {
		t.Errorf("another checkpoint: output\n%s", out)
	}

	_, wide := clitest.NarrowNet(t)
	if err := os.WriteFile(own, []byte("TRAINER\nnonsense"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "net", "quantcheck", wide, "--checkpoint", own); code != 1 || !strings.Contains(stderr, own) {
		t.Errorf("a damaged checkpoint: exit %d, error %q", code, stderr)
	}
}

// noSource is for a trainer that draws nothing.
type noSource struct{ trainer.Source }
