package puzzles

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// addGames adds 20 short games to a replay buffer and returns its segments.
func addGames(t *testing.T, dir, prefix string) (segments []string) {
	t.Helper()
	var records [][]byte
	for i := range 20 {
		read, err := game.NewPGNReader(strings.NewReader(pgn)).Next()
		if err != nil {
			t.Fatal(err)
		}
		g, err := read.Game()
		if err != nil {
			t.Fatal(err)
		}
		g.ID = fmt.Sprintf("%s-%d", prefix, i)
		record, err := game.Encode(nil, g)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, record)
	}
	replaytest.Store(t, dir, records...)
	segments, err := filepath.Glob(filepath.Join(dir, "*.seg"))
	if err != nil {
		t.Fatal(err)
	}
	return segments
}

// Mining goes on in a replay buffer that has grown, and not in one that has lost the games
// from which the journal counts, unless none is to be searched; a journal of an earlier
// build, which does not say from where, is read.
func TestMineBufferThatLosesGames(t *testing.T) {
	dir := t.TempDir()
	buffer, out := filepath.Join(dir, "replay"), filepath.Join(dir, "puzzles.epd")
	addGames(t, buffer, "first")
	mine := func(games string) (stdout, stderr string, code int) {
		return selfplayCommand(t, "", "mine", "replay:"+buffer, "--out", out, "--net", "material", "--screen", "50", "--nodes", "500", "--mate", "1", "--hash", "1", "--games", games)
	}
	if stdout, stderr, code := mine("3"); code != 0 || !strings.Contains(stdout, "found in 3 games") {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	var segments []string
	for batch := 0; len(segments) < 2; batch++ {
		segments = addGames(t, buffer, fmt.Sprint("more-", batch))
	}
	if _, stderr, code := mine("4"); code != 0 || !strings.Contains(stderr, "going on after game 3") {
		t.Fatalf("code %d\n%s", code, stderr)
	}
	if err := os.Remove(segments[0]); err != nil {
		t.Fatal(err)
	}
	for _, games := range []string{"5", "0"} {
		if _, stderr, code := mine(games); code != 1 || !strings.Contains(stderr, `as the oldest game, expected "first-0"`) || strings.Contains(stderr, "training") {
			t.Errorf("%s games without its first segment: code %d\n%s", games, code, stderr)
		}
	}
	for _, games := range []string{"3", "4"} {
		if stdout, stderr, code := mine(games); code != 0 || !strings.Contains(stdout, "found in "+games+" games") {
			t.Errorf("%s games, which are done: code %d\n%s\n%s", games, code, stdout, stderr)
		}
	}
	journal, err := os.ReadFile(out + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	before, after, found := strings.Cut(string(journal), `"oldest":{`)
	if !found {
		t.Fatalf("no oldest games in %.300s", journal)
	}
	_, after, _ = strings.Cut(after, "},")
	if err := os.WriteFile(out+".journal", []byte(before+after), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := mine("5"); code != 0 || !strings.Contains(stderr, "going on after game 4") {
		t.Errorf("journal of an earlier build: code %d\n%s", code, stderr)
	}
}

// A replay buffer that had no games when its journal was begun may have some.
func TestMineBufferThatWasEmpty(t *testing.T) {
	dir := t.TempDir()
	empty, full, out := filepath.Join(dir, "empty"), filepath.Join(dir, "full"), filepath.Join(dir, "puzzles.epd")
	replaytest.Store(t, empty)
	addGames(t, full, "first")
	mine := func(games string) (stdout, stderr string, code int) {
		return selfplayCommand(t, "", "mine", "replay:"+full, "replay:"+empty, "--out", out, "--net", "material", "--screen", "50", "--nodes", "500", "--mate", "1", "--hash", "1", "--games", games)
	}
	if stdout, stderr, code := mine("0"); code != 0 || !strings.Contains(stdout, "found in 20 games") {
		t.Fatalf("code %d\n%s\n%s", code, stdout, stderr)
	}
	addGames(t, empty, "later")
	if stdout, stderr, code := mine("0"); code != 0 || !strings.Contains(stderr, "going on after game 20") || !strings.Contains(stdout, "found in 40 games") {
		t.Errorf("code %d\n%s\n%s", code, stdout, stderr)
	}
}
