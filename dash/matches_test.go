package dash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A log that cannot be read is reported until it is removed, and is read only once.
func TestUnreadableGateLog(t *testing.T) {
	dir := trial(t)
	s := newTestServer(t, Config{Dir: dir})
	write(t, dir, "gate/bad.jsonl", "no log\n")
	first := read[State](t, s, "/api/state")
	second := read[State](t, s, "/api/state")
	for _, state := range []State{first, second} {
		if len(state.Findings) != 1 || !strings.Contains(state.Findings[0], "bad.jsonl") {
			t.Errorf("findings %q, expected one of the log", state.Findings)
		}
	}
	if first.Versions.Learning != second.Versions.Learning {
		t.Errorf("versions %d and %d, expected that nothing changed", first.Versions.Learning, second.Versions.Learning)
	}
	if err := os.Remove(filepath.Join(dir, "gate", "bad.jsonl")); err != nil {
		t.Fatal(err)
	}
	if state := read[State](t, s, "/api/state"); len(state.Findings) != 0 {
		t.Errorf("without the log: findings %q", state.Findings)
	}
}
