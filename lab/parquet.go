package lab

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetLine is a line of results.parquet: of a row, of a net of a row, or of two rows in a
// stage. What its kind has not, and what was not played, given or held out, is null.
type parquetLine struct {
	Kind    string  `parquet:"kind"` // row, seed or pair
	Row     string  `parquet:"row"`
	Against *string `parquet:"against,optional"` // of a pair: the row that figures are less
	Stage   *string `parquet:"stage,optional"`   // of a pair
	Seed    *int64  `parquet:"seed,optional"`    // of a net, from 1
	Cell    *string `parquet:"cell,optional"`    // of a net

	Expression   *string  `parquet:"expression,optional"`
	Architecture *string  `parquet:"architecture,optional"`
	Budget       *string  `parquet:"budget,optional"`
	Samples      *int64   `parquet:"samples,optional"`
	Epochs       *float64 `parquet:"epochs,optional"`
	Inputs       *int64   `parquet:"inputs,optional"` // without dead ones
	Dead         *int64   `parquet:"dead_inputs,optional"`
	ActiveMean   *float64 `parquet:"active_mean,optional"`
	ActiveMost   *int64   `parquet:"active_most,optional"`
	Changed      *float64 `parquet:"rows_changed_a_move,optional"`
	Parameters   *int64   `parquet:"parameters,optional"`
	Bytes        *int64   `parquet:"file_bytes,optional"`
	Evaluations  *float64 `parquet:"evaluations_per_second,optional"`
	Nodes        *float64 `parquet:"nodes_per_second,optional"`
	Positions    *float64 `parquet:"trainer_positions_per_second,optional"`

	Loss        *float64 `parquet:"loss,optional"`
	Scores      *float64 `parquet:"loss_scores,optional"`
	Results     *float64 `parquet:"loss_results,optional"`
	Winner      *float64 `parquet:"winner_named,optional"`
	Puzzles     *float64 `parquet:"puzzles,optional"` // share, 0 to 1
	PuzzlesLow  *float64 `parquet:"puzzles_low,optional"`
	PuzzlesHigh *float64 `parquet:"puzzles_high,optional"`

	EloNodes      *float64 `parquet:"elo_nodes,optional"`
	EloNodesLow   *float64 `parquet:"elo_nodes_low,optional"`
	EloNodesHigh  *float64 `parquet:"elo_nodes_high,optional"`
	EloTime       *float64 `parquet:"elo_time,optional"`
	EloTimeLow    *float64 `parquet:"elo_time_low,optional"`
	EloTimeHigh   *float64 `parquet:"elo_time_high,optional"`
	EloLadder     *float64 `parquet:"elo_ladder,optional"`
	EloLadderLow  *float64 `parquet:"elo_ladder_low,optional"`
	EloLadderHigh *float64 `parquet:"elo_ladder_high,optional"`

	Elo     *float64 `parquet:"difference,optional"` // of a pair, Elo
	EloLow  *float64 `parquet:"difference_low,optional"`
	EloHigh *float64 `parquet:"difference_high,optional"`
	P       *float64 `parquet:"p,optional"`
	Holm    *float64 `parquet:"p_holm,optional"`
	Found   *bool    `parquet:"found,optional"`
	Score   *float64 `parquet:"score,optional"` // of Row in the games of the two, 0 to 1
	Pairs   *int64   `parquet:"game_pairs,optional"`
}

// elos are the columns of a stage: rating and ends of its interval.
func (l *parquetLine) elos(s Stage) (elo, low, high **float64) {
	switch s {
	case AtNodes:
		return &l.EloNodes, &l.EloNodesLow, &l.EloNodesHigh
	case AtTime:
		return &l.EloTime, &l.EloTimeLow, &l.EloTimeHigh
	}
	return &l.EloLadder, &l.EloLadderLow, &l.EloLadderHigh
}

// parquetLines are the lines of rows, of their nets, and of pairs of rows.
func (r *Results) parquetLines() []parquetLine {
	var rows, seeds, pairs []parquetLine
	for i := range r.Rows {
		rows = append(rows, r.parquetRow(i))
		for s := range r.Rows[i].Cells {
			seeds = append(seeds, r.parquetSeed(i, s))
		}
	}
	for i := range r.Stages {
		s := &r.Stages[i]
		for k := range s.Ratings.Differences {
			d, names, stage := &s.Ratings.Differences[k], s.Names[k], string(s.Stage)
			line := parquetLine{
				Kind: "pair", Row: names[0], Against: &names[1], Stage: &stage,
				Elo: &d.Elo, EloLow: &d.Low, EloHigh: &d.High, P: &d.P, Holm: &d.Adjusted, Found: &d.Found,
			}
			if d.Pairs > 0 { // nets do not meet each other on the ladder
				line.Score, line.Pairs = &d.Score, count(d.Pairs)
			}
			pairs = append(pairs, line)
		}
	}
	return append(append(rows, seeds...), pairs...)
}

func count[T int | int64 | uint64](n T) *int64 {
	v := int64(n)
	return &v
}

func (r *Results) parquetRow(i int) parquetLine {
	row, t := &r.Rows[i], &r.Times[i]
	line := parquetLine{
		Kind: "row", Row: row.Name, Expression: &row.Expression, Architecture: &row.Architecture, Budget: &row.Budget, Samples: count(row.Samples), Epochs: &row.Epochs,
		Inputs: count(row.Cost.Inputs), Parameters: count(row.Cost.Parameters), Bytes: count(row.Cost.Bytes),
		Nodes: &t.Nodes, Positions: &t.Positions,
	}
	if row.Cost.Most > 0 { // else a plane net
		line.Dead, line.ActiveMean, line.ActiveMost, line.Changed = count(row.Cost.Dead), &row.Cost.Mean, count(row.Cost.Most), &row.Cost.Changed
		line.Evaluations = &t.Evaluations
	}
	if row.Measured > 0 {
		line.Loss, line.Scores = &row.Loss, &row.Scores.Mean
	}
	if row.WithResult() > 0 {
		line.Results, line.Winner = &row.Results.Mean, &row.Winner.Mean
	}
	if p := row.Puzzles; p != nil {
		line.Puzzles, line.PuzzlesLow, line.PuzzlesHigh = &p.Share, &p.Low, &p.High
	}
	for stage, e := range row.Elo {
		elo, low, high := line.elos(stage)
		*elo, *low, *high = &e.Elo, &e.Low, &e.High
	}
	return line
}

func (r *Results) parquetSeed(i, s int) parquetLine {
	row := &r.Rows[i]
	line := parquetLine{Kind: "seed", Row: row.Name, Seed: count(s + 1), Cell: &row.Cells[s]}
	if row.Measured > 0 {
		line.Loss, line.Scores = &row.Losses[s], &row.Scores.Seeds[s]
	}
	if row.WithResult() > 0 {
		line.Results, line.Winner = &row.Results.Seeds[s], &row.Winner.Seeds[s]
	}
	if p := row.Puzzles; p != nil {
		line.Puzzles = &p.Seeds[s]
	}
	for stage, e := range row.Elo {
		elo, _, _ := line.elos(stage)
		*elo = &e.Seeds[s]
	}
	return line
}

// WriteParquet writes rows, their nets and pairs of rows as a Parquet file.
func (r *Results) WriteParquet(w io.Writer) error {
	out := parquet.NewGenericWriter[parquetLine](w)
	if _, err := out.Write(r.parquetLines()); err != nil {
		return err
	}
	return out.Close()
}
