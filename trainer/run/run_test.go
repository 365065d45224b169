package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// ending is a context that ends at a look at it, not without having done
// something.
type ending struct {
	counting
	do func()
}

func (e *ending) Err() error {
	err := e.counting.Err()
	if err != nil && e.do != nil {
		e.do()
		e.do = nil
	}
	return err
}

// An interruption that leaves no checkpoint says so, of one run and of several.
func TestInterruptedWithoutCheckpoint(t *testing.T) {
	cfg := settings(t, dataFile(t, "a.chain", samples(20)))
	for name, run := range map[string]func(ctx context.Context, dir string) error{
		"run": func(ctx context.Context, dir string) error {
			_, err := Run(ctx, cfg, quiet(filepath.Join(dir, "run")))
			return err
		},
		"sweep": func(ctx context.Context, dir string) error {
			_, err := Sweep(ctx, []configs.Learn{cfg}, SweepOptions{Options: quiet(dir)})
			return err
		},
	} {
		dir := t.TempDir()
		ctx := &ending{counting{t.Context(), 12}, func() {
			path := filepath.Join(dir, "run", checkpoints)
			if err := errors.Join(os.RemoveAll(path), os.WriteFile(path, nil, 0o644)); err != nil {
				t.Error(err)
			}
		}}
		err := run(ctx, dir)
		if _, ok := errors.AsType[*fs.PathError](err); !ok || errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v, want that of the checkpoint", name, err)
		}
	}
}

// The time until an interruption counts.
func TestInterruptedTime(t *testing.T) {
	cfg, dir := settings(t, dataFile(t, "a.chain", samples(20))), t.TempDir()
	if _, err := Run(&counting{t.Context(), 12}, cfg, quiet(dir)); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	var p pause
	if err := json.Unmarshal(read(t, dir, pauseFile), &p); err != nil || p.Step == 0 || !(p.Seconds > 0) {
		t.Fatalf("%+v, error %v", p, err)
	}
	for _, tc := range []struct {
		step uint64 // of the interruption
		most bool
	}{{p.Step + 1, false}, {p.Step, true}} {
		copied := filepath.Join(t.TempDir(), "run")
		text, err := json.Marshal(pause{tc.step, 1000})
		if err := errors.Join(err, os.CopyFS(copied, os.DirFS(dir)), os.WriteFile(filepath.Join(copied, pauseFile), text, 0o644)); err != nil {
			t.Fatal(err)
		}
		if s, err := Run(t.Context(), cfg, quiet(copied)); err != nil || (s.Seconds >= 1000) != tc.most {
			t.Errorf("interrupted at step %d: %g seconds, error %v", tc.step, s.Seconds, err)
		}
	}
}

// unmeasurable is a model whose loss is not finite.
type unmeasurable struct{ Model }

func (unmeasurable) Loss([]sample.Sample, float64) (trainer.Loss, error) {
	return trainer.Loss{}, trainer.ErrDiverged
}

// The batch after which the net cannot be measured any more is kept; before the
// first step there is none.
func TestUnmeasurableIsKept(t *testing.T) {
	p, err := newPlan(settings(t, dataFile(t, "a.chain", samples(20))))
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{plan: p, Options: quiet(t.TempDir())}
	var share sharing
	share.expect(p)
	if err := errors.Join(r.openData(t.Context(), &share), r.prepare()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(r.trainer.Close(), r.journal.close()); err != nil {
			t.Error(err)
		}
	}()
	defer r.source.close()
	r.model = unmeasurable{r.model}
	if err := r.save(); !errors.Is(err, trainer.ErrDiverged) || strings.Contains(err.Error(), divergedFile) {
		t.Errorf("before the first step: error %v", err)
	}
	if _, err := r.trainer.Step(); err != nil {
		t.Fatal(err)
	}
	if err := r.save(); !errors.Is(err, trainer.ErrDiverged) || !strings.Contains(err.Error(), divergedFile) {
		t.Errorf("error %v, want ErrDiverged", err)
	}
	var s sample.Sample
	if err := chain.NewReader(bytes.NewReader(read(t, r.Dir, divergedFile))).Read(&s); err != nil || s.Pos.FEN() != r.trainer.Batch()[0].Pos.FEN() {
		t.Errorf("kept %s, error %v", s.Pos.FEN(), err)
	}
}
