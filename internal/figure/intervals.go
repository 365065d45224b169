package figure

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/crazyhouse-rl/selfplay/internal/words"
)

// Intervals is a list of estimates with their errors: a line for each, with its
// name at the left, a dot at the value, a bar over the interval, and value and half
// of the interval in whole numbers at the right.
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
	longestName               = 40   // characters shown of a name
	intervalsRoom             = 0.04 // left and right of all intervals, of what they reach over
)

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
	names, figures := make([]string, n), make([]string, n)
	for i := range n {
		bars.XYs[i] = plotter.XY{X: v.Values[i], Y: float64(n - 1 - i)}
		bars.XErrors[i].Low, bars.XErrors[i].High = v.Values[i]-v.Low[i], v.High[i]-v.Values[i]
		name := []rune(v.Names[i])
		names[i] = string(name[:min(len(name), longestName)])
		figures[i] = fmt.Sprintf("%s ± %.0f", words.Signed(v.Values[i]), (v.High[i]-v.Low[i])/2)
	}
	errorBars, err := plotter.NewXErrorBars(bars)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrShape, v.Title, err)
	}
	dots, err := plotter.NewScatter(bars.XYs)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrShape, v.Title, err)
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: curveColours[0], Radius: 2.5, Shape: draw.CircleGlyph{}}
	errorBars.Color = curveColours[0]
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
	room := intervalsRoom * (p.X.Max - p.X.Min)
	p.X.Min, p.X.Max = p.X.Min-room, p.X.Max+room
	p.X.Tick.Marker = roundTicks(p.X.Min, p.X.Max, 0)
	return p, addFigures(p, figures)
}

// addFigures writes a text for each line at the right, from the top down.
func addFigures(p *plot.Plot, texts []string) error {
	at := make(plotter.XYs, len(texts))
	for i := range at {
		at[i] = plotter.XY{X: p.X.Max, Y: float64(len(texts) - 1 - i)}
	}
	labels, err := plotter.NewLabels(plotter.XYLabels{XYs: at, Labels: texts})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrShape, err)
	}
	for i := range labels.TextStyle {
		setFont(&labels.TextStyle[i], textSize-1) // as the names at the left
		labels.TextStyle[i].YAlign = draw.YCenter
	}
	labels.Offset.Y = 1.5 // as high as these
	p.Add(labels)
	return nil
}
