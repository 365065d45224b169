package selfplay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/allocator"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

const (
	learnerPause = 200 * time.Millisecond // between looks for new games
	reportEvery  = 10                     // steps between updates of the status
)

// learner trains on the replay buffer, at a bounded number of samples per new
// position, and offers a net every train.steps_per_net steps.
type learner struct {
	run        *Run
	set        setPointer // writes only as long as this process is the trainer
	buffer     *replay.Buffer
	copied     *copying // how far the buffer is; nil: it is no copy
	training   *run.Training
	config     trainer.Config
	model      run.Model
	trainer    *trainer.Trainer
	source     *source
	allocation *allocation // of the cores; nil: none
	tailOf     run.Model   // whose tail the last step was in; nil: in none
	state      learnerState
	offered    *netList // the nets that it has signed
	curves     *curves  // for TensorBoard, while it learns
	unpruned   string   // why old nets were last not removed
	unkept     string   // why the disk last took no checkpoint or net
}

// learnerState is stored in the checkpoint with the trainer's own.
type learnerState struct {
	Generation int          `json:"generation"` // nets offered
	Parent     string       `json:"parent"`     // id of the newest of them
	Fitted     uint64       `json:"fitted"`     // positions stored when the scores were fitted; 0: they have not been
	Ratio      replay.Ratio `json:"ratio"`
	Renewed    uint64       `json:"renewed"` // positions stored when the model began; 0: it has not
	// Stage is the architecture of a net that has grown; nil: the one that the run began
	// with.
	Stage *configs.Stage `json:"stage,omitempty"`
	// Allocator is what the allocator has found; nil: nothing yet.
	Allocator *allocator.State `json:"allocator,omitempty"`
}

// source draws the trainer's samples from the buffer.
type source struct {
	buffer  *replay.Buffer
	drawing replay.Drawing
	relabel *relabeller
	mirror  float64 // share of the samples
}

// drawingOf returns which positions are trained on by settings.
func drawingOf(t configs.Train) replay.Drawing {
	return replay.Drawing{PerGame: t.PerGame, Filter: t.Filter(), Researched: t.ResearchWeight}
}

func (s *source) Draw(rng *rand.Rand, dst []sample.Sample) error {
	if err := s.buffer.Draw(rng, s.drawing, dst); err != nil {
		return err
	}
	s.relabel.fromInside(rng, dst)
	s.relabel.label(dst)
	dataset.Mirror(rng, s.mirror, dst)
	return nil
}

func (s *source) HeldOut(dst []sample.Sample) []sample.Sample {
	return s.buffer.HeldOut(s.drawing.Filter, dst)
}

// endless is the length of a loop's training in steps: it has none.
const endless = 0

// newTraining returns the training of a run's nets of an architecture.
func newTraining(cfg configs.Config, net configs.Net) (*run.Training, error) {
	s := cfg.Train.Settings
	if cfg.Actor.Search == configs.TreeSearch && s.ScoreScale == 0 {
		s.ScoreScale = treeScoreScale
	}
	return run.NewTraining(cfg.Variant, net, s)
}

// treeScoreScale is that of scores of tree searches, which need no fitting:
// tanh(s/400), as mcts.Score has it, is a win probability of σ(s/200).
const treeScoreScale = 200 * search.RawPerCentipawn

// newModel returns a net that has learned nothing.
func (l *learner) newModel() (run.Model, error) {
	return l.training.NewModel(l.config.LearningRate, endless, l.run.cfg.Seed)
}

// newLearner builds the model and resumes the newest checkpoint if there is one.
func newLearner(r *Run, buffer *replay.Buffer, set setPointer) (*learner, error) {
	t := r.cfg.Train
	l := &learner{run: r, set: set, buffer: buffer, curves: &curves{}}
	l.allocation = newAllocation(r)
	l.state.Ratio = replay.Ratio{PerRow: t.SamplesPerRow, Cap: max(float64(4*t.Batch), t.SamplesPerRow*float64(t.MinPositions))}
	var err error
	if l.training, err = newTraining(r.cfg, r.cfg.Net.Net); err != nil {
		return nil, err
	}
	if l.config, err = l.training.Config(r.cfg.Seed, endless); err != nil {
		return nil, err
	}
	l.config.ValidateEvery, l.config.OnReport, l.config.ReportEvery = uint64(t.Checkpoint), l.show, reportEvery
	l.config.ModelFor = l.modelFor
	if l.model, err = l.newModel(); err != nil {
		return nil, err
	}
	relabel, err := newRelabeller(r)
	if err != nil {
		return nil, err
	}
	l.source = &source{buffer, drawingOf(t), relabel, t.Mirror / 100}
	if l.trainer, err = trainer.New(l.sharing(), l.source, l.config); err != nil {
		return nil, err
	}
	if err := l.resume(); err != nil {
		return l, err
	}
	l.trainer.ScaleRate(0) // a checkpoint of a tail has another
	l.offered, err = openNetList(r.path(publishedFile), l.state.Generation == 0)
	return l, err
}

func (l *learner) resume() error {
	found, err := l.trainer.Resume(l.run.path(trainDir))
	if errors.Is(err, trainer.ErrNoCheckpoint) {
		return l.start()
	}
	if err != nil {
		return err
	}
	for _, damaged := range found.Damaged {
		l.run.event("damaged checkpoint skipped", "error", damaged)
	}
	ratio := l.state.Ratio
	if err := json.Unmarshal(found.Caller, &l.state); err != nil {
		return fmt.Errorf("%s: learner's state: %w", found.Path, err)
	}
	l.state.Ratio.PerRow, l.state.Ratio.Cap = ratio.PerRow, ratio.Cap // the configuration may have changed
	l.run.event("training resumed", "step", found.Step, "generation", l.state.Generation)
	l.run.status.update(func(s *Status) {
		s.Step, s.Samples, s.Candidate = l.trainer.Steps(), l.trainer.Samples(), l.state.Generation
		s.TrainLoss = l.trainer.Average()
		if held := l.trainer.HeldOut(); held != nil {
			s.HeldOutLoss, s.SignAccuracy = held.Mean, held.SignAccuracy
		}
	})
	return nil
}

// catchUp goes on numbering nets after the newest one offered, by whichever trainer: an
// older checkpoint may be all that this one has. A trainer that ended before it could offer
// the given net, of which its checkpoint tells already, has not offered any.
func (l *learner) catchUp(ctx context.Context) error {
	offered, err := l.run.readRecord(ctx, l.run.candidateKey())
	if err != nil {
		return err
	}
	if offered != nil {
		switch m, err := l.run.bus.NetManifest(ctx, offered.Net); {
		case err == nil:
			if err := l.run.checkManifest(m); err != nil {
				l.run.event("what was offered last is no net of this run, numbering goes on after the checkpoint", "net", offered.Net, "error", err.Error())
				offered = nil
			}
		case errors.Is(err, bus.ErrNoNet), errors.Is(err, nets.ErrManifest), errors.Is(err, nets.ErrTooLarge): // it cannot be known whose it is
		default:
			return err
		}
	}
	if offered == nil {
		if l.trainer.Steps() == 0 {
			l.state.Generation, l.state.Parent = 0, ""
		}
		return nil
	}
	if err := l.offered.found(offered.Net); err != nil || offered.Generation <= l.state.Generation {
		return err
	}
	l.run.event("nets were offered after this checkpoint, numbering goes on after them", "checkpoint", l.state.Generation, "offered", offered.Generation)
	l.state.Generation, l.state.Parent = offered.Generation, offered.Net
	return nil
}

// start gives a run that has no checkpoint the net that train.init names.
func (l *learner) start() error {
	if l.training.Settings.Init == "" {
		return nil
	}
	var from strings.Builder
	if err := l.training.Start(l.model, &from); err != nil {
		return fmt.Errorf("train.%w", err)
	}
	l.run.event("training begins with a given net", "init", strings.TrimSpace(from.String()))
	return nil
}

// learn works until ctx ends and leaves a checkpoint.
func (l *learner) learn(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return l.train(ctx) })
	if x := l.source.relabel; x != nil {
		group.Go(func() error { return x.follow(ctx, l.run) })
	}
	return group.Wait()
}

// train is the part of learn that makes the steps.
func (l *learner) train(ctx context.Context) (err error) {
	defer func() { err = errors.Join(err, l.trainer.Close()) }()
	l.curves = l.run.openCurves("trainer", l.trainer.Steps())
	defer l.curves.close()
	if l.training.Settings.Init != "" && l.state.Generation == 0 {
		// The given net plays from the first game on, which it is to learn from.
		if err := l.offer(ctx); err != nil {
			return fmt.Errorf("trainer: %w", err)
		}
	}
	for ctx.Err() == nil {
		if err := l.allocate(); err != nil {
			return err
		}
		if !l.mayTrain() {
			pause.For(ctx, l.run.wait(learnerPause))
			continue
		}
		err := l.step(ctx)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return l.end()
		case errors.Is(err, replay.ErrEmpty): // its games were taken out meanwhile
			l.awaitWindow()
			pause.For(ctx, l.run.wait(learnerPause))
		default:
			return fmt.Errorf("trainer: %w", err)
		}
	}
	return l.end()
}

// end writes the last checkpoint.
func (l *learner) end() error {
	l.run.status.set(roleTrainer, "stopped")
	if l.trainer.Steps() == 0 {
		return nil
	}
	return l.checkpoint()
}

// idle says which games the trainer waits for, or why its copy does not get them.
func (l *learner) idle(format string, args ...any) {
	state := fmt.Sprintf(format, args...)
	if l.copied != nil {
		if why := l.copied.failed.Load(); why != nil {
			state = triesAgain + ": the games of the replay role are not copied: " + *why
		}
	}
	l.run.status.set(roleTrainer, "%s", state)
}

// awaitWindow says that there is nothing to draw from.
func (l *learner) awaitWindow() {
	l.idle("waiting for games: none is in the window; are all actors in quarantine?")
}

// mayTrain says whether the buffer is whole, and holds enough positions, and enough new
// ones for another batch; if so the batch is paid for.
func (l *learner) mayTrain() bool {
	t, stored := l.run.cfg.Train, l.buffer.Stats()
	rows := stored.Plies
	if c := l.copied; c != nil && !c.whole.Load() { // looked at after the buffer
		l.idle("waiting for the games of the replay role: %s of %s positions copied", count(c.stored.Load()), count(c.total.Load()))
		return false
	}
	l.state.Ratio.Rows(rows)
	switch {
	case rows < uint64(t.MinPositions):
		l.idle("waiting for games: %s of %s positions", count(rows), count(uint64(t.MinPositions)))
		return false
	case stored.WindowPlies == 0:
		l.awaitWindow()
		return false
	case !l.state.Ratio.Take(t.Batch):
		l.idle("waiting for games: %.3g samples a position", l.state.Ratio.PerRow)
		return false
	}
	l.run.status.set(roleTrainer, "training")
	return true
}

// step trains on one batch and does what is due after it.
func (l *learner) step(ctx context.Context) error {
	t := l.run.cfg.Train
	if err := l.renew(); err != nil {
		return err
	}
	if l.trainer.Steps()%uint64(t.Checkpoint) == 0 && fitDue(l.state.Fitted, l.buffer.Stats().Plies) {
		l.fitScores()
	}
	if err := l.turnTail(); err != nil {
		return err
	}
	if _, err := l.trainer.Step(); err != nil {
		return err
	}
	l.run.status.trained(t.Batch)
	if l.trainer.Age()%uint64(t.StepsPerNet) == 0 {
		l.fitScores()
		return l.offer(ctx)
	}
	if l.trainer.Steps()%uint64(t.Checkpoint) == 0 {
		return l.keep(ctx, l.checkpoint)
	}
	return nil
}

// renew begins with a fresh model when the positions stored have grown enough: one
// that learned from the few and weak ones of the beginning stays weaker than one
// that never saw them. Each is offered once before another takes its place. The positions
// stored are new to the fresh model, so it does not wait for later ones before it draws
// samples.
func (l *learner) renew() error {
	t, stats := l.run.cfg.Train, l.buffer.Stats()
	stored, growth := stats.Plies, t.RenewGrowth
	if l.state.Renewed == 0 {
		l.state.Renewed = stored
	}
	if growth == 0 || l.training.Settings.Init != "" || l.trainer.Age() < uint64(t.StepsPerNet) || float64(stored) < growth*float64(l.state.Renewed) {
		return nil
	}
	if err := l.grow(stored); err != nil {
		return err
	}
	l.trainer.Renew(l.sharing())
	l.state.Renewed, l.state.Fitted = stored, 0
	advance := t.RenewSamples * float64(stats.WindowPlies)
	l.state.Ratio.Advance(advance)
	l.fitScores()
	l.run.event("training begins with a fresh net", "step", l.trainer.Steps(), "positions", stored, "samples_in_advance", uint64(advance), "architecture", l.training.Architecture())
	return nil
}

// show copies a step's report to the status.
func (l *learner) show(r trainer.Report) {
	perNet := uint64(l.run.cfg.Train.StepsPerNet)
	l.run.status.update(func(s *Status) {
		s.Step, s.Samples, s.TrainLoss = r.Step, r.Samples, r.Average
		s.StepsToNet = perNet - l.trainer.Age()%perNet
		if r.HeldOut != nil {
			s.HeldOutLoss, s.SignAccuracy = r.HeldOut.Mean, r.HeldOut.SignAccuracy
		}
	})
	l.curves.trained(r)
}
