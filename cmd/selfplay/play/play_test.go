package play

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search/strength"
)

// playGame plays against material at 100 nodes a move.
func playGame(t *testing.T, typed string, args ...string) string {
	t.Helper()
	out, stderr, code := selfplayCommand(t, typed, append([]string{"play", "material", "--nodes", "100", "--hash", "2"}, args...)...)
	if code != 0 || stderr != "" {
		t.Fatalf("%q: code %d, %s\n%s", args, code, stderr, out)
	}
	return out
}

func TestPlay(t *testing.T) {
	out := playGame(t, "e2e4\nd9\nNf3\nmoves\nhint\nboard\nflip\nhelp\nsave\n\nquit\n")
	for _, want := range []string{
		"You play white against material", "  1  R  N  B  Q  K  B  N  R ", "1. > ", "material plays 1... ", "2. > ", "found \"d9\"",
		"material plays 2... ", "% expected)", "KQkq - ", "     h  g  f  e  d  c  b  a ", "takeback   take back", "expected save FILE",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("expected %q in\n%s", want, out)
		}
	}
}

// TestPlayTakeBack: a move and its answer are taken back, no more than there are.
func TestPlayTakeBack(t *testing.T) {
	out := playGame(t, "e4\ntakeback\ntakeback\nboard\n")
	if !strings.Contains(out, "no move of yours to take back") || !strings.Contains(out, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1") {
		t.Errorf("as White:\n%s", out)
	}
	out = playGame(t, "takeback\na6\ntakeback\nboard\n", "--color", "black")
	if !strings.Contains(out, "no move of yours to take back") || !strings.Contains(out, " b KQkq - ") || !strings.Contains(out, "     h  g  f  e  d  c  b  a ") {
		t.Errorf("as Black:\n%s", out)
	}
}

// TestPlayEnds: a mate and a resignation end the game, which is saved as PGN.
func TestPlayEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.pgn")
	for _, tc := range []struct {
		typed, said, result string
		args                []string
	}{
		{"Ra8\n", "White mates (1-0)", "1-0", []string{"--fen", "6k1/5ppp/8/8/8/8/8/R5K1[] w - - 0 1"}},
		{"e4\nresign\nnot read\n", "You resign (0-1)", "0-1", []string{"--color", "white"}},
		{"resign\n", "You resign (0-1)", "0-1", []string{"--color", "white"}},
		{"e4\n", "", "*", nil}, // the end of the input
		{"", "Black mates (0-1)", "0-1", []string{"--fen", "6k1/5ppp/8/8/8/8/5PPP/6K1[r] b - - 0 1"}}, // before the person's first turn
	} {
		out := playGame(t, tc.typed, append(tc.args, "--save", path, "--name", "Ann")...)
		if !strings.Contains(out, tc.said) {
			t.Errorf("expected %q in\n%s", tc.said, out)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := game.NewPGNReader(f).Next()
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		if tc.result != "*" {
			if _, err := rec.Game(); err != nil {
				t.Errorf("%q: %v", tc.typed, err)
			}
		}
		text, _ := os.ReadFile(path)
		for _, want := range []string{`[White "Ann"]`, `[Black "material"]`, `[Result "` + tc.result + `"]`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("expected %s in\n%s", want, text)
			}
		}
	}
}

// TestPlaySavesNoMove: a game in which nothing happened is not written, which is said.
func TestPlaySavesNoMove(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.pgn")
	if out := playGame(t, "quit\n", "--color", "white", "--save", path); !strings.Contains(out, "nothing is written to "+path) {
		t.Errorf("found\n%s", out)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file was written")
	}
}

// TestPlayElo: a seed gives the same answers again; hints are not limited.
func TestPlayElo(t *testing.T) {
	typed := "e4\nd4\nNc3\nhint\nquit\n"
	first := playGame(t, typed, "--elo", "-200", "--seed", "3")
	if again := playGame(t, typed, "--elo", "-200", "--seed", "3"); again != first || !strings.Contains(first, "material elo -200 plays") {
		t.Errorf("found\n%s\nthen\n%s", first, again)
	}
	moves := func(out string) string {
		return strings.Join(regexp.MustCompile(`plays .*`).FindAllString(out, -1), " ")
	}
	for seed := '4'; moves(playGame(t, typed, "--elo", "-200", "--seed", string(seed))) == moves(first); seed++ {
		if seed == '9' {
			t.Fatal("five seeds change nothing")
		}
	}
}

// TestPlayEngineResigns: such a game is won, and saved as one.
func TestPlayEngineResigns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "game.pgn")
	engine := "xboard:" + strings.TrimPrefix(clitest.MockPlayer("go: print resign", ""), "uci:")
	out, stderr, code := selfplayCommand(t, "e4\n", "play", engine, "--time", "1s", "--save", path)
	if text, err := os.ReadFile(path); code != 0 || !strings.Contains(out, "resigns (1-0)") || err != nil || !strings.Contains(string(text), `[Result "1-0"]`) {
		t.Errorf("code %d, %s\n%s\n%s, %v", code, stderr, out, text, err)
	}
}

// TestPlayHintResigns: an engine that has no hint but to resign does not end the game.
func TestPlayHintResigns(t *testing.T) {
	engine := "xboard:" + strings.TrimPrefix(clitest.MockPlayer("go: print resign", ""), "uci:")
	out, stderr, code := selfplayCommand(t, "hint\nboard\nquit\n", "play", engine, "--time", "1s")
	if code != 0 || !strings.Contains(out, "mock would resign\n1. > ") || !strings.Contains(out, " w KQkq - 0 1\n1. > ") {
		t.Errorf("code %d, %s\n%s", code, stderr, out)
	}
}

func TestPlayUsage(t *testing.T) {
	for _, args := range [][]string{
		{"--elo", "99999"}, {"uci:x", "--elo", "0"}, {"xboard:x", "--elo", "0"}, {"--color", "red"}, {"--fen", "x"}, {"a", "b"}, {"x,y"}, {"--depth", "-1"}, {"--hash", "0"}, {"--variant", "x"},
	} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"play"}, args...)...); code != 2 || stderr == "" {
			t.Errorf("%q: code %d, %q", args, code, stderr)
		}
	}
	if strength.MinElo() > -200 {
		t.Error("the ratings of these tests are out of range")
	}
}
