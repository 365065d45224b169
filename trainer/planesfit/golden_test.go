package planesfit

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"path/filepath"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/kernel"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenBelief is what a model says after it was restored.
type goldenBelief struct {
	Steps      uint64    `json:"steps"`
	ScoreScale float64   `json:"score_scale"`
	Values     []float64 `json:"values"` // of the positions of randomSamples(13, 12)
}

func goldenModel(t *testing.T) *Model {
	cfg := testConfig()
	cfg.Optimiser, cfg.MeanDecay = trainer.AdamW, 0.9
	return newTestModel(t, "residual 1x4 policy=1 value=1/2 heads=wdl,plies", cfg, 2)
}

func beliefOf(m *Model) goldenBelief {
	return goldenBelief{m.Steps(), m.ScoreScale(), m.Values(randomSamples(13, 12))}
}

// TestGolden restores checkpoints of every version ever written, compressed here; a
// file beside each says what the model then believes. One of the present version
// must also be written back as the same bytes. No training is repeated: its last
// bits depend on the level of the kernels.
func TestGolden(t *testing.T) {
	present := golden.Present(checkpointVersion, "model.bin.gz")
	if *update {
		writeGolden(t, present)
	}
	for _, path := range golden.Versions(t, present) {
		data := golden.Read(t, path)
		m := goldenModel(t)
		if err := m.Restore(bytes.NewReader(data)); err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		var want goldenBelief
		if err := json.Unmarshal(golden.Read(t, beliefPath(path)), &want); err != nil {
			t.Fatal(err)
		}
		got := beliefOf(m)
		if got.Steps != want.Steps || got.ScoreScale != want.ScoreScale || len(got.Values) != len(want.Values) {
			t.Errorf("%s: found %+v, expected %+v", path, got, want)
			continue
		}
		for i, v := range got.Values {
			if !(math.Abs(v-want.Values[i]) <= 1e-5) {
				t.Errorf("%s: value %d is %v, expected %v", path, i, v, want.Values[i])
			}
		}
		if path == present && !bytes.Equal(checkpointOf(t, m), data) {
			t.Errorf("%s is written back differently", path)
		}
	}
}

func beliefPath(checkpoint string) string {
	return filepath.Join(filepath.Dir(checkpoint), "belief.json")
}

// writeGolden trains with plain kernels, so that the file does not depend on the
// machine.
func writeGolden(t *testing.T, path string) {
	t.Helper()
	restore, err := kernel.Force(kernel.Generic)
	if err != nil {
		t.Fatal(err)
	}
	defer restore()
	m := goldenModel(t)
	if err := m.SetScoreScale(300); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		fit(t, m, randomSamples(uint64(i), 9), 0.01)
	}
	belief, err := json.MarshalIndent(beliefOf(m), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Write(t, path, checkpointOf(t, m))
	golden.Write(t, beliefPath(path), append(belief, '\n'))
}
