package trainer

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

func TestParseSchedule(t *testing.T) {
	for _, tc := range []struct {
		text   string
		values map[uint64]float64 // by step, of a run of 1000
	}{
		{"0.5", map[uint64]float64{0: 0.5, 5000: 0.5}},
		{"constant:0.5", map[uint64]float64{7: 0.5}},
		{"linear:1:0", map[uint64]float64{0: 1, 500: 0.5, 1000: 0, 2000: 0}},
		{"linear:1:0:100", map[uint64]float64{50: 0.5, 100: 0, 999: 0}},
		{"cosine:1:0:50%", map[uint64]float64{0: 1, 250: 0.5, 500: 0}},
		{"exponential:1:0.01", map[uint64]float64{0: 1, 500: 0.1, 1000: 0.01, 3000: 0.01}},
		{"onecycle:1:0.2", map[uint64]float64{0: 0.04, 150: 0.52, 300: 1, 650: 0.6, 1000: 0.2}},
		{"step:1:0.1:10%", map[uint64]float64{0: 1, 99: 1, 100: 0.1, 250: 0.01}},
		{"warmup:9,0.5", map[uint64]float64{0: 0.05, 4: 0.25, 9: 0.5}},
		{"warmup:1, linear:0:1:10, 1:10, linear:1:0:20", map[uint64]float64{0: 0, 5: 0.5, 12: 1, 30: 0.5, 100: 0}},
		{"warmup:1,cycle:11,0.5", map[uint64]float64{0: 0.25, 5: 0.25, 10: 0, 11: 0.5}},
		{"cycle:1%,cosine:1:0.5", map[uint64]float64{0: 1, 9: 0.5, 19: 0.5, 500: 0.75}},
		{"linear:0:1:100,cosine:1:0", map[uint64]float64{50: 0.5, 100: 1, 550: 0.5, 1000: 0}},
	} {
		s, err := ParseSchedule(tc.text, 1000)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		for step, want := range tc.values {
			if got := s.At(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%q at %d: %g, want %g", tc.text, step, got, want)
			}
		}
	}
	for _, text := range []string{
		"", "warmup:5", "a", "linear:1", "linear:1:0:0", "linear:1:0:101%", "cosine:1:0,0.5", "step:1:2:5", "exponential:1:0",
		"linear:-1:0", "linear:NaN:0", "0.1,warmup:3", "warmup:3:4,1", "1:2:3", "linear:1:x", "step:1:0.5:0",
		"cycle:5", "cycle:5,cycle:5,1", "1,cycle:5", "cycle:5,1:10,0.5", "cycle:0,1",
	} {
		if _, err := ParseSchedule(text, 1000); !errors.Is(err, ErrSchedule) {
			t.Errorf("%q: error %v, want ErrSchedule", text, err)
		}
	}
}

// A run without end, as a loop is, has no rest for a curve to take.
func TestScheduleWithoutEnd(t *testing.T) {
	for text, want := range map[string]float64{ // at step 500
		"0.5": 0.5, "warmup:10,cosine:1:0:1000": 0.5, "linear:0:1:100,0.25": 0.25, "step:1:0.5:250": 0.25, "cycle:11,0.5": 0.25,
	} {
		s, err := ParseSchedule(text, 0)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := s.At(500); math.Abs(got-want) > 1e-12 {
			t.Errorf("%q at 500: %g, want %g", text, got, want)
		}
	}
	for text, want := range map[string]string{
		"cosine:1:0": "no steps for cosine in a run without end", "warmup:5,linear:1:0": "no steps for linear",
		"onecycle:1:0": "no steps for onecycle", "exponential:1:0.1": "no steps for exponential", "0.5,0.1": "no steps in part 1",
		"linear:1:0,0.1": "no steps for linear", "warmup:2%,0.5": `"2%" in a run without end`, "step:1:0.5:10%": `"10%"`, "linear:1:0:50%": `"50%"`,
	} {
		if _, err := ParseSchedule(text, 0); !errors.Is(err, ErrSchedule) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, lacks %q", text, err, want)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, text := range []string{"0.5", "warmup:1,linear:0:1:10,1:10,cosine:1:0", "step:1:0.5:10%", "onecycle:1:0.1", "exponential:1:0.1:3", "cycle:7,cosine:1:0.5"} {
		f.Add(text, uint64(1000), uint64(500))
	}
	f.Fuzz(func(t *testing.T, text string, total, step uint64) {
		s, err := ParseSchedule(text, total)
		if err != nil {
			if !errors.Is(err, ErrSchedule) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if v := s.At(step); !(v >= 0) || math.IsInf(v, 0) {
			t.Errorf("%q of %d at %d: %g", text, total, step, v)
		}
		if again, err := ParseSchedule(s.String(), 0); total < 1<<48 && (err != nil || !reflect.DeepEqual(again, s)) {
			t.Errorf("%q of %d is written %q and read back as %#v (%v), want %#v", text, total, s, again, err, s)
		}
	})
}

// The text of a schedule says the same of a run of any length.
func TestScheduleString(t *testing.T) {
	for text, want := range map[string]string{ // of a run of 1000
		"0.50": "0.5", "constant:0.5:9": "0.5", "linear:1:0": "linear:1:0:1000", "cosine:1e-3:0.00001:50%": "cosine:0.001:1e-05:500",
		"exponential:1:0.01": "exponential:1:0.01:1000", "onecycle:1:0.2:7": "onecycle:1:0.2:7", "step:1:0.1:10%:500": "step:1:0.1:100",
		"cycle:5,warmup:1%,0.5":              "warmup:10,cycle:5,0.5",
		"warmup:1, linear:0:1:10, 1:10, 0.5": "warmup:1,linear:0:1:10,1:10,0.5",
		"step:1:0.5:10:100,cosine:1:0":       "step:1:0.5:10:100,cosine:1:0:900",
	} {
		s, err := ParseSchedule(text, 1000)
		if err != nil || s.String() != want {
			t.Errorf("%q is written %q (%v), want %q", text, s, err, want)
			continue
		}
		for _, total := range []uint64{0, 1, 5000} {
			if again, err := ParseSchedule(want, total); err != nil || !reflect.DeepEqual(again, s) {
				t.Errorf("%q of %d: read back as %#v (%v), want %#v", want, total, again, err, s)
			}
		}
	}
}

func TestNewbob(t *testing.T) {
	n := Newbob{Decay: 0.5, Trials: 2}
	var s NewbobState
	for i, tc := range []struct {
		loss  float64
		want  Verdict
		scale float64
	}{
		{1.0, Accepted, 1},
		{0.9, Accepted, 1},
		{0.9, Rejected, 0.5}, // as good is not better
		{0.8, Accepted, 0.5},
		{0.85, Rejected, 0.25},
		{0.81, Finished, 0.25},
	} {
		if got := n.Judge(&s, tc.loss); got != tc.want || s.Scale != tc.scale {
			t.Errorf("loss %d: %s at rate times %g, want %s at %g", i, got, s.Scale, tc.want, tc.scale)
		}
	}
	if s.Best != 0.8 {
		t.Errorf("best %g, want 0.8", s.Best)
	}
	for _, bad := range []Newbob{{}, {Decay: 0.5}, {Decay: 2, Trials: 1}, {Decay: math.NaN(), Trials: 1}} {
		if err := bad.Validate(); !errors.Is(err, ErrConfig) {
			t.Errorf("%+v: error %v, want ErrConfig", bad, err)
		}
	}
}
