package lab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/netstat"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/wdl"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// What figures of data and nets are made from: positions at the beginning of the data.
const (
	dataPositions = 500_000 // whose results and mobility are counted
	netApart      = 20      // of which one in so many is given to nets
	netTriples    = 1000    // of these, drawn as points

	scoreBin, scoreRange = 100, 1500 // of results by score, centipawns
	mobilityCover        = 0.999     // share of mobilities left of the mark
)

// dataSample is the beginning of a comparison's data.
type dataSample struct {
	results  wdl.Tally
	mobility netstat.Mobility
	samples  []sample.Sample // one in netApart
}

// add adds a position. Begins says that it is the first of its game.
func (d *dataSample) add(s *sample.Sample, begins bool) {
	if d.mobility.Positions%netApart == 0 {
		d.samples = append(d.samples, *s)
	}
	if !s.NoResult {
		d.results.Add(s.Score, s.Result, begins)
	}
	d.mobility.Add(&s.Pos)
}

// readData reads the positions that figures are made from.
func (p *Plan) readData(ctx context.Context) (*dataSample, error) {
	names, err := dataset.Files(p.Data)
	if err != nil {
		return nil, err
	}
	inputs, err := dataset.Inputs(names, p.variant, p.games)
	if err != nil {
		return nil, err
	}
	d := &dataSample{}
	part, stop := context.WithCancel(ctx)
	defer stop()
	_, err = dataset.Visit(part, p.variant, sample.Filter{RequireScore: true}, inputs, func(s *sample.Sample, begins bool) {
		if d.mobility.Positions == dataPositions {
			stop()
			return
		}
		d.add(s, begins)
	})
	if ctx.Err() == nil && errors.Is(err, context.Canceled) {
		err = nil
	}
	return d, err
}

// drawMore adds the figures that need more than the report's numbers: of the data, and of the
// best row of kind nnue.
func (p *Plan) drawMore(ctx context.Context, r *Results) error {
	r.drawn = p.grids(r)
	d, err := p.readData(ctx)
	if err != nil {
		return fmt.Errorf("positions for figures: %w", err)
	}
	if err := d.draw(r, p.variant); err != nil {
		return err
	}
	best := p.bestNNUE(r)
	if best < 0 {
		return nil
	}
	n := &p.Nets[best][0]
	net, err := nnue.ReadFile(p.netFile(n), p.variant)
	if err != nil {
		return err
	}
	name := p.Rows[best].Name
	if err := p.drawRounding(r, n, net, name, d.samples); err != nil {
		return err
	}
	drawTriples(r, net, name, d.samples)
	drawNeurons(r, net, fmt.Sprintf("%s, which is the strongest row of kind nnue at %s (its net of seed %d; one net, no games)", name, r.first().Limits, p.Seed), name)
	return nil
}

// bestNNUE is the row of kind nnue with the highest Elo, -1 if there is none.
func (p *Plan) bestNNUE(r *Results) int {
	best := -1
	for i := range p.Rows {
		if p.Nets[i][0].Config.Kind == configs.NNUE && (best < 0 || eloOf(r, p.Rows[i].Name) > eloOf(r, p.Rows[best].Name)) {
			best = i
		}
	}
	return best
}

func eloOf(r *Results, name string) float64 {
	i := slices.IndexFunc(r.Rows, func(row Row) bool { return row.Name == name })
	return r.Rows[i].Elo[r.first().Stage].Elo
}

// draw draws results by score, where they determine a curve, and mobilities.
func (d *dataSample) draw(r *Results, v *chess.Variant) error {
	curve, err := d.results.Fit()
	if err != nil && !errors.Is(err, wdl.ErrNoFit) {
		return err
	}
	if err == nil {
		title := fmt.Sprintf("%d positions of %d games", curve.Positions, curve.Games)
		r.drawn = append(r.drawn, drawing{"wdl.svg", fmt.Sprintf(
			"What scores come to in the data: mean results, draws counting half, and the curve σ((score − a) / b) that fits best, a %.1f ± %.1f and b %.1f ± %.1f centipawns (two standard errors, as games vary); from the first %s.",
			curve.A, 2*curve.ErrorA, curve.B, 2*curve.ErrorB, title), wdl.Draw(title, &curve, d.results.Bins(&curve, scoreBin, scoreRange))})
	}
	if d.mobility.Positions > 0 {
		r.drawn = append(r.drawn, drawing{"mobility.svg", fmt.Sprintf(
			"To how many squares the pieces of each kind may go, in the first %d positions of the data, both sides; value 0, mostly the absence of the kind, is left out. Dashed: %g %% of the values are left of it.",
			d.mobility.Positions, 100*mobilityCover), d.mobility.Draw("Mobility in "+v.Name, mobilityCover)})
	}
	return nil
}

// drawRounding draws the difference between a net and the float net that it was rounded from,
// where training has left that.
func (p *Plan) drawRounding(r *Results, n *Net, net *nnue.Network, name string, samples []sample.Sample) error {
	checkpoint := run.Checkpoint(p.cell("train", n.Key))
	if checkpoint == "" || len(samples) == 0 {
		return nil
	}
	model, _, exported, err := nnuefit.LoadFloat(checkpoint, net)
	if err != nil {
		return err
	}
	if !exported { // the best net of a run that went on
		return nil
	}
	list := make([]chess.Position, len(samples))
	for i := range list {
		list[i] = samples[i].Pos
	}
	float, integer := model.Values(list), netstat.Values(net, list)
	d, err := netstat.Compare(list, float, integer, n.Config.NetScale)
	if err != nil {
		return err
	}
	r.drawn = append(r.drawn, drawing{"rounding.svg", fmt.Sprintf(
		"What rounding to integers changes about %s (its net of seed %d), at %d positions of the data: values of both nets, their differences in win probability, and in raw units.",
		name, p.Seed, len(list)), d.Draw(float, integer)})
	return nil
}

// drawTriples draws what a net says of positions p, of q after the move played there and of r
// after a random other one: whether it finds that a move played changes little, f(q) = −f(p),
// and that others are worse, f(r) > f(q), values being those of the side to move.
func drawTriples(r *Results, net *nnue.Network, name string, samples []sample.Sample) {
	triples, _ := nnuefit.Triples(rand.New(rand.NewPCG(1, 0)), samples, nil)
	triples = triples[:min(len(triples), netTriples)]
	if len(triples) == 0 { // the data have no moves
		return
	}
	var values [3][]float64
	lists := [3][]chess.Position{}
	for i := range triples {
		t := &triples[i]
		for k, pos := range []*chess.Position{&t.P.Pos, &t.Q, &t.R} {
			lists[k] = append(lists[k], *pos)
		}
	}
	for k := range values {
		values[k] = netstat.Values(net, lists[k])
	}
	p, q := values[0], values[1]
	gains := make([]float64, len(q))
	better := 0
	for i := range gains {
		gains[i] = values[2][i] - q[i]
		if gains[i] > 0 {
			better++
		}
	}
	kept, _ := correlation(p, q)
	reach := slices.Max(append(magnitudes(p), magnitudes(q)...))
	ends := []float64{-reach, reach}
	r.drawn = append(r.drawn, drawing{"triples.svg", fmt.Sprintf(
		"What %s (its net of the first seed) says of %d positions P of the data, Q after the move played there and R after a random other move of the same kind, raw units for the side to move. A move played changes little where points lie on the line f(Q) = −f(P): correlation %.2f. Others are worse where f(R) − f(Q) is above 0: %.0f %%.",
		name, len(triples), kept, 100*float64(better)/float64(len(gains))), &figure.Figure{
		Title: "Positions, moves played and others", Rows: [][]figure.Panel{{
			&figure.Lines{Title: "after the move played", XLabel: "f(P)", YLabel: "f(Q)", Curves: []figure.Curve{
				points(p, q), {X: ends, Y: []float64{reach, -reach}, Grey: true}}},
			&figure.Lines{Title: "after a random other move", XLabel: "f(Q)", YLabel: "f(R) − f(Q)", Curves: []figure.Curve{
				points(q, gains), {X: ends, Y: []float64{0, 0}, Grey: true}}},
		}}}})
}

func magnitudes(values []float64) []float64 {
	list := make([]float64, len(values))
	for i, v := range values {
		list[i] = math.Abs(v)
	}
	return list
}

// points is a curve of points without errors.
func points(x, y []float64) figure.Curve {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	c := figure.Curve{Errors: make([]float64, len(x))}
	for _, i := range order {
		c.X, c.Y = append(c.X, x[i]), append(c.Y, y[i])
	}
	return c
}
