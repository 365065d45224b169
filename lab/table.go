package lab

import (
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// tableWidth is the most columns that the table takes on a terminal.
const tableWidth = 120

// column is one of the table: for people, short.
type column struct {
	title string
	of    func(r *Row, t *Times) string
	left  bool
}

// columns are those of the table that the comparison has figures for: what rows came to, and
// below what they are and cost.
func (r *Results) columns() [2][]column {
	name := column{"row", func(r *Row, _ *Times) string { return r.Name }, true}
	came := []column{name}
	titles := map[Stage]string{AtNodes: "Elo, nodes", AtTime: "Elo, time", Ladder: "ladder"}
	for i := range r.Stages {
		stage := r.Stages[i].Stage
		came = append(came, column{titles[stage], func(r *Row, _ *Times) string {
			e := r.Elo[stage]
			return eloText(&e)
		}, false})
	}
	came = append(came,
		column{"puzzles", func(r *Row, _ *Times) string { return solvedText(r.Puzzles) }, false},
		column{"loss", func(r *Row, _ *Times) string { return ifCounted(r.Measured, r.lossText(r.Loss, r.LossSD)) }, false},
		column{"of scores", func(r *Row, _ *Times) string { return ifCounted(r.Measured, r.lossText(r.Scores.Mean, r.Scores.SD)) }, false},
		column{"of results", func(r *Row, _ *Times) string {
			return ifCounted(r.WithResult(), r.lossText(r.Results.Mean, r.Results.SD))
		}, false},
		column{"winner", func(r *Row, _ *Times) string {
			return ifCounted(r.WithResult(), r.spreadText(100*r.Winner.Mean, 100*r.Winner.SD, 2))
		}, false})
	return [2][]column{came, {
		name,
		{"inputs are", func(r *Row, _ *Times) string { return r.Expression }, true},
		{"inputs", func(r *Row, _ *Times) string { return short(float64(r.Cost.Inputs)) }, false},
		{"dead", func(r *Row, _ *Times) string { return ifCounted(r.Cost.Most, strconv.Itoa(r.Cost.Dead)) }, false},
		{"active", func(r *Row, _ *Times) string {
			return ifCounted(r.Cost.Most, fmt.Sprintf("%.0f/%d", r.Cost.Mean, r.Cost.Most))
		}, false},
		{"moved", func(r *Row, _ *Times) string { return ifCounted(r.Cost.Most, fmt.Sprintf("%.1f", r.Cost.Changed)) }, false},
		{"params", func(r *Row, _ *Times) string { return short(float64(r.Cost.Parameters)) }, false},
		{"file", func(r *Row, _ *Times) string { return short(float64(r.Cost.Bytes)) }, false},
		{"eval/s", func(_ *Row, t *Times) string { return short(t.Evaluations) }, false},
		{"node/s", func(_ *Row, t *Times) string { return short(t.Nodes) }, false},
		{"pos/s", func(_ *Row, t *Times) string { return short(t.Positions) }, false},
	}}
}

// ifCounted is the text of a figure that was taken of n things.
func ifCounted(n int, text string) string {
	if n == 0 {
		return "-"
	}
	return text
}

func eloText(e *Rating) string { return fmt.Sprintf("%+.0f±%.0f", e.Elo, e.Margin()) }

// lossText writes a mean over seeds with its deviation in units of the last digit, 0.01024(12),
// as physicists do; that of one seed without, as it tells of none.
func (r *Row) lossText(mean, sd float64) string { return r.spreadText(mean, sd, 5) }

func (r *Row) spreadText(mean, sd float64, digits int) string {
	text := fmt.Sprintf("%.*f", digits, mean)
	if len(r.Losses) < 2 {
		return text
	}
	return fmt.Sprintf("%s(%.0f)", text, math.Round(sd*math.Pow10(digits)))
}

// solvedText is the share of puzzles in percent.
func solvedText(s *Solved) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f±%.1f", 100*s.Share, 50*(s.High-s.Low))
}

// short writes a count in five characters at most.
func short(x float64) string {
	switch {
	case x == 0:
		return "-"
	case x < 9999.5:
		return fmt.Sprintf("%.0f", x)
	case x < 999.5e3:
		return fmt.Sprintf("%.3gk", x/1e3)
	case x < 999.5e6:
		return fmt.Sprintf("%.3gM", x/1e6)
	}
	return fmt.Sprintf("%.3gG", x/1e9)
}

// WriteTable writes the table for a terminal, of at most 120 columns: its two halves below each
// other, the words in them cut to what room there is.
func (r *Results) WriteTable(w io.Writer) error {
	for i, columns := range r.columns() {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := r.writeColumns(w, columns); err != nil {
			return err
		}
	}
	return nil
}

func (r *Results) writeColumns(w io.Writer, columns []column) error {
	cells := [][]string{nil}
	widths := make([]int, len(columns))
	for i, c := range columns {
		cells[0] = append(cells[0], c.title)
		widths[i] = utf8.RuneCountInString(c.title)
	}
	for i := range r.Rows {
		var line []string
		for k, c := range columns {
			line = append(line, c.of(&r.Rows[i], &r.Times[i]))
			widths[k] = max(widths[k], utf8.RuneCountInString(line[k]))
		}
		cells = append(cells, line)
	}
	total := len(columns) - 1
	for _, n := range widths {
		total += n
	}
	for over := total - tableWidth; over > 0; over-- { // from the wider of the words
		if columns[1].left && widths[1] >= widths[0] {
			widths[1]--
		} else {
			widths[0]--
		}
	}
	for _, line := range cells {
		var b strings.Builder
		for k, text := range line {
			if k > 0 {
				b.WriteByte(' ')
			}
			text = cut(text, widths[k])
			pad := strings.Repeat(" ", widths[k]-utf8.RuneCountInString(text))
			if columns[k].left {
				b.WriteString(text + pad)
			} else {
				b.WriteString(pad + text)
			}
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(b.String(), " ")); err != nil {
			return err
		}
	}
	return nil
}

// cut shortens a text to a number of characters.
func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:max(n-1, 0)]) + "…"
}

// Legend says what the columns are.
const Legend = `± is half of the 95 % interval, from openings, or puzzles, from seeds, and from given ratings that have a
deviation; puzzles: solved, in percent;
loss: held out, mean over seeds with the deviation of its last digits; winner: named of held-out games, in percent;
inputs: without the dead ones, which no legal game makes active; active: rows of a perspective in a position, mean/most;
moved: rows that a move changes; eval/s, node/s: by CPU time; pos/s: of training`

// csvColumns are those of results.csv, one line for each row.
var csvColumns = []struct {
	name string
	of   func(r *Row, t *Times) string
}{
	{"row", func(r *Row, _ *Times) string { return r.Name }},
	{"expression", func(r *Row, _ *Times) string { return r.Expression }},
	{"architecture", func(r *Row, _ *Times) string { return r.Architecture }},
	{"inputs", func(r *Row, _ *Times) string { return strconv.Itoa(r.Cost.Inputs) }},
	{"dead_inputs", func(r *Row, _ *Times) string { return strconv.Itoa(r.Cost.Dead) }},
	{"active_mean", func(r *Row, _ *Times) string { return number(r.Cost.Mean) }},
	{"active_most", func(r *Row, _ *Times) string { return strconv.Itoa(r.Cost.Most) }},
	{"rows_changed_a_move", func(r *Row, _ *Times) string { return number(r.Cost.Changed) }},
	{"parameters", func(r *Row, _ *Times) string { return strconv.Itoa(r.Cost.Parameters) }},
	{"file_bytes", func(r *Row, _ *Times) string { return strconv.FormatInt(r.Cost.Bytes, 10) }},
	{"seeds", func(r *Row, _ *Times) string { return strconv.Itoa(len(r.Losses)) }},
	{"samples", func(r *Row, _ *Times) string { return strconv.FormatUint(r.Samples, 10) }},
	{"epochs", func(r *Row, _ *Times) string { return number(r.Epochs) }},
	{"loss", func(r *Row, _ *Times) string { return measured(r.Measured, r.Loss) }},
	{"loss_sd", func(r *Row, _ *Times) string { return deviationOf(r, r.Measured, r.LossSD) }},
	{"loss_scores", func(r *Row, _ *Times) string { return measured(r.Measured, r.Scores.Mean) }},
	{"loss_scores_sd", func(r *Row, _ *Times) string { return deviationOf(r, r.Measured, r.Scores.SD) }},
	{"loss_results", func(r *Row, _ *Times) string { return measured(r.WithResult(), r.Results.Mean) }},
	{"loss_results_sd", func(r *Row, _ *Times) string { return deviationOf(r, r.WithResult(), r.Results.SD) }},
	{"winner_named", func(r *Row, _ *Times) string { return measured(r.WithResult(), r.Winner.Mean) }},
	{"winner_named_sd", func(r *Row, _ *Times) string { return deviationOf(r, r.WithResult(), r.Winner.SD) }},
	{"puzzles", func(r *Row, _ *Times) string { return solvedPart(r, func(s *Solved) float64 { return s.Share }) }},
	{"puzzles_low", func(r *Row, _ *Times) string { return solvedPart(r, func(s *Solved) float64 { return s.Low }) }},
	{"puzzles_high", func(r *Row, _ *Times) string { return solvedPart(r, func(s *Solved) float64 { return s.High }) }},
	{"evaluations_per_second", func(_ *Row, t *Times) string { return number(t.Evaluations) }},
	{"nodes_per_second", func(_ *Row, t *Times) string { return number(t.Nodes) }},
	{"trainer_positions_per_second", func(_ *Row, t *Times) string { return number(t.Positions) }},
}

// measured is a figure of n held-out positions; empty if there were none.
func measured(n int, x float64) string {
	if n == 0 {
		return ""
	}
	return number(x)
}

// deviationOf is a deviation between seeds of such a figure; empty of one seed.
func deviationOf(r *Row, n int, sd float64) string {
	if len(r.Losses) < 2 {
		return ""
	}
	return measured(n, sd)
}

// solvedPart is a figure of the puzzles; empty if none were given.
func solvedPart(r *Row, of func(s *Solved) float64) string {
	if r.Puzzles == nil {
		return ""
	}
	return number(of(r.Puzzles))
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }

// WriteCSV writes a line for each row, and below a head. Fields of what was not played, given or
// held out are empty.
func (r *Results) WriteCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	var head []string
	for _, c := range csvColumns {
		head = append(head, c.name)
	}
	stages := []Stage{AtNodes, AtTime, Ladder}
	for _, s := range stages {
		head = append(head, "elo_"+string(s), "elo_"+string(s)+"_low", "elo_"+string(s)+"_high")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i := range r.Rows {
		var line []string
		for _, c := range csvColumns {
			line = append(line, c.of(&r.Rows[i], &r.Times[i]))
		}
		for _, s := range stages {
			if e, ok := r.Rows[i].Elo[s]; ok {
				line = append(line, number(e.Elo), number(e.Low), number(e.High))
			} else {
				line = append(line, "", "", "")
			}
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
