package figure

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines is a panel of curves with their names. Points whose value is not finite
// are left out.
type Lines struct {
	Title          string
	XLabel, YLabel string
	Curves         []Curve
	LegendLeft     bool // names at the left, for curves that rise to the right
}

// Curve is one of the lines: as many X as Y, X ascending.
type Curve struct {
	Name   string // empty: the curve is not in the legend
	X, Y   []float64
	Dashed bool
	// Errors, if not nil, has a point drawn at each Y, with a bar of that length
	// up and down, in place of a line.
	Errors []float64
	// Low and High, if not nil, are the ends of a band behind the line, finite where Y is.
	Low, High []float64
}

// Measures of a panel of curves, in points.
const (
	linesWidth  vg.Length = 440
	linesHeight vg.Length = 260
)

// curveColours tell curves apart, for the colour-blind too (after P. Tol).
var curveColours = []color.NRGBA{
	{R: 0x44, G: 0x77, B: 0xaa, A: 0xff}, {R: 0xee, G: 0x66, B: 0x77, A: 0xff}, {R: 0x22, G: 0x88, B: 0x33, A: 0xff},
	{R: 0xaa, G: 0x33, B: 0x77, A: 0xff}, {R: 0xcc, G: 0xbb, B: 0x44, A: 0xff}, {R: 0x66, G: 0xcc, B: 0xee, A: 0xff},
	{R: 0x77, G: 0x77, B: 0x77, A: 0xff},
}

func (l *Lines) size() (width, height vg.Length) { return linesWidth, linesHeight }

func (l *Lines) largest() float64 { return 0 }

func (l *Lines) plot(float64) (*plot.Plot, error) {
	if len(l.Curves) == 0 {
		return nil, fmt.Errorf("%w: %q: found no curves, expected one or more", ErrShape, l.Title)
	}
	p := newPlot(l.Title, l.XLabel, l.YLabel)
	p.Add(plotter.NewGrid())
	drawn := 0
	for i, c := range l.Curves {
		points, err := c.points()
		if err != nil {
			return nil, fmt.Errorf("%q: %w", l.Title, err)
		}
		if len(points) == 0 {
			continue
		}
		if err := c.draw(p, points, curveColours[i%len(curveColours)]); err != nil {
			return nil, fmt.Errorf("%w: %q: %w", ErrShape, c.Name, err)
		}
		drawn++
	}
	if drawn == 0 {
		return nil, fmt.Errorf("%w: %q: found no finite point, expected one or more", ErrShape, l.Title)
	}
	p.Legend.Top, p.Legend.Left = true, l.LegendLeft
	setFont(&p.Legend.TextStyle, textSize)
	if p.X.Min == p.X.Max { // a single point
		p.X.Min, p.X.Max = p.X.Min-1, p.X.Max+1
	}
	if p.Y.Min == p.Y.Max {
		p.Y.Min, p.Y.Max = p.Y.Min-1, p.Y.Max+1
	}
	p.X.Tick.Marker = roundTicks(p.X.Min, p.X.Max, 0)
	p.Y.Tick.Marker = roundTicks(p.Y.Min, p.Y.Max, 0)
	return p, nil
}

// draw adds the curve and its name to a plot.
func (c *Curve) draw(p *plot.Plot, points barred, colour color.Color) error {
	if c.Errors == nil {
		if c.Low != nil {
			band, err := c.band(colour)
			if err != nil {
				return err
			}
			p.Add(band)
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return err
		}
		line.Color = colour
		if c.Dashed {
			line.Dashes = []vg.Length{4, 2}
		}
		p.Add(line)
		c.name(p, line)
		return nil
	}
	bars, err := plotter.NewYErrorBars(points)
	if err != nil {
		return err
	}
	bars.Color, bars.CapWidth = colour, 3
	dots, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	dots.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: 2, Shape: draw.CircleGlyph{}}
	p.Add(bars, dots)
	c.name(p, dots)
	return nil
}

// bandAlpha is how little of what is behind a band it hides, of 255.
const bandAlpha = 48

// band is the area between Low and High.
func (c *Curve) band(colour color.Color) (*plotter.Polygon, error) {
	n := len(c.X)
	if len(c.Low) != n || len(c.High) != n {
		return nil, fmt.Errorf("found %d and %d ends of the band for %d points, expected as many", len(c.Low), len(c.High), n)
	}
	var edge plotter.XYs
	for i := range n {
		if finite(c.Y[i]) {
			edge = append(edge, plotter.XY{X: c.X[i], Y: c.Low[i]})
		}
	}
	for i := range n {
		if k := n - 1 - i; finite(c.Y[k]) {
			edge = append(edge, plotter.XY{X: c.X[k], Y: c.High[k]})
		}
	}
	band, err := plotter.NewPolygon(edge)
	if err != nil {
		return nil, err
	}
	r, g, b, _ := colour.RGBA()
	band.Color = color.NRGBA{R: uint8(r >> 8), G: uint8(g >> 8), B: uint8(b >> 8), A: bandAlpha}
	band.LineStyle.Width = 0
	return band, nil
}

// name adds the curve to the legend, with what it is drawn by.
func (c *Curve) name(p *plot.Plot, by plot.Thumbnailer) {
	if c.Name != "" {
		p.Legend.Add(c.Name, by)
	}
}

// points are the finite points of a curve.
func (c *Curve) points() (barred, error) {
	if len(c.X) != len(c.Y) || c.Errors != nil && len(c.Errors) != len(c.X) {
		return nil, fmt.Errorf("%w: %q: found %d abscissae for %d values and %d errors, expected as many", ErrShape, c.Name, len(c.X), len(c.Y), len(c.Errors))
	}
	points := make(barred, 0, len(c.X))
	for i, x := range c.X {
		p := point{x, c.Y[i], 0}
		if c.Errors != nil {
			p.bar = c.Errors[i]
		}
		if finite(p.x) && finite(p.y) && finite(p.bar) {
			points = append(points, p)
		}
	}
	return points, nil
}

// point is a value with half its error bar, barred shows such to the plot library.
type (
	point  struct{ x, y, bar float64 }
	barred []point
)

func (b barred) Len() int                       { return len(b) }
func (b barred) XY(i int) (x, y float64)        { return b[i].x, b[i].y }
func (b barred) YError(i int) (low, up float64) { return b[i].bar, b[i].bar }

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }
