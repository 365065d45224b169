package trainer

import (
	"errors"
	"fmt"
	"math"
)

// ErrSchedule says that a schedule cannot be followed.
var ErrSchedule = errors.New("unusable schedule")

// Schedule gives a value for every step of a run, such as a learning rate. It is
// a [Curve] or made of curves: [Sequence], [Cycle] and [Warmup]. Values are finite
// and not negative.
type Schedule interface {
	// At returns the value for a step, counted from 0.
	At(step uint64) float64
	// Max returns the highest value of any step, however long the schedule is
	// followed; what a warm-up takes away is not considered.
	Max() float64
	// String returns the text that ParseSchedule reads back.
	fmt.Stringer

	// validate reports a schedule that cannot be followed. The error wraps
	// ErrSchedule.
	validate() error
}

// Curve is a schedule that can be part of others: [Constant], [Linear], [Cosine],
// [Exponential], [Stairs] or [OneCycle].
type Curve interface {
	Schedule
	// end returns what the curve's values go to, and after how many steps: 0 and 0
	// where its text has no end.
	end() (value float64, steps uint64)
}

// Constant has the same value at every step.
type Constant float64

// Linear goes straight from one value to another and stays there.
type Linear struct {
	From, To float64
	Steps    uint64
}

// Cosine goes by half a cosine from one value to another and stays there.
type Cosine struct {
	From, To float64
	Steps    uint64
}

// Exponential changes by the same factor at every step, from one value to
// another, and stays there.
type Exponential struct {
	From, To float64
	Steps    uint64
}

// OneCycle rises by half a cosine from Peak/25 to Peak over the first three
// tenths of the steps and falls by another to To over the rest, where it stays:
// the first of the two cycles of L. N. Smith and N. Topin, "Super-Convergence"
// (2017), in the form most frameworks give it.
type OneCycle struct {
	Peak, To float64
	Steps    uint64
}

// Stairs begins at From and is multiplied by Factor, between 0 and 1, after
// each Every steps.
type Stairs struct {
	From, Factor float64
	Every        uint64
}

// Sequence is curves one after the other, each of which counts steps from its own
// beginning.
type Sequence []Part

// Part is a curve within a sequence.
type Part struct {
	Curve Curve
	Steps uint64 // until the next part begins; 0 for the last, which goes on for ever
}

// Cycle lets the value fall from its curve's to the curve's end, or to 0 for
// Constant and Stairs, by half a cosine within each cycle of Steps: the restarts
// of I. Loshchilov and F. Hutter, "SGDR" (2017). A net taken after a whole cycle
// was trained down to the lowest rate. The curve counts all steps, not those
// of a cycle: if its length is that of 1,000 cycles, it falls by a thousandth from one
// cycle to the next.
type Cycle struct {
	Steps uint64 // of a cycle; 1 leaves the curve as it is
	Curve Curve
}

// Warmup lets the first steps rise linearly from 0 to another schedule's value.
type Warmup struct {
	Steps uint64
	Of    Schedule // no Warmup
}

// At implements Schedule, as for all types below.
func (c Constant) At(uint64) float64 { return float64(c) }

func (c Linear) At(step uint64) float64 {
	return min(c.From+(c.To-c.From)*done(step, c.Steps), c.Max()) // which rounding may pass
}

func (c Cosine) At(step uint64) float64 {
	return min(between(c.From, c.To, done(step, c.Steps)), c.Max())
}

func (c Exponential) At(step uint64) float64 {
	return min(c.From*math.Pow(c.To/c.From, done(step, c.Steps)), c.Max())
}

func (c OneCycle) At(step uint64) float64 {
	const (
		start = 25.0 // how many times the first value is less than the peak
		rise  = 0.3  // share of the steps that rise
	)
	at := done(step, c.Steps)
	if at < rise {
		return min(between(c.Peak/start, c.Peak, at/rise), c.Max())
	}
	return min(between(c.Peak, c.To, (at-rise)/(1-rise)), c.Max())
}

func (c Stairs) At(step uint64) float64 {
	return c.From * math.Pow(c.Factor, float64(step/c.Every))
}

func (s Sequence) At(step uint64) float64 {
	last := len(s) - 1
	for _, p := range s[:last] {
		if step < p.Steps {
			return p.Curve.At(step)
		}
		step -= p.Steps
	}
	return s[last].Curve.At(step)
}

func (s Cycle) At(step uint64) float64 {
	v := s.Curve.At(step)
	if s.Steps == 1 {
		return v
	}
	end, _ := s.Curve.end()
	return min(between(v, end, float64(step%s.Steps)/float64(s.Steps-1)), s.Max())
}

func (s Warmup) At(step uint64) float64 {
	v := s.Of.At(step)
	if step < s.Steps {
		v *= float64(step+1) / float64(s.Steps+1)
	}
	return v
}

// done is the share of steps made, at most 1.
func done(step, steps uint64) float64 { return min(1, float64(step)/float64(steps)) }

// between is the point of half a cosine from one value to another at which the
// given share of the way in steps is done.
func between(from, to, done float64) float64 {
	return from + (to-from)*(1-math.Cos(math.Pi*done))/2
}

// Max implements Schedule, as for all types below.
func (c Constant) Max() float64    { return float64(c) }
func (c Linear) Max() float64      { return max(c.From, c.To) }
func (c Cosine) Max() float64      { return max(c.From, c.To) }
func (c Exponential) Max() float64 { return max(c.From, c.To) }
func (c OneCycle) Max() float64    { return max(c.Peak, c.To) }
func (c Stairs) Max() float64      { return c.From }
func (s Cycle) Max() float64       { return s.Curve.Max() }
func (s Warmup) Max() float64      { return s.Of.Max() }

func (s Sequence) Max() float64 {
	highest := 0.0
	for _, p := range s {
		highest = max(highest, p.Curve.Max())
	}
	return highest
}

func (c Constant) end() (float64, uint64)    { return 0, 0 }
func (c Linear) end() (float64, uint64)      { return c.To, c.Steps }
func (c Cosine) end() (float64, uint64)      { return c.To, c.Steps }
func (c Exponential) end() (float64, uint64) { return c.To, c.Steps }
func (c OneCycle) end() (float64, uint64)    { return c.To, c.Steps }
func (c Stairs) end() (float64, uint64)      { return 0, 0 }
