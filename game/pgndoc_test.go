package game

import (
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestPGNTagsDocumented: docs/formats.md names every tag that is written of a game.
func TestPGNTagsDocumented(t *testing.T) {
	text, err := os.ReadFile("../docs/formats.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n### PGN\n")
	if !found {
		t.Fatal("docs/formats.md has no section PGN")
	}
	section, _, _ = strings.Cut(section, "\n### ")
	g := timedGame(t) // both sides have clocks of their own
	g.Start = mustFEN(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[] w - - 0 1")
	g.Nets, g.Limits, g.Build = [2]string{"a", "b"}, "nodes 400", "v0.1.0"
	tags := g.pgnTags()
	g.TimeControls[chess.Black] = g.TimeControls[chess.White]
	maps.Copy(tags, g.pgnTags())
	for name := range tags {
		if !strings.Contains(section, "`"+name+"`") {
			t.Errorf("docs/formats.md does not name the tag %s", name)
		}
	}
}
