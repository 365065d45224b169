package replay

import (
	"encoding/json"
	"errors"
	"math"
	"testing"
)

func TestWindowVectors(t *testing.T) {
	rule := WindowRule{Min: 250_000, Exponent: 0.65, Slope: 0.4}
	for _, c := range []struct {
		seen uint64
		want float64 // to the digits given
		unit float64
	}{
		{0, 0, 1},
		{1, 1, 1},
		{249_999, 249_999, 1},
		{250_000, 250_000, 1},
		{1_000_000, 475e3, 1e3},
		{2_000_000, 691e3, 1e3},
		{5_000_000, 1.17e6, 1e4},
		{10_000_000, 1.79e6, 1e4},
		{100_000_000, 7.65e6, 1e4},
	} {
		if got := math.Round(float64(rule.Size(c.seen))/c.unit) * c.unit; math.Abs(got-c.want) > c.unit/2 {
			t.Errorf("%d seen: window %d, want %g", c.seen, rule.Size(c.seen), c.want)
		}
	}
}

// The window grows, and by no more than what was seen.
func TestWindowGrowth(t *testing.T) {
	for _, rule := range []WindowRule{{1, 0.01, 1}, {100, 0.65, 0.4}, {1000, 1, 1}, {50, 0.5, 0.01}} {
		if err := rule.validate(); err != nil {
			t.Fatal(err)
		}
		before := rule.Size(0)
		for n := uint64(1); n < 5000; n++ {
			size := rule.Size(n)
			if size < before || size > before+1 || size > n {
				t.Fatalf("%+v: %d seen: window %d after %d", rule, n, size, before)
			}
			before = size
		}
	}
}

func TestWindowRuleIsChecked(t *testing.T) {
	nan := math.NaN()
	for _, rule := range []WindowRule{
		{}, {0, 0.65, 0.4}, {1, 0, 0.4}, {1, 1.1, 0.4}, {1, 0.65, 0}, {1, 0.65, 1.1}, {1, nan, 0.4}, {1, 0.65, nan},
	} {
		if err := rule.validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: got %v, want ErrConfig", rule, err)
		}
	}
}

func TestRatio(t *testing.T) {
	r := Ratio{PerRow: 4, Cap: 1000}
	if r.Take(1) {
		t.Error("took from an empty bucket")
	}
	r.Rows(100)
	if !r.Take(300) || r.Take(101) || !r.Take(100) || r.Take(1) {
		t.Errorf("400 samples for 100 rows: %+v", r)
	}
	r.Rows(100)
	if r.Tokens != 0 {
		t.Errorf("nothing new gave %g", r.Tokens)
	}
	r.Rows(10_000)
	if r.Tokens != 1000 {
		t.Errorf("%g tokens, cap is 1000", r.Tokens)
	}
	r.Advance(2000)
	r.Rows(10_001)
	if r.Tokens != 3000 {
		t.Errorf("%g tokens, want the cap and 2000 in advance", r.Tokens)
	}
	if !r.InAdvance() {
		t.Error("nothing is left of what was given in advance")
	}
	if !r.Take(2990) {
		t.Errorf("the advance is not given: %+v", r)
	}
	r.Rows(20_001)
	if r.Tokens != 1000 || r.InAdvance() {
		t.Errorf("%g tokens after the advance is used up, cap is 1000, in advance: %t", r.Tokens, r.InAdvance())
	}
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back Ratio
	if err := json.Unmarshal(data, &back); err != nil || back != r {
		t.Errorf("%s came back as %+v, %v", data, back, err)
	}
	r.Rows(50) // another buffer
	if r.Tokens != 0 || r.Seen != 50 {
		t.Errorf("after going back: %+v", r)
	}
	r.Rows(60)
	if r.Tokens != 40 {
		t.Errorf("10 new rows: %+v", r)
	}
}
