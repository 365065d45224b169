package sample

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestParseFilter(t *testing.T) {
	got, err := ParseFilter("no-check, no-capture,no-draw,no-partial,no-illegal,min-ply=16,max-ply=400,max-score=3000,keep=0.25," +
		"no-duplicates,require-score,require-game,thin-ply=12")
	want := Filter{
		SkipInCheck: true, SkipCaptures: true, SkipDraws: true, SkipPartial: true, SkipIllegal: true, MinPly: 16, MaxPly: 400,
		MaxScore: 3000, Keep: 0.25, SkipDuplicates: true, RequireScore: true, RequireGame: true, ThinPly: 12,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for text, want := range map[string]float64{"random-skip=3": 0.25, "random-skip=0": 0} {
		if f, err := ParseFilter(text); err != nil || f.Keep != want {
			t.Errorf("%s: keeps %g, error %v, expected %g", text, f.Keep, err, want)
		}
	}
	for _, bad := range []string{
		"check", "no-check=1", "min-ply", "min-ply=x", "max-score=-1", "keep=0", "keep=2", "keep=NaN", "no-check,,",
		"random-skip=-1", "random-skip=NaN", "thin-ply=-1", "require-score=1",
	} {
		if _, err := ParseFilter(bad); !errors.Is(err, ErrFilter) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestFilterHelp: each criterion has a word, and each word is in the help.
func TestFilterHelp(t *testing.T) {
	fields := reflect.TypeFor[Filter]().NumField()
	words := 0
	for word := range strings.SplitSeq(FilterHelp, ",") {
		word, _, _ = strings.Cut(strings.TrimSpace(strings.TrimPrefix(word, "comma-separated: ")), " ")
		word = strings.NewReplacer("=N", "=1", "=CP", "=1", "=SHARE", "=0.5", "=X", "=1").Replace(word)
		f, err := ParseFilter(word)
		if err != nil || f == (Filter{}) {
			t.Errorf("%q: %+v, error %v", word, f, err)
		}
		words++
	}
	// Two for Keep, none for QuietLeaf: a leaf has no move, which files keep.
	if words != fields {
		t.Errorf("%d words for %d criteria", words, fields)
	}
}

func TestFilterValidate(t *testing.T) {
	for _, f := range []Filter{{MinPly: -1}, {MaxPly: -1}, {ThinPly: -1}, {MaxScore: -1}, {Keep: -1}, {Keep: 1.5}} {
		if err := f.Validate(); !errors.Is(err, ErrFilter) {
			t.Errorf("%+v: error %v, want ErrFilter", f, err)
		}
	}
	if err := (&Filter{Keep: 1, MaxScore: 100}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestMissingScore: a sample without a score is beyond no limit, in any unit, and
// only leaves where a score is asked for.
func TestMissingScore(t *testing.T) {
	s := Sample{Pos: chess.Crazyhouse.Start(), Score: NoScore}
	for _, unit := range []Unit{CentipawnUnit, InternalUnit} {
		if Convert(NoScore, unit, 300) != NoScore {
			t.Errorf("%v: NoScore is converted", unit)
		}
		for _, tc := range []struct {
			filter Filter
			want   Reason
		}{{Filter{MaxScore: 100}, Kept}, {Filter{MaxScore: 100, RequireScore: true}, Unscored}} {
			x := Selection{Filter: tc.filter}
			if why := x.Against(&s, unit, false); why != tc.want {
				t.Errorf("%v, %+v: %v, expected %v", unit, tc.filter, why, tc.want)
			}
		}
	}
	if s.HasScore() || s.ScoreOr0() != 0 {
		t.Errorf("found score %d", s.ScoreOr0())
	}
	if s.Score = -NoScore; !s.HasScore() || s.ScoreOr0() != -NoScore {
		t.Error("a score is taken for none")
	}
	g := newGame(t, startFEN, "f2f3 e7e5 g2g4 d8h4")
	g.Plies[2].HasScore, g.Plies[2].Score = false, 0
	for i, s := range From(g, RulesClock, nil) {
		if want := search.Score(100 * i); i != 2 && s.Score != want || i == 2 && s.Score != NoScore {
			t.Errorf("ply %d: score %d", i, s.Score)
		}
	}
}

// TestNoMoveIsQuiet: a sample without a move captures nothing, whatever stands on
// the square that its number names.
func TestNoMoveIsQuiet(t *testing.T) {
	s := Sample{Pos: chess.Crazyhouse.Start()}
	x := Selection{Filter: Filter{SkipCaptures: true}}
	if why := x.Against(&s, CentipawnUnit, false); why != Kept {
		t.Errorf("found %v, expected kept", why)
	}
}

// TestOrder: of two reasons the first is counted.
func TestOrder(t *testing.T) {
	s := Sample{Pos: chess.Crazyhouse.Start(), Score: 500, Ply: 7, Move: chess.NewMove(chess.A1, chess.H8, chess.Normal)}
	s.Partial = true
	f := Filter{
		RequireGame: true, MinPly: 8, MaxPly: 6, MaxScore: 400, SkipPartial: true, SkipIllegal: true, SkipCaptures: true,
		SkipDraws: true, ThinPly: 10, Keep: 0.5, SkipDuplicates: true,
	}
	x := Selection{Filter: f, Chance: func(Reason) float64 { return 0.9 }}
	x.isNew(s.Pos.Key())
	for _, step := range []struct {
		want Reason
		mend func()
	}{
		{NotWhole, func() { x.Filter.RequireGame = false }}, {Early, func() { x.Filter.MinPly = 0 }}, {Late, func() { x.Filter.MaxPly = 0 }},
		{LargeScore, func() { x.Filter.MaxScore = 0 }}, {Partial, func() { x.Filter.SkipPartial = false }}, {Illegal, func() { x.Filter.SkipIllegal = false }},
		{Capture, func() { x.Filter.SkipCaptures = false }}, {Drawn, func() { x.Filter.SkipDraws = false }}, {Thinned, func() { x.Filter.ThinPly = 0 }},
		{Skipped, func() { x.Filter.Keep = 0 }}, {Duplicate, func() { x.Filter.SkipDuplicates = false }}, {Kept, func() {}},
	} {
		if why := x.Against(&s, CentipawnUnit, false); why != step.want {
			t.Errorf("found %v, expected %v", why, step.want)
		}
		step.mend()
	}
}

// TestCounts: every reason has a count of its own, words, and a key in order.
func TestCounts(t *testing.T) {
	var n, sum Counts
	for why := range reasons {
		for range int(why) + 1 {
			n.Count(why)
		}
		if why.String() == "" || why.Samples() == "" {
			t.Errorf("reason %d has no words", why)
		}
	}
	values := reflect.ValueOf(n)
	for i := 1; i < int(reasons); i++ {
		if got := values.Field(i).Uint(); got != uint64(i)+1 {
			t.Errorf("field %s is %d, expected that of reason %v, %d", values.Type().Field(i).Name, got, Reason(i), i+1)
		}
	}
	sum.Add(&n)
	sum.Add(&n)
	sum.Move(1, Kept, Duplicate)
	if sum.Samples != 2*n.Samples || sum.Kept != 1 || sum.Duplicates != 2*n.Duplicates+1 || sum.InCheck != 2*n.InCheck {
		t.Errorf("%+v of %+v twice", sum, n)
	}
	const want = `{"samples":3,"untrained":1,"kept":2}`
	text, err := json.Marshal(Counts{Samples: 3, Untrained: 1, Kept: 2})
	if err != nil || string(text) != want {
		t.Errorf("%s, error %v, expected %s", text, err, want)
	}
}

// TestMissingResult: a sample without a result is of no drawn game.
func TestMissingResult(t *testing.T) {
	x := Selection{Filter: Filter{SkipDraws: true}}
	for without, want := range map[bool]Reason{false: Drawn, true: Kept} {
		s := Sample{Pos: chess.Crazyhouse.Start(), NoResult: without}
		if why := x.Against(&s, CentipawnUnit, false); why != want {
			t.Errorf("no result %t: %v, expected %v", without, why, want)
		}
	}
}
