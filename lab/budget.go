package lab

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// rateCell is from how many positions the trainer of a row's nets learns in a second of one
// core, measured once.
type rateCell struct {
	Positions float64 `json:"positions_per_second"`
}

// samplesIn returns from how many positions a net of a row, its features as they were typed,
// learns in the time that is its budget. Without write a speed that is not known is guessed, and
// the row marked.
func (p *Plan) samplesIn(ctx context.Context, row int, cfg configs.Learn, typed string, o Options, write bool) (uint64, error) {
	of := cfg
	of.Seed, of.Epochs = p.Seed, 1 // neither decides how fast a trainer is
	key, err := p.keyThere("rate", ".json", of, typed)
	if err != nil {
		return 0, err
	}
	path := p.cell("rate", key+".json")
	var cell rateCell
	known, err := readCell(path, &cell)
	switch {
	case err != nil:
		return 0, err
	case !known && !write:
		p.Unmeasured[row] = true
		if cell.Positions, err = guessedRate(&cfg); err != nil {
			return 0, err
		}
	case !known:
		fmt.Fprintf(o.Progress, "measuring how fast nets of row %s learn\n", p.Rows[row].Name)
		measure := o.MeasureTraining
		if measure == nil {
			measure = func(ctx context.Context, cfg configs.Learn) (float64, error) {
				return run.Rate(ctx, cfg, p.games, o.Progress)
			}
		}
		if cell.Positions, err = measure(ctx, of); err != nil {
			return 0, err
		}
		if err := writeCell(path, cell); err != nil {
			return 0, err
		}
	}
	return uint64(max(1, math.Round(p.BudgetOf(row).Time.Seconds()*cell.Positions))), nil
}

// budgetText says what the training of a row's nets may cost.
func (p *Plan) budgetText(row int) string {
	switch b := p.BudgetOf(row); {
	case b.Time > 0:
		return fmt.Sprintf("%v of one core", b.Time)
	case b.Samples > 0:
		return fmt.Sprintf("%d samples", b.Samples)
	}
	return fmt.Sprintf("%g epochs", p.Nets[row][0].Config.Epochs)
}

// oneTime reports whether all rows have the same time of training as their budget.
func (p *Plan) oneTime() bool {
	first := p.BudgetOf(0).Time
	for i := range p.Rows {
		if t := p.BudgetOf(i).Time; t != first || t == 0 {
			return false
		}
	}
	return true
}

// samplesFact says whether all nets learn from the same samples. With one time for all they do
// not learn from as many, which is then what is compared.
func (p *Plan) samplesFact(differ []string) Fact {
	const what, order = "samples and their order", "net s of every row draws with the same seed"
	if !p.oneTime() {
		return Fact{what, len(differ) == 0, differing(differ) + "; " + order, true}
	}
	differ = slices.DeleteFunc(differ, func(key string) bool { return key == "epochs" })
	detail := "as many as each net learns from in its time; "
	if len(differ) > 0 {
		detail += differing(differ) + "; "
	}
	return Fact{what, false, detail + order, len(differ) > 0}
}

// timeFact says whether training takes the same time.
func (p *Plan) timeFact() Fact {
	const what = "time of training"
	var own []string
	for i := range p.Rows {
		if p.BudgetOf(i).Time > 0 {
			own = append(own, fmt.Sprintf("%s %s", p.Rows[i].Name, p.budgetText(i)))
		}
	}
	switch {
	case p.oneTime():
		return Fact{what, true, p.budgetText(0) + " for every net, as the samples that it learns from in it undisturbed, by a speed measured once", true}
	case len(own) > 0:
		return Fact{what, false, strings.Join(own, ", ") + "; of other rows as long as their samples take", true}
	}
	return Fact{what, false, "as long as the samples take; the report's table has positions a second", false}
}
