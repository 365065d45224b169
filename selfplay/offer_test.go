package selfplay

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// While the disk takes no checkpoint, or no net, the trainer waits, and goes on once it
// does. One that is asked to end meanwhile says what is not kept.
func TestFullDiskHoldsUpTrainer(t *testing.T) {
	t.Parallel()
	for _, folder := range []string{trainDir, netsDir} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			cfg := smallConfig(t)
			cfg.Train.MinPositions = 1
			cfg.Train.SamplesPerRow = 1e6
			l := filledLearner(t, cfg)
			l.set = l.run.bus.SetPointer
			path := l.run.path(folder)
			away := path + ".away"
			block := func() { // as good as a full disk
				for err := os.Rename(path, away); os.WriteFile(path, nil, 0o644) != nil; err = os.RemoveAll(path) { // it makes its folder anew
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			block()
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- l.train(ctx) }()
			until := func(what string, reached func(s Status) bool) {
				t.Helper()
				for end := time.Now().Add(patience); !reached(l.run.Status()); time.Sleep(time.Millisecond) {
					select {
					case err := <-done:
						t.Fatalf("%s: the trainer ended with error %v, expected that it goes on", what, err)
					default:
					}
					if time.Now().After(end) {
						t.Fatalf("%s: found %q", what, l.run.Status().Roles[roleTrainer].State)
					}
				}
			}
			waits := func(s Status) bool { return begins(s.Roles[roleTrainer].State, triesAgain) }
			until("the disk takes nothing", waits)
			if err := os.Rename(path, away+".file"); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(away, path); err != nil && folder == netsDir {
				t.Fatal(err)
			}
			until("the disk takes files again", func(s Status) bool { return s.Candidate >= 2 })
			if files, err := filepath.Glob(filepath.Join(l.run.path(trainDir), "*.checkpoint")); err != nil || len(files) == 0 {
				t.Errorf("found checkpoints %v, error %v", files, err)
			}
			block()
			until("the disk takes nothing again", waits)
			cancel()
			if err := <-done; (err == nil) != (folder == netsDir) {
				t.Errorf("asked to end while %s takes no file: error %v", folder, err)
			}
		})
	}
}
