package engine

import (
	"bytes"
	"io"
	"sync"
)

// lastLine keeps the last line written to it that is not blank, or the beginning
// of that line, and hands all on to next. Writes may come while it is read.
type lastLine struct {
	next io.Writer // nil: nowhere

	mu   sync.Mutex
	line []byte // not ended yet
	kept string
}

// maxKept bounds what is kept of a line, in bytes.
const maxKept = 512

// Write implements io.Writer. Errors are those of next.
func (l *lastLine) Write(p []byte) (int, error) {
	l.mu.Lock()
	for rest := p; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte{'\n'})
		l.line = append(l.line, part[:min(len(part), maxKept-len(l.line))]...)
		if ended {
			l.end()
		}
		rest = after
	}
	l.mu.Unlock()
	if l.next == nil {
		return len(p), nil
	}
	return l.next.Write(p)
}

// end takes the present line for the last one.
func (l *lastLine) end() {
	if text := bytes.TrimSpace(l.line); len(text) > 0 {
		l.kept = string(text)
	}
	l.line = l.line[:0]
}

// String returns the last line, ended or not.
func (l *lastLine) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if text := bytes.TrimSpace(l.line); len(text) > 0 {
		return string(text)
	}
	return l.kept
}
