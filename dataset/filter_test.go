package dataset

import (
	"errors"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

func TestParseFilter(t *testing.T) {
	got, err := ParseFilter("no-check, no-capture,no-draw,no-partial,no-illegal,min-ply=16,max-ply=400,max-score=3000,keep=0.25")
	want := Filter{Check: true, Capture: true, Draw: true, Partial: true, Illegal: true, MinPly: 16, MaxPly: 400, MaxScore: 3000, Keep: 0.25}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"check", "no-check=1", "min-ply", "min-ply=x", "max-score=-1", "keep=0", "keep=2", "keep=NaN", "no-check,,"} {
		if _, err := ParseFilter(bad); !errors.Is(err, ErrFilter) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestFilter counts each reason on its own.
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
		f, err := ParseFilter(text)
		if err != nil {
			t.Fatal(err)
		}
		out := 0
		for i := range all {
			if (f.Against(&all[i], sample.InternalUnit, nil) != Kept) != breaks(&all[i]) {
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
