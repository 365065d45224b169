package figure

import (
	"fmt"
	"image/color"
	"math"
	"unicode/utf8"

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
	// LegendBeside puts the names in a strip of their own right of the plot, where they
	// cover nothing; for many curves.
	LegendBeside bool
}

// Curve is one of the lines: as many X as Y, X ascending.
type Curve struct {
	Name   string // empty: the curve is not in the legend
	X, Y   []float64
	Dashed bool
	Grey   bool // not one of those compared, such as a fit
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

	besideLeast  vg.Length = 60 // of the strip for names beside the plot
	besideLetter vg.Length = 5  // of a name's character
	besideLine   vg.Length = 13 // height of a name
	besideThumb  vg.Length = 30 // with the gap to the name

	legendPadding vg.Length = 2 // between names
)

// curveColours tell curves apart, for the colour-blind too (after P. Tol).
var curveColours = []color.NRGBA{
	{R: 0x44, G: 0x77, B: 0xaa, A: 0xff}, {R: 0xee, G: 0x66, B: 0x77, A: 0xff}, {R: 0x22, G: 0x88, B: 0x33, A: 0xff},
	{R: 0xaa, G: 0x33, B: 0x77, A: 0xff}, {R: 0xcc, G: 0xbb, B: 0x44, A: 0xff}, {R: 0x66, G: 0xcc, B: 0xee, A: 0xff},
	{R: 0x77, G: 0x77, B: 0x77, A: 0xff},
}

func (l *Lines) size() (width, height vg.Length) {
	names := 0
	for _, c := range l.Curves {
		if c.Name != "" {
			names++
		}
	}
	if !l.LegendBeside {
		return linesWidth, linesHeight
	}
	return linesWidth + l.beside(), max(linesHeight, vg.Length(names+2)*besideLine)
}

// beside is the width of the strip for names right of the plot.
func (l *Lines) beside() vg.Length {
	if !l.LegendBeside {
		return 0
	}
	longest := 0
	for _, c := range l.Curves {
		longest = max(longest, utf8.RuneCountInString(c.Name))
	}
	return max(besideLeast, besideThumb+vg.Length(longest)*besideLetter)
}

// shapes tell points apart once colours begin again.
var shapes = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.CrossGlyph{}, draw.RingGlyph{}, draw.BoxGlyph{}}

// dashes tell lines apart once colours begin again.
var dashes = [][]vg.Length{nil, {5, 2}, {1.5, 1.5}, {6, 2, 1.5, 2}, {3, 3}, {9, 3}}

// look is what a curve is drawn with.
type look struct {
	colour color.NRGBA
	shape  draw.GlyphDrawer
	dashes []vg.Length
}

// lookOf is the look of curve i of a panel.
func lookOf(i int) look {
	n := len(curveColours)
	return look{curveColours[i%n], shapes[i/n%len(shapes)], dashes[i/n%len(dashes)]}
}

// greyColour is for what is no curve of its own.
var greyColour = color.NRGBA{R: 0x99, G: 0x99, B: 0x99, A: 0xff}

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
		if err := c.draw(p, points, lookOf(i)); err != nil {
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
	if l.LegendBeside { // room around points at the ends
		const room = 0.04
		dx, dy := room*(p.X.Max-p.X.Min), room*(p.Y.Max-p.Y.Min)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = p.X.Min-dx, p.X.Max+dx, p.Y.Min-dy, p.Y.Max+dy
	}
	p.X.Tick.Marker = roundTicks(p.X.Min, p.X.Max, 0)
	p.Y.Tick.Marker = roundTicks(p.Y.Min, p.Y.Max, 0)
	return p, nil
}

// draw adds the curve and its name to a plot.
func (c *Curve) draw(p *plot.Plot, points barred, with look) error {
	colour := with.colour
	if c.Grey {
		colour = greyColour
	}
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
		line.Color, line.Dashes = colour, with.dashes
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
	dots.GlyphStyle = draw.GlyphStyle{Color: colour, Radius: 2.5, Shape: with.shape}
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
