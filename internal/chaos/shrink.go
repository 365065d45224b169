//go:build linux

package chaos

import "slices"

// Shrink returns the fewest faults of the schedule, in their order and at their times, for
// which fails still reports true, as far as leaving out parts of halving size finds them: leaving out any
// one of them makes it pass. fails is given each selection once at most, and the whole
// schedule never: it is known to fail. An error ends the search with what was found so far.
func Shrink(s Schedule, fails func(Schedule) (bool, error)) (Schedule, error) {
	current := s.Faults
	for parts := 2; len(current) > 1; {
		size := (len(current) + parts - 1) / parts
		smaller := false
		for from := 0; from < len(current); from += size {
			rest := slices.Concat(current[:from], current[min(from+size, len(current)):])
			if len(rest) == 0 {
				continue
			}
			failed, err := fails(Schedule{Seed: s.Seed, Faults: rest})
			if err != nil {
				return Schedule{Seed: s.Seed, Faults: current}, err
			}
			if failed {
				current, parts, smaller = rest, max(parts-1, 2), true
				break
			}
		}
		if smaller {
			continue
		}
		if size == 1 {
			break
		}
		parts = min(2*parts, len(current))
	}
	return Schedule{Seed: s.Seed, Faults: current}, nil
}
