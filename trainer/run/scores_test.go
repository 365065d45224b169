package run

import (
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/logistic"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// plant gives samples scores, and the results that these foretell, in centipawns.
func plant(all []sample.Sample, scale, offset float64) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range all {
		s := &all[i]
		s.Score = search.Score(rng.IntN(2000) - 1000)
		s.Result = -1
		if rng.Float64() < logistic.Sigmoid((float64(s.Score)-offset)/scale) {
			s.Result = 1
		}
	}
}

// With fit_offset a model takes from scores what an even chance is found to have, without
// it nothing; the finding is the same.
func TestFitScores(t *testing.T) {
	const scale, offset = 400.0, 60.0 // centipawns
	samples := make([]sample.Sample, 20000)
	for i := range samples {
		samples[i].Pos = chess.Crazyhouse.Start()
	}
	plant(samples, scale, offset)
	for _, on := range []bool{false, true} {
		cfg, err := configs.LearnPreset("tiny")
		if err != nil {
			t.Fatal(err)
		}
		cfg.FitOffset = on
		tr, err := NewTraining("crazyhouse", cfg.Net, cfg.Settings)
		if err != nil {
			t.Fatal(err)
		}
		m, err := tr.NewModel(trainer.Constant(0.001), 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		found, err := tr.FitScores(m, samples)
		if err != nil {
			t.Fatal(err)
		}
		without := slices.Concat(samples, slices.Repeat([]sample.Sample{{Pos: chess.Crazyhouse.Start(), Score: 900, NoResult: true}}, len(samples)))
		if again, err := tr.FitScores(m, without); err != nil || again != found {
			t.Errorf("with samples without a result: found %+v, error %v, expected %+v", again, err, found)
		}
		if cp := found.Offset / search.RawPerCentipawn; math.Abs(cp-offset) > 20 || math.Abs(found.Scale/search.RawPerCentipawn/scale-1) > 0.1 {
			t.Errorf("found %.0f centipawns and a scale of %.0f, expected %.0f and %.0f", cp, found.Scale/search.RawPerCentipawn, offset, scale)
		}
		want := Scores{Scale: found.Scale}
		if on {
			want.Offset = found.Offset
		}
		if got := ScoresOf(m); got != want {
			t.Errorf("fit_offset %t: the model has %+v, expected %+v", on, got, want)
		}
	}
}

// TestScaleByWeights: the scale of several groups of data is that of the positions that training
// draws, in the shares of their weights; that of each group alone is said.
func TestScaleByWeights(t *testing.T) {
	scales, weights := []float64{100, 300}, []int{99, 1}
	var data []string
	for _, scale := range scales {
		all := samples(40)
		plant(all, scale, 0)
		data = append(data, dataFile(t, "a.chain", all))
	}
	cfg := settings(t, data...)
	cfg.Epochs, cfg.ScoreScale, cfg.Weights = 0.1, 0, "99,1"
	var out strings.Builder
	s, err := Run(t.Context(), cfg, Options{Dir: t.TempDir(), Out: &out, Progress: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	near := func(what string, raw, scale float64) {
		t.Helper()
		if math.Abs(raw/search.RawPerCentipawn/scale-1) > 0.2 {
			t.Errorf("%s: found a scale of %.0f, expected about %.0f", what, raw, scale*search.RawPerCentipawn)
		}
	}
	near("all", s.ScoreScale, scales[0])
	for i, name := range data {
		alone := fmt.Sprintf("score scale of %s, weight %d, fitted alone: ", name, weights[i])
		_, text, _ := strings.Cut(out.String(), alone)
		var found float64
		if _, err := fmt.Sscan(text, &found); err != nil {
			t.Fatalf("found %q, expected %q with a number: %v", out.String(), alone, err)
		}
		near(alone, found, scales[i])
	}
}

// TestKnownScale: a scale of scores that the settings name is that of training which begins
// with a checkpoint of another one, whatever kind the net is of.
func TestKnownScale(t *testing.T) {
	data := dataFile(t, "a.chain", samples(40))
	for _, cfg := range []configs.Learn{settings(t, data), planesSettings(t, data)} {
		cfg.FitOffset = true
		dir := t.TempDir()
		if _, err := Run(t.Context(), cfg, quiet(dir)); err != nil {
			t.Fatal(err)
		}
		cfg.Init, cfg.ScoreScale = dir, 555
		tr, err := NewTraining(cfg.Variant, cfg.Net, cfg.Settings)
		if err != nil {
			t.Fatal(err)
		}
		m, err := tr.NewModel(trainer.Constant(0.001), 1, 1)
		if err == nil {
			err = tr.Start(m, io.Discard)
		}
		if got, want := ScoresOf(m), (Scores{Scale: 555}); err != nil || got != want {
			t.Errorf("%s: scores %+v, error %v, expected %+v", cfg.Kind, got, err, want)
		}
	}
}

// TestUnfitted: where samples do not tell what scores mean, a net of kind nnue learns to say
// what they do; a convolutional one is told, or goes on from a checkpoint that knows.
func TestUnfitted(t *testing.T) {
	data := dataFile(t, "a.compact", samples(60))
	for _, cfg := range []configs.Learn{settings(t, data), planesSettings(t, data)} {
		cfg.Epochs, cfg.ScoreScale = 0.1, 0
		s, err := Run(t.Context(), cfg, quiet(t.TempDir()))
		if cfg.Kind == configs.Planes {
			if !errors.Is(err, trainer.ErrConfig) || !strings.Contains(err.Error(), "--score-scale") {
				t.Errorf("%s: found error %v, expected %v that names --score-scale", cfg.Kind, err, trainer.ErrConfig)
			}
		} else if err != nil || s.ScoreScale != cfg.NetScale {
			t.Errorf("%s: found a scale of %g, error %v, expected %g, that of its output", cfg.Kind, s.ScoreScale, err, cfg.NetScale)
		}
		first := t.TempDir()
		cfg.ScoreScale = 555
		if s, err = Run(t.Context(), cfg, quiet(first)); err != nil || s.ScoreScale != 555 {
			t.Errorf("%s: found a scale of %g, error %v, expected the one given, 555", cfg.Kind, s.ScoreScale, err)
		}
		cfg.Init, cfg.ScoreScale = first, 0
		if s, err = Run(t.Context(), cfg, quiet(t.TempDir())); err != nil || s.ScoreScale != 555 {
			t.Errorf("%s: found a scale of %g, error %v, expected that of the checkpoint, 555", cfg.Kind, s.ScoreScale, err)
		}
		var text strings.Builder
		if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "of results -\n") {
			t.Errorf("%s: printed %q, error %v, expected no loss of results", cfg.Kind, text.String(), err)
		}
	}
}

// TestScaleOfNoUse: a convolutional net is told what scores mean only where they are part of
// targets.
func TestScaleOfNoUse(t *testing.T) {
	all := samples(60)
	for i := range all {
		all[i].Result = 1 // which tells no scale
	}
	results, none := dataFile(t, "a.plain", all), dataFile(t, "a.compact", all)
	for _, tc := range []struct {
		name, data string
		lambda     trainer.ScheduleText
		limit      int
		lambda2    float64
		value      float64
		refused    bool
	}{
		{"results alone", results, "0", 0, 0.5, 1, false},
		{"lambda in the end", results, "linear:0:0.5", 0, 0, 1, true},
		{"lambda2", results, "0", 100, 0.5, 1, true},
		{"no results", none, "0", 0, 0, 1, true},
		{"no value", results, "1", 0, 0, 0, false},
	} {
		cfg := planesSettings(t, tc.data)
		cfg.Epochs, cfg.ScoreScale = 0.1, 0
		cfg.Lambda, cfg.LambdaLimit, cfg.Lambda2, cfg.ValueWeight = tc.lambda, tc.limit, tc.lambda2, tc.value
		if _, err := Run(t.Context(), cfg, quiet(t.TempDir())); (err != nil) != tc.refused || err != nil && !strings.Contains(err.Error(), "--score-scale") {
			t.Errorf("%s: error %v, expected one: %t", tc.name, err, tc.refused)
		}
	}
}

// TestNoResultsNoCurves: positions without results have no curves of them.
func TestNoResultsNoCurves(t *testing.T) {
	for want, loss := range map[string]trainer.Loss{
		"loss/a, loss/a, scores":                                   {Mean: 1, Score: 1, Positions: 9},
		"loss/a, loss/a, scores, loss/a, results, sign accuracy/a": {Mean: 1, Score: 1, Result: 1, Positions: 9, Decided: 9},
	} {
		var tags []string
		for _, s := range LossScalars("a", &loss) {
			tags = append(tags, s.Tag)
		}
		if got := strings.Join(tags, ", "); got != want {
			t.Errorf("found curves %s, expected %s", got, want)
		}
	}
}
