package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Names in a run's directory.
const (
	configFile   = "config.yaml"
	dataText     = "data.txt"
	dataJSON     = "data.json"
	dataFigure   = "data.png"
	replayFile   = "replay.json"
	pauseFile    = "interrupted.json"
	logFile      = "log.jsonl"
	lossFigure   = "loss.png"
	checkpoints  = "checkpoints"
	bestDir      = "best"
	netFile      = "net.nnue"
	planesFile   = "net.onnx"
	netsDir      = "nets"
	summaryFile  = "summary.json"
	divergedFile = "diverged.chain"
)

// ErrOther says that a directory holds a run with other settings or other data.
var ErrOther = errors.New("the directory holds another run")

// progressPeriod is the time between two lines of progress.
const progressPeriod = 10 * time.Second

// fewestValidations is how many of Options.Validations there are however short a run is.
const fewestValidations = 4

// drawPeriod is the least time between two drawings of the curves before the run
// is over.
const drawPeriod = 30 * time.Second

// Options say where a run happens and where it is reported.
type Options struct {
	Dir      string
	Out      io.Writer // what the run is and what comes of it
	Progress io.Writer // lines now and then while it lasts
	// Games says which games of replay buffers the run is of, by directory; of others it
	// takes those that are there when it begins.
	Games map[string]dataset.Extent
	// Validations is how many times in the whole run, evenly, the held-out loss is measured
	// where save_every is 0, besides at checkpoints; fewer times, but not below four, where
	// more than a tenth as many positions would be measured as are learned from. It does not
	// change what is learned.
	Validations int
	// Build is the version of the program, for the summary.
	Build string
	// OnStep, if not nil, is called before the first step and after every step with the
	// steps made, of how many.
	OnStep func(step, total uint64)
}

// runner is a run at work.
type runner struct {
	*plan
	Options
	source  *source
	model   Model
	trainer *trainer.Trainer
	journal *journal
	state   state

	fresh                         bool   // there was no checkpoint to go on from
	total, reportEvery, saveEvery uint64 // steps
	measureLambda                 float64
	before                        float64   // seconds spent on earlier parts of the run
	began                         time.Time // of this part of the run
	shown                         time.Time // when progress was last shown
	drawn                         time.Time // when the curves were
	shownSamples                  uint64
}

// ConfigName is that of the file, in a run's directory, of its settings.
const ConfigName = configFile

// Checkpoint returns the file of the newest state of training in a run's directory, empty if
// there is none.
func Checkpoint(dir string) string {
	files, _ := durable.Glob(filepath.Join(dir, checkpoints), "*.checkpoint") // the pattern is well formed
	if len(files) == 0 {
		return ""
	}
	return slices.Max(files) // steps are written with equal numbers of digits
}

// netName returns the name of the net's file.
func (p *plan) netName() string { return NetName(p.Kind) }

// NetName returns the name of the file, in a run's directory, of a net of a kind.
func NetName(kind string) string {
	if kind == configs.Planes {
		return planesFile
	}
	return netFile
}

// state lies in a checkpoint beside the trainer's own.
type state struct {
	Newbob   trainer.NewbobState `json:"newbob"`
	BestStep uint64              `json:"best_step"`
	Finished bool                `json:"finished"` // newbob has ended the run
	LossSum  float64             `json:"loss_sum"` // since the last entry of the log
	LossN    uint64              `json:"loss_steps"`
	Builds   []string            `json:"builds,omitempty"` // that made the steps so far, in their order
}

// Run makes the run that cfg describes in opt.Dir, or goes on with it, until it is
// over, and returns what came of it; of a run that is over already, what came of
// it then. If ctx ends it leaves a checkpoint and returns the context's error, or
// the reason why it could not leave one.
// Errors wrap ErrOther, trainer.ErrDiverged or are those of Check and of the packages
// beneath.
func Run(ctx context.Context, cfg configs.Learn, opt Options) (Summary, error) {
	p, err := newPlan(cfg)
	if err != nil {
		return Summary{}, err
	}
	var share sharing
	share.expect(p)
	defer share.release(p)
	return p.run(ctx, opt, &share)
}

// run makes the run of a plan that was announced to share.
func (p *plan) run(ctx context.Context, opt Options, share *sharing) (_ Summary, err error) {
	r := &runner{plan: p, Options: opt}
	if err := r.checkFiles(); err != nil {
		return Summary{}, err
	}
	if err := os.MkdirAll(r.Dir, 0o755); err != nil {
		return Summary{}, err
	}
	lock, err := dirlock.Acquire(r.Dir)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = besides(err, lock.Release()) }()
	if over, err := r.settle(); err != nil || over != nil {
		return *cmp.Or(over, new(Summary)), err
	}
	if err := r.openData(ctx, share); err != nil {
		return Summary{}, err
	}
	defer r.source.close()
	if err := r.checkMeasured(); err != nil {
		return Summary{}, err
	}
	if err := r.prepare(); err != nil {
		return Summary{}, err
	}
	defer func() { err = besides(err, r.trainer.Close(), r.journal.close()) }()
	if err := r.train(ctx); err != nil {
		return Summary{}, err
	}
	return r.finish()
}

// besides joins errors of ending a run to its own. They take the place of an
// interruption, so that they are not taken for one.
func besides(err error, ending ...error) error {
	more := errors.Join(ending...)
	if more != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return fmt.Errorf("interrupted: %w", more)
	}
	return errors.Join(err, more)
}

func (r *runner) path(names ...string) string {
	return filepath.Join(append([]string{r.Dir}, names...)...)
}

// checkMeasured refuses newbob without positions to judge by: it would give up
// every net for the untrained one.
func (r *runner) checkMeasured() error {
	if r.newbob.Decay == 0 || len(r.source.HeldOut(make([]sample.Sample, 1))) > 0 {
		return nil
	}
	games := uint64(0)
	for _, set := range r.source.sets {
		games += set.Counts.Games
	}
	return fmt.Errorf("%w: newbob: found no held-out positions in %d games, expected some to judge by: give more games, of which one in %d is held out, or a file with --validation, or --newbob-decay 0",
		trainer.ErrConfig, games, sample.HeldOutEvery)
}

// steps turns a number of positions into steps; 0 stands for an epoch divided by
// parts.
func (r *runner) steps(positions int, parts float64) uint64 {
	n := float64(positions)
	if positions == 0 {
		n = float64(r.source.size) / parts
	}
	return max(1, uint64(math.Round(n/float64(r.cfg.Batch))))
}

// prepare makes model and trainer and resumes what there is to resume.
func (r *runner) prepare() error {
	r.total = max(1, uint64(math.Ceil(r.cfg.Epochs*float64(r.source.size)/float64(r.cfg.Batch))))
	r.reportEvery, r.saveEvery = r.steps(r.cfg.ReportEvery, 20), r.steps(r.cfg.SaveEvery, 1)
	if r.Validations = max(0, r.Validations); r.cfg.SaveEvery != 0 {
		r.Validations = 0
	}
	if r.Validations > fewestValidations {
		held := len(r.source.HeldOut(make([]sample.Sample, r.cfg.HeldOut)))
		most := int(r.total) * r.cfg.Batch / 10 / max(1, held)
		r.Validations = min(r.Validations, max(most, fewestValidations))
	}
	cfg, err := r.Config(r.cfg.Seed, r.total)
	if err != nil {
		return err
	}
	r.measureLambda = cfg.Lambda.At(r.total)
	if r.model, err = r.NewModel(cfg.LearningRate, r.total, r.cfg.Seed); err != nil {
		return err
	}
	if r.trainer, err = trainer.New(r.model, r.source, cfg); err != nil {
		return err
	}
	found, err := r.trainer.Resume(r.path(checkpoints))
	switch {
	case errors.Is(err, trainer.ErrNoCheckpoint):
		r.fresh = true
		err = r.start(cfg.Lambda)
	case err == nil:
		for _, damaged := range found.Damaged {
			fmt.Fprintf(r.Out, "damaged checkpoint skipped: %v\n", damaged)
		}
		if err = json.Unmarshal(found.Caller, &r.state); err == nil {
			fmt.Fprintf(r.Out, "going on after step %d\n", found.Step)
		}
	}
	if err != nil {
		return err
	}
	if r.Build != "" && !slices.Contains(r.state.Builds, r.Build) {
		r.state.Builds = append(r.state.Builds, r.Build)
	}
	if r.journal, err = openJournal(r, r.trainer.Steps()); err != nil {
		return err
	}
	r.describe()
	return nil
}

// describe prints what is about to happen.
func (r *runner) describe() {
	if r.Kind == configs.NNUE {
		m, _ := nnueOf(r.model)
		rows, virtual := m.Rows()
		fmt.Fprintf(r.Out, "%v; transformer of %d rows, %d virtual\n", r.nnue, rows, virtual)
	}
	fmt.Fprintf(r.Out, "%d steps of %d positions, %g epochs; entries every %d steps, validation and checkpoint every %d\n",
		r.total, r.cfg.Batch, r.cfg.Epochs, r.reportEvery, r.saveEvery)
	if r.Validations > 0 {
		fmt.Fprintf(r.Out, "besides, %d validations over the run\n", r.Validations)
	}
	if r.Kind == configs.Planes {
		r.describePlanes()
	} else {
		fmt.Fprintf(r.Out, "%s, %s loss; measured with lambda %g\n", r.cfg.Optimiser, r.cfg.Loss, r.measureLambda)
	}
	if r.pqr != nil {
		fmt.Fprintf(r.Out, "of triples: weight %g of the pair, %g of scores and results\n", r.pqr.Pair, r.pqr.Target)
	}
	fmt.Fprintf(r.Out, "learning rate %s; lambda %s\n", r.cfg.LR, r.cfg.Lambda)
}

// seconds is the time spent on training.
func (r *runner) seconds() float64 { return r.before + time.Since(r.began).Seconds() }

// train makes the steps that are left.
func (r *runner) train(ctx context.Context) error {
	now := time.Now()
	r.began, r.shown, r.drawn, r.shownSamples = now, now, now, r.trainer.Samples()
	var err error
	if r.before, err = r.spent(); err != nil {
		return err
	}
	if r.fresh {
		if err := r.save(); err != nil {
			return err
		}
	}
	r.step()
	for r.trainer.Steps() < r.total && !r.state.Finished {
		if err := ctx.Err(); err != nil {
			return besides(err, r.checkpoint(), r.writePause())
		}
		report, err := r.trainer.Step()
		if err != nil {
			return r.failed(err)
		}
		r.state.LossSum += report.Loss
		r.state.LossN++
		switch {
		case report.Step%r.saveEvery == 0 || report.Step == r.total:
			err = r.save()
		case r.measures(report.Step):
			err = r.validate()
		case r.reports(report.Step):
			err = r.journal.add(r.entry())
		}
		if err != nil {
			return err
		}
		r.step()
		r.progress()
	}
	return nil
}

func (r *runner) step() {
	if r.OnStep != nil {
		r.OnStep(r.trainer.Steps(), r.total)
	}
}

// failed keeps the batch of a step that diverged, or that left a net which cannot
// be measured.
func (r *runner) failed(err error) error {
	if !errors.Is(err, trainer.ErrDiverged) {
		return err
	}
	path := r.path(divergedFile)
	kept := durable.Write(path, func(w io.Writer) error { return writeChain(w, r.plan, r.trainer.Batch()) })
	if kept != nil {
		return errors.Join(err, kept)
	}
	return fmt.Errorf("%w; its batch is in %s, the state before in %s: lower the learning rate", err, path, r.path(checkpoints))
}

func writeChain(w io.Writer, p *plan, batch []sample.Sample) error {
	c, err := chain.NewWriter(w, p.Variant, sample.CentipawnUnit)
	if err != nil {
		return err
	}
	for i := range batch {
		if err := c.Write(&batch[i]); err != nil && !errors.Is(err, sample.ErrRecord) {
			return err
		}
	}
	return c.Close()
}

// entry is the present state of training, and forgets the losses it reports.
func (r *runner) entry() Entry {
	h := r.trainer.Hyper()
	e := Entry{
		Step: r.trainer.Steps(), Samples: r.trainer.Samples(), Seconds: math.Round(1000*r.seconds()) / 1000,
		Epoch: float64(r.trainer.Samples()) / float64(r.source.size), LR: h.LearningRate, Lambda: h.Lambda,
	}
	if n := r.state.LossN; n > 0 {
		e.Loss = r.state.LossSum / float64(n)
	}
	r.state.LossSum, r.state.LossN = 0, 0
	return e
}

// measures reports whether a step is one of those after which Options.Validations asks for
// the loss.
func (r *runner) measures(step uint64) bool {
	n := uint64(r.Validations)
	return step*n/r.total > (step-1)*n/r.total
}

// reports reports whether a step without validation has an entry in the log: not beside the entry
// before it, nor beside the next validation of Options.Validations.
func (r *runner) reports(step uint64) bool {
	if step%r.reportEvery != 0 {
		return false
	}
	near := func(from, to uint64) bool { return 2*(to-from) < r.reportEvery }
	if n := len(r.journal.entries); n > 0 && near(r.journal.entries[n-1].Step, step) {
		return false
	}
	n := uint64(r.Validations)
	return n == 0 || !near(step, ((step*n/r.total+1)*r.total+n-1)/n) // the next one that measures
}

// validate logs the held-out loss. It writes no checkpoint and no net.
func (r *runner) validate() error {
	e := r.entry()
	held, err := r.trainer.Validate(r.measureLambda)
	if err != nil {
		return r.failed(err)
	}
	e.HeldOut = &held
	return r.journal.add(e)
}

// save measures the net, lets newbob judge it, and writes checkpoint, net and
// curves.
func (r *runner) save() error {
	e := r.entry()
	held, err := r.trainer.Validate(r.measureLambda)
	var newest trainer.Loss
	if err == nil {
		newest, err = r.model.Loss(r.source.newest, r.measureLambda)
	}
	if err != nil && e.Step > 0 {
		err = r.failed(err)
	}
	if err != nil {
		return err
	}
	e.HeldOut, e.Newest = &held, &newest
	if r.newbob.Decay > 0 {
		if e.Verdict, err = r.judge(held.Mean); err != nil {
			return err
		}
	}
	if err := r.journal.add(e); err != nil {
		return err
	}
	if err := r.checkpoint(); err != nil {
		return err
	}
	if err := r.export(); err != nil {
		return err
	}
	if time.Since(r.drawn) < drawPeriod {
		return nil
	}
	return r.draw()
}

// draw draws the curves.
func (r *runner) draw() error {
	r.drawn = time.Now()
	return r.journal.draw(r.path(lossFigure), fmt.Sprintf("%s, %d steps", filepath.Base(r.Dir), r.trainer.Steps()))
}

// judge follows newbob's verdict.
func (r *runner) judge(loss float64) (trainer.Verdict, error) {
	verdict := r.newbob.Judge(&r.state.Newbob, loss)
	if verdict == trainer.Accepted {
		r.state.BestStep = r.trainer.Steps()
		return verdict, r.trainer.Checkpoint(r.path(bestDir), nil)
	}
	r.state.Finished = verdict == trainer.Finished
	r.trainer.ScaleRate(r.state.Newbob.Scale)
	if r.newbob.KeepLatest && !r.state.Finished {
		return verdict, nil
	}
	best := r.path(bestDir, trainer.CheckpointName(r.state.BestStep))
	if _, err := trainer.LoadModel(best, r.model); err != nil {
		return verdict, fmt.Errorf("newbob: %w", err)
	}
	return verdict, nil
}

// checkpoint writes the whole state of the run.
func (r *runner) checkpoint() error {
	text, err := json.Marshal(r.state)
	if err != nil {
		return err
	}
	return r.trainer.Checkpoint(r.path(checkpoints), text)
}

// progress reports from time to time how far the run has come.
func (r *runner) progress() {
	now := time.Now()
	passed := now.Sub(r.shown)
	if passed < progressPeriod {
		return
	}
	step, samples := r.trainer.Steps(), r.trainer.Samples()
	speed := float64(samples-r.shownSamples) / passed.Seconds()
	left := time.Duration(float64((r.total-step)*uint64(r.cfg.Batch)) / speed * float64(time.Second))
	fmt.Fprintf(r.Progress, "step %d of %d, epoch %.2f, loss %.6f, %.0f positions/s, %v left\n",
		step, r.total, float64(samples)/float64(r.source.size), r.trainer.Average(), speed, left.Round(time.Second))
	r.shown, r.shownSamples = now, samples
}
