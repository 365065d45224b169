package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Intervals is a list of estimates with their errors: a line for each, with its
// name at the left, a dot at the value and a bar over the interval.
type Intervals struct {
	Title, XLabel string
	Names         []string  // from the top down
	Values        []float64 // one to a name
	Low, High     []float64 // ends of the intervals, Low ≤ value ≤ High
}

// Measures of a list of intervals, in points.
const (
	intervalsWidth  vg.Length = 440
	intervalsMargin vg.Length = 52 // for title and axis
	intervalHeight  vg.Length = 15
	longestName               = 40 // characters shown of a name
)

var dotColour = color.NRGBA{R: 0x1f, G: 0x4e, B: 0xb4, A: 0xff}

func (v *Intervals) size() (width, height vg.Length) {
	return intervalsWidth, vg.Length(len(v.Names))*intervalHeight + intervalsMargin
}

func (v *Intervals) largest() float64 { return 0 }

func (v *Intervals) check() error {
	n := len(v.Names)
	if n == 0 || len(v.Values) != n || len(v.Low) != n || len(v.High) != n {
		return fmt.Errorf("%w: %q: found %d names, %d values, %d and %d ends, expected as many of each and one at least",
			ErrShape, v.Title, n, len(v.Values), len(v.Low), len(v.High))
	}
	for i := range n {
		low, value, high := v.Low[i], v.Values[i], v.High[i]
		if !(low <= value && value <= high) || math.IsInf(low, 0) || math.IsInf(high, 0) {
			return fmt.Errorf("%w: %q: found %g in [%g, %g], expected finite numbers in order", ErrShape, v.Names[i], value, low, high)
		}
	}
	return nil
}

func (v *Intervals) plot(float64) (*plot.Plot, error) {
	if err := v.check(); err != nil {
		return nil, err
	}
	p := newPlot(v.Title, v.XLabel, "")
	n := len(v.Names)
	bars := struct {
		plotter.XYs
		plotter.XErrors
	}{make(plotter.XYs, n), make(plotter.XErrors, n)}
	names := make([]string, n)
	for i := range n {
		bars.XYs[i] = plotter.XY{X: v.Values[i], Y: float64(n - 1 - i)}
		bars.XErrors[i].Low, bars.XErrors[i].High = v.Values[i]-v.Low[i], v.High[i]-v.Values[i]
		name := []rune(v.Names[i])
		names[i] = string(name[:min(len(name), longestName)])
	}
	errorBars, err := plotter.NewXErrorBars(bars)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrShape, v.Title, err)
	}
	dots, err := plotter.NewScatter(bars.XYs)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrShape, v.Title, err)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: dotColour, Radius: 2.5, Shape: draw.CircleGlyph{}}
	errorBars.Color = dotColour
	grid := plotter.NewGrid()
	grid.Horizontal.Width = 0
	p.Add(grid, errorBars, dots)
	slices.Reverse(names)
	nominal(&p.Y, names)
	p.Y.Padding = namePadding(names)
	p.Y.Min, p.Y.Max = -0.5, float64(n)-0.5
	if p.X.Min == p.X.Max { // a single value without error
		p.X.Min, p.X.Max = p.X.Min-1, p.X.Max+1
	}
	p.X.Tick.Marker = roundTicks(p.X.Min, p.X.Max, 0)
	return p, nil
}
