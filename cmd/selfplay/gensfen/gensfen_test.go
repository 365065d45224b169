package gensfen

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/generate"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/bin"
)

func gensfenFile(t *testing.T, path string, args ...string) []byte {
	t.Helper()
	if _, stderr, code := selfplayCommand(t, "", append([]string{"gensfen"}, args...)...); code != 0 {
		t.Fatalf("%q: exit %d, error %q", args, code, stderr)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same options as flags, with underscores, as bare words, under their older
// names, and mixed.
func TestGensfenSpellings(t *testing.T) {
	dir := t.TempDir()
	name := func(s string) string { return filepath.Join(dir, s) }
	want := gensfenFile(t, name("flags.chain"), "--nodes", "50", "--count", "60", "--eval-limit", "2000", "--keep-draws=0",
		"--random-move-max-ply", "20", "--write-min-ply", "3", "--seed", "x", "--output", name("flags.chain"), "--smart-fen-skipping")
	for file, args := range map[string][]string{
		"underscores.chain": {"--nodes", "50", "--count=60", "--eval_limit", "2000", "--keep_draws", "0", "--random_move_max_ply=20",
			"--write_min_ply", "3", "--seed", "x", "--smart_fen_skipping", "--output", name("underscores")},
		"words.chain": {"nodes", "50", "loop", "60", "eval_limit", "962cp", "use_draw_in_training_data_generation", "0", "random_move_maxply", "20",
			"write_minply", "3", "seed", "x", "smart_fen_skipping", "set_recommended_uci_options", "output_file_name", name("words"), "sfen_format", "chain"},
		"mixed.chain": {"--output", name("mixed.chain"), "nodes", "50", "--count", "60", "eval_limit=2000", "--keep_draws=false",
			"smart_fen_skipping", "1", "random_move_maxply", "20", "write_min_ply", "3", "seed", "x"},
	} {
		if got := gensfenFile(t, name(file), args...); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d", file, len(got), len(want))
		}
	}
}

func TestGensfenUsage(t *testing.T) {
	dir := t.TempDir()
	out := filepath.Join(dir, "x.chain")
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"dpeth", "3"}, "depth"},
		{[]string{"depth"}, "expected a value"},
		{[]string{"eval_limit", "many"}, "208 being a pawn"},
		{[]string{"count", "1.5"}, "8e9"},
		{[]string{"keep_draws", "2"}, "expected 0 or 1"},
		{[]string{"--data-format", "binpack"}, "selfplay convert"},
		{[]string{"--depth", "0"}, "no limit"},
		{[]string{"--player", "material,tc=1+1"}, "nodes or time for the move"},
		{[]string{"--variant", "chess", "--adjudicate_draws_by_insufficient_mating_material", "0"}, "by the rules of chess"},
		{[]string{"--book", filepath.Join(dir, "none.epd")}, "none.epd"},
		{[]string{"--player", "xboard:none", "--random-multi-pv", "4"}, "reports one line"},
		{[]string{"--threads", "1025", "--hash", "1"}, "--threads: found 1025, expected 1 to 1024"},
		{[]string{"--min-depth", "5", "--max-depth", "3"}, "a maximum that is not below the minimum"},
		{[]string{"--player", "material,nodes=50", "--depth", "3"}, "found --depth and limits in --player"},
		{[]string{"--save-interval", "-1s"}, "--save-interval -1s"},
	} {
		args := append([]string{"gensfen", "--output", out}, tc.args...)
		_, stderr, code := selfplayCommand(t, "", args...)
		if code == 0 || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q lacks %q", tc.args, code, stderr, tc.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a file was made by wrong usage")
	}
	small := []string{"gensfen", "nodes", "40", "count", "20", "output", out}
	if _, stderr, code := selfplayCommand(t, "", small...); code != 0 {
		t.Fatal(stderr)
	}
	stdout, stderr, code := selfplayCommand(t, "", small...) // finds its random seed
	if code != 0 || !strings.Contains(stdout, "complete") {
		t.Errorf("again: exit %d, %q, error %q", code, stdout, stderr)
	}
	if _, stderr, code = selfplayCommand(t, "", append(small, "nodes", "41")...); code != 2 || !strings.Contains(stderr, "settings or seed") {
		t.Errorf("other settings: exit %d, error %q", code, stderr)
	}
}

// The command printed to go on with a file of a random name finds that file and its seed.
func TestGensfenRandomName(t *testing.T) {
	dir := t.TempDir()
	list := []string{"--random_file_name=1", "--nodes", "40", "--output", filepath.Join(dir, "x"), "random-file-name", "1", "loop", "20"}
	if _, stderr, code := selfplayCommand(t, "", append([]string{"gensfen"}, list...)...); code != 0 {
		t.Fatal(stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "x_*.chain"))
	if err != nil || len(files) != 1 {
		t.Fatalf("found %q, error %v, expected one file", files, err)
	}
	var text strings.Builder
	o := gensfenOptions{randomFileName: true}
	p := newPrinter(&o, append([]string{"selfplay", "gensfen"}, list...), &generate.Config{Output: files[0]}, &text)
	if err := p.end(io.Discard, new(generate.Progress), true, nil); !errors.Is(err, cli.ErrResumable) {
		t.Errorf("error %v, expected %v", err, cli.ErrResumable)
	}
	if want := "resume with: " + cli.CommandLine(p.resume[1:]...); !strings.Contains(text.String(), want) || strings.Contains(strings.ReplaceAll(want, "_", "-"), "random-file-name") {
		t.Errorf("printed %q, expected %q without a random name", text.String(), want)
	}
	if stdout, stderr, code := selfplayCommand(t, "", p.resume[1:]...); code != 0 || !strings.Contains(stdout, files[0]+": complete") {
		t.Errorf("again: exit %d, %q, error %q", code, stdout, stderr)
	}
	if o.randomFileName = false; !slices.Equal(newPrinter(&o, list, new(generate.Config), nil).resume, list) {
		t.Error("a file whose name was given has another command")
	}
}

// TestGensfenQuiet: of every player that does not tell how quiet positions are it is said
// that the limit for that is not applied, and of no other.
func TestGensfenQuiet(t *testing.T) {
	for player, told := range map[string]int{
		"material": 0, "material,elo=-300": 0, "mcts:uniform,hash=4": 1, "mcts:uniform,hash=4,elo=-300": 1, clitest.MockPlayer("", ""): 1,
	} {
		_, stderr, code := selfplayCommand(t, "", "gensfen", "--player", player, "--nodes", "20", "--hash", "1", "--count", "5", "--seed", "1",
			"--output", filepath.Join(t.TempDir(), "x.chain"))
		if code != 0 || strings.Count(stderr, "--eval-diff-limit is not applied") != told {
			t.Errorf("%s: exit %d, error %q, expected to be told %d times that a limit is not applied", player, code, stderr, told)
		}
	}
}

// A UCI engine generates from a book, in chess too.
func TestGensfenEngine(t *testing.T) {
	dir := t.TempDir()
	out, book := filepath.Join(dir, "x.bin"), filepath.Join(dir, "book.epd")
	const fen = "r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3"
	if err := os.WriteFile(book, []byte(fen+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	file := gensfenFile(t, out, "--variant", "chess", "--player", clitest.MockPlayer("", ""), "--depth", "1", "--book", book,
		"count", "40", "write_min_ply", "0", "random_move_min_ply", "4", "output", out)
	if n := len(file) / bin.Bits512.RecordSize(); n < 40 || len(file)%bin.Bits512.RecordSize() != 0 {
		t.Errorf("%d bytes, %d positions", len(file), n)
	}
	var s sample.Sample
	if err := bin.NewReader(bytes.NewReader(file), chess.Chess, bin.Bits512).Read(&s); err != nil || s.Pos.FEN() != fen {
		t.Errorf("first position %s, %v", s.Pos.FEN(), err)
	}
}

// A run whose process is killed three times without warning ends with the file of
// one that was not.
func TestKilledGensfen(t *testing.T) {
	dir := t.TempDir()
	for _, ext := range []string{".chain", ".bin"} {
		args := func(name string) []string {
			return []string{"gensfen", "--nodes", "150", "--hash", "1", "--threads", "2", "--save-interval", "5ms", "--seed", "3",
				"--count", "3000", "--output", filepath.Join(dir, name+ext)}
		}
		want := gensfenFile(t, filepath.Join(dir, "straight"+ext), args("straight")[1:]...)
		clitest.KillThrice(t, len(want), func() int {
			info, err := os.Stat(filepath.Join(dir, "killed"+ext))
			if err != nil {
				return 0
			}
			return int(info.Size())
		}, args("killed")...)
		if got := gensfenFile(t, filepath.Join(dir, "killed"+ext), args("killed")[1:]...); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes, want %d", ext, len(got), len(want))
		}
	}
}
