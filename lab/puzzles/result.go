package puzzles

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"text/tabwriter"
)

// Count is how many of some puzzles were solved.
type Count struct {
	Name   string
	Solved int
	Of     int
}

func (c *Count) add(solved bool) {
	if c.Of++; solved {
		c.Solved++
	}
}

// Share is the part that was solved, 0 to 1; 0 of none.
func (c Count) Share() float64 { return float64(c.Solved) / float64(max(1, c.Of)) }

// normal95 is the quantile of the normal distribution for an interval of 95 %.
const normal95 = 1.959964

// Interval returns the 95 % interval of the share that the player would solve of all
// such puzzles, by E. B. Wilson's score (Journal of the American Statistical
// Association 22, 1927, page 209). Of no puzzles it is 0 to 1.
func (c Count) Interval() (low, high float64) {
	if c.Of == 0 {
		return 0, 1
	}
	n, z2 := float64(c.Of), normal95*normal95
	centre := (c.Share() + z2/(2*n)) / (1 + z2/n)
	half := normal95 / (1 + z2/n) * math.Sqrt(c.Share()*(1-c.Share())/n+z2/(4*n*n))
	return max(0, centre-half), min(1, centre+half)
}

// MarshalJSON adds the share and its interval.
func (c Count) MarshalJSON() ([]byte, error) {
	low, high := c.Interval()
	return json.Marshal(struct {
		Name   string  `json:"name"`
		Solved int     `json:"solved"`
		Of     int     `json:"of"`
		Share  float64 `json:"share"`
		Low    float64 `json:"low"` // of the 95 % interval
		High   float64 `json:"high"`
	}{c.Name, c.Solved, c.Of, c.Share(), low, high})
}

// WriteText writes the result as a table for people, a column for each of the limits,
// in percent with the 95 % interval.
func (r *Result) WriteText(w io.Writer) error {
	fmt.Fprintf(w, "%s, %d puzzles, solved in percent (95 %% interval)\n\n", r.Player, r.Puzzles)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	rows := make([][]Count, len(r.Accuracy))
	fmt.Fprint(t, "\tpuzzles")
	for k, a := range r.Accuracy {
		fmt.Fprintf(t, "\t%s", a.Limits)
		rows[k] = append(append(append([]Count{a.All}, a.Grades...), a.Kinds...), a.Drops)
	}
	fmt.Fprintln(t, "\t")
	for i := range rows[0] {
		fmt.Fprintf(t, "%s\t%d", rows[0][i].Name, rows[0][i].Of)
		for k := range rows {
			low, high := rows[k][i].Interval()
			fmt.Fprintf(t, "\t%.1f (%.0f-%.0f)", 100*rows[k][i].Share(), 100*low, 100*high)
		}
		fmt.Fprintln(t, "\t")
	}
	return t.Flush()
}
