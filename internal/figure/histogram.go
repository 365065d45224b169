package figure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// Histogram is a row of bars, bar i over the values from Low + i*Width to
// Low + (i+1)*Width. Bars of width 1 stand for whole numbers, which are what the
// axis then shows.
type Histogram struct {
	Title          string
	XLabel, YLabel string
	Low, Width     float64   // Width is above 0
	Heights        []float64 // of the bars, at least 0
	// Marks are values at which a dashed line stands.
	Marks []float64
}

// Measures of a histogram, in points.
const (
	histogramWidth  vg.Length = 300
	histogramHeight vg.Length = 190
)

func (h *Histogram) size() (width, height vg.Length) { return histogramWidth, histogramHeight }

func (h *Histogram) largest() float64 { return 0 }

func (h *Histogram) plot(float64) (*plot.Plot, error) {
	if len(h.Heights) == 0 || !(h.Width > 0) {
		return nil, fmt.Errorf("%w: %q: found %d bars of width %g, expected one or more of width above 0", ErrShape, h.Title, len(h.Heights), h.Width)
	}
	p := newPlot(h.Title, h.XLabel, h.YLabel)
	bars := &plotter.Histogram{Width: h.Width, FillColor: curveColours[0]}
	top := 0.0
	for i, height := range h.Heights {
		low := h.Low + float64(i)*h.Width
		bars.Bins = append(bars.Bins, plotter.HistogramBin{Min: low, Max: low + h.Width, Weight: height})
		top = max(top, height)
	}
	p.Add(bars)
	for _, x := range h.Marks {
		mark, err := plotter.NewLine(plotter.XYs{{X: x, Y: 0}, {X: x, Y: top}})
		if err != nil {
			return nil, fmt.Errorf("%w: %q: mark at %g: %w", ErrShape, h.Title, x, err)
		}
		mark.Dashes = []vg.Length{3, 3}
		mark.Color = red
		p.Add(mark)
	}
	p.Y.Min = 0
	p.X.Tick.Marker = h.ticks()
	return p, nil
}

// ticks returns round numbers along the axis, whole ones if the bars stand for
// such.
func (h *Histogram) ticks() plot.ConstantTicks {
	least := 0.0
	if h.Width == 1 {
		least = 1
	}
	return roundTicks(h.Low, h.Low+h.Width*float64(len(h.Heights)), least)
}

// roundTicks returns at most a dozen round numbers from low to high, at least
// as far apart as given; half as many if they are long.
func roundTicks(low, high, least float64) plot.ConstantTicks {
	const most, long = 12, 5
	ticks := ticksOf(low, high, least, most)
	if slices.ContainsFunc(ticks, func(t plot.Tick) bool { return len(t.Label) > long }) {
		return ticksOf(low, high, least, most/2)
	}
	return ticks
}

// ticksOf returns at most so many round numbers from low to high.
func ticksOf(low, high, least, most float64) plot.ConstantTicks {
	reach := high - low
	step := math.Pow(10, math.Floor(math.Log10(reach/most)))
	for _, larger := range []float64{2, 2.5, 2} { // 1, 2, 5, 10 times a power of ten
		if reach/step > most {
			step *= larger
		}
	}
	step = max(step, least)
	var ticks plot.ConstantTicks
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: tickLabel(i*step + 0)})
	}
	return ticks
}

// tickLabel writes a number of up to four digits, large ones without an exponent.
func tickLabel(v float64) string {
	if math.Abs(v) >= 1e4 && math.Abs(v) < 1e7 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
