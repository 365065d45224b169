package selfplay

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// TestVerdictsKept: a referee keeps as many verdicts as an answer has, and counts all.
func TestVerdictsKept(t *testing.T) {
	t.Parallel()
	w := judgings{matches: make([]WatchedMatch, 1)}
	const all = 3*watchedVerdicts + 7
	for i := range all {
		w.end(JudgedNet{Generation: i})
	}
	if len(w.verdicts) != watchedVerdicts || cap(w.verdicts) > 2*watchedVerdicts {
		t.Errorf("found %d verdicts kept in room for %d, expected %d", len(w.verdicts), cap(w.verdicts), watchedVerdicts)
	}
	for _, c := range []struct{ after, first, verdicts int }{
		{0, all - watchedVerdicts, watchedVerdicts}, {all - 3, all - 3, 3}, {all, all, 0}, {all + 1, all - watchedVerdicts, watchedVerdicts},
	} {
		m := w.answer(c.after)
		if m.First != c.first || len(m.Verdicts) != c.verdicts || m.Total != all || c.verdicts > 0 && m.Verdicts[0].Generation != c.first {
			t.Errorf("after %d: found %d verdicts after %d of %d, expected %d after %d of %d", c.after, len(m.Verdicts), m.First, m.Total, c.verdicts, c.first, all)
		}
	}
}

// TestVerdictsLoadedTwice: a process that is the referee a second time counts no verdict twice.
func TestVerdictsLoadedTwice(t *testing.T) {
	t.Parallel()
	r := newRun(t.TempDir(), configs.Config{}, Options{})
	r.curve.events.Path = r.path(eventsFile)
	const all = watchedVerdicts + 100
	var text strings.Builder
	for i := range all {
		fmt.Fprintf(&text, "{\"msg\":\"gate\",\"candidate\":%d}\n", i)
	}
	// One verdict takes the place of another, which those who listened have been told.
	text.WriteString("{\"msg\":\"gate\",\"candidate\":0,\"net\":\"a\",\"incumbent\":\"b\"}\n{\"msg\":\"gate\",\"candidate\":0,\"net\":\"a\",\"incumbent\":\"c\"}\n")
	if err := os.WriteFile(r.path(eventsFile), []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	var w judgings
	for range 2 {
		w.load(r)
		if m := w.answer(0); m.Total != all+2 || len(m.Verdicts) != watchedVerdicts {
			t.Errorf("found %d verdicts of %d, expected %d of %d", len(m.Verdicts), m.Total, watchedVerdicts, all+2)
		}
	}
}
