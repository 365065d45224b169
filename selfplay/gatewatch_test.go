package selfplay

import "testing"

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
