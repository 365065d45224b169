package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
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

// Follow shows a panel every second on a terminal, and elsewhere a line, or attributes as
// JSON, after the first second and then every ten.
func TestFollow(t *testing.T) {
	const seconds = 21
	for _, tc := range []struct {
		name   string
		width  int
		asJSON bool
		shown  int
		want   []string // some of it
	}{
		{"terminal", 40, false, seconds, []string{"panel 1 of 40", "panel 21 of 40"}},
		{"terminal, JSON", 40, true, 3, []string{`"msg":"status","n":1}`, `"n":3}`}},
		{"file", 0, false, 3, []string{"12:00:00  line 1\n", "12:00:10  line 2\n", "12:00:20  line 3\n"}},
		{"file, JSON", 0, true, 3, []string{`"msg":"status","n":1}`, `"n":3}`}},
	} {
		var out strings.Builder
		ticks := make(chan time.Time)
		l := &Live{out: &out, Width: tc.width, ticks: ticks}
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		shown := 0
		go func() {
			defer close(done)
			l.Follow(ctx, slog.New(slog.NewJSONHandler(l, nil)), tc.asJSON, func(columns int) Shown {
				shown++
				return Shown{Panel: []string{fmt.Sprintf("panel %d of %d", shown, columns)}, Line: fmt.Sprintf("line %d", shown), Attrs: []any{"n", shown}}
			})
		}()
		for second := range seconds {
			ticks <- time.Date(2026, 1, 2, 12, 0, second, 0, time.UTC)
		}
		stop()
		<-done
		if shown != tc.shown {
			t.Errorf("%s: found %d in %d s, expected %d", tc.name, shown, seconds, tc.shown)
		}
		for _, text := range tc.want {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%s: found %q, expected %q in it", tc.name, out.String(), text)
			}
		}
		if last := screen(out.String()); last[len(last)-1] != "" {
			t.Errorf("%s: the screen ends with %q, expected that the panel is taken away", tc.name, last[len(last)-1])
		}
	}
}
