package engine

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/leak"
	"github.com/crazyhouse-rl/selfplay/internal/mockengine"
)

func TestMain(m *testing.M) {
	mockengine.Main()
	os.Exit(m.Run())
}

// launch starts the mock engine with a script.
func launch(t *testing.T, script string) *Engine {
	t.Helper()
	leak.Check(t)
	command, args := mockengine.Command(script)
	e := New(Config{Command: command, Args: args, QuitGrace: 10 * time.Second}, func(string) bool { return true })
	if err := e.Launch(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// TestSendToTheDead: who writes to an engine that has ended learns how it ended.
func TestSendToTheDead(t *testing.T) {
	e := launch(t, "isready: print my last words | exit 9")
	if err := e.Send("isready"); err != nil {
		t.Fatal(err)
	}
	<-e.proc.exited
	for _, want := range []string{"exit status 9; its last line: \"my last words\"", "is down since: engine crashed"} {
		if err := e.Send("isready"); !errors.Is(err, ErrCrashed) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, expected %q", err, want)
		}
	}
	e.Close()
	if err := e.Send("isready"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestForget: what an engine said long ago is not why it died.
func TestForget(t *testing.T) {
	e := launch(t, "isready: exit 9")
	e.Note("long ago")
	e.Forget()
	if err := e.Send("isready"); err != nil {
		t.Fatal(err)
	}
	err := e.Await(t.Context(), 10*time.Second, "readyok", func([]string, string) (bool, error) { return false, nil })
	if !errors.Is(err, ErrCrashed) || strings.Contains(err.Error(), "long ago") {
		t.Errorf("error %v", err)
	}
}
