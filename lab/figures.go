package lab

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// drawing is a figure of a report.
type drawing struct {
	file, caption string
	figure        *figure.Figure
}

// drawings are the figures that the comparison has numbers for.
func (r *Results) drawings() []drawing {
	list := []drawing{r.frontier(), r.lossElo()}
	if d, ok := r.curves(); ok {
		list = append(list, d)
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		list = append(list, s.ratings(r))
		if s.Stage != Ladder && len(r.Rows) > 1 {
			list = append(list, s.matrix(r))
		}
	}
	return list
}

// saveFigures draws all figures into a directory.
func (r *Results) saveFigures(dir string) error {
	for _, d := range r.drawings() {
		if err := d.figure.Save(filepath.Join(dir, d.file)); err != nil {
			return err
		}
	}
	return nil
}

// dot is a curve of one point with its error.
func dot(name string, x, y, bar float64) figure.Curve {
	return figure.Curve{Name: name, X: []float64{x}, Y: []float64{y}, Errors: []float64{bar}}
}

// frontier is Elo at fixed nodes against speed of search: what is above and right of another
// is better in both.
func (r *Results) frontier() drawing {
	p := &figure.Lines{Title: "bars: 95 %", XLabel: "thousand nodes a second of CPU time", YLabel: "Elo, " + r.first().Limits}
	for i := range r.Rows {
		e := r.Rows[i].Elo[r.first().Stage]
		p.Curves = append(p.Curves, dot(r.Rows[i].Name, r.Times[i].Nodes/1e3, e.Elo, e.Margin()))
	}
	return drawing{"frontier.svg", "Elo against nodes a second: a row below and left of another is worse in both.", &figure.Figure{
		Title: "Strength and speed", Rows: [][]figure.Panel{{p}},
	}}
}

// lossElo is Elo of each net against its held-out loss.
func (r *Results) lossElo() drawing {
	title := "one point a net"
	if r.Correlation != nil {
		title = fmt.Sprintf("one point a net; correlation %.2f over %d nets", *r.Correlation, r.Nets)
	}
	p := &figure.Lines{Title: title, XLabel: "held-out loss", YLabel: "Elo, " + r.first().Limits}
	for i := range r.Rows {
		row := &r.Rows[i]
		e := row.Elo[r.first().Stage]
		p.Curves = append(p.Curves, figure.Curve{
			Name: row.Name, X: row.Losses, Y: e.Seeds, Errors: make([]float64, len(row.Losses)),
		})
	}
	return drawing{"loss-elo.svg", "Held-out loss against Elo. A low loss that goes with a high Elo slopes down.", &figure.Figure{
		Title: "Loss and strength", Rows: [][]figure.Panel{{p}},
	}}
}

// curves are the held-out losses while the nets learned: mean, least and most over seeds.
func (r *Results) curves() (drawing, bool) {
	p := &figure.Lines{Title: "line: mean over seeds; band: least to most", XLabel: "thousand samples", YLabel: "held-out loss"}
	for i := range r.Rows {
		all := r.Rows[i].curves
		n := len(slices.MinFunc(all, func(a, b []point) int { return len(a) - len(b) }))
		c := figure.Curve{Name: r.Rows[i].Name}
		for k := range n {
			if k == 0 && n > 2 {
				continue // before the first step: it would flatten the rest
			}
			var at []float64
			for _, curve := range all {
				at = append(at, curve[k].loss)
			}
			c.X, c.Y = append(c.X, all[0][k].samples/1e3), append(c.Y, mean(at))
			c.Low, c.High = append(c.Low, slices.Min(at)), append(c.High, slices.Max(at))
		}
		if len(c.X) > 0 {
			p.Curves = append(p.Curves, c)
		}
	}
	return drawing{"curves.svg", "Learning curves.", &figure.Figure{
		Title: "Held-out loss while learning", Rows: [][]figure.Panel{{p}},
	}}, len(p.Curves) > 0
}

// ratings are the ratings of rows and anchors with their intervals.
func (s *StageResult) ratings(r *Results) drawing {
	p := &figure.Intervals{Title: s.Limits + "; bars: 95 %, from openings and seeds", XLabel: "Elo"}
	add := func(name string, e *Rating) {
		p.Names = append(p.Names, name)
		p.Values, p.Low, p.High = append(p.Values, e.Elo), append(p.Low, e.Low), append(p.High, e.High)
	}
	for i := range r.Rows {
		e := r.Rows[i].Elo[s.Stage]
		add(r.Rows[i].Name, &e)
	}
	for i, name := range s.Anchors {
		add(name+" (anchor)", &s.Ratings.Anchors[i])
	}
	return drawing{"elo-" + string(s.Stage) + ".svg", "Ratings, " + s.Limits + ".", &figure.Figure{
		Title: "Strength", Rows: [][]figure.Panel{{p}},
	}}
}

// matrix is the score of each row against each other.
func (s *StageResult) matrix(r *Results) drawing {
	n := len(r.Rows)
	at := map[string]int{}
	h := &figure.Heat{Title: "points of the row above half, %", Columns: n, Grid: true, Values: make([]float64, n*n)}
	for i := range r.Rows {
		at[r.Rows[i].Name] = i
		h.XLabels = append(h.XLabels, fmt.Sprint(i+1))
	}
	for i := range n { // rows from the bottom up
		h.YLabels = append(h.YLabels, fmt.Sprintf("%d", n-i))
	}
	for i := range h.Values {
		h.Values[i] = math.NaN()
	}
	for i, d := range s.Ratings.Differences {
		a, b := at[s.Names[i][0]], at[s.Names[i][1]]
		h.Values[(n-1-a)*n+b], h.Values[(n-1-b)*n+a] = 100*(d.Score-0.5), 100*(0.5-d.Score)
	}
	return drawing{"pairs-" + string(s.Stage) + ".svg", "Every pair of rows, " + s.Limits + ": points of the row at the left against that above, in the order of the table.", &figure.Figure{
		Title: "Every pair", Unit: "%", Rows: [][]figure.Panel{{h}},
	}}
}
