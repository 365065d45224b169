package main

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

func bothColors(d time.Duration) [2]time.Duration { return [2]time.Duration{d, d} }

func TestParsePlayer(t *testing.T) {
	for text, want := range map[string]playerSpec{
		"material":                 {program: "material"},
		"nets/gen 12.nnue":         {program: "nets/gen 12.nnue"},
		`"a,b.nnue",nodes=400`:     {program: "a,b.nnue", limited: true, limits: search.Limits{Nodes: 400}},
		"x.nnue,nodes=10k,depth=9": {program: "x.nnue", limited: true, limits: search.Limits{Nodes: 10000, Depth: 9}},
		"x.nnue, hash=64, threads=2,name=Gen 12": {
			program: "x.nnue", hashMB: 64, threads: 2, name: "Gen 12",
		},
		"uci:fairy-stockfish,Hash=64,hash size=1,movetime=50ms": {
			engine: true, program: "fairy-stockfish", args: []string{}, limited: true,
			limits: search.Limits{MoveTime: 50 * time.Millisecond}, options: map[string]string{"Hash": "64", "hash size": "1"},
		},
		`uci:"/opt/my engine/sf"  --book 'x y'  -v "",EvalFile="a,b.nnue",Clear Hash=,tc=1:30+0.5,dir=/tmp,timeout=2m,margin=1s,name='a "b"'`: {
			engine: true, program: "/opt/my engine/sf", args: []string{"--book", "x y", "-v", ""}, limited: true,
			limits:  search.Limits{Time: bothColors(90 * time.Second), Inc: bothColors(500 * time.Millisecond)},
			options: map[string]string{"EvalFile": "a,b.nnue", "Clear Hash": ""},
			dir:     "/tmp", timeout: 2 * time.Minute, margin: time.Second, name: `a "b"`,
		},
		"uci:sf,Nodes=7": {engine: true, program: "sf", args: []string{}, options: map[string]string{"Nodes": "7"}},
		"uci:sf,tc=0+1": {
			engine: true, program: "sf", args: []string{}, limited: true, options: map[string]string{},
			limits: search.Limits{Inc: bothColors(time.Second)},
		},
	} {
		if got, err := parsePlayer(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, %v; expected %+v", text, got, err, want)
		}
	}
}

func TestParsePlayerErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "found no name",
		"uci:":                      "found no command",
		"uci:  ,Hash=1":             "found no command",
		`uci:"" x`:                  "found no command",
		"x.nnue,nodes":              `found "nodes", expected NAME=VALUE`,
		"x.nnue,":                   `found "", expected NAME=VALUE`,
		"x.nnue,=3":                 "expected NAME=VALUE",
		"x.nnue,node=3":             `found setting "node", the nearest is nodes; expected one of nodes, depth, movetime, tc, name, hash, threads`,
		"x.nnue,Hash=3":             `"Hash", the nearest is hash;`,
		"x.nnue,dir=/":              `found setting "dir"`,
		"x.nnue,nodes=0":            `nodes: found "0"`,
		"x.nnue,nodes=-4":           `nodes: found "-4"`,
		"x.nnue,nodes=99999999999M": "nodes: found",
		"x.nnue,nodes=5,nodes=6":    "found nodes twice",
		"uci:sf,Hash=1,hash=2":      "found hash twice",
		"x.nnue,depth=129":          "expected a whole number from 1 to 128",
		"x.nnue,movetime=50":        `movetime: found "50", expected a time with its unit`,
		"x.nnue,movetime=-1s":       "movetime: found",
		"x.nnue,tc=40/60":           "moves to a control are not supported",
		"x.nnue,tc=10+":             "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=0":               "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=1:":              "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=1e3":             "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=1.2.3":           "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=100000":          "expected [MIN:]SEC[+SEC]",
		"x.nnue,hash=0":             "hash: found",
		"x.nnue,name=":              "name: found nothing",
		"mcts:":                     "found no name",
		"mcts:uniform,cpuct=":       `cpuct: found "", expected a decimal number`,
		"mcts:uniform,cpuct=-1":     "CPuct is -1, expected 0 to 100",
		"mcts:uniform,probe=2":      "MateProbe is 2, expected 0, 1 or 3",
		"mcts:uniform,dir=/":        "hash, threads, batch, cpuct, fpu, probe, gumbel, runtime, library",
		"mcts:a.onnx,runtime=tpu":   `runtime: unknown runtime: found "tpu", expected one of native, int8`,
		"material,batch=8":          `found setting "batch"`,
		`uci:"sf,Hash=1`:            `found a quote " that does not end`,
	} {
		_, err := parsePlayer(text)
		if !errors.Is(err, errUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

// FuzzParsePlayer: any text is a player that can be written again, in quotes, or
// a usage error.
func FuzzParsePlayer(f *testing.F) {
	for _, seed := range []string{
		"material,nodes=4", "mcts:uniform,cpuct=2", `uci:"a b" c,X="1,2",tc=1:2+.5`, "x.nnue,hash=3,threads=4", `uci:a'b"c' d,e f=`, "uci:é,名=值", "x,,", `"`,
	} {
		f.Add(seed)
	}
	quote := func(s string) string {
		if strings.Contains(s, `"`) {
			return "'" + s + "'"
		}
		return `"` + s + `"`
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parsePlayer(text)
		if err != nil {
			if !errors.Is(err, errUsage) {
				t.Fatal(err)
			}
			return
		}
		values := append(slices.Collect(maps.Values(s.options)), append(s.args, s.program)...)
		for _, v := range values {
			if s.program == "" || strings.Contains(v, `"`) && strings.Contains(v, "'") || strings.TrimSpace(v) != v || v == "" {
				return // cannot be put in one pair of quotes
			}
		}
		if !s.engine {
			return
		}
		again := "uci:" + quote(s.program)
		for _, a := range s.args {
			again += " " + quote(a)
		}
		for name, v := range s.options {
			if strings.ContainsAny(name, `"'`) {
				return
			}
			again += "," + name + "=" + quote(v)
		}
		back, err := parsePlayer(again)
		if err != nil || back.program != s.program || !slices.Equal(back.args, s.args) || !maps.Equal(back.options, s.options) {
			t.Errorf("%q is %+v; written %q it is %+v, %v", text, s, again, back, err)
		}
	})
}

// TestContestants: limits of a player's own replace those of the flags, and equal
// names are told apart.
func TestContestants(t *testing.T) {
	flags := search.Limits{Nodes: 400, Depth: 5}
	cs, err := contestants(t.Context(), []string{
		"material", "material,nodes=1k", "material,nodes=1k,hash=8", "uci:/usr/bin/sf,Hash=2,depth=3", "material,name=M,threads=2",
	}, chess.Crazyhouse, flags, 4)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range cs {
		got = append(got, c.Name+"; "+c.Net+"; "+c.Settings)
	}
	want := []string{
		"material depth 5 nodes 400; material; hash 4 MiB",
		"material nodes 1000; material; hash 4 MiB",
		"material nodes 1000 (2); material; hash 8 MiB",
		"sf; uci:/usr/bin/sf,Hash=2; /usr/bin/sf,Hash=2",
		"M; material; hash 4 MiB, 2 threads",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nexpected\n%q", got, want)
	}
	for i, want := range []int{1, 1, 1, 0, 2} {
		if cs[i].Threads != want {
			t.Errorf("player %d has %d threads, expected %d", i, cs[i].Threads, want)
		}
	}
	if l := cs[0].Limits; l.Nodes != 400 || l.Depth != 5 {
		t.Errorf("limits %+v", l)
	}
	if l := cs[3].Limits; l.Nodes != 0 || l.Depth != 3 {
		t.Errorf("limits %+v", l)
	}
	if _, err := contestants(t.Context(), []string{"material", "nowhere.nnue"}, chess.Crazyhouse, flags, 4); err == nil {
		t.Error("a net that is not there was taken")
	}
}
