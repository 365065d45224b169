package player

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/search"
)

func bothColors(d time.Duration) [2]time.Duration { return [2]time.Duration{d, d} }

func TestParsePlayer(t *testing.T) {
	for text, want := range map[string]Spec{
		"material":                 {Program: "material"},
		"nets/gen 12.nnue":         {Program: "nets/gen 12.nnue"},
		`"a,b.nnue",nodes=400`:     {Program: "a,b.nnue", Limited: true, Limits: search.Limits{Nodes: 400}},
		"x.nnue,nodes=10k,depth=9": {Program: "x.nnue", Limited: true, Limits: search.Limits{Nodes: 10000, Depth: 9}},
		"x.nnue, hash=64, threads=2,name=Gen 12": {
			Program: "x.nnue", HashMB: 64, Threads: 2, Name: "Gen 12",
		},
		"uci:fairy-stockfish,Hash=64,hash size=1,movetime=50ms": {
			Engine: true, Program: "fairy-stockfish", Args: []string{}, Limited: true,
			Limits: search.Limits{MoveTime: 50 * time.Millisecond}, Options: map[string]string{"Hash": "64", "hash size": "1"},
		},
		`uci:"/opt/my engine/sf"  --book 'x y'  -v "",EvalFile="a,b.nnue",Clear Hash=,tc=1:30+0.5,dir=/tmp,timeout=2m,margin=1s,name='a "b"'`: {
			Engine: true, Program: "/opt/my engine/sf", Args: []string{"--book", "x y", "-v", ""}, Limited: true,
			Limits:  search.Limits{Time: bothColors(90 * time.Second), Inc: bothColors(500 * time.Millisecond)},
			Options: map[string]string{"EvalFile": "a,b.nnue", "Clear Hash": ""},
			Dir:     "/tmp", Timeout: 2 * time.Minute, Margin: time.Second, Name: `a "b"`,
		},
		"uci:sf,Nodes=7": {Engine: true, Program: "sf", Args: []string{}, Options: map[string]string{"Nodes": "7"}},
		"uci:sf,tc=0+1": {
			Engine: true, Program: "sf", Args: []string{}, Limited: true, Options: map[string]string{},
			Limits: search.Limits{Inc: bothColors(time.Second)},
		},
	} {
		if got, err := Parse(text); err != nil || !reflect.DeepEqual(got, want) {
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
		_, err := Parse(text)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
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
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrUsage) {
				t.Fatal(err)
			}
			return
		}
		values := append(slices.Collect(maps.Values(s.Options)), append(s.Args, s.Program)...)
		for _, v := range values {
			if s.Program == "" || strings.Contains(v, `"`) && strings.Contains(v, "'") || strings.TrimSpace(v) != v || v == "" {
				return // cannot be put in one pair of quotes
			}
		}
		if !s.Engine {
			return
		}
		again := "uci:" + quote(s.Program)
		for _, a := range s.Args {
			again += " " + quote(a)
		}
		for name, v := range s.Options {
			if strings.ContainsAny(name, `"'`) {
				return
			}
			again += "," + name + "=" + quote(v)
		}
		back, err := Parse(again)
		if err != nil || back.Program != s.Program || !slices.Equal(back.Args, s.Args) || !maps.Equal(back.Options, s.Options) {
			t.Errorf("%q is %+v; written %q it is %+v, %v", text, s, again, back, err)
		}
	})
}

// TestContestants: limits of a player's own replace those of the flags, and equal
// names are told apart.
func TestContestants(t *testing.T) {
	flags := search.Limits{Nodes: 400, Depth: 5}
	cs, err := Contestants(t.Context(), []string{
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
	if _, err := Contestants(t.Context(), []string{"material", "nowhere.nnue"}, chess.Crazyhouse, flags, 4); err == nil {
		t.Error("a net that is not there was taken")
	}
}

func TestParseTreePlayer(t *testing.T) {
	s, err := Parse("mcts:net.onnx,batch=4,cpuct=2.5,fpu=0,probe=1,gumbel=16,hash=64,nodes=800,runtime=int8,library=x.so")
	if err != nil {
		t.Fatal(err)
	}
	want := mcts.DefaultOptions()
	want.Batch, want.CPuct, want.FPU, want.MateProbe, want.Gumbel.Actions = 4, 2.5, 0, 1, 16
	if s.Program != "net.onnx" || s.Engine || s.Tree == nil || *s.Tree != want || s.HashMB != 64 || s.Limits.Nodes != 800 || s.Runtime != (Runtime{Name: "int8", Library: "x.so"}) {
		t.Errorf("%+v, tree %+v", s, s.Tree)
	}
}
