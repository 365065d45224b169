package lab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/lab/puzzles"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Options say where a comparison happens and how.
type Options struct {
	Dir      string
	Jobs     int       // nets trained, or meetings played, at the same time; 0: one per CPU
	Progress io.Writer // lines now and then
	Build    string    // version of the program, for the records of what it makes

	// Measure measures the speeds of players, the first of which is material; nil: their
	// CPU time is taken.
	Measure func(ctx context.Context, makers []*player.Maker, v *chess.Variant) ([]Speed, error)
	// MeasureTraining measures from how many positions a trainer learns in a second of one
	// core; nil: see run.Rate.
	MeasureTraining func(ctx context.Context, cfg configs.Learn) (float64, error)
	// OnProgress, if not nil, is called every ten seconds, if something happens, and at the
	// end, one call at a time; nil: a line is written to Progress.
	OnProgress func(Progress)
	// OnCell, if not nil, is called after each cell that was made, one call at a time.
	OnCell func()
}

func (o *Options) measure() func(context.Context, []*player.Maker, *chess.Variant) ([]Speed, error) {
	if o.Measure != nil {
		return o.Measure
	}
	return measureSpeeds
}

func (o *Options) jobs() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return runtime.GOMAXPROCS(0)
}

// Run makes a comparison, or what is missing of it, and writes its reports. If ctx ends it
// returns the context's error; the next call with the same directory goes on. Errors are
// those of NewPlan, of package trainer/run for nets and of package match for games.
func Run(ctx context.Context, c configs.Compare, o Options) (*Results, error) {
	if err := check(&c); err != nil {
		return nil, err
	}
	if err := checkSort(&c); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o755); err != nil {
		return nil, err
	}
	lock, err := dirlock.Acquire(o.Dir)
	if err != nil {
		return nil, err
	}
	results, err := runLocked(ctx, c, o)
	return results, errors.Join(err, lock.Release())
}

// checkSort refuses to sort by what no row will have. To look at such settings is no error.
func checkSort(c *configs.Compare) error {
	v, err := chess.ParseVariant(c.Variant)
	if err != nil {
		return err
	}
	needs := map[string]struct {
		there bool
		of    string
	}{
		"time":    {c.Games.Time > 0, "games.time"},
		"ladder":  {c.Games.Ladder > 0, "games.ladder"},
		"puzzles": {c.Games.Puzzles > 0 && puzzles.HasDefault(v), "games.puzzles, of a variant that has some"},
	}
	if of, ok := needs[c.Sort]; ok && !of.there {
		return fmt.Errorf("%w: sort: found %s, expected elo or another column: there is none without %s", configs.ErrInvalid, c.Sort, of.of)
	}
	return nil
}

func runLocked(ctx context.Context, c configs.Compare, o Options) (*Results, error) {
	p, err := NewPlan(ctx, c, o, true)
	if err != nil {
		return nil, err
	}
	price, err := p.price(ctx, o, true)
	if err != nil {
		return nil, err
	}
	t := newTracker(&o, &price, runtime.GOMAXPROCS(0), time.Now)
	t.meetings.plan = p
	t.start()
	if err := p.train(ctx, o, t, price.nets); err != nil {
		return nil, err
	}
	t.begin(workSpeeds, 0)
	speeds, err := p.speeds(ctx, p.timed(), o)
	if err != nil {
		return nil, err
	}
	for _, stage := range p.Stages() {
		if err := p.play(ctx, stage, speeds, o, t); err != nil {
			return nil, err
		}
	}
	if err := p.solve(ctx, speeds, o, t); err != nil {
		return nil, err
	}
	t.end()
	r, err := p.results(ctx, speeds, o.Build)
	if err != nil {
		return nil, err
	}
	return r, r.Write(o.Dir)
}

// timed are the players whose speed counts: the first net of each row, and the anchors.
func (p *Plan) timed() []Player {
	var list []Player
	for row := range p.Rows {
		list = append(list, p.netPlayer(row, 0))
	}
	return append(list, p.Anchors...)
}

// train trains the nets that are missing, whose prices in seconds are known by key.
func (p *Plan) train(ctx context.Context, o Options, t *tracker, prices map[string]float64) error {
	var waves [][]configs.Learn // nets that begin from others after those
	var names [][]string
	total := 0.0
	for _, rows := range p.waves() {
		var runs []configs.Learn
		var keys []string
		for _, row := range rows {
			for i := range p.Nets[row] {
				n := &p.Nets[row][i]
				if _, done, err := p.trained(n); err != nil {
					return err
				} else if !done {
					runs, keys = append(runs, n.Config), append(keys, n.Key)
					total += prices[n.Key]
				}
				// Of nets that are trained too: the report says how to make them again. Keys say
				// that the data hold what they held then.
				if err := run.Rename(p.cell("train", n.Key), n.Config, p.games); err != nil {
					return err
				}
			}
		}
		if len(runs) > 0 {
			waves, names = append(waves, runs), append(names, keys)
		}
	}
	if len(waves) == 0 {
		return ctx.Err()
	}
	t.begin(workNets, total)
	for i := range waves {
		if err := p.sweep(ctx, waves[i], names[i], o, t, prices); err != nil {
			return err
		}
	}
	return nil
}

// validations is how many points the curve of a net's loss has. They are no part of what a net
// follows from, and of no budget.
const validations = 20

// sweep trains nets that do not begin from each other.
func (p *Plan) sweep(ctx context.Context, runs []configs.Learn, names []string, o Options, t *tracker, prices map[string]float64) error {
	counted := make([]float64, len(runs)) // part of a net's training that the tracker knows of; each written by its run alone
	step := func(i int, step, of uint64) {
		part := float64(step) / float64(of)
		if counted[i] == 0 && step > 1 { // it goes on from a checkpoint
			t.skip(part * prices[names[i]])
		} else {
			t.add((part-counted[i])*prices[names[i]], nil)
		}
		counted[i] = part
	}
	_, err := run.Sweep(ctx, runs, run.SweepOptions{
		Options: run.Options{Dir: p.cell("train", ""), Progress: o.Progress, Games: p.games, Validations: validations, Build: o.Build},
		Jobs:    o.Jobs, Names: names,
		OnStep: step,
		Over: func(i int) {
			t.skip((1 - counted[i]) * prices[names[i]]) // of a training that ended early
			t.add(0, func(at *Progress) { at.Nets++ })
			t.made()
		},
	})
	return err
}

// play plays the games of a stage that are missing, meetings at the same time.
func (p *Plan) play(ctx context.Context, stage Stage, speeds map[string]Speed, o Options, t *tracker) error {
	meetings := p.Meetings(stage, speeds)
	var nodes []float64 // a second of search, by row
	for row := range p.Rows {
		nodes = append(nodes, max(speeds[p.Nets[row][0].Key].Nodes, 1))
	}
	var missing []*Meeting
	total := 0.0
	for i := range meetings {
		m := &meetings[i]
		pairs, _, found, err := p.log(m)
		if err != nil {
			return err
		}
		t.meets(m, pairs)
		if found < m.Pairs {
			missing = append(missing, m)
			total += float64(m.Pairs-found) * p.pairTime(m, nodes)
		}
	}
	t.begin(stage.work(), total)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(o.jobs())
	for _, meeting := range missing {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			cfg, err := p.config(ctx, meeting)
			if err != nil {
				return err
			}
			cfg.Build = o.Build
			cfg.OnPair = func(pair match.Pair, _ [2]*game.Game, _ match.Result) {
				t.pair(meeting, &pair)
				t.add(p.pairTime(meeting, nodes), func(at *Progress) { at.Pairs++ })
			}
			if _, err := match.Run(ctx, cfg); err != nil {
				if failed, ok := errors.AsType[*match.FailureError](err); ok {
					return meeting.failed(failed)
				}
				return fmt.Errorf("games %s, %s against %s: %w", meeting.Key, meeting.players[0].Name, meeting.players[1].Name, err)
			}
			t.made()
			return nil
		})
	}
	return group.Wait()
}
