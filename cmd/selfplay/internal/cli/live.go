package cli

import (
	"context"
	"fmt"
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
	ticks <-chan time.Time // tests': of Follow, in place of every second
}

// Shown is a status in the forms that Follow knows.
type Shown struct {
	Panel []string // on a terminal
	Line  string   // elsewhere
	Attrs []any    // as JSON
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

// Follow shows a status until ctx ends: its panel, rewritten every second, on a
// terminal, whose columns it is given; otherwise a line, or attributes as JSON, after
// the first second and then every ten.
func (l *Live) Follow(ctx context.Context, logger *slog.Logger, asJSON bool, status func(columns int) Shown) {
	onTerminal := l.Width > 0 && !asJSON
	if onTerminal {
		defer l.Show()
	}
	ticks := l.ticks
	if ticks == nil {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		ticks = tick.C
	}
	for second := 0; ; second++ {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks:
			var err error
			switch {
			case onTerminal:
				l.fit()
				err = l.Show(status(l.Width).Panel...)
			case second%10 != 0:
			case asJSON:
				logger.Info("status", status(0).Attrs...)
			default:
				_, err = fmt.Fprintf(l, "%s  %s\n", now.Format(clockFormat), status(0).Line)
			}
			if err != nil {
				return // nobody reads; the run goes on
			}
		}
	}
}

// columns is the terminal's width; 0 if there is none.
func (l *Live) columns() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Width
}

// fit looks whether the terminal's width has changed.
func (l *Live) fit() {
	if width := terminalWidth(l.out); width > 0 {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.Width = width
	}
}
