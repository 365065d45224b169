package cli

import (
	"fmt"
	"io"
	"time"
)

// Progress prints every few seconds how far long work has come.
type Progress struct {
	w     io.Writer
	what  string
	done  int
	shown time.Time
}

// progressPeriod is the time between two lines of a progress.
const progressPeriod = 5 * time.Second

func NewProgress(w io.Writer, what string) *Progress {
	return &Progress{w: w, what: what, shown: time.Now()}
}

// Step counts one more.
func (p *Progress) Step() {
	if p.done++; p.done%256 != 0 {
		return
	}
	if now := time.Now(); now.Sub(p.shown) > progressPeriod {
		p.shown = now
		fmt.Fprintf(p.w, "%d %s\n", p.done, p.what)
	}
}
