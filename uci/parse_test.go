package uci

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestParseInfo(t *testing.T) {
	for _, test := range []struct {
		text string
		want infoLine
	}{
		{"depth 12 seldepth 20 multipv 2 score cp -35 nodes 12345 nps 1000 hashfull 7 time 99 pv e2e4 P@e5", infoLine{
			depth: 12, selDepth: 20, multiPV: 2, score: -35, scored: true, nodes: 12345, hashfull: 7,
			elapsed: 99 * time.Millisecond, pv: []string{"e2e4", "P@e5"}}},
		{"score mate 1", infoLine{multiPV: 1, score: search.MateAfter(1), scored: true}},
		{"score mate 3 upperbound", infoLine{multiPV: 1, score: search.MateAfter(5), scored: true, bound: search.Upper}},
		{"score mate -2", infoLine{multiPV: 1, score: search.MatedAfter(4), scored: true}},
		{"score mate 0", infoLine{multiPV: 1, score: search.MatedAfter(0), scored: true}},
		{"score mate 999999", infoLine{multiPV: 1, score: search.MateAfter(search.MaxPly - 1), scored: true}},
		{"score mate -9223372036854775808", infoLine{multiPV: 1, score: search.MatedAfter(search.MaxPly), scored: true}},
		{"score cp 9999999 lowerbound depth 3", infoLine{
			multiPV: 1, depth: 3, score: search.MateScore - search.MaxPly - 1, scored: true, bound: search.Lower}},
		{"score cp", infoLine{multiPV: 1}},
		{"score cp pv", infoLine{multiPV: 1, pv: []string{}}},
		{"score wdl 3", infoLine{multiPV: 1}},
		{"depth -3 nodes 99999999999999999999 time", infoLine{multiPV: 1}},
		{"multipv 0", infoLine{multiPV: 1}},
		{"string depth 9 pv e2e4", infoLine{multiPV: 1}},
		{"currmove e2e4 currmovenumber 1 tbhits 0 depth 4", infoLine{multiPV: 1, depth: 4}},
		{"", infoLine{multiPV: 1}},
	} {
		if got := parseInfo(strings.Fields(test.text)); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q:\n%+v\nexpected\n%+v", test.text, got, test.want)
		}
	}
}

// TestInfoRoundTrip: what the server prints the client reads.
func TestInfoRoundTrip(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[Nn] w KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	var pv []chess.Move
	at := p
	for _, text := range []string{"e1g1", "e8c8", "N@d5"} {
		m, err := at.ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		at.Make(m)
		pv = append(pv, m)
	}
	for _, chess960 := range []bool{false, true} {
		p.SetChess960(chess960)
		for _, score := range []search.Score{0, 17, -3000, search.MateAfter(1), search.MateAfter(7), search.MatedAfter(0), search.MatedAfter(6)} {
			want := search.Info{Depth: 9, SelDepth: 14, MultiPV: 3, Score: score, Bound: search.Upper, Nodes: 1 << 40,
				Elapsed: 1500 * time.Millisecond, Hashfull: 999, PV: pv}
			l := parseInfo(strings.Fields(string(AppendInfo(nil, &p, &want)))[1:])
			tr := transcript{pos: &p}
			got := search.Info{Depth: l.depth, SelDepth: l.selDepth, MultiPV: l.multiPV, Score: l.score, Bound: l.bound,
				Nodes: l.nodes, Elapsed: l.elapsed, Hashfull: l.hashfull, PV: tr.legal(l.pv)}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("chess960 %v: found %+v, expected %+v", chess960, got, want)
			}
		}
	}
}

// TestTranscriptPrefersExactScores: a bound stands only until an exact score
// comes.
func TestTranscriptPrefersExactScores(t *testing.T) {
	p := chess.Crazyhouse.Start()
	for _, test := range []struct {
		lines []string
		score search.Score
		pv    int // length
	}{
		{[]string{"info depth 1 score cp 5 lowerbound pv e2e4"}, 5, 1},
		{[]string{"info depth 1 score cp 5 lowerbound pv e2e4", "info depth 1 score cp 3 pv e2e4 e7e5", "info depth 2 score cp 9 lowerbound pv e2e4"}, 3, 2},
		{[]string{"info depth 1 score cp 3 pv d2d4", "info depth 2 score cp 4 pv e2e4 e7e5 e1e3"}, 4, 2},
		{[]string{"info depth 1 score cp 3 pv d2d4 d7d5"}, 3, 1}, // another move was played
		{[]string{"info depth 1 multipv 2 score cp 3 pv d2d4 d7d5"}, 0, 1},
		{nil, 0, 1},
	} {
		tr := transcript{pos: &p, multiPV: 1}
		for _, line := range test.lines {
			if err := tr.add(line); tr.best != nil || err != nil {
				t.Fatalf("%q: %q, %v", line, tr.best, err)
			}
		}
		tr.best = []string{"e2e4", "ponder", "e7e6"}
		r, err := tr.result()
		if err != nil || r.Score != test.score || len(r.PV) != test.pv || p.UCI(r.PV[0]) != "e2e4" || r.Ponder == chess.NoMove {
			t.Errorf("%q: %+v, %v", test.lines, r, err)
		}
		tr.best = []string{"e2e4", "ponder", "e2e3"}
		if r, err = tr.result(); err != nil || r.Ponder != chess.NoMove {
			t.Errorf("illegal ponder move: %+v, %v", r, err)
		}
	}
}

// TestTranscriptBound: a bound of the move that is played stands before the exact score of
// another move, and is a bound in the result.
func TestTranscriptBound(t *testing.T) {
	p := chess.Crazyhouse.Start()
	for _, test := range []struct {
		multiPV int
		last    string // report of the best line
		score   search.Score
		bound   search.Bound
		lines   int
	}{
		{1, "info depth 2 score cp 9 lowerbound pv e2e4 e7e5", 9, search.Lower, 0},
		{2, "info depth 2 score cp 9 lowerbound pv e2e4 e7e5", 9, search.Lower, 2},
		{1, "info depth 2 score cp 9 lowerbound pv c2c4", 3, search.Exact, 0}, // nor was this played
	} {
		tr := transcript{pos: &p, multiPV: test.multiPV}
		for _, line := range []string{"info depth 1 score cp 3 pv d2d4", test.last, "info multipv 2 score cp 3 pv d2d4", "bestmove e2e4"} {
			if err := tr.add(line); err != nil {
				t.Fatal(err)
			}
		}
		r, err := tr.result()
		if err != nil || p.UCI(r.Move) != "e2e4" || r.Score != test.score || r.Bound != test.bound || len(r.Lines) != test.lines {
			t.Errorf("%q: %+v, %v", test.last, r, err)
		}
		if test.lines > 0 && (r.Lines[0].Score != r.Score || r.Lines[0].Bound != r.Bound) {
			t.Errorf("%q: first line %+v of %+v", test.last, r.Lines[0], r)
		}
	}
}

// TestTranscriptMovesOnce: no move stands in two lines of a result, whatever the engine
// reported anew.
func TestTranscriptMovesOnce(t *testing.T) {
	p := chess.Crazyhouse.Start()
	tr := transcript{pos: &p, multiPV: 3}
	for _, line := range []string{
		"info depth 1 multipv 1 score cp 5 pv a2a3", "info depth 1 multipv 2 score cp 4 pv b2b3", "info depth 1 multipv 3 score cp 3 pv c2c3",
		"info depth 2 multipv 1 score cp 6 pv b2b3", "bestmove b2b3",
	} {
		if err := tr.add(line); err != nil {
			t.Fatal(err)
		}
	}
	r, err := tr.result()
	var moves []string
	for _, l := range r.Lines {
		moves = append(moves, p.UCI(l.PV[0]))
	}
	if err != nil || !slices.Equal(moves, []string{"b2b3", "c2c3"}) || r.Lines[0].Score != 6 {
		t.Errorf("found lines %v of %+v, error %v, expected b2b3 and c2c3", moves, r, err)
	}
}

// TestTranscriptOfAnotherMove: an engine that plays another move than its best line's has
// the score of that move's line, if it said one, which is the first then; if not, it has
// found the move alone, as far as it was asked for several.
func TestTranscriptOfAnotherMove(t *testing.T) {
	p := chess.Crazyhouse.Start()
	for _, tc := range []struct {
		multiPV      int
		move         string
		score        search.Score
		lines, depth int
	}{{1, "b2b3", 5, 0, 1}, {2, "b2b3", 4, 2, 2}, {2, "c2c3", 5, 1, 1}, {2, "a2a3", 5, 2, 1}} {
		tr := transcript{pos: &p, multiPV: tc.multiPV}
		for _, line := range []string{"info depth 1 multipv 1 score cp 5 pv a2a3", "info depth 2 multipv 2 score cp 4 pv b2b3", "bestmove " + tc.move} {
			if err := tr.add(line); err != nil {
				t.Fatal(err)
			}
		}
		r, err := tr.result()
		if err != nil || len(r.Lines) != tc.lines || r.Score != tc.score || r.Depth != tc.depth || p.UCI(r.Move) != tc.move || r.PV[0] != r.Move ||
			tc.lines > 0 && (r.Lines[0].PV[0] != r.Move || r.Lines[0].Score != r.Score) {
			t.Errorf("%+v: found %+v, %v", tc, r, err)
		}
	}
}

// TestGoRoundTrip: the limits the client writes are those the server reads.
func TestGoRoundTrip(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[Nn] b KQkq - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	move := func(text string) chess.Move {
		m, err := p.ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	ms := time.Millisecond
	for text, lim := range map[string]search.Limits{
		"go infinite":          {Infinite: true},
		"go depth 7 infinite":  {Depth: 7, Infinite: true},
		"go depth 7 nodes 500": {Depth: 7, Nodes: 500},
		"go mate 3":            {Mate: 3},
		"go movetime 20":       {MoveTime: 20 * ms},
		"go wtime 1000 btime 2000 winc 10 binc 20 movestogo 4": {
			Time: [2]time.Duration{1000 * ms, 2000 * ms}, Inc: [2]time.Duration{10 * ms, 20 * ms}, MovesToGo: 4},
		"go depth 2 searchmoves e8g8 N@e4": {Depth: 2, SearchMoves: []chess.Move{move("e8g8"), move("N@e4")}},
	} {
		if got := string(appendGo(nil, &p, &lim)); got != text {
			t.Errorf("wrote %q, expected %q", got, text)
		}
		g := ParseGo(strings.Fields(text)[1:], &p)
		if !reflect.DeepEqual(g.Limits, lim) || g.Faults != nil {
			t.Errorf("%s: read %+v, %v, expected %+v", text, g.Limits, g.Faults, lim)
		}
	}
	// What does not bound the side to move is no limit, but none was not asked for.
	for text, unbounded := range map[string]bool{
		"wtime 1000": true, "movestogo 40": true, "ponder wtime 1000": true, "btime 1000": false, "wtime 1000 nodes 5": false,
		"wtime 1000 infinite": false, "perft 2": false, "ponder": false, "": false,
	} {
		g := ParseGo(strings.Fields(text), &p)
		told := len(g.Faults) == 1 && strings.HasPrefix(g.Faults[0].Error(), "go: found no limit for black, expected btime,")
		if g.Unbounded != unbounded || told != unbounded {
			t.Errorf("go %s: found %+v, expected a fault: %v", text, g, unbounded)
		}
	}
	if g := ParseGo([]string{"perft", "1000000"}, &p); g.Perft != search.MaxPly {
		t.Errorf("found perft %d, expected at most %d", g.Perft, search.MaxPly)
	}
	// No limit for the side to move is no limit.
	for _, lim := range []search.Limits{{}, {Time: [2]time.Duration{time.Hour, 0}}} {
		if got := string(appendGo(nil, &p, &lim)); got != "go infinite" {
			t.Errorf("%+v: wrote %q", lim, got)
		}
	}
	// A clock that is down to less than a millisecond is still a clock.
	lim := search.Limits{Time: [2]time.Duration{-time.Second, 1}}
	if got := string(appendGo(nil, &p, &lim)); got != "go wtime 1 btime 1 winc 0 binc 0" {
		t.Errorf("run out clock: wrote %q", got)
	}
}

func FuzzInfoLine(f *testing.F) {
	f.Add("info depth 12 seldepth 20 multipv 2 score cp -35 nodes 12345 hashfull 7 time 99 pv e2e4 e7e5 P@e5")
	f.Add("info depth 3 score mate -2 upperbound pv d2d4")
	f.Add("info string pv score cp")
	f.Add("info score mate -9223372036854775808 depth 99999999999999999999 multipv 65536 pv")
	f.Add("bestmove e2e4 ponder e7e5")
	f.Add("bestmove")
	f.Fuzz(func(t *testing.T, line string) {
		p := chess.Crazyhouse.Start()
		tr := transcript{pos: &p, multiPV: 2}
		if err := tr.add(line); err != nil {
			return
		}
		if tr.best == nil {
			tr.best = []string{"e2e4"}
		}
		lines := slices.Clone(tr.lines) // as they were said
		r, err := tr.result()
		if err != nil {
			return
		}
		if !p.IsLegal(r.Move) || len(r.PV) == 0 || r.PV[0] != r.Move || r.Depth < 0 || r.Depth > search.MaxPly {
			t.Errorf("%q: result %+v", line, r)
		}
		if r.Score > search.MateScore || r.Score < -search.MateScore {
			t.Errorf("%q: score %d", line, r.Score)
		}
		// What the server would print of it is read as the same again.
		if len(lines) == 0 {
			return
		}
		l := lines[len(lines)-1]
		info := search.Info{Depth: l.depth, SelDepth: l.selDepth, MultiPV: l.multiPV, Score: l.score, Bound: l.bound,
			Nodes: l.nodes, Elapsed: l.elapsed, Hashfull: l.hashfull, PV: tr.legal(l.pv)}
		again := parseInfo(strings.Fields(string(AppendInfo(nil, &p, &info)))[1:])
		l.pv, again.pv = nil, nil
		if !reflect.DeepEqual(l, again) {
			t.Errorf("%q: %+v, read again %+v", line, l, again)
		}
	})
}
