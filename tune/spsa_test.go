package tune

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestSPSAFindsTheBest is the law of the method: from far away the values come near the
// best ones although nearly every single result is chance.
func TestSPSAFindsTheBest(t *testing.T) {
	numbers, best, width := three()
	s := SPSA{Numbers: numbers, Batch: 8}
	strength := valley(t, numbers, best, width)
	path, err := s.Run(t.Context(), Config{Pairs: 40000, Seed: 3, Play: played(strength)})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range numbers {
		if off := math.Abs(path.Last()[i]-best[i]) / width[i]; off > 2 { // 4 Elo
			t.Errorf("%s: from %v found %.2f, expected %v: off by %.1f widths", n.Key, n.Start, path.Last()[i], best[i], off)
		}
	}
	if elo := strength(path.Rounded()); elo < -6 {
		t.Errorf("the rounded values are %.1f Elo below the best", -elo)
	}
}

// TestSPSASchedule compares with figures worked out by hand from the formulas.
func TestSPSASchedule(t *testing.T) {
	n := Number{Step: 20, Rate: 0.002}
	c, a := n.schedule(999, 1000)
	if c != 20 || a != 0.002*400 {
		t.Errorf("the last pair: found c %v, a %v, expected the step, 20, and rate times its square, 0.8", c, a)
	}
	c, a = n.schedule(0, 1000)
	if math.Abs(c-20*2.0091) > 0.01 || math.Abs(a-0.8*4.2108) > 0.01 { // 1000^0.101; (1100/101)^0.602
		t.Errorf("the first pair: found c %v, a %v, expected 40.18 and 3.369", c, a)
	}
}

// TestSPSARounding: on the average both sides play what they should, however small the
// step is.
func TestSPSARounding(t *testing.T) {
	s := SPSA{Numbers: []Number{{Key: "n", Low: 0, High: 10, Start: 3.3, Step: 0.4, Rate: DefaultRate}}, Batch: 1}
	c := Config{Pairs: 20000}
	sum, differences, steps := 0.0, 0.0, 0.0
	for pair := range c.Pairs {
		a, b := s.sides(&c, pair, []float64{3.3})
		x, y := number(t, a, s.Numbers[0]), number(t, b, s.Numbers[0])
		step, _ := s.Numbers[0].schedule(pair, c.Pairs)
		sum, differences, steps = sum+(x+y)/2, differences+math.Abs(x-y), steps+2*step
	}
	n := float64(c.Pairs)
	if mean := sum / n; math.Abs(mean-3.3) > 0.02 {
		t.Errorf("found a mean of %.3f, expected 3.3", mean)
	}
	if math.Abs(differences-steps)/n > 0.02 {
		t.Errorf("found sides that differ by %.3f, expected %.3f", differences/n, steps/n)
	}
}

// TestResume: however a run is cut and whatever the concurrency, state and path end as
// those of an uncut run.
func TestResume(t *testing.T) {
	numbers, best, width := three()
	s := SPSA{Numbers: numbers, Batch: 4}
	strength := valley(t, numbers, best, width)
	dir := t.TempDir()
	config := func(name string) Config {
		return Config{Pairs: 50, Seed: 9, Play: played(strength), State: filepath.Join(dir, name), Settings: map[string]string{"player": "x"}}
	}
	want, err := s.Run(t.Context(), config("whole"))
	if err != nil {
		t.Fatal(err)
	}
	cut := errors.New("cut")
	for pairs := 3; pairs < 50; pairs += 13 { // until this many are there
		c := config("cut")
		c.Concurrency = 3
		play := c.Play
		c.Play = func(ctx context.Context, pair int, a, b Values) (int, error) {
			if pair >= pairs {
				return 0, cut
			}
			return play(ctx, pair, a, b)
		}
		if path, err := s.Run(t.Context(), c); !errors.Is(err, cut) || len(path.Pairs) != 1+pairs/4 {
			t.Fatalf("%d pairs: found error %v and a path of %d points", pairs, err, len(path.Pairs))
		}
	}
	found, err := s.Run(t.Context(), config("cut"))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(found.Values, want.Values, slices.Equal) || !slices.Equal(found.Pairs, want.Pairs) {
		t.Errorf("found the path %v, expected %v", found, want)
	}
	a, b := readFile(t, config("whole").State), readFile(t, config("cut").State)
	if a != b {
		t.Errorf("found the state\n%s\nexpected\n%s", b, a)
	}
}

// TestNothingIsPlayedTwice: a run that is done plays nothing.
func TestNothingIsPlayedTwice(t *testing.T) {
	numbers, _, _ := three()
	s := SPSA{Numbers: numbers, Batch: 8}
	calls := 0
	c := Config{Pairs: 20, State: filepath.Join(t.TempDir(), "state"), OnPair: func(int) { calls++ },
		Play: func(context.Context, int, Values, Values) (int, error) { return 2, nil }}
	for range 2 {
		if path, err := s.Run(t.Context(), c); err != nil || path.Last()[0] != 45 || calls != 20 {
			t.Errorf("found %v, error %v, %d pairs played, expected the start, as all pairs were even, and 20", path.Last(), err, calls)
		}
	}
}

func TestOtherSettings(t *testing.T) {
	numbers, _, _ := three()
	path := filepath.Join(t.TempDir(), "state")
	c := Config{Pairs: 16, State: path, Settings: map[string]string{"player": "x"},
		Play: func(context.Context, int, Values, Values) (int, error) { return 2, nil }}
	s := SPSA{Numbers: numbers, Batch: 8}
	if _, err := s.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, path)
	for want, change := range map[string]func(*SPSA, *Config){
		`player is "x" in the state, "y" here`:            func(_ *SPSA, c *Config) { c.Settings = map[string]string{"player": "y"} },
		`pairs is "16" in the state, "24" here`:           func(_ *SPSA, c *Config) { c.Pairs = 24 },
		`batch is "8" in the state, "4" here`:             func(s *SPSA, _ *Config) { s.Batch = 4 },
		`seed of values is "0" in the state, "1" here`:    func(_ *SPSA, c *Config) { c.Seed = 1 },
		`parameter margin is "5 to 400, start 45, step 2`: func(s *SPSA, _ *Config) { s.Numbers[0].Step = 5 },
		`parameter bonus is "-2048 to 4096, start 1500`:   func(s *SPSA, _ *Config) { s.Numbers = s.Numbers[:2] },
	} {
		other, cfg := SPSA{Numbers: slices.Clone(numbers), Batch: 8}, c
		change(&other, &cfg)
		if _, err := other.Run(t.Context(), cfg); !errors.Is(err, ErrOtherSettings) || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, expected one with %s", err, want)
		}
	}
	if readFile(t, path) != before {
		t.Error("a refused run changed the state")
	}
}

func TestBadSPSA(t *testing.T) {
	play := func(context.Context, int, Values, Values) (int, error) { return 2, nil }
	for want, change := range map[string]func(*SPSA, *Config){
		"0 numbers":               func(s *SPSA, _ *Config) { s.Numbers = nil },
		"batches of 0":            func(s *SPSA, _ *Config) { s.Batch = 0 },
		"margin: found twice":     func(s *SPSA, _ *Config) { s.Numbers[1].Key = "margin" },
		"margin: start 4":         func(s *SPSA, _ *Config) { s.Numbers[0].Start = 4 },
		"margin: start NaN":       func(s *SPSA, _ *Config) { s.Numbers[0].Start = math.NaN() },
		"margin: step 0":          func(s *SPSA, _ *Config) { s.Numbers[0].Step = 0 },
		"margin: step 198":        func(s *SPSA, _ *Config) { s.Numbers[0].Step = 198 },
		"margin: rate 2":          func(s *SPSA, _ *Config) { s.Numbers[0].Rate = 2 },
		"margin: range 400 to 40": func(s *SPSA, _ *Config) { s.Numbers[0].Low, s.Numbers[0].High = 400, 400 },
		"0 pairs":                 func(_ *SPSA, c *Config) { c.Pairs = 0 },
		"concurrency -1":          func(_ *SPSA, c *Config) { c.Concurrency = -1 },
		"nothing that plays":      func(_ *SPSA, c *Config) { c.Play = nil },
	} {
		numbers, _, _ := three()
		s, c := SPSA{Numbers: numbers, Batch: 8}, Config{Pairs: 8, Play: play}
		change(&s, &c)
		if _, err := s.Run(t.Context(), c); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), want) {
			t.Errorf("found error %v, expected one with %q", err, want)
		}
	}
}

// TestPathRounded: values are whole numbers as a player's text has them, however large.
func TestPathRounded(t *testing.T) {
	p := Path{Numbers: []Number{{Key: "large"}, {Key: "small"}}, Values: [][]float64{{1, 1}, {1_999_999.6, -3.4}}}
	if got := p.Rounded(); got["large"] != "2000000" || got["small"] != "-3" {
		t.Errorf("found %v, expected 2000000 and -3", got)
	}
}

func TestPathFigure(t *testing.T) {
	numbers, best, width := three()
	s := SPSA{Numbers: numbers, Batch: 1}
	path, err := s.Run(t.Context(), Config{Pairs: 1200, Play: played(valley(t, numbers, best, width))})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "path.svg")
	if err := path.Figure().Save(file); err != nil {
		t.Fatal(err)
	}
	for _, n := range numbers {
		if text := readFile(t, file); !strings.Contains(text, ">"+n.Key+"<") {
			t.Errorf("the drawing lacks %s", n.Key)
		}
	}
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
