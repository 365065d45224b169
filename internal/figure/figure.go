// Package figure draws histograms, curves, estimates with their errors and heat
// maps of numbers, chess boards among them, as PNG and SVG files. It is the only
// user of gonum's plot library.
package figure

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// ErrFormat says that a file name does not end in a known image format.
var ErrFormat = errors.New("unknown image format")

// ErrShape says that a figure's numbers do not fit its description.
var ErrShape = errors.New("figure cannot be drawn")

// Figure is a title above rows of panels. All its heat maps share one scale of
// colours, whose legend stands at the right.
type Figure struct {
	Title string
	// Unit names what the colours of heat maps stand for.
	Unit string
	Rows [][]Panel
}

// Panel is one of a figure's drawings: a *Histogram, a *Lines, a *Heat or an
// *Intervals.
type Panel interface {
	// size is the room the panel takes.
	size() (width, height vg.Length)
	// plot makes the drawing; heat maps reach from -largest to largest.
	plot(largest float64) (*plot.Plot, error)
	// largest is the greatest magnitude a shared scale must show, 0 if none.
	largest() float64
}

// Measures of a figure, in points of 1/72 inch.
const (
	titleHeight  vg.Length = 22
	legendWidth  vg.Length = 64
	legendHeight vg.Length = 220
	border       vg.Length = 6
	gap          vg.Length = 6 // right of and below a panel, within its size
	textSize     vg.Length = 9
	titleSize    vg.Length = 12

	fontRoom = 1.15 // how much wider than ours a browser's font may be
)

// CheckPath reports whether Save can write a file of this name: it must end in
// .png or .svg. The error wraps ErrFormat. Commands call it before long work.
func CheckPath(path string) error {
	_, err := format(path)
	return err
}

func format(path string) (string, error) {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".png", ".svg":
		return ext[1:], nil
	default:
		return "", fmt.Errorf("%w: found %q, expected a name that ends in .png or .svg", ErrFormat, path)
	}
}

// Save draws the figure into a file, in the format its name ends in.
func (f *Figure) Save(path string) error {
	name, err := format(path)
	if err != nil {
		return err
	}
	c, err := f.draw(name)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return durable.Write(path, func(w io.Writer) error {
		_, err := c.WriteTo(w)
		return err
	})
}

// SVG draws the figure as the text of an SVG file.
func (f *Figure) SVG() ([]byte, error) {
	c, err := f.draw("svg")
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	_, err = c.WriteTo(&b)
	return b.Bytes(), err
}

// draw puts title, panels and legend on a canvas of the figure's own size.
func (f *Figure) draw(format string) (vg.CanvasWriterTo, error) {
	var width, height vg.Length
	scale := 0.0
	heat := false
	for _, row := range f.Rows {
		w, h := rowSize(row)
		width, height = max(width, w), height+h
		for _, p := range row {
			scale = max(scale, p.largest())
			_, isHeat := p.(*Heat)
			heat = heat || isHeat
		}
	}
	if width == 0 || height == 0 {
		return nil, fmt.Errorf("%w: found no panels, expected one or more", ErrShape)
	}
	width, height = width+2*border, height+2*border+titleHeight
	if heat {
		width += legendWidth
	}
	style := plot.New().Title.TextStyle
	setFont(&style, titleSize)
	style.XAlign, style.YAlign = draw.XLeft, draw.YTop
	width = max(width, fontRoom*style.Width(f.Title)+2*border)
	if scale == 0 {
		scale = 1 // all zero: any scale shows it
	}

	var file vg.CanvasWriterTo
	if format == "svg" {
		file = vgsvg.New(width, height)
	} else {
		file = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pixels))}
	}
	page := draw.NewCanvas(file, width, height)
	top := height - border
	page.FillText(style, vg.Point{X: border, Y: top}, f.Title)
	top -= titleHeight
	if heat {
		legend, err := newLegend(scale, f.Unit)
		if err != nil {
			return nil, err
		}
		h := min(top-border, legendHeight)
		legend.Draw(crop(page, width-legendWidth-border, top-h, legendWidth, h))
	}
	for _, row := range f.Rows {
		_, h := rowSize(row)
		left := border
		for _, p := range row {
			w, own := p.size()
			drawing, err := p.plot(scale)
			if err != nil {
				return nil, err
			}
			room := crop(page, left, top-own, w-gap, own-gap)
			if l, isLines := p.(*Lines); isLines && l.LegendBeside {
				strip := room
				room.Max.X -= l.beside()
				strip.Min.X, strip.Max.Y = room.Max.X+gap, strip.Max.Y-titleHeight
				legend := drawing.Legend
				legend.Left, legend.Padding = true, legendPadding
				legend.Draw(strip)
				drawing.Legend = plot.NewLegend()
			}
			drawing.Draw(room)
			left += w
		}
		top -= h
	}
	return file, nil
}

// rowSize is the room a row of panels takes side by side.
func rowSize(row []Panel) (width, height vg.Length) {
	for _, p := range row {
		w, h := p.size()
		width, height = width+w, max(height, h)
	}
	return width, height
}

// crop returns the part of a canvas with the given lower left corner and size.
func crop(c draw.Canvas, left, bottom, width, height vg.Length) draw.Canvas {
	c.Rectangle = vg.Rectangle{Min: vg.Point{X: left, Y: bottom}, Max: vg.Point{X: left + width, Y: bottom + height}}
	return c
}

// newPlot returns an empty plot in the style of all figures.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	setFont(&p.Title.TextStyle, textSize)
	p.Title.Padding = 2
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		setFont(&axis.Label.TextStyle, textSize)
		setFont(&axis.Tick.Label, textSize-1)
		axis.Padding = 0
	}
	return p
}

func setFont(style *draw.TextStyle, size vg.Length) {
	style.Font.Variant, style.Font.Size = "Sans", size
}
