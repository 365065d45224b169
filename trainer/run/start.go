package run

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/trainer"
	"github.com/crazyhouse-rl/selfplay/trainer/nnuefit"
)

// scaleSamples is how many positions the scale of scores is fitted to.
const scaleSamples = 200_000

// start gives a new run its first net and its scale of scores.
func (r *runner) start() error {
	if r.cfg.Init != "" {
		if err := r.startFrom(r.cfg.Init); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	}
	if r.cfg.ScoreScale > 0 { // whatever the first net's was
		return r.model.SetScoreScale(r.cfg.ScoreScale)
	}
	samples := r.source.some(scaleSamples)
	scale, even, err := FitScale(r.model, samples)
	if errors.Is(err, nnuefit.ErrNoFit) {
		fmt.Fprintf(r.Out, "score scale stays at %.0f raw units: %v\n", r.model.ScoreScale(), err)
		return nil
	}
	if err == nil {
		fmt.Fprintf(r.Out, "score scale %.0f raw units per unit of log-odds, fitted to %d positions (offset %.1f)\n", scale, len(samples), even)
	}
	return err
}

// checkInit looks for the first net of a new run before its data are read.
func (r *runner) checkInit() error {
	path := r.cfg.Init
	if begun, _ := durable.Glob(r.path(checkpoints), "*.checkpoint"); path == "" || len(begun) > 0 {
		return nil
	}
	path, err := checkpointIn(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return fmt.Errorf("init: %w", err)
	}
	return nil
}

// netExtension is that of files of integer nets.
const netExtension = ".nnue"

// startFrom gives a new run the first net of another run's checkpoint, or of a
// file of an integer net.
func (r *runner) startFrom(path string) error {
	if filepath.Ext(path) == netExtension {
		m, ok := nnueOf(r.model)
		if !ok {
			return fmt.Errorf("%w: found %s, expected a checkpoint for a net of kind %s", trainer.ErrConfig, path, r.cfg.Kind)
		}
		net, err := nnue.ReadFile(path, r.Variant)
		if err != nil {
			return err
		}
		cut, err := m.Load(net)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		fmt.Fprintf(r.Out, "first net from %s\n", path)
		if cut > 0 {
			fmt.Fprintf(r.Out, "%d of its weights are cut to the limits of training\n", cut)
		}
		return nil
	}
	path, err := checkpointIn(path)
	if err != nil {
		return err
	}
	if _, err := trainer.LoadModel(path, r.model); err != nil {
		return err
	}
	fmt.Fprintf(r.Out, "first net from %s\n", path)
	return nil
}

// checkpointIn finds the newest checkpoint of a run, or of a directory of
// checkpoints, or is the file itself.
func checkpointIn(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return path, err
	}
	for _, dir := range []string{path, filepath.Join(path, checkpoints)} {
		if names, _ := durable.Glob(dir, "*.checkpoint"); len(names) > 0 {
			return names[len(names)-1], nil // their names sort by step
		}
	}
	return "", fmt.Errorf("%w in %s", trainer.ErrNoCheckpoint, path)
}
