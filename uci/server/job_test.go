package server

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
)

// told is a player that reports some lines and returns a result of others.
type told struct {
	player.Own
	reports []search.RootLine
	result  search.Result
	report  func(search.Info)
}

func (p *told) Report(f func(search.Info)) { p.report = f }

func (p *told) Search(context.Context, *chess.Line, search.Limits) (search.Result, error) {
	for i, l := range p.reports {
		p.report(search.Info{Depth: 12, MultiPV: i + 1, Score: l.Score, Bound: l.Bound, PV: l.PV})
	}
	return p.result, nil
}

// TestTellerLastLines: if the move played is not the one reported first, all lines of the
// result are reported again, or where it has none that move. A bound is reported as one.
func TestTellerLastLines(t *testing.T) {
	line := chess.NewLine(chess.Crazyhouse.Start())
	rootLine := func(text string, score search.Score) search.RootLine {
		m, err := line.Pos().ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		return search.RootLine{Score: score, PV: []chess.Move{m}}
	}
	a, b, c := rootLine("a2a3", 30), rootLine("b2b3", 40), rootLine("c2c3", 10)
	b.Bound = search.Lower
	for _, tc := range []struct{ reports, lines []search.RootLine }{
		{[]search.RootLine{a, b, c}, []search.RootLine{b, a, c}},
		{[]search.RootLine{b, a, c}, []search.RootLine{b, a, c}},
		{[]search.RootLine{a}, nil},
		{nil, []search.RootLine{b, a, c}},
	} {
		var out bytes.Buffer
		teller := teller{out: &output{w: &out}, pos: line.Pos()}
		result := search.Result{Move: b.PV[0], PV: b.PV, Score: b.Score, Bound: b.Bound, Depth: 12, Lines: tc.lines}
		best := teller.answer(t.Context(), &told{reports: tc.reports, result: result}, line, search.Limits{})
		last := map[string]string{}
		for text := range strings.Lines(out.String()) {
			f := strings.Fields(text)
			score := f[slices.Index(f, "cp")+1 : slices.Index(f, "nodes")]
			last[f[slices.Index(f, "multipv")+1]] = strings.Join(score, " ") + " " + f[len(f)-1]
		}
		want := map[string]string{"1": "40 lowerbound b2b3"}
		if tc.lines != nil {
			want["2"], want["3"] = "30 a2a3", "10 c2c3"
		}
		if string(best) != "bestmove b2b3\n" || !maps.Equal(last, want) {
			t.Errorf("last lines %v, then %q, expected %v", last, best, want)
		}
	}
}
