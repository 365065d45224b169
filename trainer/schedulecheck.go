package trainer

import (
	"fmt"
	"math"
)

func (c Constant) validate() error { return checkValues(float64(c)) }
func (c Linear) validate() error   { return checkCurve(linearName, c.Steps, c.From, c.To) }
func (c Cosine) validate() error   { return checkCurve(cosineName, c.Steps, c.From, c.To) }
func (c OneCycle) validate() error { return checkCurve(oneCycleName, c.Steps, c.Peak, c.To) }

func (c Exponential) validate() error {
	if err := checkValues(c.From, c.To); err != nil {
		return err
	}
	if c.From == 0 || c.To == 0 {
		return fmt.Errorf("%w: exponential from %g to %g, expected both above 0", ErrSchedule, c.From, c.To)
	}
	return checkCurve(exponentialName, c.Steps, c.From, c.To)
}

func (c Stairs) validate() error {
	if err := checkValues(c.From); err != nil {
		return err
	}
	if !(c.Factor > 0 && c.Factor < 1) {
		return fmt.Errorf("%w: stairs with factor %g, expected one between 0 and 1", ErrSchedule, c.Factor)
	}
	return checkCurve(stairsName, c.Every)
}

func (s Sequence) validate() error {
	if len(s) < 2 {
		return fmt.Errorf("%w: sequence of %d parts, expected 2 or more", ErrSchedule, len(s))
	}
	last := len(s) - 1
	for i, p := range s {
		if err := checkSchedule(p.Curve); err != nil {
			return fmt.Errorf("part %d of the sequence: %w", i+1, err)
		}
		if _, n := p.Curve.end(); i < last && (p.Steps == 0 || n > 0 && n != p.Steps) {
			return fmt.Errorf("%w: part %d of the sequence lasts %d steps, expected those of its curve, or some", ErrSchedule, i+1, p.Steps)
		}
	}
	if n := s[last].Steps; n > 0 {
		return fmt.Errorf("%w: the last part of the sequence lasts %d steps, expected 0 for no end", ErrSchedule, n)
	}
	return nil
}

func (s Cycle) validate() error {
	if s.Steps == 0 {
		return fmt.Errorf("%w: cycles of 0 steps", ErrSchedule)
	}
	if err := checkSchedule(s.Curve); err != nil {
		return err
	}
	if to, n := s.Curve.end(); s.Steps > 1 && n > 0 && n <= s.Steps {
		return fmt.Errorf("%w: found cycles of %d steps of a curve of %d, after which all are level at %g, expected a curve of more than one cycle", ErrSchedule, s.Steps, n, to)
	}
	return nil
}

func (s Warmup) validate() error {
	if s.Steps == 0 {
		return fmt.Errorf("%w: warm-up of 0 steps", ErrSchedule)
	}
	if _, again := s.Of.(Warmup); again {
		return fmt.Errorf("%w: warm-up of a warm-up", ErrSchedule)
	}
	return checkSchedule(s.Of)
}

// checkSchedule reports a schedule that is missing or cannot be followed.
func checkSchedule(s Schedule) error {
	if s == nil {
		return fmt.Errorf("%w: found none", ErrSchedule)
	}
	return s.validate()
}

func checkCurve(name string, steps uint64, values ...float64) error {
	if err := checkValues(values...); err != nil {
		return err
	}
	if steps == 0 {
		return fmt.Errorf("%w: curve %s over 0 steps", ErrSchedule, name)
	}
	return nil
}

func checkValues(values ...float64) error {
	for _, v := range values {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: value %g, expected a finite number from 0", ErrSchedule, v)
		}
	}
	return nil
}
