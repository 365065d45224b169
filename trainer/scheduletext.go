package trainer

import (
	"fmt"
	"strconv"
	"strings"
)

// ParseSchedule reads a schedule for a run of total steps:
//
//	0.001                            constant
//	constant:VALUE[:STEPS]
//	linear:FROM:TO[:STEPS]           straight
//	cosine:FROM:TO[:STEPS]           half a cosine
//	exponential:FROM:TO[:STEPS]
//	onecycle:PEAK:TO[:STEPS]         up from PEAK/25, and down
//	step:FROM:FACTOR:EVERY[:STEPS]   times FACTOR after every EVERY steps
//	warmup:STEPS,SCHEDULE            rising linearly from 0 at first
//	cycle:STEPS,CURVE                falling from CURVE to its TO, or 0, within every STEPS
//	SCHEDULE,SCHEDULE,…              one after the other
//
// Without STEPS a schedule takes what is left of the total; only the last of a
// sequence may leave them out. STEPS and EVERY may be written as a percentage of
// the total. A total of 0 stands for a run without end, where STEPS must be given
// wherever a schedule would take what is left, and no percentages are. The error
// wraps ErrSchedule.
func ParseSchedule(text string, total uint64) (Schedule, error) {
	s, err := parseSchedule(text, total)
	if err == nil {
		err = s.validate()
	}
	if err != nil {
		return nil, fmt.Errorf("schedule %q: %w", text, err)
	}
	return s, nil
}

// The names of curves in the text of a schedule.
const (
	constantName    = "constant"
	linearName      = "linear"
	cosineName      = "cosine"
	exponentialName = "exponential"
	stairsName      = "step"
	oneCycleName    = "onecycle"
)

func parseSchedule(text string, total uint64) (Schedule, error) {
	var warmup, cycle uint64
	var parts Sequence
	left := total
	for _, word := range strings.Split(text, ",") {
		fields := strings.Split(strings.TrimSpace(word), ":")
		if steps, ok := map[string]*uint64{"warmup": &warmup, "cycle": &cycle}[fields[0]]; ok {
			if len(parts) > 0 || *steps > 0 || len(fields) != 2 {
				return nil, fmt.Errorf("%w: found %q, expected %s:STEPS once, before the curves", ErrSchedule, word, fields[0])
			}
			var err error
			if *steps, err = parseSteps(fields[1], total); err != nil {
				return nil, err
			}
			continue
		}
		if n := len(parts); n > 0 && parts[n-1].Steps == 0 {
			return nil, fmt.Errorf("%w: found no steps in part %d of %q, expected them in all but the last", ErrSchedule, n, text)
		}
		p, err := parsePart(fields, left, total)
		if err != nil {
			return nil, err
		}
		left -= min(left, p.Steps)
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: found %q, expected a value or a curve", ErrSchedule, text)
	}
	if cycle > 0 && len(parts) > 1 {
		return nil, fmt.Errorf("%w: found cycle before %d curves in %q, expected one curve", ErrSchedule, len(parts), text)
	}
	parts[len(parts)-1].Steps = 0 // the last goes on for ever
	var s Schedule = parts
	switch {
	case cycle > 0:
		s = Cycle{Steps: cycle, Curve: parts[0].Curve}
	case len(parts) == 1:
		s = parts[0].Curve
	}
	if warmup > 0 {
		s = Warmup{Steps: warmup, Of: s}
	}
	return s, nil
}

// parsePart reads one curve. Its steps are 0 if none were given.
func parsePart(fields []string, left, total uint64) (Part, error) {
	name, values := fields[0], fields[1:]
	if _, err := strconv.ParseFloat(fields[0], 64); err == nil {
		name, values = constantName, fields
	}
	numbers := 2 // before the optional STEPS
	switch name {
	case constantName:
		numbers = 1
	case linearName, cosineName, exponentialName, oneCycleName:
	case stairsName:
		numbers = 3
	default:
		return Part{}, fmt.Errorf("%w: found curve %q, expected a number, %s, %s, %s, %s, %s, %s, warmup or cycle",
			ErrSchedule, fields[0], constantName, linearName, cosineName, exponentialName, stairsName, oneCycleName)
	}
	if len(values) != numbers && len(values) != numbers+1 {
		return Part{}, fmt.Errorf("%w: found %d numbers for %s, expected %d and steps if need be", ErrSchedule, len(values), name, numbers)
	}
	if len(values) == numbers && total == 0 && name != constantName && name != stairsName {
		return Part{}, fmt.Errorf("%w: found no steps for %s in a run without end, expected their number after its values", ErrSchedule, name)
	}
	var p Part
	steps := max(left, 1)
	if len(values) > numbers {
		var err error
		if p.Steps, err = parseSteps(values[numbers], total); err != nil {
			return p, err
		}
		steps = p.Steps
	}
	var err error
	p.Curve, err = parseCurve(name, values[:numbers], steps, total)
	return p, err
}

// parseCurve reads the numbers of a curve over the given steps of a run of total.
func parseCurve(name string, values []string, steps, total uint64) (Curve, error) {
	if name == stairsName {
		var err error
		if steps, err = parseSteps(values[2], total); err != nil {
			return nil, err
		}
	}
	var n [2]float64
	for i := range values[:min(2, len(values))] {
		var err error
		if n[i], err = strconv.ParseFloat(values[i], 64); err != nil {
			return nil, fmt.Errorf("%w: found %q, expected a number", ErrSchedule, values[i])
		}
	}
	switch name {
	case linearName:
		return Linear{n[0], n[1], steps}, nil
	case cosineName:
		return Cosine{n[0], n[1], steps}, nil
	case exponentialName:
		return Exponential{n[0], n[1], steps}, nil
	case oneCycleName:
		return OneCycle{n[0], n[1], steps}, nil
	case stairsName:
		return Stairs{n[0], n[1], steps}, nil
	}
	return Constant(n[0]), nil
}

// parseSteps reads a number of steps or a percentage of all.
func parseSteps(text string, total uint64) (uint64, error) {
	if percent, ok := strings.CutSuffix(text, "%"); ok {
		if total == 0 {
			return 0, fmt.Errorf("%w: found %q in a run without end, expected a number of steps", ErrSchedule, text)
		}
		if share, err := strconv.ParseFloat(percent, 64); err == nil && share > 0 && share <= 100 {
			return max(1, uint64(share/100*float64(total))), nil
		}
	}
	n, err := strconv.ParseUint(text, 10, 48)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("%w: found %q, expected a number of steps above 0, or a percentage such as 5%%", ErrSchedule, text)
	}
	return n, nil
}

// String implements Schedule, as for all types below. Of a run of any length its
// text means the same.
func (c Constant) String() string    { return strconv.FormatFloat(float64(c), 'g', -1, 64) }
func (c Linear) String() string      { return curveText(linearName, c.From, c.To, c.Steps) }
func (c Cosine) String() string      { return curveText(cosineName, c.From, c.To, c.Steps) }
func (c Exponential) String() string { return curveText(exponentialName, c.From, c.To, c.Steps) }
func (c OneCycle) String() string    { return curveText(oneCycleName, c.Peak, c.To, c.Steps) }
func (c Stairs) String() string      { return curveText(stairsName, c.From, c.Factor, c.Every) }
func (s Cycle) String() string       { return fmt.Sprintf("cycle:%d,%v", s.Steps, s.Curve) }
func (s Warmup) String() string      { return fmt.Sprintf("warmup:%d,%v", s.Steps, s.Of) }

func (s Sequence) String() string {
	words := make([]string, len(s))
	for i, p := range s {
		words[i] = p.Curve.String()
		if _, n := p.Curve.end(); p.Steps > 0 && n == 0 { // other curves' text has them already
			words[i] += fmt.Sprintf(":%d", p.Steps)
		}
	}
	return strings.Join(words, ",")
}

func curveText(name string, from, to float64, steps uint64) string {
	return fmt.Sprintf("%s:%v:%v:%d", name, Constant(from), Constant(to), steps)
}
