package player

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/mcts"
	"github.com/crazyhouse-rl/selfplay/planes/ort"
	"github.com/crazyhouse-rl/selfplay/search"
)

func bothColors(d time.Duration) [2]time.Duration { return [2]time.Duration{d, d} }

func TestParse(t *testing.T) {
	tree := mcts.DefaultOptions()
	tuned := tree
	tuned.Batch, tuned.CPuct, tuned.FPU, tuned.MateProbe, tuned.Gumbel.Actions, tuned.LCB = 4, 2.5, 0, 1, 16, 0.5
	for text, want := range map[string]Spec{
		"material":                 {Search: AlphaBeta, Net: "material"},
		"nets/gen 12.nnue":         {Search: AlphaBeta, Net: "nets/gen 12.nnue"},
		`"a,b.nnue",nodes=400`:     {Search: AlphaBeta, Net: "a,b.nnue", Limits: search.Limits{Nodes: 400}},
		`"uci:x"`:                  {Search: AlphaBeta, Net: "uci:x"},
		"x.nnue,nodes=10k,depth=9": {Search: AlphaBeta, Net: "x.nnue", Limits: search.Limits{Nodes: 10000, Depth: 9}},
		"x.nnue, hash=64, threads=2,name=Gen 12": {
			Search: AlphaBeta, Net: "x.nnue", Resources: Resources{HashMB: 64, Threads: 2}, Name: "Gen 12",
		},
		"uci:fairy-stockfish,Hash=64,hash size=1,movetime=50ms": {
			Search: Engine, Command: []string{"fairy-stockfish"},
			Limits: search.Limits{MoveTime: 50 * time.Millisecond}, Options: map[string]string{"Hash": "64", "hash size": "1"},
		},
		`uci:"/opt/my engine/sf"  --book 'x y'  -v "",EvalFile="a,b.nnue",Clear Hash=,tc=1:30+0.5,dir=/tmp,timeout=2m,margin=1s,name='a "b"'`: {
			Search: Engine, Command: []string{"/opt/my engine/sf", "--book", "x y", "-v", ""},
			Limits:  search.Limits{Time: bothColors(90 * time.Second), Inc: bothColors(500 * time.Millisecond)},
			Options: map[string]string{"EvalFile": "a,b.nnue", "Clear Hash": ""},
			Dir:     "/tmp", Timeout: 2 * time.Minute, Margin: time.Second, Name: `a "b"`,
		},
		"material,elo=100,seed=7": {Search: AlphaBeta, Net: "material", Elo: new(100), Seed: 7},
		"uci:sf,Nodes=7":          {Search: Engine, Command: []string{"sf"}, Options: map[string]string{"Nodes": "7"}},
		"uci:sf,tc=0+1":           {Search: Engine, Command: []string{"sf"}, Limits: search.Limits{Inc: bothColors(time.Second)}},
		"uniform":                 {Search: TreeSearch, Net: Uniform, Tree: tree},
		"mcts:uniform":            {Search: TreeSearch, Net: Uniform, Tree: tree},
		"net.onnx":                {Search: TreeSearch, Net: "net.onnx", Tree: tree},
		"xboard:sjeng -x,cores=2,movetime=1s": {
			Search: XBoard, Command: []string{"sjeng", "-x"}, Limits: search.Limits{MoveTime: time.Second}, Options: map[string]string{"cores": "2"}},
		`"xboard:x"`: {Search: AlphaBeta, Net: "xboard:x"},
		"mcts:net.onnx,batch=4,cpuct=2.5,fpu=0,probe=1,gumbel=16,lcb=0.5,hash=64,nodes=800,runtime=int8": {
			Search: TreeSearch, Net: "net.onnx", Tree: tuned, Resources: Resources{HashMB: 64},
			Limits: search.Limits{Nodes: 800}, Runtime: Runtime{Name: "int8"},
		},
	} {
		got, err := Parse(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: found %+v, error %v, expected %+v", text, got, err, want)
		}
		roundTrip(t, got)
	}
}

// roundTrip writes a player as text and as YAML and reads both again.
func roundTrip(t *testing.T, s Spec) {
	t.Helper()
	back, err := Parse(s.String())
	if err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%q: found %+v, error %v, expected %+v", s, back, err, s)
	}
	values, err := s.MarshalYAML()
	if err != nil {
		t.Fatal(err)
	}
	back = Spec{}
	if err := back.UnmarshalYAML(asYAML(t, values)); err != nil || !reflect.DeepEqual(back, s) {
		t.Errorf("%v: found %+v, error %v, expected %+v", values, back, err, s)
	}
}

// asYAML gives what a YAML decoder gives of a value, by way of JSON, which is YAML.
func asYAML(t *testing.T, value any) func(any) error {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return func(to any) error { return json.Unmarshal(text, to) }
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "found no name",
		"uci:":                              "found no command",
		"uci:  ,Hash=1":                     "found no command",
		"xboard:":                           "expected xboard:COMMAND",
		`uci:"" x`:                          "found no command",
		"x.nnue,nodes":                      `found "nodes", expected NAME=VALUE`,
		"x.nnue,":                           `found "", expected NAME=VALUE`,
		"x.nnue,=3":                         "expected NAME=VALUE",
		"x.nnue,node=3":                     `found setting "node", the nearest is nodes; expected one of nodes, depth, movetime, tc, name, hash, threads`,
		"x.nnue,Hash=3":                     `"Hash", the nearest is hash;`,
		"x.nnue,dir=/":                      `found setting "dir"`,
		"x.nnue,nodes=0":                    `nodes: found "0"`,
		"x.nnue,nodes=-4":                   `nodes: found "-4"`,
		"x.nnue,nodes=99999999999M":         "nodes: found",
		"x.nnue,nodes=5,nodes=6":            "found nodes twice",
		"x.nnue,elo=9000":                   "elo: found \"9000\", expected a whole number from ",
		"x.nnue,seed=-1":                    `seed: found "-1"`,
		"uci:sf,Hash=1,hash=2":              "found hash twice",
		`uci:sf,a"b"=1`:                     "name of an option",
		"x.nnue,depth=129":                  "expected a whole number from 1 to 128",
		"x.nnue,movetime=50":                `movetime: found "50", expected a time with its unit`,
		"x.nnue,movetime=-1s":               "movetime: found",
		"x.nnue,tc=40/60":                   "moves to a control are not supported",
		"x.nnue,tc=10+":                     "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=0":                       "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=1:":                      "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=1e3":                     "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=1.2.3":                   "expected [MIN:]SEC[+SEC]",
		"x.nnue,tc=100000":                  "expected [MIN:]SEC[+SEC]",
		"x.nnue,hash=0":                     "hash: found",
		"x.nnue,name=":                      "name: found nothing",
		"mcts:":                             "found no name",
		"mcts:uniform,cpuct=":               `cpuct: found "", expected a decimal number`,
		"mcts:uniform,cpuct=-1":             `cpuct: found "-1", expected 0 to 100`,
		"mcts:uniform,probe=2":              `probe: found "2", expected 0, 1 or 3`,
		"mcts:uniform,probe=1,mate_probe=1": "found mate_probe twice",
		"mcts:uniform,noise=0.2":            `found setting "noise"`,
		"mcts:uniform,dir=/":                "hash, threads, batch, cpuct, cpuct_base, fpu,",
		"mcts:a.onnx,runtime=tpu":           `runtime: unknown runtime: found "tpu", expected one of native, int8`,
		"mcts:a.onnx,library=x.so":          `library: found "x.so" without runtime ort, expected both`,
		"mcts:x,library=y,runtime=int8":     `library: found "y" without runtime ort, expected both`,
		"material,batch=8":                  `found setting "batch"`,
		`uci:"sf,Hash=1`:                    `found a quote " that does not end`,
	} {
		_, err := Parse(text)
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found error %v, expected %q", text, err, want)
		}
	}
}

// The library of a runtime is written and read again where that can be asked for.
func TestLibrary(t *testing.T) {
	s, err := Parse("mcts:net.onnx,library=x.so,runtime=ort")
	if !ort.Built {
		if !errors.Is(err, ort.ErrNotBuilt) {
			t.Errorf("found %+v, error %v, expected ErrNotBuilt", s, err)
		}
		return
	}
	if err != nil || s.Runtime != (Runtime{Name: "ort", Library: "x.so"}) {
		t.Errorf("found %+v, error %v", s, err)
	}
	roundTrip(t, s)
}

// TestParseExisting: a file or directory that is there needs no quotes.
func TestParseExisting(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "features=All + Hand,width=64")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "net,2.nnue")
	for _, f := range []string{file, filepath.Join(dir, "net.onnx")} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Parse(file + ",nodes=4,name=x")
	if err != nil || s.Net != file || s.Search != AlphaBeta || s.Limits.Nodes != 4 || s.Name != "x" {
		t.Errorf("found %+v, error %v", s, err)
	}
	roundTrip(t, s)
	for _, text := range []string{dir, "mcts:" + dir, `"` + dir + `"`} { // whose net is one of planes
		s, err := Parse(text)
		if err != nil || s.Net != dir || s.Search != TreeSearch {
			t.Errorf("%s: found %+v, error %v", text, s, err)
		}
		roundTrip(t, s)
	}
	if _, err := Parse(file + "x,nodes=4"); err == nil { // "width=64/net" is no setting
		t.Error("a path that is not there was taken with its comma")
	}
}

func TestYAML(t *testing.T) {
	for text, want := range map[string]string{
		`"material,nodes=400"`:                                                          "material,nodes=400",
		`{"net": "x.nnue", "nodes": "10k", "hash": 8}`:                                  "x.nnue,nodes=10000,hash=8",
		`{"net": "x.onnx", "cpuct": 2.5, "mate_probe": 1}`:                              "mcts:x.onnx,cpuct=2.5,mate_probe=1",
		`{"net": "odd", "search": "mcts"}`:                                              "mcts:odd",
		`{"engine": "fairy-stockfish -x", "options": {"Hash": 64}, "movetime": "50ms"}`: "uci:fairy-stockfish -x,movetime=50ms,Hash=64",
		`{"engine": "sjeng", "protocol": "xboard", "options": {"cores": 2}}`:            "xboard:sjeng,cores=2",
		`{"engine": "sf", "protocol": "uci"}`:                                           "uci:sf",
		`{"engine": "sf", "options": {"Clear Hash": null, "EvalFile": null}}`:           `uci:sf,Clear Hash="",EvalFile=""`,
	} {
		var s Spec
		err := s.UnmarshalYAML(func(to any) error { return json.Unmarshal([]byte(text), to) })
		if err != nil || s.String() != want {
			t.Errorf("%s: found %q, error %v, expected %q", text, s, err, want)
		}
	}
	for text, want := range map[string]string{
		`{"nodes": 4}`:                                                "found net and engine, or neither",
		`{"net": "x", "engine": "y"}`:                                 "found net and engine, or neither",
		`{"engine": "y", "search": "ab"}`:                             "found search beside engine",
		`{"net": "x", "search": "uci"}`:                               `search: found "uci"`,
		`{"net": "x", "protocol": "uci"}`:                             "found protocol beside net",
		`{"engine": "x", "protocol": "mcts"}`:                         `protocol: found "mcts"`,
		`{"net": ""}`:                                                 "net: found nothing",
		`{"net": null}`:                                               "net: found nothing",
		`{"net": "x", "nodes": null}`:                                 `nodes: found ""`,
		`{"net": "x.onnx", "library": "y"}`:                           `library: found "y" without runtime ort`,
		`{"net": "x.nnue", "node": 4}`:                                "the nearest is nodes",
		`{"engine": "y", "hash": 4}`:                                  `found setting "hash"`,
		`{"engine": "y", "options": {"name": "z"}}`:                   "name is a setting",
		`{"engine": "y", "options": {"Hash": 1, "hash": 2}}`:          "found hash twice",
		`{"net": "mcts:x", "search": "mcts", "probe": 1, "batch": 0}`: `batch: found "0"`,
		`[1, 2]`: "wrong usage",
	} {
		s := Spec{Name: "before"}
		err := s.UnmarshalYAML(func(to any) error { return json.Unmarshal([]byte(text), to) })
		if !errors.Is(err, ErrUsage) || !strings.Contains(err.Error(), want) || s.Name != "before" {
			t.Errorf("%s: found %+v, error %v, expected %q", text, s, err, want)
		}
	}
}

// FuzzParse: any text is a player that can be written again, or a usage error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"material,nodes=4",              // a word with limits
		"mcts:uniform,cpuct=2",          // tree search
		`uci:"a b" c,X="1,2",tc=1:2+.5`, // an engine with quotes
		"x.nnue,hash=3,threads=4",       // resources
		"material,elo=100,seed=3",       // a strength
		"xboard:sjeng,memory=64",        // the other protocol
		`uci:a'b"c' d,e f=`,             // a quote in quotes
		"uci:é,名=值",                     // letters of several bytes
		"x,,", `"`,                      // faults
		`"uci:x"`, // a file that looks like an engine
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if !errors.Is(err, ErrUsage) {
				t.Fatal(err)
			}
			return
		}
		back, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(back, s) {
			t.Errorf("%q is %+v; written %q it is %+v, error %v", text, s, s, back, err)
		}
	})
}
