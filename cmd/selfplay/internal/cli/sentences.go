package cli

import (
	"context"
	"io"
	"log/slog"
	"slices"
	"sync"
)

const clockFormat = "15:04:05"

// Sentences is a log for a person: every record is a line with the time of day, a mark
// for warnings and errors, and what Say makes of it.
type Sentences struct {
	out   io.Writer
	say   func(message string, attrs []slog.Attr) string
	mu    *sync.Mutex
	attrs []slog.Attr
}

// NewSentences returns a handler that writes to w.
func NewSentences(w io.Writer, say func(message string, attrs []slog.Attr) string) *Sentences {
	return &Sentences{out: w, say: say, mu: new(sync.Mutex)}
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
	_, err := io.WriteString(s.out, r.Time.Format(clockFormat)+"  "+mark+s.say(r.Message, attrs)+"\n")
	return err
}

func (s *Sentences) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *s
	with.attrs = append(slices.Clip(s.attrs), attrs...)
	return &with
}

// WithGroup does nothing: sentences have no groups.
func (s *Sentences) WithGroup(string) slog.Handler { return s }
