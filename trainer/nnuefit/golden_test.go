package nnuefit

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenArchitecture is about the smallest there is.
func goldenArchitecture() nnue.Architecture {
	a := nnue.Narrow(16)
	a.Stacks, a.PSQT, a.Buckets, a.L2, a.L3 = 1, 1, nnue.BoardPieces, 2, 3
	return a
}

// goldenModel returns a model of the optimiser that wrote a golden checkpoint:
// the first two versions knew only AdamW, since the third Ranger shows most.
func goldenModel(t *testing.T, path string, seed uint64) *Model {
	cfg := testConfig()
	if dir := filepath.Base(filepath.Dir(path)); dir != "v1" && dir != "v2" {
		cfg.Optimiser = trainer.Ranger
	}
	m, err := New(goldenArchitecture(), cfg, seed)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// goldenText says what a model believes: its step and score scale, then the
// values of the golden positions in raw units.
func goldenText(m *Model) []byte {
	text := fmt.Appendf(nil, "%d\t%g\n", m.Steps(), m.ScoreScale())
	for _, s := range randomSamples(13, 12) {
		text = fmt.Appendf(text, "%s\t%.3f\n", s.Pos.FEN(), m.Evaluate(&s.Pos))
	}
	return text
}

// TestGolden restores model checkpoints of every version ever written,
// compressed here; a text beside each says what the model then believes. One of
// the present version must also be written back as the same bytes. No training is
// repeated: its last bits depend on the level of the kernels.
func TestGolden(t *testing.T) {
	present := golden.Present(checkpointVersion, "model.bin.gz")
	if *update {
		writeGolden(t, present)
	}
	for _, path := range golden.Versions(t, present) {
		data := golden.Read(t, path)
		m := goldenModel(t, path, 2)
		if err := m.Restore(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		checkGoldenText(t, m, textBeside(path))
		var again bytes.Buffer
		if err := m.Checkpoint(&again); err != nil {
			t.Fatal(err)
		}
		if path == present && !bytes.Equal(again.Bytes(), data) {
			t.Errorf("%s is written back differently", path)
		}
	}
}

// checkGoldenText compares a model with the text at path, to within rounding.
func checkGoldenText(t *testing.T, m *Model, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	positions := 0
	for first := true; lines.Scan(); first = false {
		name, value, _ := strings.Cut(lines.Text(), "\t")
		var want float64
		if _, err := fmt.Sscan(value, &want); err != nil {
			t.Fatalf("%s: %q: %v", path, lines.Text(), err)
		}
		if first {
			if name != fmt.Sprint(m.Steps()) || want != m.ScoreScale() {
				t.Errorf("%s: step %d and score scale %g, want %s and %g", path, m.Steps(), m.ScoreScale(), name, want)
			}
			continue
		}
		p, err := chess.ParseFEN(chess.Crazyhouse, name)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Evaluate(&p); !(math.Abs(got-want) < 0.01) {
			t.Errorf("%s: %s: %f raw units, want %f", path, name, got, want)
		}
		positions++
	}
	if lines.Err() != nil || positions == 0 {
		t.Fatalf("%s: %d positions, %v", path, positions, lines.Err())
	}
}

func textBeside(path string) string { return strings.TrimSuffix(path, ".bin.gz") + ".tsv" }

// writeGolden trains a model for two steps, so that rows are of different steps,
// with plain kernels, so that the file does not depend on the machine.
func writeGolden(t *testing.T, path string) {
	t.Helper()
	restore, err := kernel.Force(kernel.Generic)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	m := goldenModel(t, path, 1)
	if err := errors.Join(m.SetScoreScale(300), m.SetScoreOffset(70)); err != nil {
		t.Fatal(err)
	}
	fit(t, m, randomSamples(12, 2), 1, 2)
	var b bytes.Buffer
	if err := m.Checkpoint(&b); err != nil {
		t.Fatal(err)
	}
	golden.Write(t, path, b.Bytes())
	golden.Write(t, textBeside(path), goldenText(m))
}
