package cli

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

const clockFormat = "15:04:05"

// Sentences is a log for a person: every record is a line with the time of day, a mark
// for warnings and errors, and what say makes of it. What is longer than the terminal is
// wide goes on below, behind the time.
type Sentences struct {
	out   *Live
	say   func(message string, attrs []slog.Attr) string
	mu    *sync.Mutex
	attrs []slog.Attr
}

// NewSentences returns a handler that writes to out.
func NewSentences(out *Live, say func(message string, attrs []slog.Attr) string) *Sentences {
	return &Sentences{out: out, say: say, mu: new(sync.Mutex)}
}

// Enabled leaves out debugging, as the handlers of package slog do.
func (s *Sentences) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

func (s *Sentences) Handle(_ context.Context, r slog.Record) error {
	attrs := slices.Clone(s.attrs)
	r.Attrs(func(a slog.Attr) bool {
		a.Value = a.Value.Resolve()
		attrs = append(attrs, a)
		return true
	})
	mark := ""
	if r.Level >= slog.LevelWarn {
		mark = "! "
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	const gap = "  "
	text := wrap(mark+s.say(r.Message, attrs), s.out.columns()-len(clockFormat+gap), "\n"+strings.Repeat(" ", len(clockFormat+gap)))
	_, err := io.WriteString(s.out, r.Time.Format(clockFormat)+gap+text+"\n")
	return err
}

// wrap breaks a text between words so that no line has more than width characters, but for
// a word that is longer. A width of less than 20 leaves it whole.
func wrap(text string, width int, newLine string) string {
	if width < 20 {
		return text
	}
	var b strings.Builder
	column := 0
	for i, word := range strings.Split(text, " ") {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString(newLine)
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}

func (s *Sentences) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *s
	with.attrs = append(slices.Clip(s.attrs), attrs...)
	return &with
}

// WithGroup does nothing: sentences have no groups.
func (s *Sentences) WithGroup(string) slog.Handler { return s }
