package tune

import (
	"context"
	"errors"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func fiveFactors() Screen {
	return Screen{[]Factor{{"null_move", "false", "true"}, {"singular", "false", "true"}, {"margin", "30", "60"}, {"razor", "100", "200"}, {"delta", "0", "9"}}}
}

// worth is what the high levels of fiveFactors are worth, in Elo.
var worth = []float64{60, 25, 0, -15, -40}

func strengthOf(s *Screen) func(Values) float64 {
	return func(v Values) float64 {
		elo := 0.0
		for i, f := range s.Factors {
			if v[f.Key] == f.High {
				elo += worth[i]
			}
		}
		return elo
	}
}

// TestScreenFindsEffects is the law of the method: the effects put in come out, sorted,
// and their errors are those of as many games for one factor alone.
func TestScreenFindsEffects(t *testing.T) {
	s := fiveFactors()
	const pairs = 20000
	effects, err := s.Run(t.Context(), Config{Pairs: pairs, Seed: 5, Play: played(strengthOf(&s))})
	if err != nil || effects.Pairs != pairs || len(effects.Effects) != len(worth) {
		t.Fatalf("found %+v, error %v", effects, err)
	}
	for i, e := range effects.Effects {
		if e.Factor != s.Factors[i] {
			t.Errorf("found %v at place %d, expected %v: the greatest first", e.Factor, i, s.Factors[i])
		}
		margin, _ := e.Elo.Margin()
		// Elo is taken as linear, so that great differences are understated a little.
		if off := math.Abs(e.Elo.Value - worth[i]); off > 1.5*margin+0.05*math.Abs(worth[i]) {
			t.Errorf("%v: found %v, expected %v", e.Factor, e.Elo, worth[i])
		}
		if alone := 1.96 * math.Sqrt(0.25/(2*pairs)) * eloOfScore; math.Abs(margin/alone-1) > 0.05 {
			t.Errorf("%v: found an error of %.2f, expected %.2f as of a match of %d games", e.Factor, margin, alone, 2*pairs)
		}
	}
}

// TestScreenErrors: over many runs the intervals hold the truth about as often as they
// say, 95 % of the time.
func TestScreenErrors(t *testing.T) {
	s := Screen{fiveFactors().Factors[1:4]} // small effects, where Elo is linear
	held, all := 0, 0
	for seed := range uint64(200) {
		play := played(func(v Values) float64 {
			elo := 0.0
			for i, f := range s.Factors {
				if v[f.Key] == f.High {
					elo += worth[i+1]
				}
			}
			return elo
		})
		effects, err := s.Run(t.Context(), Config{Pairs: 300, Seed: seed, Play: func(ctx context.Context, pair int, a, b Values) (int, error) {
			return play(ctx, pair+1000*int(seed), a, b)
		}})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range effects.Effects {
			i := slices.Index(s.Factors, e.Factor)
			if all++; e.Elo.Low <= worth[i+1] && worth[i+1] <= e.Elo.High {
				held++
			}
		}
	}
	if share := float64(held) / float64(all); share < 0.92 || share > 0.98 {
		t.Errorf("%d of %d intervals hold the truth, expected about 95 %%", held, all)
	}
}

// TestScreenGoesOn: a run that was stopped shows what it has, and with more pairs it
// goes on.
func TestScreenGoesOn(t *testing.T) {
	s := fiveFactors()
	c := Config{Pairs: 100, Seed: 5, Play: played(strengthOf(&s)), State: filepath.Join(t.TempDir(), "state")}
	ctx, stop := context.WithCancel(t.Context())
	c.OnPair = func(finished int) {
		if finished == 60 {
			stop()
		}
	}
	if effects, err := s.Run(ctx, c); !errors.Is(err, context.Canceled) || effects.Pairs != 60 || len(effects.Effects) != len(worth) {
		t.Errorf("stopped after 60 pairs: found %+v, error %v", effects, err)
	}
	c.Pairs, c.Concurrency = 200, 4
	found, err := s.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	c.State = ""
	if want, err := s.Run(t.Context(), c); err != nil || !slices.Equal(found.Effects, want.Effects) {
		t.Errorf("found %+v, expected %+v, error %v", found, want, err)
	}
	c.State, c.Pairs = filepath.Join(t.TempDir(), "other"), 5
	if _, err := s.Run(t.Context(), c); !errors.Is(err, ErrTooFew) {
		t.Errorf("5 pairs for 5 factors: found error %v, expected %v", err, ErrTooFew)
	}
}

func TestBadScreen(t *testing.T) {
	c := Config{Pairs: 10, Play: played(func(Values) float64 { return 0 })}
	for _, factors := range [][]Factor{nil, {{"a", "1", "1"}}, {{"a", "1", "2"}, {"a", "1", "3"}}} {
		s := Screen{factors}
		if _, err := s.Run(t.Context(), c); !errors.Is(err, ErrConfig) {
			t.Errorf("%v: found error %v, expected %v", factors, err, ErrConfig)
		}
	}
	s := fiveFactors()
	c.Play = func(context.Context, int, Values, Values) (int, error) { return 5, nil }
	if _, err := s.Run(t.Context(), c); err == nil || !strings.Contains(err.Error(), "5 half points, expected 0 to 4") {
		t.Errorf("5 half points: found error %v", err)
	}
}

func TestEffectsFigure(t *testing.T) {
	s := fiveFactors()
	effects, err := s.Run(t.Context(), Config{Pairs: 50, Play: played(strengthOf(&s))})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "effects.svg")
	if err := effects.Figure().Save(file); err != nil || !strings.Contains(readFile(t, file), "null_move false") {
		t.Errorf("error %v, or the drawing lacks a factor", err)
	}
}
