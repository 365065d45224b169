package lab

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
)

// grid is rows that differ in two numbers only: the width of the transformer and that of the
// first hidden layer.
type grid struct {
	widths, hidden []int       // rising
	rows           map[int]int // row by place: index of hidden times len(widths), plus index of width
}

// gridOf finds the most rows that differ in their widths only. It reports false unless both
// numbers take two values or more.
func (p *Plan) gridOf() (grid, bool) {
	groups := map[string][]int{}
	for i := range p.Rows {
		if cfg := p.Nets[i][0].Config; cfg.Kind == configs.NNUE {
			cfg.Width, cfg.L2 = 0, 0
			key := keyOf(string(cfg.YAML()))
			groups[key] = append(groups[key], i)
		}
	}
	var most []int
	for _, rows := range groups {
		if len(rows) > len(most) || len(rows) == len(most) && rows[0] < most[0] {
			most = rows
		}
	}
	g := grid{rows: map[int]int{}}
	for _, i := range most {
		cfg := &p.Nets[i][0].Config
		g.widths, g.hidden = append(g.widths, cfg.Width), append(g.hidden, cfg.L2)
	}
	for _, list := range []*[]int{&g.widths, &g.hidden} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	for _, i := range most {
		cfg := &p.Nets[i][0].Config
		g.rows[slices.Index(g.hidden, cfg.L2)*len(g.widths)+slices.Index(g.widths, cfg.Width)] = i
	}
	return g, len(g.widths) > 1 && len(g.hidden) > 1
}

// draw makes a heat map of a figure of each row, less the mean of the grid; places without a
// row are grey.
func (g *grid) draw(file, title, caption, unit string, value func(row int) float64) drawing {
	h := &figure.Heat{Columns: len(g.widths), Grid: true, Numbers: true, Values: make([]float64, len(g.widths)*len(g.hidden))}
	for _, w := range g.widths {
		h.XLabels = append(h.XLabels, strconv.Itoa(w))
	}
	for _, w := range g.hidden {
		h.YLabels = append(h.YLabels, strconv.Itoa(w))
	}
	var known []float64
	for i := range h.Values {
		h.Values[i] = math.NaN()
		if row, ok := g.rows[i]; ok {
			h.Values[i] = value(row)
			known = append(known, h.Values[i])
		}
	}
	middle := mean(known)
	for i := range h.Values {
		h.Values[i] -= middle
	}
	caption = fmt.Sprintf("%s of rows that differ in widths only, less their mean, %.4g %s: columns are the transformer's width, rows that of the first hidden layer.", caption, middle, unit)
	return drawing{file, caption, &figure.Figure{Title: title, Unit: unit, Rows: [][]figure.Panel{{h}}}}
}

// grids are the figures of rows that form a grid of widths, none if there are no such rows.
func (p *Plan) grids(r *Results) []drawing {
	g, found := p.gridOf()
	if !found {
		return nil
	}
	of := func(i int) *Row {
		return &r.Rows[slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == p.Rows[i].Name })]
	}
	var list []drawing
	one := of(slices.Min(slices.Collect(maps.Values(g.rows)))) // its rows differ in widths alone, so all have losses and puzzles or none
	if one.Measured > 0 {
		const unit = 1e-5
		list = append(list, g.draw("grid-loss.svg", "Held-out loss by widths", "Held-out loss", "× 10⁻⁵", func(i int) float64 { return of(i).Loss / unit }))
	}
	if one.Puzzles != nil {
		list = append(list, g.draw("grid-puzzles.svg", "Puzzles by widths", "Puzzles solved", "‰", func(i int) float64 { return 1000 * of(i).Puzzles.Share }))
	}
	for k := range r.Stages {
		s := &r.Stages[k]
		list = append(list, g.draw("grid-"+string(s.Stage)+".svg", "Strength by widths, "+s.Limits, "Elo at "+s.Limits+", from "+s.from(r)+",", "Elo",
			func(i int) float64 { return of(i).Elo[s.Stage].Elo }))
	}
	return list
}
