package cli

import (
	"strings"
	"testing"
)

// screen is what a terminal shows after text: it knows carriage return, new
// line, "cursor up" and "erase line", which is all that live uses.
func screen(text string) []string {
	lines, row := []string{""}, 0
	for text != "" {
		switch {
		case strings.HasPrefix(text, "\x1b[K"):
			lines[row] = ""
			text = text[3:]
		case strings.HasPrefix(text, "\x1b[1A"):
			row--
			text = text[4:]
		case text[0] == '\r':
			text = text[1:] // always followed by an erased line
		case text[0] == '\n':
			if row++; row == len(lines) {
				lines = append(lines, "")
			}
			lines[row] = ""
			text = text[1:]
		default:
			lines[row] += text[:1]
			text = text[1:]
		}
	}
	return lines
}

func TestLiveKeepsStatusBelowEvents(t *testing.T) {
	var out strings.Builder
	l := &Live{out: &out, Width: 12}
	for _, step := range []func(){
		func() { _, _ = l.Write([]byte("event one\n")) },
		func() { _ = l.Show("status a", "a longer line than fits") },
		func() { _, _ = l.Write([]byte("event two\n")) },
		func() { _ = l.Show("status b", "waiting") },
	} {
		step()
	}
	got := strings.Join(screen(out.String()), "|")
	if want := "event one|event two|status b|waiting"; got != want {
		t.Errorf("screen shows %q, want %q", got, want)
	}
	if strings.Contains(out.String(), "than fits") {
		t.Error("a line was not cut to the width")
	}
	_ = l.Show()
	if got, want := strings.Join(screen(out.String()), "|"), "event one|event two||"; got != want {
		t.Errorf("after the end the screen shows %q, want %q", got, want)
	}
}
