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
//	cycle:STEPS,CURVE                falling to the curve's TO, or 0, within every STEPS
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
		err = s.Validate()
	}
	if err != nil {
		return Schedule{}, fmt.Errorf("schedule %q: %w", text, err)
	}
	return s, nil
}

func parseSchedule(text string, total uint64) (Schedule, error) {
	var warmup, cycle uint64
	var parts []Part
	left := total
	for _, word := range strings.Split(text, ",") {
		fields := strings.Split(strings.TrimSpace(word), ":")
		if steps, ok := map[string]*uint64{"warmup": &warmup, "cycle": &cycle}[fields[0]]; ok {
			if len(parts) > 0 || *steps > 0 || len(fields) != 2 {
				return Schedule{}, fmt.Errorf("%w: found %q, expected %s:STEPS once, before the curves", ErrSchedule, word, fields[0])
			}
			var err error
			if *steps, err = parseSteps(fields[1], total); err != nil {
				return Schedule{}, err
			}
			continue
		}
		if n := len(parts); n > 0 && parts[n-1].Length == 0 {
			return Schedule{}, fmt.Errorf("%w: found no steps in part %d of %q, expected them in all but the last", ErrSchedule, n, text)
		}
		p, err := parsePart(fields, left, total)
		if err != nil {
			return Schedule{}, err
		}
		left -= min(left, p.Length)
		parts = append(parts, p)
	}
	switch len(parts) {
	case 0:
		return Schedule{}, fmt.Errorf("%w: found %q, expected a value or a curve", ErrSchedule, text)
	case 1:
		s := parts[0].Schedule
		s.Warmup, s.Cycle = warmup, cycle
		return s, nil
	}
	if cycle > 0 {
		return Schedule{}, fmt.Errorf("%w: found cycle before %d curves in %q, expected one curve", ErrSchedule, len(parts), text)
	}
	return Schedule{Curve: Sequence, Parts: parts, Warmup: warmup}, nil
}

// parsePart reads one curve. Its length is 0 if no steps were given.
func parsePart(fields []string, left, total uint64) (Part, error) {
	curve, values := Curve(fields[0]), fields[1:]
	if _, err := strconv.ParseFloat(fields[0], 64); err == nil {
		curve, values = Constant, fields
	}
	numbers := 2 // before the optional STEPS
	switch curve {
	case Constant:
		numbers = 1
	case Linear, Cosine, Exponential, OneCycle:
	case Stairs:
		numbers = 3
	default:
		return Part{}, fmt.Errorf("%w: found curve %q, expected a number, %s, %s, %s, %s, %s, %s, warmup or cycle",
			ErrSchedule, fields[0], Constant, Linear, Cosine, Exponential, Stairs, OneCycle)
	}
	if len(values) != numbers && len(values) != numbers+1 {
		return Part{}, fmt.Errorf("%w: found %d numbers for %s, expected %d and steps if need be", ErrSchedule, len(values), curve, numbers)
	}
	p := Part{Schedule: Schedule{Curve: curve, Steps: max(left, 1)}}
	if len(values) == numbers && total == 0 && curve != Constant && curve != Stairs {
		return p, fmt.Errorf("%w: found no steps for %s in a run without end, expected their number after its values", ErrSchedule, curve)
	}
	if len(values) > numbers {
		var err error
		if p.Length, err = parseSteps(values[numbers], total); err != nil {
			return p, err
		}
		p.Schedule.Steps = p.Length
	}
	return p, p.Schedule.parseValues(values[:numbers], total)
}

// parseValues reads the numbers of a curve.
func (s *Schedule) parseValues(values []string, total uint64) error {
	if s.Curve == Stairs {
		var err error
		if s.Steps, err = parseSteps(values[2], total); err != nil {
			return err
		}
	}
	for i, to := range []*float64{&s.From, &s.To}[:min(2, len(values))] {
		v, err := strconv.ParseFloat(values[i], 64)
		if err != nil {
			return fmt.Errorf("%w: found %q, expected a number", ErrSchedule, values[i])
		}
		*to = v
	}
	if s.Curve == Stairs {
		s.Factor, s.To = s.To, 0
	}
	return nil
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
