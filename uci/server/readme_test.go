package server

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/player"
)

var numbers = regexp.MustCompile(`[0-9a-f]{8}|-?\d+`) // and ids

// shape is a line of the server without what another build may write otherwise.
func shape(line string) string {
	for _, start := range []string{"id name", "bestmove"} {
		if strings.HasPrefix(line, start) {
			return start
		}
	}
	line, _, _ = strings.Cut(line, " pv ")
	return numbers.ReplaceAllString(line, "N")
}

// TestReadme: the dialogue in the README is that with the server, where "..." stands for
// lines left out.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, dialogue, ok := strings.Cut(string(text), "are typed:\n")
	if !ok {
		t.Fatal("no dialogue")
	}
	n, err := player.ReadNet(player.Builtin, chess.Crazyhouse)
	if err != nil {
		t.Fatal(err)
	}
	s := newSession(t, Options{Net: n})
	var said []string // by the server, after the README's last line
	gap, typed := false, 0
	for line := range strings.Lines(dialogue) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" {
			continue
		}
		line, inside := strings.CutPrefix(line, "    ")
		command, isCommand := strings.CutPrefix(line, "> ")
		if (isCommand || !inside) && len(said) > 0 && !gap {
			t.Errorf("found %q, expected %q", line, said)
		}
		if !inside {
			break
		}
		switch {
		case isCommand:
			typed, gap = typed+1, false
			if s.send(command); strings.HasPrefix(command, "go") {
				said = s.until("bestmove")
			} else {
				said = s.answer()
			}
			said = slices.DeleteFunc(said, func(l string) bool { return l == "" })
		case line == "...":
			gap = true
		default:
			i := len(said) - 1 // of the last such line, as those of a search are alike
			for i >= 0 && shape(said[i]) != shape(line) {
				i--
			}
			if i < 0 || i > 0 && !gap {
				t.Fatalf("found %q, expected %q", line, said)
			}
			said, gap = said[i+1:], false
		}
	}
	if typed < 3 {
		t.Errorf("%d commands", typed)
	}
}
