package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/planes/arch"
	"github.com/crazyhouse-rl/selfplay/planes/onnx"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// planesSettings are those of a short run of a small convolutional net.
func planesSettings(t testing.TB, data ...string) configs.Learn {
	t.Helper()
	l, err := configs.LearnPreset("planes")
	if err != nil {
		t.Fatal(err)
	}
	l.Data, l.Batch, l.Epochs, l.Workers = data, 64, 1, 1
	l.Blocks, l.Channels, l.HeldOut, l.Part = 1, 8, 50, 16
	l.SaveEvery, l.ReportEvery, l.Mirror = 640, 320, 30
	l.ScoreScale = 410 // which random games do not tell
	return l
}

// TestPlanes makes a run straight and one in two parts, which end alike.
func TestPlanes(t *testing.T) {
	data := dataFile(t, "a.chain", samples(40))
	cfg := planesSettings(t, data)
	straight, parts := t.TempDir(), t.TempDir()
	s, err := Run(context.Background(), cfg, quiet(straight))
	if err != nil {
		t.Fatal(err)
	}
	if s.Steps < 15 || s.HeldOut.Moves == 0 || s.HeldOut.Policy <= 0 || len(s.Values) == 0 || s.Export.Positions == 0 || s.Export.MaxRaw > 1e-4 {
		t.Errorf("%+v", s)
	}
	var text strings.Builder
	if err := s.Print(&text); err != nil || !strings.Contains(text.String(), "names the move of") {
		t.Errorf("%s, error %v", text.String(), err)
	}
	model, err := onnx.Decode(read(t, straight, planesFile))
	if err != nil {
		t.Fatal(err)
	}
	if a, _, _, err := arch.Read(model); err != nil || a.Blocks != 1 || a.Channels != 8 {
		t.Errorf("%v, error %v", a, err)
	}
	if _, err := Run(&counting{context.Background(), 25}, cfg, quiet(parts)); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want one of the context", err)
	}
	if entries, _ := logOf(t, parts); len(entries) < 2 {
		t.Fatalf("%d entries before the interruption, want some", len(entries))
	}
	if _, err := Run(context.Background(), cfg, quiet(parts)); err != nil {
		t.Fatal(err)
	}
	_, want := logOf(t, straight)
	if _, got := logOf(t, parts); got != want || string(read(t, parts, planesFile)) != string(read(t, straight, planesFile)) {
		t.Errorf("the runs differ:\n%s\nwant\n%s", got, want)
	}
}

// TestFirstPlaneNet: of a loop's directory the newest checkpoint is gone on with, as its net is
// only computed by.
func TestFirstPlaneNet(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(dir, planesFile), nil, 0o644), os.Mkdir(filepath.Join(dir, LoopCheckpoints), 0o755)); err != nil {
		t.Fatal(err)
	}
	if path, err := InitFile(dir); !errors.Is(err, trainer.ErrNoCheckpoint) {
		t.Errorf("without a checkpoint: found %s, error %v", path, err)
	}
	want := filepath.Join(dir, LoopCheckpoints, trainer.CheckpointName(7))
	if err := os.WriteFile(want, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if path, err := InitFile(dir); path != want || err != nil {
		t.Errorf("found %s, error %v, expected %s", path, err, want)
	}
}

func TestPlanesRefuses(t *testing.T) {
	for change, want := range map[string]error{
		"planes=9x9": arch.ErrArchitecture, "channels=5000": arch.ErrArchitecture, "optimiser=ranger": trainer.ErrConfig, "kind=conv": configs.ErrInvalid,
	} {
		cfg := planesSettings(t, "a.chain")
		key, value, _ := strings.Cut(change, "=")
		if err := cfg.Set(key, value); err != nil {
			t.Fatal(err)
		}
		if err := Check(cfg); !errors.Is(err, want) {
			t.Errorf("%s: error %v, want %v", change, err, want)
		}
	}
}
