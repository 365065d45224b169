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
