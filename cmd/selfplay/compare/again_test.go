package compare

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/gensfen"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/learn"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
	"github.com/crazyhouse-rl/selfplay/sample/chain"
)

// command finds the first command of a kind that the report has, and the cell that it makes again.
func command(t *testing.T, dir, pattern string) (cell string, words []string) {
	t.Helper()
	found := regexp.MustCompile(`: ([0-9a-f]{16}) \| .selfplay (` + pattern + ` [^` + "`" + `]*)`).FindStringSubmatch(read(t, dir, "report.md"))
	if found == nil {
		t.Fatalf("the report has no command %s", pattern)
	}
	return found[1], strings.Fields(found[2]) // paths of tests have no spaces
}

// learnAgain runs the report's first command learn and returns what it printed.
func learnAgain(t *testing.T, dir string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	cell, words := command(t, dir, "learn")
	out, stderr, code := clitest.Run(t, learn.Commands(), "", words...)
	if code != 0 {
		t.Fatalf("%q: exit %d: %s", words, code, stderr)
	}
	if read(t, words[len(words)-1], "net.nnue") != read(t, dir, "cells", "train", cell, "net.nnue") {
		t.Error("learn made another net")
	}
	return out
}

// checkAgain runs the first commands of either kind that the report has.
func checkAgain(t *testing.T, dir string) {
	t.Helper()
	learnAgain(t, dir)
	cell, words := command(t, dir, "match")
	// The log of the comparison is taken for that of the same match, which is over.
	words = append(words, "--log", filepath.Join(dir, "cells", "games", cell+".jsonl"), "--json")
	if out, stderr, code := clitest.Run(t, match.Commands(), "", words...); code != 0 || strings.Contains(out, `"type":"pair"`) {
		t.Errorf("%q: exit %d: %s%s", words, code, out, stderr)
	}
}

// recordsOf returns the games of a file as a replay buffer stores them.
func recordsOf(t *testing.T, path string) (records [][]byte) {
	t.Helper()
	for r := chain.NewReader(strings.NewReader(read(t, path))); ; {
		record, err := r.Record(nil)
		if err == io.EOF {
			return records
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(record) == 0 {
			t.Fatal("found samples that are of no whole game")
		}
		records = append(records, record)
	}
}

// A report's command makes the same net where the data have been moved, once more after a replay
// buffer has grown, and says which games it is of.
func TestAgainLater(t *testing.T) {
	file, root := clitest.Games(t, gensfen.Commands()), t.TempDir()
	records, buffer, dir := recordsOf(t, file), filepath.Join(root, "buffer"), filepath.Join(root, "small")
	half := len(records) / 2
	replaytest.Store(t, buffer, records[:half]...)
	settings := filepath.Join(root, "small.yaml")
	text := "schema: 1\ntrain: {preset: tiny, epochs: 1}\nseeds: 1\nrows: [{name: a, features: Hand}]\n" +
		"anchors: [{name: material, player: material}]\ngames: {pairs: 1, nodes: 10, puzzles: 0}\n"
	if err := os.WriteFile(settings, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	compare := func() {
		t.Helper()
		if _, stderr, code := selfplayCommand(t, "compare", settings, "--dir", dir, "--data", file, "--data", "replay:"+buffer); code != 0 {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	move := func() {
		t.Helper()
		for _, path := range []*string{&file, &buffer} {
			moved := filepath.Join(root, "moved-"+filepath.Base(*path))
			if err := os.Rename(*path, moved); err != nil {
				t.Fatal(err)
			}
			*path = moved
		}
		compare()
	}
	compare()
	move()
	replaytest.Store(t, buffer, records[half:]...)
	move()
	games, err := filepath.Glob(filepath.Join(dir, "cells", "train", "*", "replay.json"))
	if err != nil || len(games) != 1 || strings.Count(read(t, games[0]), "first") != 1 {
		t.Errorf("found %q, error %v, expected one with the buffer of now alone", games, err)
	}
	if trained, _ := filepath.Glob(filepath.Join(dir, "cells", "train", "*", "summary.json")); len(trained) != 1 {
		t.Fatalf("found nets %q, expected the one before", trained)
	}
	if out := learnAgain(t, dir); !strings.Contains(out, fmt.Sprintf("replay:%s: %d games from ", buffer, half)) {
		t.Errorf("found\n%s\nexpected which games it is of", out)
	}
}

// The file of a run makes its net again, of its games; with data or other settings, or as another
// file, it is of the games of now. Games that are gone are an error, which does not advise a run that
// has begun to name the data.
func TestLearnGamesOfRun(t *testing.T) {
	records := recordsOf(t, clitest.Games(t, gensfen.Commands()))
	t.Chdir(t.TempDir())
	half := len(records) / 2
	replaytest.Store(t, "buffer", records[:half]...)
	run := func(args ...string) (stderr string, code int) {
		_, stderr, code = clitest.Run(t, learn.Commands(), "", append([]string{"learn"}, args...)...)
		return stderr, code
	}
	must := func(args ...string) {
		t.Helper()
		if stderr, code := run(args...); code != 0 {
			t.Fatalf("%q: exit %d: %s", args, code, stderr)
		}
	}
	must("replay:buffer", "--preset", "tiny", "--epochs", "1", "--out", "first")
	replaytest.Store(t, "buffer", records[half:]...)
	must("--config", "first/config.yaml", "--out", "again", "--workers", "1")
	must("--config", "first/config.yaml", "--out", "now", "replay:buffer")
	must("--config", "again/config.yaml", "--out", "again")
	must("--config", "first/config.yaml", "--out", "tuned", "--lr", "0.0001")
	if err := os.WriteFile("first/mine.yaml", []byte(read(t, "first", "config.yaml")), 0o644); err != nil {
		t.Fatal(err)
	}
	must("--config", "first/mine.yaml", "--out", "mine")
	if read(t, "again", "data.json") != read(t, "first", "data.json") || read(t, "again", "net.nnue") != read(t, "first", "net.nnue") {
		t.Error("the same settings: found another net")
	}
	for _, dir := range []string{"now", "tuned", "mine"} {
		if read(t, dir, "data.json") == read(t, "first", "data.json") {
			t.Errorf("%s: found the games of the first run alone", dir)
		}
	}
	if err := os.RemoveAll("buffer"); err != nil {
		t.Fatal(err)
	}
	replaytest.Store(t, "buffer", records[1:]...)
	if stderr, code := run("--config", "first/config.yaml", "--out", "gone"); code == 0 || !strings.Contains(stderr, "the run that first/config.yaml is of") || !strings.Contains(stderr, "old games were deleted") {
		t.Errorf("games are gone: exit %d: %s", code, stderr)
	}
	for _, name := range []string{"summary.json", "net.nnue"} { // again goes on from its last checkpoint
		if err := os.Remove(filepath.Join("again", name)); err != nil {
			t.Fatal(err)
		}
	}
	if stderr, code := run("--config", "first/config.yaml", "--out", "again"); code == 0 || strings.Contains(stderr, "as arguments") {
		t.Errorf("games of a run that has begun are gone: exit %d: %s", code, stderr)
	}
}

// The price of a comparison is the time that it takes with the jobs that it is to have: half of all
// core-hours with one for each of two cores, and more with one job.
func TestPriceOfJobs(t *testing.T) {
	cores := runtime.GOMAXPROCS(2)
	t.Cleanup(func() { runtime.GOMAXPROCS(cores) })
	all := 0.0
	data, dir := clitest.Games(t, gensfen.Commands()), t.TempDir()
	price := func(jobs string) time.Duration {
		out, stderr, code := selfplayCommand(t, "compare", "--preset", "axis", "--data", data, "--dir", dir, "--dry-run", "--jobs", jobs)
		found := regexp.MustCompile(`in all +(\S+) core-hours, about (\S+) with --jobs ` + jobs).FindStringSubmatch(out)
		if code != 0 || found == nil {
			t.Fatalf("exit %d: %s%s", code, out, stderr)
		}
		hours, wrong := strconv.ParseFloat(found[1], 64)
		d, err := time.ParseDuration(found[2])
		if err := errors.Join(wrong, err); err != nil {
			t.Fatal(err)
		}
		all = hours
		return d
	}
	one, two := price("1"), price("2")
	if one <= two || math.Abs(two.Hours()-all/2) > 0.05*all {
		t.Errorf("found %v with one job and %v with two, of %v core-hours", one, two, all)
	}
}
