package match

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/search"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenConfig sets everything that a schedule names.
func goldenConfig() Config {
	a, b := always("a", random(1)), always("b", random(2))
	a.Settings, a.Fresh = "hash 16 MB", true
	b.Limits = search.Limits{Time: [2]time.Duration{time.Minute, time.Minute}, Inc: [2]time.Duration{time.Second, time.Second}}
	cfg := testConfig(a, b, 3)
	cfg.MoveTimeout = 10 * time.Second
	cfg.Game = game.Config{
		MaxPlies: 400, TimeMargin: 50 * time.Millisecond, WinScore: 2000, WinPlies: 6,
		DrawScore: 10, DrawPlies: 8, DrawMinPly: 80, NoAdjudicateShare: 0.1, ResignScore: 900, ResignMoves: 3, MoveTimeMargin: time.Second, Noise: game.Noise{Plies: 24, Prob: 0.04},
	}
	return cfg
}

// goldenLog is the log of testPairs in the match of goldenConfig.
func goldenLog() []byte {
	cfg := goldenConfig()
	s := cfg.schedule()
	log := durable.Sum(encodeLine(logHeader{logVersion, s, true}))
	for i, p := range testPairs() {
		log = append(log, durable.Sum(encodeLine(logLine{Schedule: s.hash(), Pair: p, PGN: int64(1000 * (i + 1))}))...)
	}
	return log
}

// pairsText says what is in pairs, a line each.
func pairsText(pairs []Pair) []byte {
	var text []byte
	for _, p := range pairs {
		text = fmt.Appendf(text, "pair %d of %v from %q", p.Number, p.Players, p.Opening)
		for i, g := range p.Games {
			text = fmt.Appendf(text, "; %s by %s in %d plies, %d/2 for A", g.Result, g.Reason, g.Plies, p.Outcome(i))
			if g.Failed != "" {
				text = fmt.Appendf(text, ", %s failed: %q", g.Failed, g.Error)
			}
			if g.Adjudged != "" {
				text = fmt.Appendf(text, ", adjudged %s", g.Adjudged)
			}
		}
		text = append(text, '\n')
	}
	return text
}

// TestGolden reads the logs of every version ever written; a text beside each
// says what is in it. A log of the present version must also be written as the
// same bytes, and its schedule be the one its match has now: a name or value
// put otherwise would set the logs of matches under way aside.
func TestGolden(t *testing.T) {
	present := golden.Present(logVersion, "match-sums.jsonl") // match.jsonl: without checksums
	if *update {
		writeGolden(t, present)
	}
	for _, path := range slices.Concat(golden.Versions(t, golden.Present(logVersion, "match.jsonl")), golden.Versions(t, present)) {
		data := readFile(t, path)
		log, err := ReadLog(bytes.NewReader(data))
		if err != nil || log.whole != len(data) || !slices.Equal(log.Players, []string{"a", "b"}) {
			t.Errorf("%s: %d of %d bytes, players %q: %v", path, log.whole, len(data), log.Players, err)
		}
		if got, want := pairsText(log.Pairs), readFile(t, textBeside(path)); !bytes.Equal(got, want) {
			t.Errorf("%s: pairs are\n%s\nwant\n%s", path, got, want)
		}
		if again := goldenLog(); path == present && !bytes.Equal(again, data) {
			t.Errorf("%s: written as\n%s\nwant\n%s", path, again, data)
		}
	}
}

func textBeside(path string) string { return strings.TrimSuffix(path, ".jsonl") + ".txt" }

func writeGolden(t *testing.T, path string) {
	t.Helper()
	golden.Write(t, path, goldenLog())
	golden.Write(t, textBeside(path), pairsText(testPairs()))
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestScheduleOfUnusedSettings: a setting that a match does not have leaves its
// log as it was before there was such a setting.
func TestScheduleOfUnusedSettings(t *testing.T) {
	cfg := goldenConfig()
	if s := cfg.schedule(); s["player 1.settings"] != "hash 16 MB" {
		t.Errorf("settings of A are %q", s["player 1.settings"])
	}
	cfg.Players[0].Settings = ""
	if text, there := cfg.schedule()["player 1.settings"]; there {
		t.Errorf("settings of A are %q, want none", text)
	}
}

// A flipped bit of a log is an error, or makes no difference but for the last line's end.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "match.jsonl")
	log := goldenLog()
	golden.Write(t, path, log[:bytes.IndexByte(log, '\n')+1])
	if told := golden.Flip(t, path, func() (any, error) {
		l, err := ReadLog(bytes.NewReader(readFile(t, path)))
		l.whole = 0
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
		return l, err
	}); told == 0 {
		t.Error("no flipped bit made a difference")
	}
}
