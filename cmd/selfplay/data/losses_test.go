package data

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/gensfen"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/dataset"
)

// What is lost of games that are not copied whole is said once; of games that are,
// nothing is said.
func TestLossesOfGames(t *testing.T) {
	dir := t.TempDir()
	games := clitest.Games(t, gensfen.Commands())
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct {
		told int
		args []string
	}{
		{0, []string{"convert", games, at("a.chain")}},
		{1, []string{"convert", "--filter", "max-score=300", games, games, at("b.chain")}},
		{1, []string{"convert", games, at("c.plain")}},
		{0, []string{"convert", at("c.plain"), at("d.chain")}},
		{1, []string{"shuffle", games, at("e.chain")}},
		{0, []string{"shuffle", "--by-game", games, at("f.chain")}},
		{1, []string{"split", games, at("g.bin"), at("h.chain")}},
		{0, []string{"split", games, at("i.chain"), at("j.chain")}},
		{1, []string{"rescore", "--nodes", "1", "--player", "material", games, at("k.chain")}},
	} {
		_, stderr, code := selfplayCommand(t, "", tc.args...)
		if code != 0 || strings.Count(stderr, ": does not keep "+dataset.PartingLoses+"\n") != tc.told {
			t.Errorf("%q: exit %d, error %q, expected to be told %d times what games lose", tc.args, code, stderr, tc.told)
		}
	}
}

// Where scores are converted to another unit the command says from which to which,
// whatever the format.
func TestConvertedScores(t *testing.T) {
	dir := t.TempDir()
	games := clitest.Games(t, gensfen.Commands())
	const from208, from100 = ": scores are converted from 1/208 pawn to 1/100 pawn\n", ": scores are converted from 1/100 pawn to 1/208 pawn\n"
	same, appended := filepath.Join(dir, "same.chain"), filepath.Join(dir, "appended.chain")
	for _, tc := range []struct {
		want string
		args []string
	}{
		{binFixture + from208, []string{binFixture, games, filepath.Join(dir, "mixed.chain")}},
		{games + from100, []string{games, filepath.Join(dir, "x.bin")}},
		{"", []string{binFixture, same}},
		{"", []string{binFixture, appended}},
		{games + from100, []string{"--append", games, appended}},
	} {
		_, stderr, code := selfplayCommand(t, "", slices.Insert(tc.args, 0, "convert")...)
		told := 0
		if tc.want != "" {
			told = 1
		}
		if code != 0 || strings.Count(stderr, ": scores are converted") != told || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q, expected %q", tc.args, code, stderr, tc.want)
		}
	}
}

// TestLossesOfSplit: what either output of a split loses is said once, whichever comes first.
func TestLossesOfSplit(t *testing.T) {
	games := clitest.Games(t, gensfen.Commands())
	for _, outputs := range [][2]string{{"a.bin", "b.chain"}, {"a.chain", "b.bin"}, {"a.bin", "b.bin"}} {
		dir := t.TempDir()
		_, stderr, code := selfplayCommand(t, "", "split", games, filepath.Join(dir, outputs[0]), filepath.Join(dir, outputs[1]))
		if code != 0 || strings.Count(stderr, ": scores are converted from 1/100 pawn to 1/208 pawn\n") != 1 ||
			strings.Count(stderr, ".bin: does not keep "+dataset.Bin.Loses()+"\n") != 1 {
			t.Errorf("%q: exit %d, error %q, expected to be told once what .bin loses and of other scores", outputs, code, stderr)
		}
	}
}

// A file without results says so where it is converted, and gives no curve of results.
func TestWithoutResults(t *testing.T) {
	text := filepath.Join(t.TempDir(), "x.txt")
	if _, stderr, code := selfplayCommand(t, "", "convert", gamesFixture, text); code != 0 {
		t.Fatal(stderr)
	}
	_, stderr, code := selfplayCommand(t, "", "convert", text, filepath.Join(t.TempDir(), "x.chain"))
	if code != 0 || strings.Count(stderr, "has no results, which") != 1 {
		t.Errorf("convert: exit %d, error %q", code, stderr)
	}
	if _, stderr, code := selfplayCommand(t, "", "stats", "wdl", text); code != 1 || !strings.Contains(stderr, "left out: 2098 positions without a result") {
		t.Errorf("stats wdl: exit %d, error %q", code, stderr)
	}
	if out, stderr, code := selfplayCommand(t, "", "stats", text); code != 0 || !strings.Contains(out, "without a result") {
		t.Errorf("stats: exit %d, output %q, error %q", code, out, stderr)
	}
}

// All commands use what is whole of a .binpack that is cut off, and say what is left.
func TestCutBinpack(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(chessFixture)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.binpack")
	if err := os.WriteFile(cut, data[:5000], 0o644); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, tc := range []struct {
		code int
		args []string
	}{
		{0, []string{"convert", cut, at("a.chain")}},
		{0, []string{"stats", cut}},
		{0, []string{"shuffle", cut, at("b.chain")}},
		{0, []string{"split", cut, at("c.chain"), at("d.chain")}},
		{0, []string{"rescore", "--nodes", "1", "--player", "material", cut, at("e.chain")}},
		{1, []string{"validate", cut}},
	} {
		if _, stderr, code := selfplayCommand(t, "", tc.args...); code != tc.code || strings.Count(stderr, "bytes are no whole record and were not read") != 1 {
			t.Errorf("%q: exit %d, error %q, expected %d and to be told once what was not read", tc.args, code, stderr, tc.code)
		}
	}
}
