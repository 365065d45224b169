package xboard

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func TestParseFeatures(t *testing.T) {
	for text, want := range map[string][]Feature{
		` ping=1 myname="A b=c" done=0`: {{"ping", "1"}, {"myname", "A b=c"}, {"done", "0"}},
		`a= b=""`:                       {{"a", ""}, {"b", ""}},
		`a=1 b="c`:                      {{"a", "1"}},
		`a=1 rubbish`:                   {{"a", "1"}},
		`=1`:                            nil,
		``:                              nil,
	} {
		if got := ParseFeatures(text); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
	if n := len(ParseFeatures(strings.Repeat("a=1 ", 1000))); n != maxFeatures {
		t.Errorf("%d features, expected %d", n, maxFeatures)
	}
}

func TestListedOptions(t *testing.T) {
	f := defaultFeatures()
	for _, text := range []string{"Hash -spin 16 1 1024", "Style - odd -combo *a /// b - c", "Go -button", "no kind", "-check 1"} {
		f.set(Feature{"option", text})
	}
	want := []listedOption{{"Hash", "spin"}, {"Style - odd", "combo"}, {"Go", "button"}}
	if !reflect.DeepEqual(f.options, want) {
		t.Errorf("%q, expected %q", f.options, want)
	}
}

func TestParseThinking(t *testing.T) {
	for text, want := range map[string]thinking{
		"  8      17    55   468878  d5 Nc3 d4 Nb5": {depth: 8, score: 17, nodes: 468878, pv: []string{"d5", "Nc3", "d4", "Nb5"}},
		"5 -20 1 1604 Nf6 ??":                       {depth: 5, score: -20, bound: search.Upper, nodes: 1604, pv: []string{"Nf6", "??"}},
		"5. 79 0 239 e5 !!":                         {depth: 5, score: 79, bound: search.Lower, nodes: 239, pv: []string{"e5", "!!"}},
		"9 100003 7 10 14 900 0\te4 e5":             {depth: 9, selDepth: 14, score: search.MateAfter(5), nodes: 10, pv: []string{"e4", "e5"}},
		"9 -100002 7 10\te4":                        {depth: 9, score: search.MatedAfter(4), nodes: 10, pv: []string{"e4"}},
		"9 -100000 7 10":                            {depth: 9, score: search.MatedAfter(0), nodes: 10, pv: []string{}},
		"9 999997 7 10 e4":                          {depth: 9, score: search.MateScore - search.MaxPly - 1, nodes: 10, pv: []string{"e4"}},
		"999 1 7 -10 1. e4":                         {depth: search.MaxPly, score: 1, pv: []string{"1.", "e4"}},
	} {
		if got, ok := parseThinking(text); !ok || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v (%v), expected %+v", text, got, ok, want)
		}
	}
	for _, text := range []string{"", "1 2 3", "Nodes: 1 2 3", "1 2 3 x e4", "2 x 3 4 e4", "stat01: 1 2 3 4"} {
		if got, ok := parseThinking(text); ok {
			t.Errorf("%q: %+v, expected none", text, got)
		}
	}
}

// TestThinkingRoundTrip: what the server prints the client reads.
func TestThinkingRoundTrip(t *testing.T) {
	p := parse(t, "r3k2r/8/8/8/8/8/8/R3K2R[Nn] w KQkq - 0 1")
	pv := parsePV(p, []string{"e1g1", "O-O-O", "N@d5"})
	if len(pv) != 3 {
		t.Fatalf("%d moves, expected 3", len(pv))
	}
	for _, s := range []search.Score{0, 17, -3000, search.MateAfter(1), search.MateAfter(7), search.MatedAfter(0), search.MatedAfter(6)} {
		for _, b := range []search.Bound{search.Exact, search.Lower, search.Upper} {
			info := search.Info{Depth: 9, SelDepth: 14, Score: s, Bound: b, Nodes: 1 << 40, Elapsed: 1500 * time.Millisecond, PV: pv}
			text := string(AppendThinking(nil, &p, &info))
			got, ok := parseThinking(text)
			moves := parsePV(p, got.pv)
			if !ok || got.depth != 9 || got.selDepth != 14 || got.score != s || got.bound != b || got.nodes != 1<<40 || !reflect.DeepEqual(moves, pv) {
				t.Errorf("%q: %+v, %v", text, got, moves)
			}
		}
	}
}

func TestParseMove(t *testing.T) {
	p := parse(t, "r3k2r/1P6/8/8/8/8/8/R3K2R[Nn] w KQkq - 0 1")
	for text, want := range map[string]string{
		"e1g1": "e1g1", "O-O": "e1g1", "0-0-0": "e1c1", "N@d5": "N@d5", "n@d5": "N@d5", "b7b8Q": "b7b8q", "b8=N": "b7b8n", "bxa8=Q+": "b7a8q", "Rxa8": "a1a8", "A1A8": "",
	} {
		m, err := ParseMove(&p, text)
		if (want == "") != (err != nil) || err == nil && p.UCI(m) != want {
			t.Errorf("%s: %v, %v, expected %s", text, m, err, want)
		}
	}
	if got := parsePV(p, strings.Fields("1. e1e2 1...Kf7 2.<N@d5> (N@e5) 3. e9 Rd1")); len(got) != 4 {
		t.Errorf("%d moves of a variation, expected 4", len(got))
	}
}

func TestControl(t *testing.T) {
	clock := func(base, inc time.Duration) search.Limits {
		return search.Limits{Time: [2]time.Duration{base, time.Hour}, Inc: [2]time.Duration{inc, 0}}
	}
	for want, lim := range map[string]search.Limits{
		"level 0 5 0":            clock(5*time.Minute, 0),
		"level 0 0:10 0.1":       clock(10*time.Second, 100*time.Millisecond),
		"level 0 1:31 12":        clock(90*time.Second+time.Millisecond, 12*time.Second),
		"level 0 0:01 0\nsd 4":   {Depth: 4, Time: [2]time.Duration{1, 0}},
		"st 3\nsd 9":             {Depth: 9, MoveTime: 3 * time.Second},
		"st 600\nsd 9":           {Depth: 9},
		"nps 400\nst 1":          {Nodes: 400},
		"expected whole seconds": {MoveTime: 1500 * time.Millisecond},
		"found two of":           {MoveTime: time.Second, Nodes: 3},
		"moves to a time":        {Time: clock(time.Minute, 0).Time, MovesToGo: 4},
		"a search for mate":      {Mate: 3},
	} {
		c, err := newControl(&lim, chess.White)
		got := strings.TrimSpace(string(c.append(nil, lim.Time[chess.White], 10*time.Minute)))
		if err != nil {
			if got = err.Error(); !errors.Is(err, ErrLimits) || !strings.Contains(got, want) {
				t.Errorf("%+v: error %v, expected %q", lim, err, want)
			}
		} else if got != want {
			t.Errorf("%+v: %q, expected %q", lim, got, want)
		}
	}
	c := start(t, mockConfig("protover: print feature ping=1 done=1"))
	for _, lim := range []search.Limits{{Nodes: 4}, {MoveTime: time.Millisecond}} {
		if err := c.Accepts(&lim); !errors.Is(err, ErrLimits) || !strings.Contains(err.Error(), "engine ") {
			t.Errorf("%+v: error %v", lim, err)
		}
	}
	if err := c.Accepts(&depthOne); err != nil {
		t.Error(err)
	}
}

// FuzzEngineLine gives the client any line in the introduction and in a search.
func FuzzEngineLine(f *testing.F) {
	for _, seed := range []string{
		`feature ping=1 setboard=1 variants="normal,crazyhouse" option="Hash -spin 1 2 3" myname="x" done=1`,
		" 8      17    55   468878  d5 <Nc3> d4 Nb5 !", "9 -100003 7 10 14 900 0\t1. e4 e5 2. N@d4 ?",
		"move e2e4", "move P@e4", "move", "resign", "1-0 {White mates}", "Illegal move (no): e2e4", "Error (x): variant crazyhouse",
		"tellusererror Illegal position", "pong 7", "# comment", "offer draw", "9223372036854775807 -9223372036854775808 0 1 a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		features := defaultFeatures()
		for _, v := range ParseFeatures(strings.TrimPrefix(line, "feature")) {
			features.set(v)
		}
		for _, o := range features.options {
			if o.name == "" {
				t.Errorf("%q: an option without a name", line)
			}
		}
		p := chess.Crazyhouse.Start()
		tr := transcript{client: &Client{sent: []string{"e2e4"}}}
		done, err := tr.add(line)
		if err != nil || tr.claim != "" {
			return
		}
		if !done {
			tr.move = "e2e4"
		}
		m, err := ParseMove(&p, tr.move)
		if err != nil {
			return
		}
		if !p.IsLegal(m) || tr.best.depth < 0 || tr.best.depth > search.MaxPly || tr.best.score > search.MateScore || tr.best.score < -search.MateScore {
			t.Errorf("%q: move %v, %+v", line, m, tr.best)
		}
		at := p
		for _, m := range parsePV(p, tr.best.pv) {
			if !at.IsLegal(m) {
				t.Fatalf("%q: an illegal move in the variation", line)
			}
			at.Make(m)
		}
	})
}
