//go:build linux

package chaos

import (
	"fmt"
	"slices"
	"time"
)

// idle is how long nothing happens at most in a schedule that was shortened: long enough for
// a process that has ended to be started again.
const idle = 5 * time.Second

// Shrink returns the fewest faults of the schedule, in their order, for which fails still
// reports true, as far as leaving out parts of halving size finds them: leaving out any one
// of them makes it pass. Waits in which nothing happens are shortened. fails is given each
// selection once at most, and the whole schedule never: it is known to fail. An error ends
// the search with what was found so far.
func Shrink(s Schedule, fails func(Schedule) (bool, error)) (Schedule, error) {
	current := make([]int, len(s.Faults)) // places in s
	for i := range current {
		current[i] = i
	}
	short, tried := s, map[string]bool{}
	for size, last := (len(current)+1)/2, false; !last; size = max(1, size/2) {
		last = size == 1
		for from := 0; from < len(current); {
			to := min(from+size, len(current))
			rest := slices.Concat(current[:from], current[to:])
			name := fmt.Sprint(rest)
			if len(rest) == 0 || tried[name] {
				from = to
				continue
			}
			tried[name] = true
			part := s.part(rest)
			failed, err := fails(part)
			if err != nil {
				return short, err
			}
			if failed {
				short, current, last = part, rest, false
			} else {
				from = to
			}
		}
	}
	return short, nil
}

// part returns the faults at the places, with shorter waits.
func (s *Schedule) part(places []int) Schedule {
	p := Schedule{Seed: s.Seed}
	for _, i := range places {
		p.Faults = append(p.Faults, s.Faults[i])
	}
	p.shorten()
	return p
}

// shorten moves faults nearer to those before them where nothing happens for longer than idle.
func (s *Schedule) shorten() {
	var over, earlier Duration // when the faults so far are over, and by how much they come earlier
	for i := range s.Faults {
		f := &s.Faults[i]
		if f.At -= earlier; f.At > over+Duration(idle) {
			earlier += f.At - over - Duration(idle)
			f.At = over + Duration(idle)
		}
		over = max(over, f.At+f.For)
	}
}
