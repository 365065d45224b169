package lab

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/words"
	"github.com/crazyhouse-rl/selfplay/match/rating"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Results is what a comparison has shown. All but Times, builds and what Warnings say of
// builds is the same whenever and wherever the cells were made, if speeds are.
type Results struct {
	Schema   int           `json:"schema"`
	Build    string        `json:"build,omitempty"` // version of the program that wrote the report
	Variant  string        `json:"variant"`
	Data     []string      `json:"data"`
	Openings string        `json:"openings"`
	Sort     string        `json:"sort"`
	Rows     []Row         `json:"rows"` // sorted by Sort
	Anchors  []string      `json:"anchors"`
	Stages   []StageResult `json:"stages"`
	// Correlation is Pearson's of held-out loss and Elo over the nets; nil if it cannot be told.
	Correlation *float64 `json:"correlation_of_loss_and_elo"`
	Nets        int      `json:"nets"` // that it is over
	Equal       []Fact   `json:"equal"`
	Warnings    []string `json:"warnings"`
	Times       []Times  `json:"-"` // by row

	drawn []drawing // figures made from more than the numbers above: data, and the best row
}

// Row is one of the representations.
type Row struct {
	Name         string `json:"name"`
	Expression   string `json:"expression"` // of inputs, or the words of a plane net
	Architecture string `json:"architecture"`
	Cost         Cost   `json:"cost"`

	Samples  uint64    `json:"samples"` // learned from by each net
	Budget   string    `json:"budget"`  // of each net's training
	Epochs   float64   `json:"epochs"`
	Loss     float64   `json:"loss"`               // held out, mean over seeds
	LossSD   float64   `json:"loss_sd"`            // over seeds
	Losses   []float64 `json:"losses"`             // by seed
	Measured int       `json:"held_out_positions"` // that losses are of; 0: none were held out, and there are no losses
	Scores   Spread    `json:"loss_scores"`        // held out, against scores alone
	Results  Spread    `json:"loss_results"`       // and against results alone
	Winner   Spread    `json:"winner_named"`       // share of held-out positions of decided games whose winner the net names

	Elo      map[Stage]Rating `json:"elo"`
	Puzzles  *Solved          `json:"puzzles"`  // nil if none were given
	Cells    []string         `json:"cells"`    // of training, by seed
	Commands []string         `json:"commands"` // that train the nets again
	Builds   [][]string       `json:"builds"`   // versions of the program that trained them, by seed; empty if not known

	PuzzleCommands []string `json:"puzzle_commands,omitempty"` // that give the nets the puzzles again

	curves   [][]point // of held-out loss, by seed
	lossKind string    // what Loss is; only equal ones can be compared
}

// lossKind says what the loss of a net is.
func lossKind(c *configs.Learn) string {
	switch {
	case c.Kind == configs.Planes:
		return fmt.Sprintf("of moves, results and plies left (weights %g, %g, %g)", c.PolicyWeight, c.ValueWeight, c.PliesWeight)
	case c.Loss == "power":
		return fmt.Sprintf("power %g (lambda %s, net_scale %g)", c.Power, c.Lambda, c.NetScale)
	case c.Loss == "pqr":
		return fmt.Sprintf("pqr (pair %g, target %g)", c.PQRPair, c.PQRTarget)
	}
	return fmt.Sprintf("%s (lambda %s, net_scale %g)", c.Loss, c.Lambda, c.NetScale)
}

// WithResult is as many as Measured if there are results among the held-out positions, else 0,
// as the loss of results is then.
func (r *Row) WithResult() int {
	if r.Results.Mean == 0 {
		return 0
	}
	return r.Measured
}

// Spread is a figure of a row's nets.
type Spread struct {
	Mean  float64   `json:"mean"`
	SD    float64   `json:"sd"` // over seeds; 0 of one
	Seeds []float64 `json:"by_seed"`
}

func spreadOf(values []float64) Spread { return Spread{mean(values), deviation(values), values} }

// point is the held-out loss after a number of samples.
type point struct{ samples, loss float64 }

// Times is what was timed of a row.
type Times struct {
	Name string `json:"name"`
	Speed
	Positions float64 `json:"trainer_positions_per_second"` // of the fastest of the row's nets
	Seconds   float64 `json:"trainer_seconds"`              // of all its nets
}

// StageResult is what the games of a stage say.
type StageResult struct {
	Stage    Stage           `json:"stage"`
	Limits   string          `json:"limits"`
	Games    int             `json:"games"`
	Ratings  *Ratings        `json:"ratings"`
	Anchors  []string        `json:"anchors"`
	Names    [][2]string     `json:"differences_of"` // the rows of Ratings.Differences
	Meetings []MeetingResult `json:"meetings"`

	shares []float64 // of the points, of each row in all its games
}

// MeetingResult is the games of two players.
type MeetingResult struct {
	Seed    int                `json:"seed"`
	A       string             `json:"a"`
	B       string             `json:"b"`
	Cell    string             `json:"cell"`
	Limits  [2]string          `json:"limits"` // of A and B
	Pairs   rating.Pentanomial `json:"pairs"`  // from A's side
	Command string             `json:"command"`
	Builds  []string           `json:"builds"` // versions of the program that played; empty if not known
}

// results reads the cells of a comparison that is over and draws the conclusions.
func (p *Plan) results(ctx context.Context, speeds map[string]Speed, build string) (*Results, error) {
	r := &Results{Schema: configs.Schema, Build: build, Variant: p.Variant, Data: p.Data, Openings: p.openings.ID, Sort: p.Sort, Equal: p.Facts()}
	for _, a := range p.Anchors {
		r.Anchors = append(r.Anchors, a.Name)
	}
	for i := range p.Rows {
		row, times, err := p.rowResult(ctx, i, speeds)
		if err != nil {
			return nil, fmt.Errorf("row %s: %w", p.Rows[i].Name, err)
		}
		r.Rows, r.Times = append(r.Rows, row), append(r.Times, times)
	}
	if err := p.puzzleResults(r.Rows); err != nil {
		return nil, err
	}
	for _, stage := range p.Stages() {
		s, err := p.stageResult(ctx, stage, speeds)
		if err != nil {
			return nil, fmt.Errorf("games %s: %w", stage, err)
		}
		r.Stages = append(r.Stages, s)
		for i := range r.Rows {
			r.Rows[i].Elo[stage] = s.Ratings.Rows[i]
		}
	}
	if err := p.drawMore(ctx, r); err != nil {
		return nil, err
	}
	r.correlate()
	r.warn(p)
	r.sort()
	return r, nil
}

func (p *Plan) rowResult(ctx context.Context, i int, speeds map[string]Speed) (Row, Times, error) {
	nets := p.Nets[i]
	row := Row{Name: p.Rows[i].Name, Budget: p.budgetText(i), Expression: expression(&nets[0].Config), Elo: map[Stage]Rating{}, lossKind: lossKind(&nets[0].Config)}
	times := Times{Name: row.Name, Speed: speeds[nets[0].Key]}
	var err error
	if row.Cost, err = p.costOf(ctx, &nets[0]); err != nil {
		return row, times, err
	}
	var scores, results, winners []float64
	for s := range nets {
		sum, done, err := p.trained(&nets[s])
		if err == nil && !done {
			err = fmt.Errorf("net %s is not trained", nets[s].Key)
		}
		if err != nil {
			return row, times, err
		}
		row.Architecture, row.Samples, row.Epochs = sum.Architecture, sum.Samples, sum.Epochs
		row.Losses = append(row.Losses, sum.HeldOut.Mean)
		scores, results = append(scores, sum.HeldOut.Score), append(results, sum.HeldOut.Result)
		winners, row.Measured = append(winners, sum.HeldOut.SignAccuracy), sum.HeldOut.Positions
		row.Cells = append(row.Cells, nets[s].Key)
		row.Commands = append(row.Commands, p.trainCommand(&nets[s]))
		row.Builds = append(row.Builds, append([]string{}, sum.Builds...))
		times.Positions = max(times.Positions, float64(sum.Samples)/max(sum.Seconds, 1e-3))
		times.Seconds += sum.Seconds
		curve, err := p.curve(&nets[s])
		if err != nil {
			return row, times, err
		}
		row.curves = append(row.curves, curve)
	}
	row.Loss, row.LossSD = mean(row.Losses), deviation(row.Losses)
	row.Scores, row.Results, row.Winner = spreadOf(scores), spreadOf(results), spreadOf(winners)
	return row, times, nil
}

// expression says what a net computes with.
func expression(l *configs.Learn) string {
	if l.Kind != configs.Planes {
		return l.Features
	}
	if shape, err := l.Shape(); err == nil && (l.Blocks != 0 || l.Channels != 0) { // which planes does not say
		return "planes " + shape.String()
	}
	return "planes " + l.Planes
}

// trainCommand trains a net again, in another directory.
func (p *Plan) trainCommand(n *Net) string {
	return words.Shell("selfplay", "learn", "--config", p.cell("train", filepath.Join(n.Key, run.ConfigName)), "--out", "again-"+n.Key)
}

// curve reads the validations of a net's training.
func (p *Plan) curve(n *Net) ([]point, error) {
	f, err := os.Open(p.cell("train", filepath.Join(n.Key, "log.jsonl")))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var list []point
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var e run.Entry
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
		if e.HeldOut != nil && e.HeldOut.Positions > 0 {
			list = append(list, point{float64(e.Samples), e.HeldOut.Mean})
		}
	}
	return list, nil
}

func (p *Plan) stageResult(ctx context.Context, stage Stage, speeds map[string]Speed) (StageResult, error) {
	r := StageResult{Stage: stage, Limits: p.limitsText(stage)}
	opponents, _ := p.opponents(stage)
	n := len(p.Rows) + len(opponents)
	f := &Field{Rows: len(p.Rows), Players: n, Seeds: p.Seeds, Given: make([]*float64, n), SD: make([]float64, n)}
	for i := range opponents {
		r.Anchors = append(r.Anchors, opponents[i].Name)
		f.Given[len(p.Rows)+i], f.SD[len(p.Rows)+i] = opponents[i].Elo, opponents[i].SD
	}
	meetings := p.Meetings(stage, speeds)
	for i := range meetings {
		m := &meetings[i]
		pairs, builds, found, err := p.log(m)
		if err == nil && found < m.Pairs {
			err = fmt.Errorf("%s is not over", m.Key)
		}
		if err != nil {
			return r, err
		}
		s := Scores{Seed: m.Seed, A: m.A, B: m.B}
		var sum rating.Pentanomial
		for k := range pairs {
			white, black := m.outcomes(&pairs[k])
			s.Pairs = append(s.Pairs, [2]rating.Outcome{white, black})
			sum.Add(white, black)
		}
		f.Scores = append(f.Scores, s)
		r.Games += 2 * len(pairs)
		r.Meetings = append(r.Meetings, MeetingResult{
			Seed: m.Seed + 1, A: m.players[0].Name, B: m.players[1].Name, Cell: m.Key, Pairs: sum, Command: words.Shell(p.Command(m)...),
			Limits: [2]string{game.LimitsText(m.Limits[0]), game.LimitsText(m.Limits[1])},
			Builds: append([]string{}, builds...),
		})
	}
	var err error
	if r.Ratings, err = Rate(ctx, f, p.Games.Seed); err != nil {
		return r, err
	}
	for row := range p.Rows {
		r.shares = append(r.shares, f.share(row))
	}
	for _, d := range r.Ratings.Differences {
		r.Names = append(r.Names, [2]string{p.Rows[d.A].Name, p.Rows[d.B].Name})
	}
	return r, nil
}

// limitsText says what a stage is played at.
func (p *Plan) limitsText(stage Stage) string {
	switch stage {
	case Ladder:
		return fmt.Sprintf("%d nodes a move, against the strength ladder", p.ladder.Nodes)
	case AtTime:
		return fmt.Sprintf("as many nodes a move as each player searches in %v", p.Games.Time)
	}
	return fmt.Sprintf("%d nodes a move", p.Games.Nodes)
}

// first is the stage that conclusions are drawn from.
func (r *Results) first() *StageResult { return &r.Stages[0] }

// correlate compares loss and Elo over all nets, unless their losses are not the same
// figure, or some have none.
func (r *Results) correlate() {
	var losses, elos []float64
	for i := range r.Rows {
		if r.Rows[i].lossKind != r.Rows[0].lossKind || r.Rows[i].Measured == 0 {
			return
		}
	}
	for i := range r.Rows {
		losses = append(losses, r.Rows[i].Losses...)
		elos = append(elos, r.Rows[i].Elo[r.first().Stage].Seeds...)
	}
	r.Nets = len(losses)
	if c, known := correlation(losses, elos); known {
		r.Correlation = &c
	}
}

// correlation is Pearson's; known is false of fewer than three nets and where all losses or
// ratings are alike.
func correlation(losses, elos []float64) (c float64, known bool) {
	if len(losses) < 3 {
		return 0, false
	}
	c = stat.Correlation(losses, elos, nil)
	return c, !math.IsNaN(c)
}

// fewPoints is a share of them by which a rating tells little more than that nearly all
// games were lost.
const fewPoints = 0.01

// warn notes where conclusions stand on little.
func (r *Results) warn(p *Plan) {
	if p.Seeds == 1 {
		r.Warnings = append(r.Warnings, "every conclusion rests on one seed: another seed can turn any difference round; intervals hold the error of games alone")
	}
	if p.Seeds == 2 {
		r.Warnings = append(r.Warnings, "two seeds tell little about the spread between nets, so intervals are wide")
	}
	for _, f := range r.Equal {
		if !f.Equal && f.Matters {
			r.Warnings = append(r.Warnings, "not equal among the rows: "+f.What+" ("+f.Detail+"): a difference of strength may come from that")
		}
	}
	if slices.ContainsFunc(r.Rows, func(row Row) bool { return row.lossKind != r.Rows[0].lossKind }) {
		r.Warnings = append(r.Warnings, "the rows minimise different losses, so their held-out losses cannot be compared")
	}
	if mixed := r.mixedBuilds(); len(mixed) > 0 {
		r.Warnings = append(r.Warnings, "made by more than one version of the program: "+strings.Join(mixed, "; ")+": a difference may come from that")
	}
	for i := range r.Stages {
		for k, share := range r.Stages[i].shares {
			if share < fewPoints || share > 1-fewPoints {
				r.Warnings = append(r.Warnings, fmt.Sprintf("%s: %s won or lost nearly all games, so its rating says little more than that", r.Stages[i].Stage.words(), r.Rows[k].Name))
			}
		}
	}
}

// sort puts the rows, with their times, in the order that was asked for. Differences and
// ratings of stages keep the order of names.
func (r *Results) sort() {
	index := make([]int, len(r.Rows))
	for i := range index {
		index[i] = i
	}
	value := func(i int) float64 { return r.sortValue(r.Sort, &r.Rows[i], &r.Times[i]) }
	slices.SortFunc(index, func(a, b int) int {
		return cmp.Or(cmp.Compare(value(b), value(a)), cmp.Compare(r.Rows[a].Name, r.Rows[b].Name))
	})
	rows, times := make([]Row, len(index)), make([]Times, len(index))
	for i, k := range index {
		rows[i], times[i] = r.Rows[k], r.Times[k]
	}
	r.Rows, r.Times = rows, times
}

// sortValue is what rows are sorted by, the greatest first: of a figure of which less is better,
// or that is a cost, its negative.
func (r *Results) sortValue(by string, row *Row, t *Times) float64 {
	elo := func(stage Stage) float64 {
		if e, ok := row.Elo[stage]; ok {
			return e.Elo
		}
		return math.Inf(-1)
	}
	switch by {
	case "elo":
		return elo(r.first().Stage)
	case "time":
		return elo(AtTime)
	case "ladder":
		return elo(Ladder)
	case "puzzles":
		if row.Puzzles != nil {
			return row.Puzzles.Share
		}
	case "loss":
		return -row.Loss
	case "scores":
		return -row.Scores.Mean
	case "results":
		return -row.Results.Mean
	case "winner":
		return row.Winner.Mean
	case "inputs":
		return -float64(row.Cost.Inputs)
	case "dead":
		return -float64(row.Cost.Dead)
	case "active":
		return -row.Cost.Mean
	case "moved":
		return -row.Cost.Changed
	case "parameters":
		return -float64(row.Cost.Parameters)
	case "file":
		return -float64(row.Cost.Bytes)
	case "evaluations":
		return t.Evaluations
	case "speed":
		return t.Nodes
	case "training":
		return t.Positions
	}
	return 0 // by name
}
