package trainer

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/sample"
)

var (
	// ErrConfig says that a setting of a Trainer or a Model is out of range.
	ErrConfig = errors.New("unusable training settings")
	// ErrDiverged says that a model's output, loss or derivatives are no longer
	// finite. The step that found it has changed nothing.
	ErrDiverged = errors.New("training diverged")
)

// MaxBatch bounds the batch size.
const MaxBatch = 1 << 20

// averageDecay is how much of the running loss average survives a step.
const averageDecay = 0.99

// Config holds a trainer's settings.
type Config struct {
	BatchSize int
	Seed      uint64 // of the draws
	// LearningRate and Lambda are followed from step 0, or from the last Renew.
	LearningRate, Lambda Schedule
	// HeldOut is how many held-out positions a validation measures, and an
	// export checks; ValidateEvery is the number of steps between validations,
	// 0 for none.
	HeldOut       int
	ValidateEvery uint64
	// Prefetch draws the next batch in a goroutine of its own while the model
	// learns the present one. The source's Draw then runs beside its HeldOut.
	// A source that gives the same samples for the same generator gives the
	// same ones so; Close ends it.
	Prefetch bool
	// ModelFor, if not nil, returns the model that a checkpoint is to be read into, by
	// what Checkpoint was given with it; else that is the present one. It goes on being
	// trained once it is read.
	ModelFor func(caller []byte) (Model, error)
	// OnReport, if not nil, is called after every ReportEvery-th step and after
	// every step that validated, from within Step.
	OnReport    func(Report)
	ReportEvery uint64
}

// validate reports all settings that are out of range, by their names in Settings.
func (c Config) validate() error {
	wrong := check.Of(ErrConfig)
	check.Within(wrong, "batch", c.BatchSize, 1, MaxBatch)
	check.Within(wrong, "held_out", c.HeldOut, 0, MaxBatch)
	wrong.Because("lr", checkSchedule(c.LearningRate))
	wrong.Because("lambda", checkSchedule(c.Lambda))
	return wrong.Err()
}

// Report is what one step did.
type Report struct {
	Step    uint64 // steps made so far
	Samples uint64 // samples learned from so far
	Hyper   Hyper  // of this step
	Loss    float64
	Average float64       // running mean of Loss over about the last hundred steps
	HeldOut *Loss         // of this step's validation, nil if there was none
	Elapsed time.Duration // of drawing and fitting
}

// Trainer drives one model. It is not safe for concurrent use.
type Trainer struct {
	model  Model
	source Source
	cfg    Config

	state   state
	rng     *rand.PCG
	batch   []sample.Sample
	heldOut []sample.Sample
	ahead   chan prefetched // the batch being drawn, nil if none is
	spare   []sample.Sample // the next batch to fill
}

// prefetched is a batch drawn ahead and what the generator was then.
type prefetched struct {
	batch []sample.Sample
	rng   *rand.PCG
	err   error
}

// state is what a checkpoint holds beside the model.
type state struct {
	Step    uint64 `json:"step"`
	Samples uint64 `json:"samples"`
	Origin  uint64 `json:"schedule_origin"` // step at which the schedules began
	// Drawn is Samples and those of batches that the model refused, since
	// version 2: a Seeker's position.
	Drawn uint64 `json:"drawn"`
	// RateScale multiplies the learning rate, since version 2; 0 stands for 1.
	RateScale float64 `json:"rate_scale,omitempty"`
	// AverageSum/AverageWeight is the running mean loss.
	AverageSum    float64 `json:"average_sum"`
	AverageWeight float64 `json:"average_weight"`
	HeldOut       *Loss   `json:"held_out,omitempty"` // last validation
	RNG           []byte  `json:"rng"`
	Caller        []byte  `json:"caller,omitempty"`
}

// New returns a trainer at step 0. Errors wrap ErrConfig.
func New(m Model, s Source, cfg Config) (*Trainer, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	return &Trainer{
		model: m, source: s, cfg: cfg,
		rng:     rand.NewPCG(cfg.Seed, drawStream),
		batch:   make([]sample.Sample, cfg.BatchSize),
		heldOut: make([]sample.Sample, cfg.HeldOut),
	}, nil
}

// drawStream separates the draws from other uses of the same seed.
const drawStream = 0x64726177 // "draw"

// Steps returns the number of steps made.
func (t *Trainer) Steps() uint64 { return t.state.Step }

// Age returns the number of steps made with the present model: since the last
// Renew, or all.
func (t *Trainer) Age() uint64 { return t.state.Step - t.state.Origin }

// Samples returns the number of samples learned from, repetitions included.
func (t *Trainer) Samples() uint64 { return t.state.Samples }

// Average returns the running mean loss, 0 before the first step.
func (t *Trainer) Average() float64 {
	if t.state.AverageWeight == 0 {
		return 0
	}
	return t.state.AverageSum / t.state.AverageWeight
}

// HeldOut returns the last validation, nil before the first.
func (t *Trainer) HeldOut() *Loss { return t.state.HeldOut }

// Hyper returns what the schedules set for the next step.
func (t *Trainer) Hyper() Hyper {
	at := t.Age()
	h := Hyper{LearningRate: t.cfg.LearningRate.At(at), Lambda: t.cfg.Lambda.At(at)}
	if t.state.RateScale != 0 {
		h.LearningRate *= t.state.RateScale
	}
	return h
}

// ScaleRate multiplies the scheduled learning rate by scale, from the next step on,
// in place of the scale before; 0 stands for 1.
func (t *Trainer) ScaleRate(scale float64) { t.state.RateScale = scale }

// Batch returns the batch drawn last: after an error of the model, the one it
// could not learn. It is valid until the next Step.
func (t *Trainer) Batch() []sample.Sample { return t.batch }

// Renew goes on with another model, with nothing learned. Both schedules begin anew with the next step, steps and samples are
// counted on.
func (t *Trainer) Renew(m Model) {
	t.model = m
	s := &t.state
	s.Origin, s.AverageSum, s.AverageWeight, s.HeldOut = s.Step, 0, 0, nil
}

// Step draws a batch and makes one step. If the draw fails nothing has changed;
// if the model refuses the batch, it is skipped: the step does not count, but
// the next call draws another one.
func (t *Trainer) Step() (Report, error) {
	began := time.Now()
	if err := t.draw(); err != nil {
		return Report{}, fmt.Errorf("draw batch: %w", err)
	}
	h := t.Hyper()
	loss, err := t.model.Fit(t.batch, h)
	if err != nil {
		return Report{}, fmt.Errorf("fit: %w", err)
	}
	s := &t.state
	s.Step++
	s.Samples += uint64(len(t.batch))
	s.AverageSum = averageDecay*s.AverageSum + (1-averageDecay)*loss
	s.AverageWeight = averageDecay*s.AverageWeight + (1 - averageDecay)
	r := Report{
		Step: s.Step, Samples: s.Samples, Hyper: h, Loss: loss,
		Average: t.Average(), Elapsed: time.Since(began),
	}
	if every := t.cfg.ValidateEvery; every > 0 && s.Step%every == 0 {
		l, err := t.Validate(h.Lambda)
		if err != nil {
			return r, err
		}
		r.HeldOut = &l
	}
	every := t.cfg.ReportEvery
	if t.cfg.OnReport != nil && (r.HeldOut != nil || every > 0 && s.Step%every == 0) {
		t.cfg.OnReport(r)
	}
	return r, nil
}

// draw puts the next batch into t.batch and lets another one be drawn ahead.
func (t *Trainer) draw() error {
	if t.ahead == nil {
		t.drawAhead()
	}
	next := <-t.ahead
	t.ahead = nil
	if next.err != nil {
		t.spare = next.batch
		return errors.Join(next.err, t.seek())
	}
	t.batch, t.spare, t.rng = next.batch, t.batch, next.rng
	t.state.Drawn += uint64(len(t.batch))
	if t.cfg.Prefetch {
		t.drawAhead()
	}
	return nil
}

// drawAhead begins to draw the next batch.
func (t *Trainer) drawAhead() {
	if t.spare == nil {
		t.spare = make([]sample.Sample, t.cfg.BatchSize)
	}
	rng := *t.rng
	ahead, batch, source := make(chan prefetched, 1), t.spare, t.source
	t.ahead, t.spare = ahead, nil
	fill := func() {
		err := source.Draw(rand.New(&rng), batch)
		ahead <- prefetched{batch, &rng, err}
	}
	if t.cfg.Prefetch {
		go fill()
	} else {
		fill()
	}
}

// Close waits for the batch being drawn ahead, and forgets it. A trainer may be
// used on after it.
func (t *Trainer) Close() error {
	if t.ahead == nil {
		return nil
	}
	t.spare = (<-t.ahead).batch
	t.ahead = nil
	return t.seek()
}

// seek brings a Seeker to where the trainer is.
func (t *Trainer) seek() error {
	if s, ok := t.source.(Seeker); ok {
		return s.Seek(t.state.Drawn)
	}
	return nil
}

// Validate measures the model on held-out positions with a target of share
// lambda; without any, the loss has no positions.
func (t *Trainer) Validate(lambda float64) (Loss, error) {
	held := t.source.HeldOut(t.heldOut)
	l, err := t.model.Loss(held, lambda)
	if err != nil {
		return l, fmt.Errorf("validate: %w", err)
	}
	t.state.HeldOut = &l
	return l, nil
}

// Facts is what a net's manifest says of its training.
type Facts struct {
	Step    uint64
	Samples uint64
	Lambda  float64 // of the next step; HeldOut.Mean is measured with it
	HeldOut Loss    // of the model as exported
	Export  ExportReport
}

// Export writes the net to path, whole or not at all, after measuring it on the
// held-out positions.
func (t *Trainer) Export(path string) (Facts, error) {
	f := Facts{Step: t.state.Step, Samples: t.state.Samples, Lambda: t.Hyper().Lambda}
	var err error
	if f.HeldOut, err = t.Validate(f.Lambda); err != nil {
		return f, err
	}
	held := t.source.HeldOut(t.heldOut)
	err = durable.Write(path, func(w io.Writer) error {
		f.Export, err = t.model.Export(w, held)
		return err
	})
	if err != nil {
		return f, fmt.Errorf("export net: %w", err)
	}
	return f, nil
}
