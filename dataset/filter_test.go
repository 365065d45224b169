package dataset

import (
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestFilter applies each criterion on its own to files of samples.
func TestFilter(t *testing.T) {
	all := slices.Concat(readAll(t, crazyhouseBin, chess.Crazyhouse), readAll(t, wholeGames, chess.Crazyhouse))
	for text, breaks := range map[string]func(*sample.Sample) bool{
		"no-check":       func(s *sample.Sample) bool { return s.Pos.InCheck() },
		"no-capture":     func(s *sample.Sample) bool { return s.Pos.IsCapture(s.Move) || s.Move.IsPromotion() },
		"no-draw":        func(s *sample.Sample) bool { return s.Result == 0 },
		"no-partial":     func(s *sample.Sample) bool { return s.Partial },
		"min-ply=20":     func(s *sample.Sample) bool { return s.Ply < 20 },
		"max-ply=20":     func(s *sample.Sample) bool { return s.Ply > 20 },
		"max-score=1000": func(s *sample.Sample) bool { return s.Score >= 2082 || s.Score <= -2082 }, // 1000.96 rounds up
	} {
		f, err := sample.ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		x := sample.Selection{Filter: f}
		out := 0
		for i := range all {
			if (x.Against(&all[i], sample.InternalUnit, false) != sample.Kept) != breaks(&all[i]) {
				t.Errorf("%s: sample %d", text, i)
			}
			if breaks(&all[i]) {
				out++
			}
		}
		if out == 0 || out == len(all) {
			t.Errorf("%s: leaves out %d of %d", text, out, len(all))
		}
	}
}
