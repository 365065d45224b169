package lab

import (
	"cmp"
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
	list := []drawing{r.frontier()}
	for _, draw := range []func() (drawing, bool){r.lossElo, r.curves} {
		if d, ok := draw(); ok {
			list = append(list, d)
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		list = append(list, s.ratings(r))
		if s.Stage != Ladder && len(r.Rows) > 1 {
			list = append(list, s.matrix(r))
		}
	}
	return append(list, r.drawn...)
}

// from says how many games and nets the ratings of a stage come from.
func (s *StageResult) from(r *Results) string {
	n := len(r.Rows[0].Losses)
	nets := fmt.Sprintf("%d nets of each row, one to a seed", n)
	if n == 1 {
		nets = "one net of each row"
	}
	return fmt.Sprintf("%d games of %s", s.Games, nets)
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

// frontier is Elo against speed of search, with a step line through the rows that no other
// is above and right of.
func (r *Results) frontier() drawing {
	first := r.first()
	p := &figure.Lines{Title: "bars: 95 %; grey: rows that none beats in both", XLabel: "thousand nodes a second of CPU time", YLabel: "Elo", LegendBeside: true}
	var at []xy
	for i := range r.Rows {
		e := r.Rows[i].Elo[first.Stage]
		at = append(at, xy{r.Times[i].Nodes / 1e3, e.Elo})
		p.Curves = append(p.Curves, dot(r.Rows[i].Name, at[i].x, e.Elo, e.Margin()))
	}
	x, y := steps(at)
	p.Curves = append(p.Curves, figure.Curve{X: x, Y: y, Grey: true, Dashed: true})
	return drawing{"frontier.svg", fmt.Sprintf(
		"Strength against speed: Elo at %s, from %s, and nodes a second of CPU time of each row's first net. A row below and left of another is worse in both.",
		first.Limits, first.from(r)), &figure.Figure{
		Title: "Strength and speed, " + first.Limits, Rows: [][]figure.Panel{{p}},
	}}
}

// xy is a point of a figure.
type xy struct{ x, y float64 }

// steps returns the corners of the line through the points that no other is above and right
// of, from left to right: each is reached level from the left, and left straight down.
func steps(points []xy) (x, y []float64) {
	points = slices.Clone(points)
	slices.SortFunc(points, func(a, b xy) int { return cmp.Or(cmp.Compare(b.x, a.x), cmp.Compare(b.y, a.y)) })
	best := math.Inf(-1)
	for _, p := range points { // from the right
		if p.y <= best {
			continue
		}
		if len(x) > 0 {
			x, y = append(x, p.x), append(y, best)
		}
		x, y = append(x, p.x), append(y, p.y)
		best = p.y
	}
	slices.Reverse(x)
	slices.Reverse(y)
	return x, y
}

// lossElo is Elo of each net against its held-out loss, a panel for each loss that rows
// minimise, as different ones cannot be compared; false if none was measured.
func (r *Results) lossElo() (drawing, bool) {
	first := r.first()
	f := &figure.Figure{Title: "Loss and strength, " + first.Limits}
	for _, kind := range r.lossKinds() {
		p := &figure.Lines{XLabel: "held-out loss, " + kind, YLabel: "Elo", LegendBeside: true}
		var losses, elos []float64
		for i := range r.Rows {
			row := &r.Rows[i]
			if row.lossKind != kind || row.Measured == 0 {
				continue
			}
			e := row.Elo[first.Stage]
			losses, elos = append(losses, row.Losses...), append(elos, e.Seeds...)
			p.Curves = append(p.Curves, figure.Curve{Name: row.Name, X: row.Losses, Y: e.Seeds, Errors: make([]float64, len(row.Losses))})
		}
		if len(losses) == 0 {
			continue
		}
		p.Title = fmt.Sprintf("%d nets", len(losses))
		if c, known := correlation(losses, elos); known {
			p.Title += fmt.Sprintf(", correlation %.2f", c)
		}
		f.Rows = append(f.Rows, []figure.Panel{p})
	}
	return drawing{"loss-elo.svg", fmt.Sprintf(
		"Held-out loss against Elo at %s: one point a net, from %s. Where a low loss goes with a high Elo, points fall to the right and the correlation is negative.",
		first.Limits, first.from(r)), f}, len(f.Rows) > 0
}

// curves are the held-out losses while the nets learned: mean, least and most over seeds; a panel
// for each loss, as in lossElo.
func (r *Results) curves() (drawing, bool) {
	f := &figure.Figure{Title: "Held-out loss while learning"}
	for _, kind := range r.lossKinds() {
		p := &figure.Lines{Title: "line: mean over seeds; band: least to most", XLabel: "thousand samples", YLabel: "held-out loss", LegendBeside: true}
		if len(r.lossKinds()) > 1 {
			p.Title = kind + "; " + p.Title
		}
		for i := range r.Rows {
			if c := r.Rows[i].curve(); r.Rows[i].lossKind == kind && len(c.X) > 0 {
				p.Curves = append(p.Curves, c)
			}
		}
		if len(p.Curves) > 0 {
			f.Rows = append(f.Rows, []figure.Panel{p})
		}
	}
	return drawing{"curves.svg", fmt.Sprintf(
		"Held-out loss while the nets learned: the mean over the seeds of each row (%d), and the least and most of them. The loss before the first step is left out where others follow.",
		len(r.Rows[0].Losses)), f}, len(f.Rows) > 0
}

// lossKinds are the losses that rows minimise, in the order of rows.
func (r *Results) lossKinds() (kinds []string) {
	for i := range r.Rows {
		if kind := r.Rows[i].lossKind; !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// curve is the mean loss of a row's nets with its band, where the net with the fewest points
// has them: nets of earlier builds have few.
func (r *Row) curve() figure.Curve {
	fewest := spaced(slices.MinFunc(r.curves, func(a, b []point) int { return len(a) - len(b) }))
	c := figure.Curve{Name: r.Name}
	for k, p := range fewest {
		if k == 0 && len(fewest) > 2 {
			continue // before the first step: it would flatten the rest
		}
		var at []float64
		for _, curve := range r.curves {
			at = append(at, lossAt(curve, p.samples))
		}
		c.X, c.Y = append(c.X, p.samples/1e3), append(c.Y, mean(at))
		c.Low, c.High = append(c.Low, slices.Min(at)), append(c.High, slices.Max(at))
	}
	return c
}

// spaced returns the points of a curve without those that are nearer to the next than half of
// the mean distance: of a checkpoint just before the end, or just before a validation.
func spaced(curve []point) []point {
	if len(curve) < 3 {
		return curve
	}
	least := (curve[len(curve)-1].samples - curve[0].samples) / float64(len(curve)-1) / 2
	var list []point
	for k, p := range curve {
		if k == len(curve)-1 || curve[k+1].samples-p.samples >= least {
			list = append(list, p)
		}
	}
	return list
}

// lossAt returns the loss of a curve at a number of samples: between points what lies on the
// line between them, beyond the ends that of the end.
func lossAt(curve []point, samples float64) float64 {
	i, found := slices.BinarySearchFunc(curve, samples, func(p point, at float64) int { return cmp.Compare(p.samples, at) })
	switch {
	case found || i == 0:
		return curve[i].loss
	case i == len(curve):
		return curve[i-1].loss
	}
	a, b := curve[i-1], curve[i]
	return a.loss + (b.loss-a.loss)*(samples-a.samples)/(b.samples-a.samples)
}

// ratings are the ratings of rows and anchors with their intervals.
func (s *StageResult) ratings(r *Results) drawing {
	p := &figure.Intervals{Title: "bars: 95 %, from openings and seeds", XLabel: "Elo"}
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
	return drawing{"elo-" + string(s.Stage) + ".svg", fmt.Sprintf("Ratings at %s, from %s, with 95 %% intervals.", s.Limits, s.from(r)), &figure.Figure{
		Title: "Strength, " + s.Limits, Rows: [][]figure.Panel{{p}},
	}}
}

// matrix is the score of each row against each other.
func (s *StageResult) matrix(r *Results) drawing {
	n := len(r.Rows)
	at := map[string]int{}
	h := &figure.Heat{Title: "% above half", Columns: n, Grid: true, Numbers: true, Values: make([]float64, n*n)}
	for i := range r.Rows {
		at[r.Rows[i].Name] = i
		h.XLabels = append(h.XLabels, fmt.Sprint(i+1))
	}
	for i := range n { // rows from the bottom up
		h.YLabels = append(h.YLabels, fmt.Sprintf("%s %d", r.Rows[n-1-i].Name, n-i))
	}
	for i := range h.Values {
		h.Values[i] = math.NaN()
	}
	pairs := 0
	for i, d := range s.Ratings.Differences {
		a, b := at[s.Names[i][0]], at[s.Names[i][1]]
		h.Values[(n-1-a)*n+b], h.Values[(n-1-b)*n+a] = 100*(d.Score-0.5), 100*(0.5-d.Score)
		pairs = max(pairs, d.Pairs)
	}
	return drawing{"pairs-" + string(s.Stage) + ".svg", fmt.Sprintf(
		"Every pair of rows at %s: points of the row at the left against the one above, in percent above half, from up to %d games of two rows, over all seeds.",
		s.Limits, 2*pairs), &figure.Figure{
		Title: "Every pair, " + s.Limits, Unit: "%", Rows: [][]figure.Panel{{h}},
	}}
}
