package soak

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// Growth is how a column went on in the second half of a soak.
type Growth struct {
	Name        string
	Third, Last float64 // means of the third and of the last quarter of the samples
	Wrong       string  // what is wrong with it; empty: nothing
}

// leastSamples is how many a verdict needs, two a quarter.
const leastSamples = 8

// Judge compares the last quarter of the samples with the quarter before, when what fills
// up in the beginning has done so. What is held may grow by the share bound (0.1 is 10 %)
// or by a few MiB, descriptors and goroutines, or by what every net leaves for good; what
// counts games, steps and nets must go on, or the rest would be flat because nothing
// happens.
func Judge(all []Sample, bound float64) ([]Growth, error) {
	if len(all) < leastSamples {
		return nil, fmt.Errorf("found %d samples, expected at least %d: a longer soak, or samples more often", len(all), leastSamples)
	}
	var out []Growth
	n := len(all)
	quarters := func(i int) (third, last float64) { return mean(all[n/2:3*n/4], i), mean(all[3*n/4:], i) }
	before, after := quarters(len(columns) - 1)
	for i, c := range columns {
		g := Growth{Name: c.name}
		g.Third, g.Last = quarters(i)
		switch {
		case i >= len(columns)-counters:
			if g.Last <= g.Third {
				g.Wrong = "stands still, expected it to go on"
			}
		case g.Last-g.Third > max(bound*g.Third, c.slack, c.perNet*(after-before)):
			g.Wrong = fmt.Sprintf("grows, expected at most %.0f %% in a quarter of the time", 100*bound)
		}
		out = append(out, g)
	}
	return out, nil
}

func mean(all []Sample, column int) (m float64) {
	for _, s := range all {
		m += s.Values[column] / float64(len(all))
	}
	return m
}

// Write prints a table of what was judged.
func Write(w io.Writer, all []Growth) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\tthird quarter\tlast quarter\tgrowth\t")
	for _, g := range all {
		growth := "-"
		if g.Third > 0 {
			growth = fmt.Sprintf("%+.1f %%", 100*(g.Last/g.Third-1))
		}
		fmt.Fprintf(t, "%s\t%.0f\t%.0f\t%s\t\n", g.Name, g.Third, g.Last, growth)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, g := range all {
		if g.Wrong != "" {
			fmt.Fprintln(w, "!", g.Name, g.Wrong)
		}
	}
	return nil
}

// Err is an error if anything is wrong, with what.
func Err(all []Growth) error {
	var wrong []string
	for _, g := range all {
		if g.Wrong != "" {
			wrong = append(wrong, g.Name+" "+g.Wrong)
		}
	}
	if len(wrong) == 0 {
		return nil
	}
	return fmt.Errorf("soak: %s", strings.Join(wrong, "; "))
}

// Figure draws samples over minutes.
func Figure(title string, all []Sample) *figure.Figure {
	var minutes []float64
	for _, s := range all {
		minutes = append(minutes, s.At.Minutes())
	}
	curves := func(unit float64, want func(i int, c *column) bool) (list []figure.Curve) {
		for i := range columns {
			if !want(i, &columns[i]) {
				continue
			}
			curve := figure.Curve{Name: columns[i].title, X: minutes}
			for _, s := range all {
				curve.Y = append(curve.Y, s.Values[i]/unit)
			}
			list = append(list, curve)
		}
		return list
	}
	named := func(names ...string) func(int, *column) bool {
		return func(_ int, c *column) bool { return slices.Contains(names, c.name) }
	}
	return &figure.Figure{Title: title, Rows: [][]figure.Panel{
		{
			&figure.Lines{Title: "memory", XLabel: "minutes", YLabel: "MiB", LegendBeside: true, Curves: curves(mib, named("memory_bytes", "heap_bytes"))},
			&figure.Lines{Title: "descriptors and goroutines", XLabel: "minutes", LegendBeside: true, Curves: curves(1, named("descriptors", "goroutines"))},
		}, {
			&figure.Lines{Title: "disk", XLabel: "minutes", YLabel: "MiB", LegendBeside: true, Curves: curves(mib, func(_ int, c *column) bool { return c.isDisk() })},
			&figure.Lines{Title: "work done, thousands", XLabel: "minutes", LegendBeside: true, Curves: curves(1000, func(i int, _ *column) bool { return i >= len(columns)-counters })},
		},
	}}
}
