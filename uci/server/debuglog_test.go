package server

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestServeDebugLog: the log has every line of both directions, in order and with its
// time, from the option on until it is taken back.
func TestServeDebugLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "debug.log")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newSession(t, Options{})
	s.answer("position startpos", "setoption name Debug Log File value "+path)
	s.best("position startpos moves e2e4", "go depth 1")
	s.answer("setoption name Debug Log File value <empty>")
	s.best("go depth 1")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	pattern := regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z [<>] `)
	var said []string
	for _, line := range lines[1:] {
		mark := pattern.FindString(line)
		if mark == "" {
			t.Fatalf("line %q", line)
		}
		said = append(said, line[len(mark)-2:])
	}
	want := []string{"< isready", "> readyok", "< position startpos moves e2e4", "< go depth 1", "> info string evaluation: material", "> info depth 1", "> bestmove",
		"< setoption name Debug Log File value <empty>"}
	if lines[0] != "before" || len(said) != len(want) {
		t.Fatalf("log:\n%s", text)
	}
	for i, w := range want {
		if !strings.HasPrefix(said[i], w) {
			t.Errorf("line %d is %q, expected %q", i+1, said[i], w)
		}
	}
	if got := s.answer("setoption name Debug Log File value " + filepath.Join(path, "no")); len(got) != 1 || !strings.Contains(got[0], "option Debug Log File: ") {
		t.Errorf("no such directory: %q", got)
	}
}

// TestDebugLogEnds: a log that cannot be written is told once, and the answers go on.
func TestDebugLogEnds(t *testing.T) {
	var out strings.Builder
	o := &output{w: &out}
	if err := o.setDebugLog(filepath.Join(t.TempDir(), "log")); err != nil {
		t.Fatal(err)
	}
	if err := o.log.file.Close(); err != nil {
		t.Fatal(err)
	}
	o.printf("one")
	o.printf("two")
	if got := out.String(); !strings.HasPrefix(got, "info string Debug Log File ended: ") || !strings.HasSuffix(got, "\none\ntwo\n") || strings.Count(got, "ended") != 1 {
		t.Errorf("answers %q", got)
	}
}
