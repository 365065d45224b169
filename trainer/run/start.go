package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/dataset"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// scaleSamples is how many positions the scale of scores is fitted to.
const scaleSamples = 200_000

// start gives a new run, by a schedule of lambda, its first net and its scale of scores.
func (r *runner) start(lambda trainer.Schedule) error {
	if r.cfg.Init != "" {
		if err := r.Start(r.model, r.Out); err != nil {
			return err
		}
	}
	if r.cfg.ScoreScale > 0 {
		return nil
	}
	samples := r.source.some(scaleSamples)
	found, err := r.FitScores(r.model, samples)
	if errors.Is(err, nnuefit.ErrNoFit) {
		return r.unfitted(samples, lambda, err)
	}
	if err == nil {
		fmt.Fprintf(r.Out, "score scale %.0f raw units per unit of log-odds, offset %.1f, fitted to %d positions", found.Scale, found.Offset, len(samples))
		if len(r.source.sets) > 1 {
			fmt.Fprint(r.Out, " drawn by weight, of small sets the same ones several times")
		}
		if ScoresOf(r.model) != found {
			fmt.Fprint(r.Out, "; the offset is not used (fit_offset)")
		}
		fmt.Fprintln(r.Out)
		r.scalesApart()
	}
	return err
}

// scalesApart says of each of several sets of data which scale its scores have alone: one scale
// serves all of them.
func (r *runner) scalesApart() {
	if len(r.source.sets) == 1 {
		return
	}
	for i, set := range r.source.sets {
		offset, scale, err := nnuefit.FitScale(set.Some(scaleSamples))
		text := fmt.Sprintf("%.0f raw units per unit of log-odds, offset %.1f", scale, offset)
		if err != nil {
			text = err.Error()
		}
		fmt.Fprintf(r.Out, "score scale of %s, fitted alone: %s\n", r.source.titles[i], text)
	}
}

// unfitted says what scores are taken for whose scale samples do not tell. It is that of a
// first checkpoint, or else net_scale: the net then learns to say what the scores do. The
// values of a convolutional net are probabilities, to which scores alone do not lead: it is
// told, unless results alone are its targets.
func (r *runner) unfitted(samples []sample.Sample, lambda trainer.Schedule, why error) error {
	mixed := lambda.Max() > 0 || r.cfg.LambdaLimit > 0 && r.cfg.Lambda2 > 0 // scores are in targets with a result too
	used := slices.ContainsFunc(samples, func(s sample.Sample) bool { return s.HasScore() && (mixed || s.NoResult) })
	if r.Kind == configs.Planes && r.cfg.Init == "" && r.cfg.ValueWeight > 0 && used {
		return fmt.Errorf("%w: score_scale: found 0, which fits it to the data, but %w: give what the scores mean with --score-scale, raw units (208 a pawn) per unit of log-odds of winning",
			trainer.ErrConfig, why)
	}
	scale, of := r.model.ScoreScale(), ""
	if r.Kind == configs.NNUE && scale == r.cfg.NetScale {
		of = ", that of the net's output"
	}
	fmt.Fprintf(r.Out, "score scale %.0f raw units%s: %v\n", scale, of, why)
	return nil
}

// checkFiles looks for the files that the settings name beside the data, before a
// new run has a directory and before the data are read.
func (r *runner) checkFiles() error {
	if err := CheckInit(r.cfg.Init, r.path(checkpoints)); err != nil {
		return err
	}
	if path, err := InitFile(r.cfg.Init); err == nil && filepath.Ext(path) == nnueExtension && Checkpoint(r.Dir) == "" {
		if _, err := r.readNNUE(path); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	}
	if name := r.cfg.Validation; name != "" {
		if _, err := os.Stat(strings.TrimPrefix(name, dataset.BufferPrefix)); err != nil {
			return fmt.Errorf("validation: %w", err)
		}
	}
	return nil
}

// CheckInit looks for what the setting init names, unless there are checkpoints in
// a directory, to go on from instead.
func CheckInit(init, checkpoints string) error {
	begun, _ := durable.Glob(checkpoints, "*.checkpoint")
	if init == "" || len(begun) > 0 {
		return nil
	}
	_, err := InitFile(init)
	return err
}

// InitFile returns the file that the setting init stands for now: of a directory its
// newest checkpoint or net. The word builtin.Name, for the program's own net, stands for itself.
func InitFile(init string) (string, error) {
	found, err := firstNet(init)
	if err != nil {
		return "", fmt.Errorf("init: %w", err)
	}
	return found.Path, nil
}

// LoopCheckpoints is the folder of checkpoints in the directory of a loop.
const LoopCheckpoints = "train"

// Extensions of files of nets.
const (
	nnueExtension   = ".nnue"
	planesExtension = ".onnx"
)

// Start gives a model that has learned nothing the net that the setting init names,
// of a checkpoint, of a file of an integer net, or the program's own, and says on out
// which it is. A known scale of scores stays, whatever that of the checkpoint is.
func (t *Training) Start(m Model, out io.Writer) error {
	if err := t.startFrom(t.Settings.Init, m, out); err != nil {
		return fmt.Errorf("init: %w", err)
	}
	if scale := t.Settings.ScoreScale; scale > 0 {
		return Scores{Scale: scale}.Set(m)
	}
	return nil
}

func (t *Training) startFrom(path string, m Model, out io.Writer) error {
	found, err := firstNet(path)
	if err != nil {
		return err
	}
	cut := 0
	ext := filepath.Ext(found.Path)
	isNet := ext == nnueExtension || found.Path == builtin.Name
	switch n, isNNUE := nnueOf(m); {
	case ext == planesExtension || isNet && !isNNUE:
		return fmt.Errorf("%w: found %s, expected a checkpoint for a net of kind %s", trainer.ErrConfig, found.Path, t.Kind)
	case isNet:
		net, err := t.readNNUE(found.Path)
		if err != nil {
			return err
		}
		if cut, err = n.Load(net); err != nil {
			return fmt.Errorf("%s: %w", found.Path, err)
		}
	default:
		if _, err := trainer.LoadModel(found.Path, m); err != nil {
			return err
		}
	}
	if found.Origin != "" {
		fmt.Fprintln(out, found.Origin)
	}
	fmt.Fprintf(out, "first net from %s\n", found.Path)
	if cut > 0 {
		fmt.Fprintf(out, "%d of its weights are cut to the limits of training\n", cut)
	}
	return nil
}

// readNNUE reads an NNUE net from its file, or the program's own.
func (t *Training) readNNUE(path string) (*nnue.Network, error) {
	if path != builtin.Name {
		return nnue.ReadFile(path, t.Variant)
	}
	if net := builtin.Net(t.Variant); net != nil {
		return net, nil
	}
	return nil, fmt.Errorf("%w: found %s, expected a file: the program has no net for %s", trainer.ErrConfig, path, t.Variant.Name)
}

// firstNet finds what a first net is read from: the file itself, the newest
// checkpoint of a run of learn or of a directory of checkpoints, or the newest net
// of any other directory that stands for one, as nets.Find says; of a loop of
// convolutional nets its newest checkpoint.
func firstNet(path string) (nets.Found, error) {
	if path == builtin.Name {
		return nets.Found{Path: builtin.Name}, nil
	}
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return nets.Found{Path: path}, err
	}
	for _, dir := range []string{path, filepath.Join(path, checkpoints)} {
		if names, _ := durable.Glob(dir, "*.checkpoint"); len(names) > 0 {
			return nets.Found{Path: names[len(names)-1]}, nil // their names sort by step
		}
	}
	found, err := nets.Find(path)
	if errors.Is(err, nets.ErrNotFound) {
		err = fmt.Errorf("%w: %w", trainer.ErrNoCheckpoint, err)
	}
	if err == nil && filepath.Ext(found.Path) == planesExtension { // which cannot be trained on, as its run's checkpoint can
		if names, _ := durable.Glob(filepath.Join(path, LoopCheckpoints), "*.checkpoint"); len(names) > 0 {
			return nets.Found{Path: names[len(names)-1]}, nil
		}
		err = fmt.Errorf("%w: found %s, expected a checkpoint beside it", trainer.ErrNoCheckpoint, found.Path)
	}
	return found, err
}
