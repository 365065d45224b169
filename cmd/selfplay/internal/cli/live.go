package cli

import (
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"
)

// Live keeps a few status lines at the bottom of a terminal, below everything
// else that is written through it.
type Live struct {
	mu    sync.Mutex
	out   io.Writer
	Width int // columns; 0: not a terminal, no status lines
	lines []string
}

func NewLive(out io.Writer) *Live { return &Live{out: out, Width: terminalWidth(out)} }

// terminalWidth is the width of the terminal that w writes to; 0 if it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || os.Getenv("TERM") == "dumb" {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 20 {
		return 0
	}
	return width
}

// Write puts p above the status lines.
func (l *Live) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.erase() + string(p) + l.draw()
	if _, err := io.WriteString(l.out, text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Show replaces the status lines, each cut to the terminal's width.
func (l *Live) Show(lines ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	text := l.erase()
	l.lines = lines
	_, err := io.WriteString(l.out, text+l.draw())
	return err
}

// erase is what clears the status lines; the cursor is at the end of the last one.
func (l *Live) erase() string {
	if len(l.lines) == 0 {
		return ""
	}
	return "\r\x1b[K" + strings.Repeat("\x1b[1A\x1b[K", len(l.lines)-1)
}

func (l *Live) draw() string {
	cut := make([]string, len(l.lines))
	for i, line := range l.lines {
		runes := []rune(line)
		cut[i] = string(runes[:min(len(runes), l.Width-1)])
	}
	return strings.Join(cut, "\n")
}

// Follow shows a status until ctx ends: its lines, rewritten every second, on a
// terminal; otherwise, or as JSON, its attributes as one structured line after the
// first second and then every ten.
func (l *Live) Follow(ctx context.Context, logger *slog.Logger, asJSON bool, status func() (lines []string, attrs []any)) {
	onTerminal := l.Width > 0 && !asJSON
	if onTerminal {
		defer l.Show()
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for second := 0; ; second++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		lines, attrs := status()
		switch {
		case onTerminal:
			if err := l.Show(lines...); err != nil {
				return // nobody reads; the run goes on
			}
		case second%10 == 0:
			logger.Info("status", attrs...)
		}
	}
}
