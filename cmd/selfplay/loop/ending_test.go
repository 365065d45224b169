package loop

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// The commands at the end of a loop say the variant where it is not their own, and then the
// opponent is a player that knows it.
func TestEnding(t *testing.T) {
	s := selfplay.Status{Generation: 1, Curve: []selfplay.PassedNet{{Generation: 1, Matches: 1}}}
	for variant, want := range map[*chess.Variant][]string{
		chess.Crazyhouse: {" play runs/a\n", " match runs/a builtin --games 100 --nodes 400\n"},
		chess.Chess:      {" play runs/a --variant chess\n", " match runs/a material --games 100 --nodes 400 --variant chess\n"},
	} {
		text := ending(s, variant.Name, "runs/a", "again")
		for _, line := range want {
			if !strings.Contains(text, line) {
				t.Errorf("%s: found\n%s\nexpected %q in it", variant, text, line)
			}
		}
	}
}

// A run without a gate has nets to play with but no Elo, and one whose nets all failed has a
// drawing of their losses; a run without a net can only be resumed.
func TestEndingWithoutACurve(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		generation int
		drawn      bool
		want       []string
	}{{0, false, []string{"resume with:"}}, {3, false, []string{"reached:", "play it:", "match it:", "resume with:"}}, {3, true, []string{"reached:", "curve:", "play it:", "match it:", "resume with:"}},
		{0, true, []string{"curve:", "resume with:"}}} {
		if tc.drawn {
			if err := os.WriteFile(filepath.Join(dir, selfplay.CurveFile), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		text := ending(selfplay.Status{Generation: tc.generation}, chess.Crazyhouse.Name, dir, "again")
		var found []string
		for line := range strings.Lines(text) {
			found = append(found, line[:strings.Index(line, ":")+1])
		}
		if !slices.Equal(found, tc.want) || tc.generation > 0 && !strings.Contains(text, " generation 3\n") {
			t.Errorf("generation %d, drawn %t: found\n%s\nexpected %q", tc.generation, tc.drawn, text, tc.want)
		}
	}
}
