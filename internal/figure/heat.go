package figure

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Heat is a heat map: a table of numbers as coloured cells, blue below zero,
// white at zero, red above. NaN is grey: no number belongs there.
type Heat struct {
	Title string
	// Columns is the number of cells in a row; Values holds the rows from the
	// bottom up, each from left to right.
	Columns int
	Values  []float64
	// XLabels and YLabels name columns and rows; either may be nil.
	XLabels, YLabels []string
	// Grid draws lines around the cells, so that zeros are seen to be there.
	Grid bool
	// Numbers writes each value into its cell, without decimals, and makes cells as wide as
	// that needs.
	Numbers bool
}

// Board returns the heat map of a board, a1 first, as White sees it.
func Board(title string, squares *[64]float64) *Heat {
	return &Heat{
		Title: title, Columns: 8, Values: squares[:],
		XLabels: []string{"a", "b", "c", "d", "e", "f", "g", "h"},
		YLabels: []string{"1", "2", "3", "4", "5", "6", "7", "8"},
	}
}

// Measures of a heat map, in points.
const (
	cell       vg.Length = 13
	numberCell vg.Length = 21  // that a number is written into
	heatMargin vg.Length = 32  // for title, labels and gap, in each direction
	shades               = 257 // odd: the middle one is zero's
)

var (
	noValue    = color.Gray{Y: 0xa8}
	gridColour = color.Gray{Y: 0xd0}
	blue       = color.NRGBA{R: 0x1f, G: 0x4e, B: 0xb4, A: 0xff}
	red        = color.NRGBA{R: 0xb4, G: 0x1a, B: 0x28, A: 0xff}
)

// diverging is the scale of colours: blue, over white in the middle, to red.
type diverging []color.Color

func (d diverging) Colors() []color.Color { return d }

var scaleColours = newDiverging()

func newDiverging() diverging {
	d := make(diverging, shades)
	const middle = shades / 2
	for i := range d {
		end, share := blue, float64(middle-i)/middle
		if i > middle {
			end, share = red, -share
		}
		mix := func(c uint8) uint8 { return uint8(math.Round(255 + share*(float64(c)-255))) }
		d[i] = color.NRGBA{R: mix(end.R), G: mix(end.G), B: mix(end.B), A: 0xff}
	}
	return d
}

func (h *Heat) rows() int { return len(h.Values) / max(h.Columns, 1) }

func (h *Heat) size() (width, height vg.Length) {
	side, names := cell, vg.Length(0)
	if h.Numbers {
		side = numberCell
		for _, name := range h.YLabels { // two or three letters fit into the margin
			names = max(names, fontRoom*vg.Length(utf8.RuneCountInString(name)-2)*besideLetter)
		}
	}
	return vg.Length(h.Columns)*side + heatMargin + names, vg.Length(h.rows())*side + heatMargin
}

func (h *Heat) largest() float64 {
	most := 0.0
	for _, v := range h.Values {
		if !math.IsNaN(v) {
			most = max(most, math.Abs(v))
		}
	}
	return most
}

func (h *Heat) plot(largest float64) (*plot.Plot, error) {
	if h.Columns < 1 || len(h.Values) == 0 || len(h.Values)%h.Columns != 0 {
		return nil, fmt.Errorf("%w: %q: found %d values, expected whole rows of %d", ErrShape, h.Title, len(h.Values), h.Columns)
	}
	if h.XLabels != nil && len(h.XLabels) != h.Columns || h.YLabels != nil && len(h.YLabels) != h.rows() {
		return nil, fmt.Errorf("%w: %q: found %d and %d labels, expected %d and %d", ErrShape, h.Title, len(h.XLabels), len(h.YLabels), h.Columns, h.rows())
	}
	if math.IsInf(largest, 0) {
		return nil, fmt.Errorf("%w: %q: found an infinite value", ErrShape, h.Title)
	}
	p := newPlot(h.Title, "", "")
	m := plotter.NewHeatMap((*grid)(h), scaleColours)
	m.Min, m.Max, m.NaN = -largest, largest, noValue
	p.Add(m)
	if h.Grid {
		p.Add(h.lines()...)
	}
	if h.Numbers {
		numbers, err := h.numbers(largest)
		if err != nil {
			return nil, err
		}
		p.Add(numbers)
	}
	nominal(&p.X, h.XLabels)
	nominal(&p.Y, h.YLabels)
	if h.Numbers {
		p.Y.Padding = namePadding(h.YLabels)
	}
	return p, nil
}

// namePadding is the room between names and what is right of them, for a browser's font that is
// wider than ours.
func namePadding(names []string) vg.Length {
	longest := 0
	for _, name := range names {
		longest = max(longest, utf8.RuneCountInString(name))
	}
	return (fontRoom - 1) * besideLetter * vg.Length(longest)
}

// numbers are the values in the middles of their cells, white where these are dark.
func (h *Heat) numbers(largest float64) (*plotter.Labels, error) {
	var text plotter.XYLabels
	for i, v := range h.Values {
		if !math.IsNaN(v) {
			text.XYs = append(text.XYs, plotter.XY{X: float64(i % h.Columns), Y: float64(i / h.Columns)})
			text.Labels = append(text.Labels, strconv.FormatFloat(math.Round(v)+0, 'f', 0, 64))
		}
	}
	labels, err := plotter.NewLabels(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %q: %w", ErrShape, h.Title, err)
	}
	k := 0
	for _, v := range h.Values {
		if math.IsNaN(v) {
			continue
		}
		style := &labels.TextStyle[k]
		setFont(style, textSize-1)
		style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
		const dark = 0.55 // of the scale
		if math.Abs(v) > dark*largest {
			style.Color = color.White
		}
		k++
	}
	return labels, nil
}

// lines are those between the cells and around them.
func (h *Heat) lines() (list []plot.Plotter) {
	add := func(x0, y0, x1, y1 float64) {
		const half = 0.5 // of a cell: whole numbers are the middles of cells
		list = append(list, &plotter.Line{
			XYs:       plotter.XYs{{X: x0 - half, Y: y0 - half}, {X: x1 - half, Y: y1 - half}},
			LineStyle: draw.LineStyle{Color: gridColour, Width: 0.5},
		})
	}
	width, height := float64(h.Columns), float64(h.rows())
	for x := range h.Columns + 1 {
		add(float64(x), 0, float64(x), height)
	}
	for y := range h.rows() + 1 {
		add(0, float64(y), width, float64(y))
	}
	return list
}

// nominal puts names in place of an axis' numbers.
func nominal(axis *plot.Axis, names []string) {
	var ticks []plot.Tick
	for i, name := range names {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: name})
	}
	axis.Tick.Marker = plot.ConstantTicks(ticks)
	axis.Tick.Length, axis.LineStyle.Width = 0, 0
}

// grid shows a Heat to the plot library.
type grid Heat

func (g *grid) Dims() (columns, rows int) { return g.Columns, (*Heat)(g).rows() }
func (g *grid) Z(column, row int) float64 { return g.Values[row*g.Columns+column] }
func (g *grid) X(column int) float64      { return float64(column) }
func (g *grid) Y(row int) float64         { return float64(row) }

// newLegend returns the scale of colours from -largest to largest: a heat map of
// one column.
func newLegend(largest float64, unit string) (*plot.Plot, error) {
	const steps, labels = 64, 4
	h := &Heat{Columns: 1, Values: make([]float64, steps+1)}
	for i := range h.Values {
		h.Values[i] = largest * (2*float64(i)/steps - 1)
	}
	p, err := h.plot(largest)
	if err != nil {
		return nil, err
	}
	p.X.Label.Text = unit
	var ticks []plot.Tick
	for at := 0; at <= steps; at += steps / labels {
		ticks = append(ticks, plot.Tick{Value: float64(at), Label: strconv.FormatFloat(h.Values[at], 'g', 3, 64)})
	}
	p.Y.Tick.Marker = plot.ConstantTicks(ticks)
	return p, nil
}
