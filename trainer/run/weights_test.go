package run

import (
	"errors"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// A directory of two files has the share of every batch that its weight says.
func TestWeightsOfDirectories(t *testing.T) {
	scored := func(score search.Score) (dir string) { // a directory of positions that all have it
		all := samples(4)
		for i := range all {
			all[i].Score = score
		}
		return filepath.Dir(dataFile(t, "a.chain", all))
	}
	ones, others := scored(1), scored(2)
	if err := os.WriteFile(filepath.Join(ones, "b.chain"), read(t, ones, "a.chain"), 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := settings(t, ones, others)
	cfg.Weights, cfg.HeldOut = "3,1", 0
	cfg, err := Expand(cfg)
	if err != nil || cfg.Weights != "3x2,1" || len(cfg.Data) != 3 {
		t.Fatalf("weights %s of %q, error %v", cfg.Weights, cfg.Data, err)
	}
	p, err := newPlan(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var share sharing
	share.expect(p)
	s, err := p.openData(t.Context(), &share, extents{}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	batch := make([]sample.Sample, 4096)
	if err := s.Draw(rand.New(rand.NewPCG(1, 1)), batch); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range batch {
		if batch[i].Score == 1 {
			n++
		}
	}
	if n != len(batch)*3/4 {
		t.Errorf("%d of %d positions of the weight 3, want three quarters", n, len(batch))
	}

	for _, weights := range []string{"3", "1,2,3", "2x2,1"} {
		cfg := settings(t, ones, others)
		cfg.Weights = weights
		if _, err := Expand(cfg); !errors.Is(err, trainer.ErrConfig) || !strings.Contains(err.Error(), "each of 2 names") {
			t.Errorf("weights %s of two names: error %v", weights, err)
		}
	}
}

// The positions to measure may be named as data are: a run for its replay buffer, a
// directory for the one file in it.
func TestExpandValidation(t *testing.T) {
	data := dataFile(t, "a.chain", samples(4))
	run, two := t.TempDir(), t.TempDir()
	addGames(t, filepath.Join(run, "replay"), greedyGames(t, 3), 0, 2)
	for _, name := range []string{"a.chain", "b.chain"} {
		if err := os.WriteFile(filepath.Join(two, name), read(t, data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	buffer := dataset.BufferPrefix + filepath.Join(run, "replay")
	for name, want := range map[string]string{
		"": "", data: data, filepath.Dir(data): data, run: buffer, dataset.BufferPrefix + run: buffer, buffer: buffer,
	} {
		cfg := settings(t, data)
		cfg.Validation = name
		if cfg, err := Expand(cfg); err != nil || cfg.Validation != want {
			t.Errorf("%s: found %q, error %v, expected %q", name, cfg.Validation, err, want)
		}
	}
	for name, want := range map[string]string{two: "found 2 files of samples, expected one", filepath.Join(two, "none.chain"): "no such file"} {
		cfg := settings(t, data)
		cfg.Validation = name
		if _, err := Expand(cfg); err == nil || !strings.HasPrefix(err.Error(), "validation: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, expected one with %q", name, err, want)
		}
	}
}

func TestParseWeights(t *testing.T) {
	for text, want := range map[string][]weight{
		"3,1,0.5": {{3, 1}, {1, 1}, {0.5, 1}},
		" 3x2, 1": {{3, 2}, {1, 1}},
		"2x3":     {{2, 3}},
		"3,1":     nil, "1,1,1,1": nil, "0,1,1": nil, "-1,1,1": nil, "Inf,1,1": nil, "NaN,1,1": nil, "1x0,1,1": nil, "1x4": nil, "1x,1,1": nil, "": nil, "1xx3": nil,
	} {
		got, err := parseWeights(text, 3)
		if (err == nil) != (want != nil) || err == nil && !reflect.DeepEqual(got, want) || err != nil && !errors.Is(err, trainer.ErrConfig) {
			t.Errorf("%q: %v, error %v, want %v", text, got, err, want)
		}
	}
}
