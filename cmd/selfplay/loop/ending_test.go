package loop

import (
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
