package configs

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

func TestDefaultLadder(t *testing.T) {
	l := DefaultLadder()
	if l.Anchors[0].Name != "material-400" || l.Anchors[0].Elo != 0 {
		t.Errorf("the first anchor, the origin, is %+v", l.Anchors[0])
	}
	for _, a := range l.Anchors[1:] {
		if a.Elo <= 0 {
			t.Errorf("%s has %g Elo, not more than the origin", a.Name, a.Elo)
		}
	}
	if slices.Contains(Presets(), "ladder") {
		t.Error("the ladder is a preset")
	}
	if _, err := Preset("ladder"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "expected one of") {
		t.Errorf("preset ladder: %v", err)
	}
}

// TestLadderPlayers: anchors are players as text or as mappings, which are read as
// strictly as the rest of the file.
func TestLadderPlayers(t *testing.T) {
	const head = "schema: 1\nvariant: crazyhouse\ngames: 2\nseed: 1\nnodes: 4\nanchors:\n  - name: a\n    elo: 0\n    player: "
	for text, want := range map[string]string{
		"{net: x.onnx, nodes: 1k, cpuct: 2.5}":                       "mcts:x.onnx,nodes=1000,cpuct=2.5",
		"{engine: fairy-stockfish, options: {Hash: 16}, nodes: 100}": "uci:fairy-stockfish,nodes=100,Hash=16",
		"'uci:fairy-stockfish,Hash=16,nodes=100'":                    "uci:fairy-stockfish,nodes=100,Hash=16",
	} {
		l, err := ParseLadder([]byte(head+text+"\n"), "my.yaml")
		if err != nil || l.Anchors[0].Player.String() != want {
			t.Errorf("%s: found %+v, error %v, expected %s", text, l.Anchors, err, want)
		}
	}
	for text, want := range map[string]string{
		"{net: x.onnx, node: 4}": "the nearest is nodes",
		"material,name=b":        "expected a player without a name",
		"{nodes: 4}":             "found net and engine, or neither",
	} {
		if _, err := ParseLadder([]byte(head+text+"\n"), "my.yaml"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found error %v, expected %q", text, err, want)
		}
	}
}

func TestParseLadder(t *testing.T) {
	good := string(ladder)
	if _, err := ParseLadder([]byte(good), "x"); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(good, "name: material-400\n")
	player, _, _ := strings.Cut(rest, "\n")
	for _, c := range []struct{ old, new, want string }{
		{"schema: 1", "schema: 2", "schema: found 2"},
		{"variant: crazyhouse", "variant: shogi", "variant: found shogi"},
		{"games: 40", "games: 41", "games: found 41"},
		{"margin: 15", "margin: -1", "margin: found -1"},
		{"margin: 15", "margin: 0", "most: found 8000, expected nothing"},
		{"most: 8000", "most: 100", "most: found 100, expected an even number from 160"},
		{"gain: uci:", "gain: xboard:", "expected a UCI engine with limits"},
		{",nodes=10k\n", "\n", "gain: found"},
		{"nodes=400\n    elo: 0", "nodes=400\n    engine: us\n    elo: 0", "anchors[0].engine: found us"},
		{"nodes: 400 #", "nodes: 0 #", "nodes: found 0"},
		{"seed: 1 #", "sed: 1 #", "sed"},
		{"name: fsf-2k\n", "name: fsf-10k\n", "anchors[3].name: found fsf-10k"},
		{"name: fsf-2k\n", "name: 'a,b'\n", `anchors[2].name: found "a,b"`},
		{player + "\n", "", "anchors[0].player: found nothing"},
		{"elo: 0\n", "elo: .nan\n", "anchors[0].elo: found NaN"},
		{"elo: 0\n", "elo: high\n", `anchors[0].elo: found "high"`},
		{"games: 40", "games: 40.5", "games: found 40.5"},
		{"seed: 1 #", "seed: 012 #", "begins with 0"},
		{"nodes: 400 #", "nodes: #", "nodes: found nothing"},
		{"elo: 0\n", "elo: 0\n    sd: -1\n", "anchors[0].sd: found -1"},
		{"elo: 0\n", "elo: 0\n    sd: 0.05\n", "anchors[0].sd: found 0.05, expected 0, or 0.1 to 10000"},
		{good[strings.Index(good, "anchors:"):], "anchors: []", "anchors: found 0"},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		if at := strings.LastIndex(good, c.old); at >= 0 && strings.HasPrefix(c.want, "gain") { // it comes last
			text = good[:at] + c.new + good[at+len(c.old):]
		}
		if text == good {
			t.Fatalf("no %q in the ladder", c.old)
		}
		if _, err := ParseLadder([]byte(text), "my.yaml"); !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "my.yaml") {
			t.Errorf("%q: error %v, want %q", c.new, err, c.want)
		}
	}
}

func FuzzParseLadder(f *testing.F) {
	for _, text := range hostile() {
		f.Add(text[:min(len(text), 4<<10)])
	}
	f.Add(string(ladder))
	f.Add("schema: 1\nanchors: [{name: a, player: {engine: b, options: {Hash: 16}}}]")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := ParseLadder([]byte(text), "fuzz"); err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("error %v, expected ErrInvalid", err)
		}
	})
}
