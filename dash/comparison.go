package dash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/lab"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

const (
	mostResultBytes = 64 << 20
	mostPlayers     = 100 // of a matrix
)

// Comparison is a comparison of representations, under way or over.
type Comparison struct {
	Time     time.Time     `json:"time"`
	Progress *lab.SoFar    `json:"progress"` // nil: not known; without its rows and meetings
	Over     bool          `json:"over"`     // the results are there
	Said     []string      `json:"said"`     // what the results show
	Warnings []string      `json:"warnings"`
	Columns  []Column      `json:"columns"` // those that there are figures for
	Rows     []CompareRow  `json:"rows"`
	Stages   []MatrixStage `json:"stages"`
}

// Column is a figure of rows.
type Column struct {
	ID     string `json:"id"`
	Title  string `json:"title"`
	Digits int    `json:"digits"`
}

// CompareRow is a representation.
type CompareRow struct {
	Name       string                   `json:"name"`
	Expression string                   `json:"expression"`
	Nets       string                   `json:"nets"`    // trained, of how many; empty: all
	Figures    map[string]CompareFigure `json:"figures"` // by column
}

// CompareFigure is a figure with what it is known to.
type CompareFigure struct {
	Value  float64 `json:"value"`
	Margin float64 `json:"margin"` // half of the 95 % interval, or the deviation over seeds; 0: none
}

// MatrixStage is who has played whom at a stage.
type MatrixStage struct {
	Stage   string         `json:"stage"`
	Limits  string         `json:"limits"`
	Players []string       `json:"players"`
	Cells   [][]MatrixCell `json:"cells"` // by player and opponent
}

// MatrixCell is the games of a player against an opponent, from the player's side.
type MatrixCell struct {
	Pairs int     `json:"pairs"`
	Of    int     `json:"of"`
	Score float64 `json:"score"` // share of the points
	Elo   float64 `json:"elo"`   // of the ratings, which count all games; only if Rated
	Low   float64 `json:"low"`   // 95 % interval
	High  float64 `json:"high"`
	Rated bool    `json:"rated"`
	Found bool    `json:"found"` // the difference is beyond chance
}

// compared follows the files of a comparison.
type compared struct {
	path    func(name string) string
	at      [3]time.Time // when the files were written
	sizes   [3]int64
	wrong   [3]error // of the files as they are
	sofar   *lab.SoFar
	results *lab.Results
	times   []lab.Times
	version int
}

// isComparison reports whether a directory has a comparison.
func isComparison(path func(string) string) bool {
	info, err := os.Stat(path(lab.PlanFile))
	return err == nil && info.Mode().IsRegular()
}

// read reads the files that have changed.
func (c *compared) read() error {
	var wrong []error
	for i, file := range []struct {
		name string
		into func([]byte) error
	}{
		{lab.ProgressFile, func(data []byte) error { c.sofar = nil; return into(data, &c.sofar) }},
		{lab.ResultsFile, func(data []byte) error { c.results = nil; return into(data, &c.results) }},
		{lab.TimesFile, func(data []byte) error { c.times = nil; return into(data, &c.times) }},
	} {
		info, err := os.Stat(c.path(file.name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err == nil && info.ModTime().Equal(c.at[i]) && info.Size() == c.sizes[i]:
			err = c.wrong[i]
		case err == nil:
			c.at[i], c.sizes[i] = info.ModTime(), info.Size()
			c.version++
			var data []byte
			if data, err = readAtMost(c.path(file.name), mostResultBytes); err == nil {
				err = file.into(data)
			}
			c.wrong[i] = err
		}
		if err != nil {
			wrong = append(wrong, fmt.Errorf("%s: %w", file.name, err))
		}
	}
	if r := c.results; r != nil {
		for _, s := range r.Stages {
			if s.Ratings == nil || len(s.Ratings.Differences) != len(s.Names) {
				c.results = nil
				wrong = append(wrong, fmt.Errorf("%s: found a stage whose ratings are not those of its rows", lab.ResultsFile))
				break
			}
		}
	}
	return errors.Join(wrong...)
}

func into[T any](data []byte, v *T) error { return json.Unmarshal(data, v) }

// readAtMost reads a file of a bounded size.
func readAtMost(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("found more than %d bytes", most)
	}
	return data, err
}

// over reports whether the results are of the newest state: a comparison to which a row
// was added has results of before.
func (c *compared) over() bool {
	return c.results != nil && (c.sofar == nil || !c.at[1].Before(c.at[0]) || c.sofar.Work == "over")
}

// view is the comparison for the page.
func (c *compared) view(now time.Time) Comparison {
	out := Comparison{Time: now, Over: c.over(), Said: []string{}, Warnings: []string{}, Columns: []Column{}, Rows: []CompareRow{}, Stages: []MatrixStage{}}
	if c.sofar != nil {
		p := *c.sofar
		p.Rows, p.Meetings = nil, nil
		out.Progress = &p
	}
	switch {
	case out.Over:
		c.viewResults(&out)
	case c.sofar != nil:
		c.viewProgress(&out)
	}
	return out
}

// viewProgress shows what there is before the end.
func (c *compared) viewProgress(out *Comparison) {
	out.Columns = append(out.Columns, Column{"loss", "loss", 5})
	var names []string
	for _, r := range c.sofar.Rows {
		names = append(names, r.Name)
		row := CompareRow{Name: r.Name, Expression: r.Expression, Nets: fmt.Sprintf("%d of %d", r.Nets, r.NetsOf), Figures: map[string]CompareFigure{}}
		if r.Loss > 0 {
			row.Figures["loss"] = CompareFigure{Value: r.Loss}
		}
		out.Rows = append(out.Rows, row)
	}
	for _, stage := range []lab.Stage{lab.AtNodes, lab.AtTime, lab.Ladder} {
		m := newMatrix(string(stage), "", names)
		for _, x := range c.sofar.Meetings {
			if x.Stage == stage {
				m.add(x.A, x.B, x.Pairs, x.PairsOf)
			}
		}
		out.Stages = append(out.Stages, m.done()...)
	}
}

// matrix collects the meetings of a stage.
type matrix struct {
	stage  MatrixStage
	index  map[string]int
	counts map[[2]int]rating.Pentanomial
	of     map[[2]int]int
}

func newMatrix(stage, limits string, names []string) *matrix {
	m := &matrix{stage: MatrixStage{Stage: stage, Limits: limits}, index: map[string]int{}, counts: map[[2]int]rating.Pentanomial{}, of: map[[2]int]int{}}
	for _, n := range names {
		m.player(n)
	}
	return m
}

func (m *matrix) player(name string) int {
	i, there := m.index[name]
	if !there {
		i = len(m.stage.Players)
		m.index[name] = i
		m.stage.Players = append(m.stage.Players, name)
	}
	return i
}

// add adds pairs of two players, from A's side.
func (m *matrix) add(a, b string, p rating.Pentanomial, of int) {
	key := [2]int{m.player(a), m.player(b)}
	sum := m.counts[key]
	sum.LL, sum.LD, sum.LW, sum.DD, sum.DW, sum.WW = sum.LL+p.LL, sum.LD+p.LD, sum.LW+p.LW, sum.DD+p.DD, sum.DW+p.DW, sum.WW+p.WW
	m.counts[key] = sum
	m.of[key] += of
}

// done returns the stage, nothing if nobody has met at it or there are too many to show.
func (m *matrix) done() []MatrixStage {
	n := len(m.stage.Players)
	if len(m.of) == 0 || n > mostPlayers {
		return nil
	}
	m.stage.Cells = make([][]MatrixCell, n)
	for i := range m.stage.Cells {
		m.stage.Cells[i] = make([]MatrixCell, n)
	}
	for key, p := range m.counts {
		cell := MatrixCell{Pairs: p.Pairs(), Of: m.of[key]}
		if cell.Pairs > 0 {
			cell.Score = float64(p.LD+2*(p.LW+p.DD)+3*p.DW+4*p.WW) / float64(4*cell.Pairs)
		}
		m.stage.Cells[key[0]][key[1]] = cell
		cell.Score = 1 - cell.Score
		m.stage.Cells[key[1]][key[0]] = cell
	}
	return []MatrixStage{m.stage}
}

// rate enters the difference of two players, A less B.
func (m *matrix) rate(a, b string, d *lab.Difference) {
	i, iThere := m.index[a]
	k, kThere := m.index[b]
	if !iThere || !kThere {
		return
	}
	for _, side := range []struct {
		at             *MatrixCell
		elo, low, high float64
	}{{&m.stage.Cells[i][k], d.Elo, d.Low, d.High}, {&m.stage.Cells[k][i], -d.Elo, -d.High, -d.Low}} {
		side.at.Elo, side.at.Low, side.at.High, side.at.Rated, side.at.Found = side.elo, side.low, side.high, true, d.Found
	}
}

// figures are those of a finished row, by column.
var figures = []struct {
	Column
	of func(r *lab.Row, t *lab.Times) (CompareFigure, bool)
}{
	{Column{"elo", "Elo, nodes", 0}, ratingOf(lab.AtNodes)},
	{Column{"time", "Elo, time", 0}, ratingOf(lab.AtTime)},
	{Column{"ladder", "ladder", 0}, ratingOf(lab.Ladder)},
	{Column{"puzzles", "puzzles, %", 1}, func(r *lab.Row, _ *lab.Times) (CompareFigure, bool) {
		if r.Puzzles == nil {
			return CompareFigure{}, false
		}
		return CompareFigure{100 * r.Puzzles.Share, 50 * (r.Puzzles.High - r.Puzzles.Low)}, true
	}},
	{Column{"loss", "loss", 5}, func(r *lab.Row, _ *lab.Times) (CompareFigure, bool) {
		return CompareFigure{r.Loss, r.LossSD}, r.Measured > 0
	}},
	{Column{"winner", "winner, %", 1}, func(r *lab.Row, _ *lab.Times) (CompareFigure, bool) {
		return CompareFigure{100 * r.Winner.Mean, 100 * r.Winner.SD}, r.WithResult() > 0
	}},
	{Column{"inputs", "inputs", 0}, countOf(func(r *lab.Row, _ *lab.Times) float64 { return float64(r.Cost.Inputs) })},
	{Column{"active", "active", 1}, countOf(func(r *lab.Row, _ *lab.Times) float64 { return r.Cost.Mean })},
	{Column{"parameters", "parameters", 0}, countOf(func(r *lab.Row, _ *lab.Times) float64 { return float64(r.Cost.Parameters) })},
	{Column{"file", "bytes", 0}, countOf(func(r *lab.Row, _ *lab.Times) float64 { return float64(r.Cost.Bytes) })},
	{Column{"evaluations", "eval/s", 0}, countOf(func(_ *lab.Row, t *lab.Times) float64 { return t.Evaluations })},
	{Column{"speed", "nodes/s", 0}, countOf(func(_ *lab.Row, t *lab.Times) float64 { return t.Nodes })},
	{Column{"training", "positions/s", 0}, countOf(func(_ *lab.Row, t *lab.Times) float64 { return t.Positions })},
}

func ratingOf(stage lab.Stage) func(*lab.Row, *lab.Times) (CompareFigure, bool) {
	return func(r *lab.Row, _ *lab.Times) (CompareFigure, bool) {
		e, there := r.Elo[stage]
		return CompareFigure{e.Elo, e.Margin()}, there
	}
}

func countOf(of func(*lab.Row, *lab.Times) float64) func(*lab.Row, *lab.Times) (CompareFigure, bool) {
	return func(r *lab.Row, t *lab.Times) (CompareFigure, bool) {
		v := of(r, t)
		return CompareFigure{Value: v}, v != 0
	}
}

// viewResults shows a comparison that is over.
func (c *compared) viewResults(out *Comparison) {
	r := c.results
	out.Warnings = append(out.Warnings, r.Warnings...)
	if len(r.Rows) > 0 {
		out.Said = append(out.Said, r.Conclusions()...)
	}
	times := map[string]*lab.Times{}
	for i := range c.times {
		times[c.times[i].Name] = &c.times[i]
	}
	known := map[string]bool{}
	var names []string
	for i := range r.Rows {
		row := &r.Rows[i]
		names = append(names, row.Name)
		line := CompareRow{Name: row.Name, Expression: row.Expression, Figures: map[string]CompareFigure{}}
		t := times[row.Name]
		if t == nil {
			t = &lab.Times{}
		}
		for _, f := range figures {
			if v, there := f.of(row, t); there && number(v.Value) != nil && number(v.Margin) != nil {
				line.Figures[f.ID] = v
				known[f.ID] = true
			}
		}
		out.Rows = append(out.Rows, line)
	}
	for _, f := range figures {
		if known[f.ID] {
			out.Columns = append(out.Columns, f.Column)
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		m := newMatrix(string(s.Stage), s.Limits, append(slices.Clone(names), s.Anchors...))
		for _, x := range s.Meetings {
			m.add(x.A, x.B, x.Pairs, x.Pairs.Pairs())
		}
		done := m.done()
		if len(done) > 0 {
			for k := range s.Ratings.Differences {
				m.rate(s.Names[k][0], s.Names[k][1], &s.Ratings.Differences[k])
			}
		}
		out.Stages = append(out.Stages, done...)
	}
}
