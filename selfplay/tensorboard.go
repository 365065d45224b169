package selfplay

import (
	"os"
	"path/filepath"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/tfevents"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// tensorBoardDir, in a run's directory, holds what TensorBoard shows of the run: the
// curves of its trainer and of its gate, each in a folder, by the step of training.
const tensorBoardDir = "tensorboard"

// curves writes event files of TensorBoard. A failure is reported once and ends
// nothing: the run does not depend on them. The zero value writes nothing.
type curves struct {
	run    *Run
	writer *tfevents.Writer
	failed bool
}

// openCurves begins a file for what goes on after step.
func (r *Run) openCurves(folder string, step uint64) *curves {
	c := &curves{run: r}
	dir := filepath.Join(r.path(tensorBoardDir), folder)
	err := os.MkdirAll(dir, 0o755)
	if err == nil {
		c.writer, err = tfevents.Create(dir, step, time.Now)
	}
	c.report(err)
	return c
}

func (c *curves) report(err error) {
	if err != nil && !c.failed {
		c.failed = true
		c.run.log.Warn("curves for TensorBoard are not written", "error", err)
	}
}

func (c *curves) add(step uint64, values ...tfevents.Scalar) {
	if c.writer != nil {
		c.report(c.writer.Write(step, values...))
	}
}

func (c *curves) close() {
	if c.writer != nil {
		c.report(c.writer.Close())
		c.writer = nil
	}
}

// trained adds a step's report, if its losses were measured on games held out.
func (c *curves) trained(r trainer.Report) {
	if r.HeldOut == nil {
		return
	}
	values := []tfevents.Scalar{
		{Tag: "rate/lr", Value: r.Hyper.LearningRate},
		{Tag: "rate/lambda", Value: r.Hyper.Lambda},
		{Tag: "loss/training", Value: r.Average},
	}
	c.add(r.Step, append(values, run.LossScalars("held out", r.HeldOut)...)...)
}

// judged adds a match of the gate, whose candidate was made at the step.
func (c *curves) judged(step uint64, result *match.GateResult) {
	figures := &result.Result.Encounters[0]
	passed := 0.0
	if result.Passed {
		passed = 1
	}
	values := []tfevents.Scalar{{Tag: "gate/passed", Value: passed}, {Tag: "gate/games", Value: float64(figures.Games.Games())}}
	if figures.Elo.Valid {
		values = append(values, tfevents.Scalar{Tag: "gate/Elo over the net before", Value: figures.Elo.Value})
	}
	c.add(step, values...)
}
