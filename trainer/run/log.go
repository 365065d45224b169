package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/figure"
	"github.com/crazyhouse-rl/selfplay/internal/tfevents"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// Entry is a line of a run's log.
type Entry struct {
	Step    uint64  `json:"step"`
	Samples uint64  `json:"samples"` // positions learned from, repetitions included
	Epoch   float64 `json:"epoch"`
	Seconds float64 `json:"seconds"` // spent on training, validations included
	LR      float64 `json:"lr"`
	Lambda  float64 `json:"lambda"`

	Loss    float64         `json:"loss,omitempty"`     // mean since the entry before, 0 if there was no step
	HeldOut *trainer.Loss   `json:"held_out,omitempty"` // of a validation
	Newest  *trainer.Loss   `json:"newest,omitempty"`   // of the newest part of the data
	Verdict trainer.Verdict `json:"verdict,omitempty"`  // newbob's
}

// journal keeps a run's log, for people and for TensorBoard.
type journal struct {
	file    *os.File
	events  *tfevents.Writer
	entries []Entry
}

// openJournal opens the log of a run that goes on after step and drops what it
// says of later steps.
func openJournal(r *runner, step uint64) (*journal, error) {
	j := &journal{}
	path := r.path(logFile)
	data, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var kept bytes.Buffer
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var e Entry
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Step > step {
			break
		}
		j.entries = append(j.entries, e)
		kept.Write(lines.Bytes())
		kept.WriteByte('\n')
	}
	if err := durable.WriteFile(path, kept.Bytes()); err != nil {
		return nil, err
	}
	if j.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0); err != nil {
		return nil, err
	}
	if j.events, err = tfevents.Create(r.Dir, step, time.Now); err != nil {
		return nil, errors.Join(err, j.file.Close())
	}
	return j, nil
}

func (j *journal) close() error { return errors.Join(j.file.Close(), j.events.Close()) }

// seconds is the time spent until the last entry.
func (j *journal) seconds() float64 {
	if len(j.entries) == 0 {
		return 0
	}
	return j.entries[len(j.entries)-1].Seconds
}

// pause says how long training had taken when a run was interrupted. It is no part
// of the checkpoint, which is the same however often a run is interrupted.
type pause struct {
	Step    uint64  `json:"step"` // of the checkpoint left
	Seconds float64 `json:"seconds"`
}

func (r *runner) writePause() error {
	text, err := json.Marshal(pause{r.trainer.Steps(), r.seconds()})
	if err != nil {
		return err
	}
	return durable.WriteSummed(r.path(pauseFile), append(text, '\n'))
}

// spent is the time that the steps made so far have taken: until the interruption
// that the run goes on from, or else until the last entry.
func (r *runner) spent() (float64, error) {
	var p pause
	err := durable.ReadObject(r.path(pauseFile), "remove it, and the time of the run is that of its log", &p)
	if errors.Is(err, fs.ErrNotExist) {
		return r.journal.seconds(), nil
	}
	if err != nil {
		return 0, err
	}
	if p.Step != r.trainer.Steps() {
		return r.journal.seconds(), nil
	}
	return p.Seconds, nil
}

// add writes an entry everywhere.
func (j *journal) add(e Entry) error {
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(text, '\n')); err != nil {
		return fmt.Errorf("log: %w", err)
	}
	scalars := []tfevents.Scalar{{Tag: "rate/lr", Value: e.LR}, {Tag: "rate/lambda", Value: e.Lambda}}
	if e.Loss != 0 {
		scalars = append(scalars, tfevents.Scalar{Tag: "loss/training", Value: e.Loss})
	}
	if n := len(j.entries); n > 0 && e.Seconds > j.entries[n-1].Seconds && e.Samples > j.entries[n-1].Samples {
		last := &j.entries[n-1]
		speed := float64(e.Samples-last.Samples) / (e.Seconds - last.Seconds)
		scalars = append(scalars, tfevents.Scalar{Tag: "speed/positions per second", Value: speed})
	}
	for _, m := range []struct {
		name string
		loss *trainer.Loss
	}{{"held out", e.HeldOut}, {"newest", e.Newest}} {
		scalars = append(scalars, LossScalars(m.name, m.loss)...)
	}
	j.entries = append(j.entries, e)
	if err := j.events.Write(e.Step, scalars...); err != nil {
		return fmt.Errorf("TensorBoard events: %w", err)
	}
	return nil
}

// LossScalars returns the curves of TensorBoard for a loss on some positions, which
// name says; none if it was not measured.
func LossScalars(name string, l *trainer.Loss) []tfevents.Scalar {
	if l == nil || l.Positions == 0 {
		return nil
	}
	scalars := []tfevents.Scalar{
		{Tag: "loss/" + name, Value: l.Mean},
		{Tag: "loss/" + name + ", scores", Value: l.Score},
	}
	if l.Result != 0 { // else no position has a result
		scalars = append(scalars, tfevents.Scalar{Tag: "loss/" + name + ", results", Value: l.Result})
	}
	if l.Decided > 0 {
		scalars = append(scalars, tfevents.Scalar{Tag: "sign accuracy/" + name, Value: l.SignAccuracy})
	}
	if l.Moves > 0 {
		scalars = append(scalars, tfevents.Scalar{Tag: "loss/" + name + ", moves", Value: l.Policy},
			tfevents.Scalar{Tag: "move accuracy/" + name, Value: l.MoveAccuracy})
	}
	if l.Triples > 0 {
		scalars = append(scalars, tfevents.Scalar{Tag: "moves ranked/" + name, Value: l.Ranked})
	}
	return scalars
}

// draw draws the losses. Without any there is no drawing.
func (j *journal) draw(path, title string) error {
	training, held := figure.Curve{Name: "training"}, figure.Curve{Name: "held out"}
	newest := figure.Curve{Name: "newest games", Dashed: true}
	var sign, ranked, named figure.Curve
	for _, c := range []*figure.Curve{&sign, &ranked, &named} {
		c.Name = held.Name
	}
	put := func(c *figure.Curve, e *Entry, y float64) {
		c.X, c.Y = append(c.X, e.Epoch), append(c.Y, y)
	}
	for i := range j.entries {
		e := &j.entries[i]
		if e.Loss != 0 {
			put(&training, e, e.Loss)
		}
		if l := e.HeldOut; l != nil && l.Positions > 0 {
			put(&held, e, l.Mean)
			if l.Decided > 0 {
				put(&sign, e, l.SignAccuracy)
			}
			if l.Triples > 0 {
				put(&ranked, e, l.Ranked)
			}
			if l.Moves > 0 {
				put(&named, e, l.MoveAccuracy)
			}
		}
		if l := e.Newest; l != nil && l.Positions > 0 {
			put(&newest, e, l.Mean)
		}
	}
	if len(training.X)+len(held.X) == 0 {
		return nil
	}
	f := figure.Figure{Title: title, Rows: [][]figure.Panel{{
		&figure.Lines{Title: "loss", XLabel: "epochs", YLabel: "loss", LegendBeside: true, Curves: []figure.Curve{training, held, newest}},
	}}}
	for _, p := range []struct {
		title string
		curve figure.Curve
	}{{"winners named", sign}, {"moves played ranked first", ranked}, {"moves named", named}} {
		if len(p.curve.X) > 0 {
			f.Rows = append(f.Rows, []figure.Panel{
				&figure.Lines{Title: p.title, XLabel: "epochs", YLabel: "share", Curves: []figure.Curve{p.curve}},
			})
		}
	}
	return f.Save(path)
}
