package tune

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/ab"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

func TestList(t *testing.T) {
	defaults := ab.DefaultParams(chess.Chess)
	out, stderr, code := selfplayCommand(t, "", "tune", "--list", "--variant", "chess")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	all := option.All(&defaults)
	if len(lines) != 1+len(all) {
		t.Fatalf("found %d lines, expected a heading and %d parameters", len(lines), len(all))
	}
	for i, o := range all {
		if words := strings.Fields(lines[1+i]); words[0] != o.Key || !strings.Contains(lines[1+i], " "+o.String()+" ") || !strings.HasSuffix(lines[1+i], o.Usage) {
			t.Errorf("found %q, expected %s with the default %v and %q", lines[1+i], o.Key, o, o.Usage)
		}
	}
	var list []listed
	out, _, _ = selfplayCommand(t, "", "tune", "--list", "--json")
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list) != len(all) {
		t.Errorf("found %d parameters, error %v", len(list), err)
	}
}

// arguments of short runs.
func arguments(state string, more ...string) []string {
	return append([]string{"tune", "material,quiet_evasions=5", "--nodes", "60", "--hash", "1", "--max-plies", "60", "--state", state}, more...)
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestSPSA: a run from a state that holds part of the results, at another concurrency,
// ends as the whole run, and what is printed can be read.
func TestSPSA(t *testing.T) {
	dir := t.TempDir()
	state, plot := filepath.Join(dir, "state.json"), filepath.Join(dir, "plot.svg")
	run := func(more ...string) (out, stderr string, code int) {
		return selfplayCommand(t, "", arguments(state, append([]string{"delta_margin=200:150:0.5", "drop_plies=2", "quiet_evasions", "--games", "24", "--batch", "3"}, more...)...)...)
	}
	out, stderr, code := run("--concurrency", "1", "--plot", plot)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	whole := read(t, state)
	if !strings.Contains(read(t, plot), ">delta_margin<") {
		t.Error("the drawing lacks a parameter")
	}
	text := regexp.MustCompile(`(?m)^player: (.*)\nGo:     DeltaMargin: (\d+), DropPlies: (\d+), QuietEvasions: (\d+)\nYAML:   \{delta_margin: (\d+), drop_plies: \d+, quiet_evasions: \d+}$`).FindStringSubmatch(out)
	if text == nil {
		t.Fatalf("found %q, expected the values as text of a player, in Go and in YAML", out)
	}
	s, err := player.Parse(text[1])
	if err != nil || s.Params["delta_margin"] != text[2] || s.Params["drop_plies"] != text[3] || s.Params["quiet_evasions"] != text[4] || text[5] != text[2] {
		t.Errorf("found %q, which reads as %v, error %v", text, s.Params, err)
	}
	if text[2] == "200" {
		t.Error("found delta_margin where it began, expected it moved: no pair was decided")
	}
	results := regexp.MustCompile(`"results": "(.{5})(.{7})"`)
	if !results.MatchString(whole) {
		t.Fatalf("found the state %s, expected 12 results", whole)
	}
	earlier := regexp.MustCompile(`,\s*"crc32c": "\w*"`).ReplaceAllString(results.ReplaceAllString(whole, `"results": "$1"`), "")
	if err := os.WriteFile(state, []byte(earlier), 0o644); err != nil {
		t.Fatal(err)
	}
	again, stderr, code := run("--concurrency", "3")
	if code != 0 || again != out || read(t, state) != whole {
		t.Errorf("resumed: exit %d, %s found %q and the state %s, expected %q and %s", code, stderr, again, read(t, state), out, whole)
	}
	out, _, code = run("--json")
	var r tuned
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Pairs != 12 || len(r.Numbers) != 3 || r.Player != text[1] || r.Numbers[2].Start != 5 {
		t.Errorf("exit %d, found %+v, error %v", code, r, err)
	}
	_, stderr, code = run("--seed", "2")
	if code != 1 || !strings.Contains(stderr, `seed is "1" in the state, "2" here`) {
		t.Errorf("another seed: exit %d: %s", code, stderr)
	}
}

func TestScreen(t *testing.T) {
	dir := t.TempDir()
	state := filepath.Join(dir, "state.json")
	run := func(more ...string) (out, stderr string, code int) {
		return selfplayCommand(t, "", arguments(state, append([]string{"check_extension", "quiescence", "reverse=100:400", "--screen"}, more...)...)...)
	}
	if out, stderr, code := run("--pairs", "3"); code != 1 || out != "" || !strings.Contains(stderr, "too few pairs") {
		t.Errorf("3 pairs: exit %d, found %q: %s", code, out, stderr)
	}
	out, stderr, code := run("--games", "40", "--plot", filepath.Join(dir, "plot.png"))
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	// Without quiescence counting material is blind: nothing else matters as much.
	if lines := strings.Split(out, "\n"); len(lines) != 6 || lines[0] != "20 of 20 pairs" || !regexp.MustCompile(`^quiescence false -> true +\+\d+\.\d ± \d+\.\d$`).MatchString(lines[2]) {
		t.Errorf("found\n%s\nexpected the effects, that of quiescence first", out)
	}
	var r screened
	if out, _, _ = run("--games", "40", "--json"); json.Unmarshal([]byte(out), &r) != nil || r.Pairs != 20 || len(r.Effects.Effects) != 3 {
		t.Errorf("found %s", out)
	}
}

// TestScreenOfABook: a screen within nodes plays no opening of a book twice, as the same
// games would count again; without a book it is as long as it is asked to be.
func TestScreenOfABook(t *testing.T) {
	book := filepath.Join(t.TempDir(), "book.epd")
	if err := os.WriteFile(book, []byte("4k3/8/8/8/8/8/8/4K3[Q] w - -\n4k3/8/8/8/8/8/8/4K3[Q] b - -\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		book, pairs string
		code        int
		want        string
	}{
		{book, "2", 0, ""},
		{"none", "3", 0, ""},
		{book, "40", 2, "found 40 pairs, expected at most 2 of 1 parameters from 2 different openings"},
	} {
		_, stderr, code := selfplayCommand(t, "", arguments("", "quiescence", "--screen", "--book", tc.book, "--pairs", tc.pairs)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%+v: exit %d: %s", tc, code, stderr)
		}
	}
}

// TestMostScreened: parameters that meet in many ways let openings come again.
func TestMostScreened(t *testing.T) {
	for _, tc := range []struct{ openings, parameters, want int }{
		{5000, 1, 5000}, {5000, 8, 5000}, {5000, 9, 10000}, {5000, 22, 5000 << 14}, {5000, 68, match.MaxPairs}, {match.MaxPairs, 30, match.MaxPairs},
	} {
		if got := mostScreened(tc.openings, tc.parameters); got != min(tc.want, match.MaxPairs) {
			t.Errorf("%+v: found %d", tc, got)
		}
	}
}

func TestUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"found 1 arguments, expected 2":            {"material", "--games", "2"},
		"expected one of them":                     {"material", "reverse"},
		"found --games 2 and --pairs 1":            {"material", "reverse", "--games", "2", "--pairs", "1"},
		"found 3, expected an even number from 2":  {"material", "reverse", "--games", "3"},
		"the nearest parameter is reverse":         {"material", "revers", "--games", "2"},
		"found nothing after =":                    {"material", "reverse=", "--games", "2"},
		"found the switch singular":                {"material", "singular", "--games", "2"},
		"reverse: start 5, expected 10 to 600":     {"material", "reverse=5", "--games", "2"},
		`found "x", expected a number`:             {"material", "reverse=100:x", "--games", "2"},
		"expected NAME=START:STEP:RATE at most":    {"material", "reverse=100:5:1:1", "--games", "2"},
		"reverse: found twice":                     {"material", "reverse", "reverse", "--games", "2"},
		"expected two levels, reverse=LOW:HIGH":    {"material", "reverse=100", "--games", "2", "--screen"},
		`found "601", expected a whole number`:     {"material", "reverse=100:601", "--games", "2", "--screen"},
		"expected one of alpha-beta search":        {"mcts:uniform", "reverse", "--games", "2"},
		"concurrency: found -1":                    {"material", "reverse", "--games", "2", "--concurrency", "-1"},
		"found 1025, expected 1 to 1024":           {"material", "reverse", "--games", "2", "--concurrency", "1025"},
		`found "a.txt", expected a name that ends`: {"material", "reverse", "--games", "2", "--plot", "a.txt"},
		"found 1 arguments, expected 0":            {"--list", "material"},
		"found --screen with --batch, expected":    {"material", "singular", "--games", "2", "--screen", "--batch", "4"},
		"found --screen with --rate, expected":     {"material", "singular", "--games", "2", "--screen", "--rate", "0.01"},
	} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"tune"}, args...)...)
		if code != 2 || out != "" || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit %d, output %q, error %q, expected %q", args, code, out, stderr, want)
		}
	}
}
