package player

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/builtin"
	"github.com/crazyhouse-rl/selfplay/search"
)

func parseAll(t *testing.T, texts ...string) []Spec {
	t.Helper()
	specs := make([]Spec, len(texts))
	for i, text := range texts {
		var err error
		if specs[i], err = Parse(text); err != nil {
			t.Fatal(err)
		}
	}
	return specs
}

// TestLoadAll: limits of a player's own replace those of the match, and equal names
// are distinguished by what differs.
func TestLoadAll(t *testing.T) {
	d := Defaults{Limits: search.Limits{Nodes: 400, Depth: 5}, HashMB: 4}
	all, err := LoadAll(t.Context(), parseAll(t,
		"material", "material,nodes=1k", "material,nodes=1k,hash=8", "uci:/usr/bin/sf,Hash=2,depth=3", "material,name=M,threads=2",
		"material,nodes=2k", "material,nodes=2k", "uci:/usr/bin/sf,Hash=3,depth=3", "uci:/opt/x,depth=1", "uci:/srv/x,depth=1", "xboard:/usr/games/sjeng,cores=2,movetime=1s",
	), chess.Crazyhouse, d)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.Name+"; "+m.Net+"; "+m.Settings)
	}
	want := []string{
		"material depth 5 nodes 400; material; hash 4 MiB",
		"material nodes 1000 hash 4 MiB; material; hash 4 MiB",
		"material nodes 1000 hash 8 MiB; material; hash 8 MiB",
		"sf Hash=2; uci:/usr/bin/sf,Hash=2; /usr/bin/sf,Hash=2",
		"M; material; hash 4 MiB, 2 threads",
		"material nodes 2000; material; hash 4 MiB",
		"material nodes 2000 (2); material; hash 4 MiB",
		"sf Hash=3; uci:/usr/bin/sf,Hash=3; /usr/bin/sf,Hash=3",
		"x opt; uci:/opt/x; /opt/x",
		"x srv; uci:/srv/x; /srv/x",
		"sjeng; xboard:/usr/games/sjeng,cores=2; /usr/games/sjeng,cores=2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nexpected\n%q", got, want)
	}
	for i, want := range []int{1, 1, 1, 0, 2} {
		if all[i].Threads != want {
			t.Errorf("player %d has %d threads, expected %d", i, all[i].Threads, want)
		}
	}
	if l := all[0].Limits; l.Nodes != 400 || l.Depth != 5 {
		t.Errorf("limits %+v", l)
	}
	if l := all[3].Limits; l.Nodes != 0 || l.Depth != 3 {
		t.Errorf("limits %+v", l)
	}
	if _, err := LoadAll(t.Context(), parseAll(t, "material", "nowhere.nnue"), chess.Crazyhouse, d); err == nil {
		t.Error("a net that is not there was taken")
	}
}

// TestForeignDirectory: where an engine runs is part of who it is, as a relative command
// is looked for there.
func TestForeignDirectory(t *testing.T) {
	var makers []*Maker
	for _, s := range parseAll(t, "uci:./engine", "uci:./engine,dir=/builds/a", "uci:./engine,dir=/builds/b") {
		m, err := s.Load(t.Context(), chess.Crazyhouse, Defaults{Limits: search.Limits{Depth: 1}})
		if err != nil {
			t.Fatal(err)
		}
		makers = append(makers, m)
	}
	for i, want := range []string{"./engine", "./engine,dir=/builds/a", "./engine,dir=/builds/b"} {
		if m := makers[i]; m.Settings != want || m.Net != "uci:"+want {
			t.Errorf("found settings %q and net %q, expected %q", m.Settings, m.Net, want)
		}
	}
}

// TestForNet: a net plays by the search of its kind, and a player whose search is not known
// is refused, which would have played a plane net by material.
func TestForNet(t *testing.T) {
	for net, want := range map[string]Search{"a.nnue": AlphaBeta, "a.onnx": TreeSearch, Material: AlphaBeta, Uniform: TreeSearch} {
		if s := ForNet(net); s.Search != want || s.Net != net {
			t.Errorf("%s: found %+v, expected search %s", net, s, want)
		}
	}
	if _, err := (Spec{Net: Material}).Load(t.Context(), chess.Crazyhouse, Defaults{Limits: search.Limits{Depth: 1}}); !errors.Is(err, ErrUsage) {
		t.Errorf("without a search: error %v, expected %v", err, ErrUsage)
	}
}

// builtinFile writes the program's own net to a file.
func builtinFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(builtin.Net(chess.Crazyhouse).Write(f), f.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestLearnDirectories: the runs of a sweep are players by their directories, named
// by what tells them apart, and they play.
func TestLearnDirectories(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "features=All + Hand,width=64"), filepath.Join(dir, "features=HalfKAv2,width=64")
	builtinFile(t, filepath.Join(first, "net.nnue"))
	builtinFile(t, filepath.Join(second, "net.nnue"))
	d := Defaults{Limits: search.Limits{Nodes: 20}, HashMB: 1}
	all, err := LoadAll(t.Context(), parseAll(t, first, filepath.Join(first, "net.nnue"), filepath.Join(second, "net.nnue")+",hash=2"), chess.Crazyhouse, d)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Base(first), "net " + filepath.Base(first), "net " + filepath.Base(second)}
	for i, m := range all {
		if m.Name != want[i] {
			t.Errorf("found name %q, expected %q", m.Name, want[i])
		}
		p, err := m.Open()
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Search(t.Context(), chess.NewLine(chess.Crazyhouse.Start()), m.Limits)
		if err != nil || r.Nodes == 0 {
			t.Errorf("%s: found %d nodes, error %v", m.Name, r.Nodes, err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if !strings.Contains(all[0].Origin, filepath.Join(first, "net.nnue")) || all[1].Origin != "" {
		t.Errorf("found origins %q and %q, expected the file of the directory only", all[0].Origin, all[1].Origin)
	}
}

// TestLoadRefused: a search and a net that do not belong together.
func TestLoadRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "x.nnue")
	builtinFile(t, file)
	for text, want := range map[string]string{
		"mcts:" + file:  "tree search needs a plane net",
		"mcts:material": "tree search needs a plane net",
		"mcts:builtin":  "tree search needs a plane net",
		dir:             "directory without nets",
	} {
		s := parseAll(t, text)[0]
		if _, err := s.Load(t.Context(), chess.Crazyhouse, Defaults{HashMB: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found error %v, expected %q", text, err, want)
		}
	}
	for _, hash := range []int{-1, 1 << 20, MaxHashMB() + 1} {
		if _, err := parseAll(t, "material")[0].Load(t.Context(), chess.Crazyhouse, Defaults{HashMB: hash}); !errors.Is(err, ErrUsage) {
			t.Errorf("a table of %d MiB: found error %v, expected %v", hash, err, ErrUsage)
		}
	}
	for _, text := range []string{"uci:/nowhere/engine", "xboard:/nowhere/engine"} {
		m, err := parseAll(t, text)[0].Load(t.Context(), chess.Crazyhouse, Defaults{Limits: search.Limits{MoveTime: time.Second}})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := m.Open(); p != nil || err == nil {
			t.Errorf("%s: found player %v, error %v", text, p, err)
		}
	}
	if _, err := parseAll(t, "builtin")[0].Load(t.Context(), chess.Chess, Defaults{HashMB: 1}); err == nil {
		t.Error("the net within the program was taken for chess")
	}
}
