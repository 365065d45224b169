package doctor

import (
	"fmt"
	"io"
	"time"
)

// State is what a check came to.
type State string

// What checks come to.
const (
	OK      State = "ok"
	Wrong   State = "wrong"
	Unknown State = "unknown" // it could not be looked at, and Do says what that needs
)

// Finding is what one check found.
type Finding struct {
	Check    string `json:"check"`
	State    State  `json:"state"`
	Found    string `json:"found"`
	Expected string `json:"expected"`
	Do       string `json:"do,omitempty"` // if the state is not OK
}

// Report are the findings of all checks, in their order.
type Report struct {
	Findings []Finding `json:"findings"`
	Wrong    int       `json:"wrong"` // findings that are Wrong
}

// add notes what a check found. Good is whether that is as expected.
func (r *Report) add(good bool, check, found, expected, do string) {
	f := Finding{Check: check, State: OK, Found: found, Expected: expected}
	if !good {
		f.State, f.Do = Wrong, do
		r.Wrong++
	}
	r.Findings = append(r.Findings, f)
}

// unknown notes that a check could not be done.
func (r *Report) unknown(check, found, expected, do string) {
	r.Findings = append(r.Findings, Finding{check, Unknown, found, expected, do})
}

// Write prints a line for each finding, and under those that are not as expected what
// to do.
func (r *Report) Write(w io.Writer) error {
	unknown := 0
	for _, f := range r.Findings {
		if f.State == OK {
			fmt.Fprintf(w, "ok  %s: %s\n", f.Check, f.Found)
			continue
		}
		mark := "!   "
		if f.State == Unknown {
			mark = "?   "
			unknown++
		}
		fmt.Fprintf(w, "%s%s: found %s, expected %s\n      %s\n", mark, f.Check, f.Found, f.Expected, f.Do)
	}
	_, err := fmt.Fprintf(w, "%d checks: %d wrong, %d not known\n", len(r.Findings), r.Wrong, unknown)
	return err
}

// bytesText prints a number of bytes for a person.
func bytesText(n uint64) string {
	switch {
	case n < 1<<20:
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	case n < 1<<30:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

// timeText prints a duration with about three digits.
func timeText(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= unit || d <= -unit {
			return d.Round(unit / 100).String()
		}
	}
	return d.String()
}
