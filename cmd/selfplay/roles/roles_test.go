package roles

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/await"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// The help of gate says how many games it plays without --workers: as many as the machine's
// setting says, and without one as the preset does.
func TestGateHelpSaysWorkers(t *testing.T) {
	laptop, err := configs.Preset("laptop")
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, code := run(t, "gate", "--help")
	if want := fmt.Sprintf("(default gate.concurrency, %d unless set)", laptop.Gate.Concurrency); code != 0 || !strings.Contains(out, want) {
		t.Errorf("exit %d, error %q, found\n%s\nexpected %q", code, stderr, out, want)
	}
}

// An actor that begins again, since the run's settings have changed, plays as many games in all
// as it was told to.
func TestGamesOfActorThatBeginsAgain(t *testing.T) {
	server, err := bus.Open(t.Context(), bus.Options{Dir: t.TempDir(), Listen: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	cfg.Bus.URL, cfg.Run.Name, cfg.Actor.MaxPlies = "nats://"+server.Addr(), "zh", 60
	root := t.TempDir()
	settle := func() {
		t.Helper()
		r, err := selfplay.Open(t.Context(), filepath.Join(root, "trainer"), cfg, selfplay.Options{})
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	settle()
	dir, replayDir := filepath.Join(root, "actor"), filepath.Join(root, "replay")
	spooled := func() []string {
		names, err := filepath.Glob(filepath.Join(dir, "spool", "*.game"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	ended := make(chan string, 1)
	go func() {
		out, stderr, code := run(t, "actor", "--nats", cfg.Bus.URL, "--run", "zh", "--dir", dir, "--workers", "1", "--set", "actor.spool_max_games=2", "--games", "4")
		ended <- fmt.Sprintf("exit %d, error %q, output\n%s", code, stderr, out)
	}()
	await.True(t, "the spool is full", func() bool { return len(spooled()) == 2 }) // nobody stores games yet
	cfg.Actor.MaxPlies--
	settle()
	await.True(t, "the actor begins again", func() bool {
		text, err := os.ReadFile(filepath.Join(dir, "events.jsonl"))
		return err == nil && strings.Contains(string(text), "settings have changed")
	})
	storing, err := selfplay.Join(t.Context(), replayDir, "zh", cfg, selfplay.Options{Role: "replay"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stored := make(chan error, 1)
	go func() { stored <- storing.Replay(ctx) }()
	var said string
	select {
	case said = <-ended:
	case <-time.After(await.Patience):
		t.Fatal("the actor does not end")
	}
	cancel()
	if err := errors.Join(<-stored, storing.Close()); err != nil {
		t.Fatal(err)
	}
	games := map[string]bool{}
	for _, path := range spooled() { // a slow machine may leave some to the next start
		games[strings.TrimSuffix(filepath.Base(path), ".game")] = true
	}
	if err := replay.VisitIDs(filepath.Join(replayDir, "replay"), func(id string) { games[id] = true }); err != nil {
		t.Fatal(err)
	}
	if len(games) != 4 || !strings.HasPrefix(said, "exit 0") || !strings.Contains(said, "resume with") {
		t.Errorf("%d games played, expected 4; %s", len(games), said)
	}
}
