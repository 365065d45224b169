package trainer

import (
	"errors"
	"math"
	"testing"
)

func TestSchedule(t *testing.T) {
	for _, c := range []struct {
		name string
		s    Schedule
		want map[uint64]float64
	}{
		{"zero", Constant(0), map[uint64]float64{0: 0, 9: 0}},
		{"constant", Constant(2), map[uint64]float64{0: 2, 1e9: 2}},
		{"linear", Linear{From: 1, To: 0.5, Steps: 10}, map[uint64]float64{0: 1, 5: 0.75, 10: 0.5, 99: 0.5}},
		{"cosine", Cosine{From: 1, To: 0, Steps: 10}, map[uint64]float64{0: 1, 5: 0.5, 10: 0, 99: 0}},
		{"stairs", Stairs{From: 8, Every: 10, Factor: 0.5}, map[uint64]float64{0: 8, 9: 8, 10: 4, 20: 2, 30: 1}},
		{"warm-up", Warmup{Steps: 3, Of: Constant(1)}, map[uint64]float64{0: 0.25, 1: 0.5, 2: 0.75, 3: 1, 4: 1}},
		{"cycles", Cycle{Steps: 5, Curve: Linear{From: 1, To: 0, Steps: 20}},
			map[uint64]float64{0: 1, 2: 0.45, 4: 0, 5: 0.75, 9: 0, 10: 0.5, 40: 0}},
	} {
		if err := checkSchedule(c.s); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		for step, want := range c.want {
			if got := c.s.At(step); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s at step %d: %g, want %g", c.name, step, got, want)
			}
		}
	}
}

// No step has a higher value than Max, and some step has it but for what a
// warm-up takes away.
func TestScheduleMax(t *testing.T) {
	for text, want := range map[string]float64{
		"0.3": 0.3, "linear:0.7:1.2": 1.2, "linear:0.7:0.2": 0.7, "cosine:0.1:0.9:50": 0.9, "exponential:0.7:1:10%": 1,
		"onecycle:0.1:0.001": 0.1, "step:0.5:0.3:7": 0.5, "warmup:10,1.5": 1.5, "cycle:5,linear:0.2:0.1": 0.2,
		"0.1:20,linear:0.3:0.8:20,0.2": 0.8, "warmup:3,cosine:0.9:0.7:20,exponential:0.1:0.3": 0.9,
	} {
		s, err := ParseSchedule(text, 100)
		if err != nil {
			t.Fatal(err)
		}
		highest := 0.0
		for step := range uint64(200) {
			highest = max(highest, s.At(step))
		}
		if got := s.Max(); got != want || highest > want || highest < want*0.9 {
			t.Errorf("%s: at most %g, at all steps %g, want %g", text, got, highest, want)
		}
	}
}

func TestScheduleRefuses(t *testing.T) {
	for _, s := range []Schedule{
		nil,
		Constant(math.NaN()),
		Constant(math.Inf(1)),
		Constant(-1),
		Linear{From: 1},
		Cosine{From: 1, To: -1, Steps: 1},
		Exponential{From: 1, To: 0, Steps: 1},
		OneCycle{Peak: 1, To: 1},
		Stairs{From: 1, Every: 1},
		Stairs{From: 1, Every: 1, Factor: 1},
		Stairs{From: 1, Factor: 0.5},
		Cycle{Steps: 5},
		Cycle{Curve: Constant(1)},
		Cycle{Steps: 5, Curve: Linear{From: 1}},
		Cycle{Steps: 5, Curve: Cosine{From: 1, To: 0.1, Steps: 5}},
		Warmup{Steps: 5},
		Warmup{Of: Constant(1)},
		Warmup{Steps: 5, Of: Warmup{Steps: 1, Of: Constant(1)}},
		Warmup{Steps: 5, Of: Constant(-1)},
		Sequence{},
		Sequence{{Curve: Constant(1)}},
		Sequence{{Curve: Constant(1)}, {Curve: Constant(1)}},
		Sequence{{Curve: Constant(1), Steps: 1}, {Curve: Constant(1), Steps: 1}},
		Sequence{{Curve: Constant(1), Steps: 1}, {}},
		Sequence{{Curve: Constant(1), Steps: 1}, {Curve: Linear{}}},
		Sequence{{Curve: Linear{From: 1, Steps: 2}, Steps: 1}, {Curve: Constant(1)}},
	} {
		if err := checkSchedule(s); !errors.Is(err, ErrSchedule) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}
