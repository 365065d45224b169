package match

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/match"
	"github.com/crazyhouse-rl/selfplay/match/rating"
)

func TestMatchErrorPrintsNoEmptyResult(t *testing.T) {
	out, stderr, code := selfplayCommand(t, "", "match", "material", "uci:"+filepath.Join(t.TempDir(), "none"), "--games", "2")
	if code != 1 || out != "" || !strings.Contains(stderr, "none") {
		t.Errorf("exit %d, error %q, output %q", code, stderr, out)
	}
}

func TestMatchMaterial(t *testing.T) {
	pgn := filepath.Join(t.TempDir(), "games.pgn")
	out, _, code := selfplayCommand(t, "", "match", "material", "material", "--games", "4", "--nodes", "30", "--max-plies", "40", "--pgn", pgn)
	if code != 0 || !strings.Contains(out, "Games: 4") || !strings.Contains(out, "Elo: ") {
		t.Errorf("exit %d, output %q", code, out)
	}
	text, err := os.ReadFile(pgn)
	if err != nil || strings.Count(string(text), `[Variant "Crazyhouse"]`) != 4 {
		t.Errorf("PGN: error %v, text %.300q", err, text)
	}
}

// logLines counts the lines of a log that may not be there yet.
func logLines(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	return bytes.Count(text, []byte{'\n'})
}

// pairsOf returns the pairs of a log in the order of their numbers.
func pairsOf(t *testing.T, path string) []match.Pair {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := match.ReadLog(f)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(log.Pairs, func(a, b match.Pair) int { return a.Number - b.Number })
	return log.Pairs
}

// gamesOf returns PairId and Round of the games in a PGN file, sorted.
func gamesOf(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var games []string
	round := ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "[Round ") {
			round = line
		}
		if strings.HasPrefix(line, "[PairId ") {
			games = append(games, line+round)
		}
	}
	slices.Sort(games)
	return games
}

// A tournament with a UCI engine, whose process is killed three times without
// warning, ends with the table, the log and the games of one that was not.
func TestKilledTournament(t *testing.T) {
	dir := t.TempDir()
	args := func(name string) []string {
		return []string{"match", "material,nodes=150", "material,nodes=60", "material,depth=2", clitest.MockPlayer("", ",nodes=100"),
			"--games", "8", "--max-plies", "80", "--concurrency", "2", "--hash", "1",
			"--log", filepath.Join(dir, name+".jsonl"), "--pgn", filepath.Join(dir, name+".pgn")}
	}
	straight, _, code := selfplayCommand(t, "", args("straight")...)
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	pairs := logLines(filepath.Join(dir, "straight.jsonl")) - 1
	clitest.KillThrice(t, pairs, func() int { return logLines(filepath.Join(dir, "killed.jsonl")) - 1 }, args("killed")...)
	resumed, stderr, code := selfplayCommand(t, "", args("killed")...)
	if code != 0 || resumed != straight {
		t.Errorf("exit %d, error %q; killed and resumed:\n%s\nstraight:\n%s", code, stderr, resumed, straight)
	}
	want, got := pairsOf(t, filepath.Join(dir, "straight.jsonl")), pairsOf(t, filepath.Join(dir, "killed.jsonl"))
	if !slices.Equal(got, want) || len(want) != 24 {
		t.Errorf("pairs\n%v\nwant\n%v", got, want)
	}
	games := gamesOf(t, filepath.Join(dir, "killed.pgn"))
	if !slices.Equal(games, gamesOf(t, filepath.Join(dir, "straight.pgn"))) || len(slices.Compact(games)) != 48 {
		t.Errorf("%d games in the PGN, want 48:\n%s", len(games), games)
	}
	if runtime.GOOS != "windows" && !strings.Contains(straight, "Rank Name") {
		t.Errorf("no table in\n%s", straight)
	}
}

func TestMatchUsage(t *testing.T) {
	dir := t.TempDir()
	for _, tc := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"material"}, "found 1 players, expected 2 to 64", 2},
		{[]string{"material", "material", "--games", "0"}, "found 0", 2},
		{[]string{"material", "material", "--format", "swiss"}, `found "swiss", expected one of roundrobin, gauntlet`, 2},
		{[]string{"material", "material", "--output", "xboard"}, `found "xboard", expected compact or fastchess`, 2},
		{[]string{"material", "material", "--output", "fastchess", "--json"}, "--json", 2},
		{[]string{"material", "material", "--concurrency", "-1"}, "found -1", 2},
		{[]string{"material", "material", "--games", "2", "--concurrency", "1025", "--hash", "1"}, "found 1025, expected 1 to 1024", 2},
		{[]string{"material", "material", "--tc", "40/60"}, "--tc", 2},
		{[]string{"material", "material", "--format", "gauntlet", "--seeds", "2"}, "2 seeds", 2},
		{[]string{"material", "material", "material", "--sprt"}, "sequential test of 3 players", 2},
		{[]string{"material", "material", "--sprt", "--elo0", "30"}, "elo0: found 30, expected less than elo1", 2},
		{[]string{"material", "material", "--max-plies", "-1"}, "found a limit of -1 plies, expected 0 to 4096", 2},
		{[]string{"material", "material", "--win-score", "-5", "--log", filepath.Join(dir, "log")}, "-5 centipawns", 2},
		{[]string{"material", "material", "--time-margin", "-1s"}, "margins of -1s for a clock", 2},
		{[]string{"material", "material", "--book", "none", "--opening-min", "9", "--opening-max", "2"}, "--opening-min 9 --opening-max 2", 2},
		{[]string{"material", "uci:" + filepath.Join(dir, "none")}, "none", 1},
	} {
		_, stderr, code := selfplayCommand(t, "", append([]string{"match"}, tc.args...)...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, want %d; error %q lacks %q", tc.args, code, tc.code, stderr, tc.want)
		}
	}
}

func TestUndecidedTest(t *testing.T) {
	out, stderr, code := selfplayCommand(t, "", "match", "material", "material", "--games", "4", "--nodes", "30", "--max-plies", "40", "--sprt", "--elo1", "5")
	if code != 3 || !strings.Contains(out, "LLR: ") || !strings.Contains(stderr, "not decided after 2 pairs") {
		t.Errorf("exit %d, output\n%s\nerror\n%s", code, out, stderr)
	}
	for _, want := range []string{"expected pairs of the test [0, 5]", "at most 2", "warning: the test may end undecided"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("error lacks %q:\n%s", want, stderr)
		}
	}
}

// The estimate of the length is the one of the published table: 777 pairs for
// bounds of 0 and 20 from crazyhouse openings, 289 from those of chess.
func TestExpectedLength(t *testing.T) {
	test := rating.SPRT{Elo0: 0, Elo1: 20, Alpha: 0.05, Beta: 0.05}
	for want, v := range map[string]*chess.Variant{"777 if the difference is 20": chess.Crazyhouse, "289 if the difference is 20": chess.Chess} {
		lines := expectedLength(test, v, 10000, match.MaxPairs)
		if len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("%s: %q, want %q", v.Name, lines, want)
		}
	}
	for bound, want := range map[int]string{match.MaxPairs: "consider --games ", 900: "--book none"} {
		if lines := expectedLength(test, chess.Crazyhouse, 900, bound); len(lines) != 2 || !strings.Contains(lines[1], want) {
			t.Errorf("a limit below the expected length: %q, expected %q", lines, want)
		}
	}
}

func TestNotices(t *testing.T) {
	cfg := match.Config{Players: make([]match.Contestant, 2), Pairs: 1000, Concurrency: runtime.NumCPU()}
	cfg.Log = "match.jsonl"
	if lines := notices(&cfg); len(lines) != 0 {
		t.Errorf("as many threads as cores: %q", lines)
	}
	cfg.Players[1].Threads = 2
	if lines := notices(&cfg); len(lines) != 1 || !strings.Contains(lines[0], "players disturb each other") {
		t.Errorf("twice as many threads as cores: %q", lines)
	}
	cfg.Openings.Distinct, cfg.Concurrency, cfg.Players[1].Threads = 900, 1, 1
	cfg.Players[0].Limits.MoveTime = time.Second
	if lines := notices(&cfg); len(lines) != 1 || !strings.Contains(lines[0], "1000 pairs from a book of 900 different openings") {
		t.Errorf("more pairs of players by time than openings: %q", lines)
	}
	cfg.Players[0].Limits.MoveTime = 0
	for i := range cfg.Players {
		cfg.Players[i].Limits.Nodes = 400
	}
	if lines := notices(&cfg); len(lines) != 1 || !strings.Contains(lines[0], "only 900 of 1000 pairs are played") {
		t.Errorf("more pairs of players by nodes than openings: %q", lines)
	}
}

// A book is played once by players within nodes: a match of more games says so and ends, as a
// sequential test does.
func TestSmallBook(t *testing.T) {
	book := filepath.Join(t.TempDir(), "small.epd")
	text := "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR[] w KQkq -\nrnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -\n"
	if err := os.WriteFile(book, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"match", "material", "material", "--book", book, "--nodes", "30", "--max-plies", "40"}
	if out, stderr, code := selfplayCommand(t, "", append(args, "--games", "6")...); code != 0 || !strings.Contains(out, "Games: 4,") || !strings.Contains(stderr, "only 2 of 3 pairs are played") {
		t.Errorf("more games: exit %d, output %q, error %q", code, out, stderr)
	}
	if out, stderr, code := selfplayCommand(t, "", append(args, "--games", "600", "--sprt", "--elo1", "5")...); code != 3 ||
		!strings.Contains(out, "Games: 4,") || !strings.Contains(stderr, "not decided after 2 pairs: all openings of the book") || !strings.Contains(stderr, "at most 2\n") {
		t.Errorf("a test: exit %d, output\n%s\nerror\n%s", code, out, stderr)
	}
}

func TestMatchFastchessOutput(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "match", "material,name=a", "material,name=b", "--games", "4", "--nodes", "30",
		"--max-plies", "40", "--output", "fastchess", "--concurrency", "1")
	lines := strings.Split(out, "\n")
	if code != 0 || len(lines) < 15 || lines[0] != "Started game 1 of 4 (a vs b)" || !strings.HasPrefix(lines[1], "Finished game 1 (a vs b): ") ||
		lines[2] != "Started game 2 of 4 (b vs a)" || !strings.HasSuffix(lines[1], "}") {
		t.Errorf("exit %d, output\n%s", code, out)
	}
	frame := strings.Repeat("-", 50)
	if !strings.Contains(out, frame+"\nResults of a vs b (crazyhouse, nodes 30, ") || !strings.HasSuffix(out, "\n"+frame+"\n") {
		t.Errorf("no framed result in\n%s", out)
	}
}

func TestMatchJSON(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "match", "material,name=a", "material,name=b", "material,name=c", "--games", "2", "--nodes", "30",
		"--max-plies", "40", "--json")
	if code != 0 {
		t.Errorf("exit %d", code)
	}
	var types []string
	for line := range strings.Lines(out) {
		var object struct {
			Type      string
			Names     []string
			Standings []struct{ Name string }
		}
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		types = append(types, object.Type)
		if object.Type == "pair" && len(object.Names) != 2 || object.Type == "result" && len(object.Standings) != 3 {
			t.Errorf("line %s", line)
		}
	}
	if !slices.Equal(types, []string{"pair", "pair", "pair", "result"}) {
		t.Errorf("lines of types %q", types)
	}
}

func TestTreePlaysMatch(t *testing.T) {
	net := clitest.PlanesFile(t, chess.Crazyhouse)
	out, stderr, code := selfplayCommand(t, "", "match", "mcts:"+net+",nodes=12,runtime=int8", "mcts:uniform,nodes=16,gumbel=4", "--games", "2", "--concurrency", "1")
	if code != 0 || !strings.Contains(out+stderr, "mcts uniform") || !strings.Contains(out+stderr, "crazyhouse") {
		t.Errorf("code %d\n%s\n%s", code, out, stderr)
	}
}
