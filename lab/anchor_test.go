package lab

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/mockengine"
	"github.com/crazyhouse-rl/selfplay/player"
)

// scriptFlag makes the test binary the mock engine with a script that is in a file: one that
// changes while its command stays.
const scriptFlag = "-mock-engine-script"

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == scriptFlag {
		script, err := os.ReadFile(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(mockengine.Run(string(script), os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

// engineAnchor is an engine whose script is in a file.
func engineAnchor(t *testing.T, script string) configs.Opponent {
	t.Helper()
	spec, err := player.Parse(fmt.Sprintf("uci:%q %s %q", os.Args[0], scriptFlag, script))
	if err != nil {
		t.Fatal(err)
	}
	return configs.Opponent{Name: "mock", Player: spec}
}

// An engine of a ladder is the one that its rating is of: another one is refused before anything
// is trained.
func TestLadderEngine(t *testing.T) {
	data, script := games(t, 1, 3), filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ engine, want string }{
		{"Mock 1", ""},
		{"", ""},
		{"Other 1", "anchor mock: " + os.Args[0] + ": found Mock 1.0, expected Other 1"},
	} {
		c := comparison(t, data)
		mock := engineAnchor(t, script)
		ladderOf(t, &c, rungs+fmt.Sprintf("- {name: mock, player: '%s', engine: %q, elo: 100}\n", &mock.Player, tc.engine))
		_, err := NewPlan(t.Context(), c, options(t.TempDir()), false)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("engine %q: error %v, expected %q in it", tc.engine, err, tc.want)
		}
	}
}

// An engine is an anchor. If it dies in a game the comparison ends and says so, and the same
// command comes to what it would have come to with an engine that lives.
func TestEngineAnchor(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(script, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := comparison(t, games(t, 1, 12))
	c.Games.Time, c.Games.Puzzles = 0, 0
	c.Anchors = append(c.Anchors, engineAnchor(t, script))
	write("")
	straight := t.TempDir()
	r, err := Run(t.Context(), c, options(straight))
	if err != nil {
		t.Fatal(err)
	}
	played := 0
	for _, m := range r.Stages[0].Meetings {
		if m.B == "mock" {
			played += m.Pairs.Pairs()
		}
	}
	if want := 2 * 2 * 2; played != want || len(r.Stages[0].Anchors) != 2 {
		t.Errorf("the engine played %d pairs, expected %d", played, want)
	}

	dir := t.TempDir()
	o, cells := options(dir), 0
	o.OnCell = func() {
		if cells++; cells == 4+4 { // nets and meetings
			write("go#3: print info string a bad day | exit 134")
		}
	}
	_, err = Run(t.Context(), c, o)
	if err == nil {
		t.Fatal("the engine died: no error")
	}
	for _, want := range []string{"mock failed against", "of pair 1 after", "the same command to go on"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q lacks %q", err, want)
		}
	}
	if cells < 8 || cells > 9 {
		t.Errorf("%d cells were made before the engine died, expected those before its next game", cells)
	}
	write("")
	o.OnCell = nil
	if _, err := Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	if got, want := made(t, dir), made(t, straight); got != want {
		t.Errorf("found %s\nexpected %s", got, want)
	}
}
