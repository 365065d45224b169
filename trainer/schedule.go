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
	Constant    Curve = "constant"    // stays at From
	Linear      Curve = "linear"      // straight from From to To over Steps
	Cosine      Curve = "cosine"      // half a cosine from From to To over Steps
	Exponential Curve = "exponential" // the same factor at every step, from From to To over Steps
	Stairs      Curve = "step"        // From times Factor after every Steps, never below To
	// OneCycle rises by half a cosine from From/25 to From over the first three
	// tenths of Steps and falls by another to To over the rest: the first of
	// the two cycles of L. N. Smith and N. Topin, "Super-Convergence" (2017),
	// in the form most frameworks give it.
	OneCycle Curve = "onecycle"
	Sequence Curve = "sequence" // the parts one after the other
)

// Measures of OneCycle.
const (
	cycleStart = 25.0 // how many times the first value is less than the peak
	cycleRise  = 0.3  // share of the steps that rise
)

// Schedule gives a value for every step. The zero value is constant zero.
type Schedule struct {
	Curve    Curve   // empty: constant
	From, To float64 // To has no meaning for Constant and Stairs, except in cycles
	Steps    uint64  // length of the curve, or of one stair; afterwards the value stays at To
	Factor   float64 // of Stairs, between 0 and 1
	Warmup   uint64  // the first steps rise linearly from 0 to the curve's value
	// Cycle, if not 0, lets the value fall from the curve's to To, which is 0
	// where the text of a schedule gives no end, by half a
	// cosine within every so many steps: the restarts of I. Loshchilov and
	// F. Hutter, "SGDR" (2017). Whoever takes the net after a whole cycle has
	// one that was let down to the least rate.
	Cycle uint64
	Parts []Part // of Sequence
}

// Part is a schedule within a sequence, which counts its steps from its own
// beginning.
type Part struct {
	Schedule Schedule
	Length   uint64 // steps until the next part; the last part goes on for ever
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
	case Sequence:
		return s.validateParts()
	case Linear, Cosine, OneCycle:
	case Exponential:
		if s.From == 0 || s.To == 0 {
			return fmt.Errorf("%w: exponential from %g to %g, expected both above 0", ErrSchedule, s.From, s.To)
		}
	case Stairs:
		if !(s.Factor > 0 && s.Factor < 1) {
			return fmt.Errorf("%w: stairs with factor %g, expected one between 0 and 1", ErrSchedule, s.Factor)
		}
	default:
		return fmt.Errorf("%w: found curve %q, expected %q, %q, %q, %q, %q, %q or %q",
			ErrSchedule, s.Curve, Constant, Linear, Cosine, Exponential, Stairs, OneCycle, Sequence)
	}
	if s.Steps == 0 {
		return fmt.Errorf("%w: curve %s over 0 steps", ErrSchedule, s.Curve)
	}
	return nil
}

func (s Schedule) validateParts() error {
	if len(s.Parts) == 0 {
		return fmt.Errorf("%w: sequence of 0 parts", ErrSchedule)
	}
	for i, p := range s.Parts {
		if p.Schedule.Curve == Sequence {
			return fmt.Errorf("%w: part %d of the sequence is a sequence", ErrSchedule, i+1)
		}
		if p.Length == 0 && i < len(s.Parts)-1 {
			return fmt.Errorf("%w: part %d of the sequence lasts 0 steps", ErrSchedule, i+1)
		}
		if err := p.Schedule.Validate(); err != nil {
			return fmt.Errorf("part %d of the sequence: %w", i+1, err)
		}
	}
	return nil
}

// Max returns the highest value that the curve gets to, however long it is
// followed; a warm-up, which has lower ones, is not considered.
func (s Schedule) Max() float64 {
	switch s.Curve {
	case "", Constant:
		if s.Cycle > 1 {
			return max(s.From, s.To)
		}
		return s.From
	case Sequence:
		highest := 0.0
		for _, p := range s.Parts {
			highest = max(highest, p.Schedule.Max())
		}
		return highest
	}
	return max(s.From, s.To)
}

// At returns the value for step, counted from 0.
func (s Schedule) At(step uint64) float64 {
	v := s.curve(step)
	if s.Cycle > 1 {
		v = between(v, s.To, float64(step%s.Cycle)/float64(s.Cycle-1))
	}
	v = min(v, s.Max()) // which rounding may pass
	if step < s.Warmup {
		v *= float64(step+1) / float64(s.Warmup+1)
	}
	return v
}

func (s Schedule) curve(step uint64) float64 {
	switch s.Curve {
	case "", Constant:
		return s.From
	case Stairs:
		return max(s.To, s.From*math.Pow(s.Factor, float64(step/s.Steps)))
	case Sequence:
		last := len(s.Parts) - 1
		for _, p := range s.Parts[:last] {
			if step < p.Length {
				return p.Schedule.At(step)
			}
			step -= p.Length
		}
		return s.Parts[last].Schedule.At(step)
	}
	done := min(1, float64(step)/float64(s.Steps))
	switch s.Curve {
	case Cosine:
		return between(s.From, s.To, done)
	case Exponential:
		return s.From * math.Pow(s.To/s.From, done)
	case OneCycle:
		if done < cycleRise {
			return between(s.From/cycleStart, s.From, done/cycleRise)
		}
		return between(s.From, s.To, (done-cycleRise)/(1-cycleRise))
	}
	return s.From + (s.To-s.From)*done
}

// between is the point of half a cosine from one value to another at which the
// given share of the way in steps is done.
func between(from, to, done float64) float64 {
	return from + (to-from)*(1-math.Cos(math.Pi*done))/2
}
