package trainer

import (
	"errors"
	"fmt"
	"math"
)

// ErrSchedule says that a schedule cannot be followed.
var ErrSchedule = errors.New("unusable schedule")

// Curve is how a schedule gets from its start to its end.
type Curve string

const (
	Constant Curve = "constant" // stays at From
	Linear   Curve = "linear"   // straight from From to To over Steps
	Cosine   Curve = "cosine"   // half a cosine from From to To over Steps
	Stairs   Curve = "stairs"   // From times Factor after every Steps, never below To
)

// Schedule gives a value for every step. The zero value is constant zero.
type Schedule struct {
	Curve    Curve   // empty: constant
	From, To float64 // To is ignored by Constant
	Steps    uint64  // length of the curve, or of one stair; afterwards the value stays at To
	Factor   float64 // of Stairs, between 0 and 1
	Warmup   uint64  // the first steps rise linearly from 0 to the curve's value
}

// Validate reports a schedule that cannot be followed. The error wraps
// ErrSchedule.
func (s Schedule) Validate() error {
	for _, v := range []float64{s.From, s.To} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: value %g, expected a finite number from 0", ErrSchedule, v)
		}
	}
	switch s.Curve {
	case "", Constant:
		return nil
	case Linear, Cosine:
	case Stairs:
		if !(s.Factor > 0 && s.Factor < 1) {
			return fmt.Errorf("%w: stairs with factor %g, expected one between 0 and 1", ErrSchedule, s.Factor)
		}
	default:
		return fmt.Errorf("%w: found curve %q, expected %q, %q, %q or %q", ErrSchedule, s.Curve, Constant, Linear, Cosine, Stairs)
	}
	if s.Steps == 0 {
		return fmt.Errorf("%w: curve %s over 0 steps", ErrSchedule, s.Curve)
	}
	return nil
}

// At returns the value for step, counted from 0.
func (s Schedule) At(step uint64) float64 {
	v := s.curve(step)
	if step < s.Warmup {
		v *= float64(step+1) / float64(s.Warmup+1)
	}
	return v
}

func (s Schedule) curve(step uint64) float64 {
	if s.Curve == Stairs {
		return max(s.To, s.From*math.Pow(s.Factor, float64(step/s.Steps)))
	}
	if s.Curve == "" || s.Curve == Constant {
		return s.From
	}
	done := min(1, float64(step)/float64(s.Steps))
	if s.Curve == Cosine {
		done = (1 - math.Cos(math.Pi*done)) / 2
	}
	return s.From + (s.To-s.From)*done
}
