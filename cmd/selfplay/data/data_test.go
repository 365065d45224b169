package data

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/dataset"
)

const (
	plainFixture = "../../../sample/plain/testdata/crazyhouse.plain"
	binFixture   = "../../../sample/plain/testdata/crazyhouse.bin"
	viewFixture  = "../../../sample/plain/testdata/crazyhouse.bin-view.plain"
	gamesFixture = "../../../sample/chain/testdata/crazyhouse-games.plain"
	chessFixture = "../../../sample/binpack/testdata/chess.binpack"
)

func sameFiles(t *testing.T, got, want string) {
	t.Helper()
	a, errA := os.ReadFile(got)
	b, errB := os.ReadFile(want)
	if errA != nil || errB != nil || !bytes.Equal(a, b) {
		t.Errorf("%s is not %s (%v, %v)", got, want, errA, errB)
	}
}

func TestConvert(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{plainFixture, at("a.bin")},
		{binFixture, at("b.plain")},
		{gamesFixture, at("c.chain")},
		{at("c.chain"), at("c.plain")},
		{chessFixture, at("d.chain")},
		{at("d.chain"), at("d.binpack")},
		{plainFixture, gamesFixture, at("e.chain")},
		{"--filter", "no-draw,max-score=500", plainFixture, at("f.txt")},
	} {
		if out, stderr, code := selfplayCommand(t, "", append([]string{"convert"}, args...)...); code != 0 || out != "" || !strings.Contains(stderr, " positions written in ") {
			t.Fatalf("%v: exit %d, output %q, error %q", args, code, out, stderr)
		}
	}
	sameFiles(t, at("a.bin"), binFixture)
	sameFiles(t, at("b.plain"), viewFixture)
	sameFiles(t, at("c.plain"), gamesFixture)

	_, stderr, code := selfplayCommand(t, "", "convert", "--filter", "min-ply=8,max-ply=30,require-score", gamesFixture, at("g.bin"))
	if code != 0 || strings.Count(stderr, " positions left out: ply\n") != 1 || strings.Count(stderr, "left out") != 1 {
		t.Errorf("filtered by ply: exit %d, error %q, expected both bounds counted together", code, stderr)
	}
	_, stderr, code = selfplayCommand(t, "", "convert", plainFixture, at("a.bin"))
	if code != 1 || !strings.Contains(stderr, "file exists: "+at("a.bin")+" (--force replaces it)") {
		t.Errorf("existing file: exit %d, error %q", code, stderr)
	}
	_, stderr, code = selfplayCommand(t, "", "convert", "--append", plainFixture, at("a.bin"))
	if info, err := os.Stat(at("a.bin")); code != 0 || err != nil || info.Size() != 2*144000 {
		t.Errorf("append: exit %d, error %q", code, stderr)
	}
	_, stderr, _ = selfplayCommand(t, "", "convert", "--force", plainFixture, at("a.bin"))
	if !strings.Contains(stderr, "a.bin: does not keep which piece a move drops or promotes to") {
		t.Errorf("what is lost is not told: %q", stderr)
	}
	sameFiles(t, at("a.bin"), binFixture)

	text, err := os.ReadFile(plainFixture)
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, code := selfplayCommand(t, string(text), "convert", "--from", "plain", "--to", "bin", "-", "-")
	if want, err := os.ReadFile(binFixture); err != nil || code != 0 || out != string(want) {
		t.Errorf("through pipes: exit %d, %d bytes, error %q", code, len(out), stderr)
	}
	for _, args := range [][]string{
		{plainFixture}, {plainFixture, at("x.pgn")}, {"-", at("x.bin")}, {"--from", "epd", plainFixture, at("x.bin")},
		{"--filter", "quiet", plainFixture, at("x.bin")}, {"--variant", "shogi", plainFixture, at("x.bin")},
		{"--variant", "crazyhouse", chessFixture, at("x.chain")}, {"--append", "--force", plainFixture, at("x.bin")},
		{plainFixture, chessFixture, at("x.chain")},
	} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"convert"}, args...)...); code != 2 || !strings.Contains(stderr, "wrong usage") {
			t.Errorf("%v: exit %d, error %q", args, code, stderr)
		}
	}
	if _, stderr, _ := selfplayCommand(t, "", "convert", plainFixture, at("x.pgn")); !strings.Contains(stderr, "--to: unknown format") || !strings.Contains(stderr, "or the format here") {
		t.Errorf("an unknown extension: error %q", stderr)
	}
	_, stderr, code = selfplayCommand(t, "", "convert", plainFixture, at("x.binpack"))
	if _, err := os.Stat(at("x.binpack")); code != 1 || err == nil || !strings.Contains(stderr, "crazyhouse") {
		t.Errorf("crazyhouse in a .binpack: exit %d, error %q", code, stderr)
	}
}

// TestConvertDamagedBeginning: a file whose first header is damaged gives what its other
// blocks hold, of whatever variant and unit.
func TestConvertDamagedBeginning(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if _, stderr, code := selfplayCommand(t, "", "convert", chessFixture, at("a.chain")); code != 0 {
		t.Fatal(stderr)
	}
	block, err := os.ReadFile(at("a.chain"))
	if err != nil {
		t.Fatal(err)
	}
	file := append(bytes.Clone(block), block...)
	file[20] ^= 1 // in the header, after the magic
	if err := os.WriteFile(at("b.chain"), file, 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, code := selfplayCommand(t, "", "convert", "--skip-bad", at("b.chain"), at("c.chain"))
	if code != 0 || !strings.Contains(stderr, "1 bad records left out\n") || strings.Contains(stderr, "scores are converted") {
		t.Errorf("exit %d, error %q", code, stderr)
	}
	sameFiles(t, at("c.chain"), at("a.chain"))
}

// TestConvertReplay exports a run's games and reads them again.
func TestConvertReplay(t *testing.T) {
	dir, _ := clitest.SmallRun(t)
	out := filepath.Join(t.TempDir(), "games.chain")
	_, stderr, code := selfplayCommand(t, "", "convert", "replay:"+dir, out)
	if code != 0 || !strings.Contains(stderr, "1 whole games\n") {
		t.Fatalf("exit %d, error %q", code, stderr)
	}
	text, stderr, code := selfplayCommand(t, "", "validate", out, "replay:"+dir)
	if code != 0 || strings.Count(text, "1 whole games, 0 bad records") != 2 {
		t.Errorf("exit %d, output %q, error %q", code, text, stderr)
	}
}

func TestValidate(t *testing.T) {
	text, err := os.ReadFile(gamesFixture)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.plain")
	spoilt := strings.Replace(string(text), "\nmove ", "\nmove a1a8\nx ", 1)
	if err := os.WriteFile(bad, []byte(spoilt+"fen 8"), 0o644); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := selfplayCommand(t, "", "validate", gamesFixture, bad)
	want := "bad.plain: record 0 at byte 0: illegal move: found a1a8 in rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	if code != 1 || !strings.Contains(out, "2098 positions, 0 whole games, 0 bad records") || !strings.Contains(stderr, want) {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
	out, stderr, code = selfplayCommand(t, "", "validate", "--all", bad)
	if code != 1 || !strings.Contains(out, "1 bad records") || !strings.Contains(stderr, want) || !strings.Contains(stderr, "the last 5 bytes") {
		t.Errorf("--all: exit %d, output %q, error %q", code, out, stderr)
	}
	if _, stderr, code := selfplayCommand(t, "", "validate"); code != 2 {
		t.Errorf("no files: exit %d, error %q", code, stderr)
	}
}

func TestDataStats(t *testing.T) {
	plot := filepath.Join(t.TempDir(), "plot.png")
	out, stderr, code := selfplayCommand(t, "", "stats", gamesFixture, "--plot", plot)
	for _, want := range []string{"positions                   2098\n", "games                       54 ", "score, centipawns", "P in a hand"} {
		if !strings.Contains(out, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	if code != 0 || t.Failed() {
		t.Errorf("exit %d, error %q, output\n%s", code, stderr, out)
	}
	if info, err := os.Stat(plot); err != nil || info.Size() < 1000 {
		t.Errorf("plot: error %v", err)
	}
	out, _, code = selfplayCommand(t, "", "stats", "--json", binFixture, gamesFixture)
	var r dataset.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 0 || r.Positions != 4098 || r.Partial == 0 || len(r.Histograms) != 9 {
		t.Errorf("exit %d, error %v, %+v", code, err, r)
	}
	if _, stderr, code := selfplayCommand(t, "", "stats", "--plot", "x.gif", binFixture); code != 2 {
		t.Errorf("plot as .gif: exit %d, error %q", code, stderr)
	}
}

func TestShuffleAndSplit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"shuffle", binFixture, at("a.bin")},
		{"shuffle", binFixture, at("b.bin")},
		{"shuffle", "--seed", "2", binFixture, at("c.bin")},
		{"shuffle", "--by-game", gamesFixture, at("d.plain")},
		{"split", gamesFixture, at("train.chain"), at("test.chain")},
	} {
		if out, stderr, code := selfplayCommand(t, "", args...); code != 0 || out != "" || !strings.Contains(stderr, " a second") {
			t.Fatalf("%v: exit %d, output %q, error %q", args, code, out, stderr)
		}
	}
	sameFiles(t, at("a.bin"), at("b.bin"))
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, c := read(at("a.bin")), read(at("c.bin")); a == c || len(a) != 144000 || a == read(binFixture) {
		t.Error("the seed does not count, or nothing was shuffled")
	}
	if d := read(at("d.plain")); len(d) != len(read(gamesFixture)) || d == read(gamesFixture) {
		t.Error("games were not shuffled")
	}
	for _, args := range [][]string{
		{"shuffle", "--memory", "0", binFixture, at("x.bin")},
		{"split", "--every", "1", gamesFixture, at("x.bin"), at("y.bin")},
		{"split", gamesFixture, at("x.bin"), at("x.bin")},
		{"split", gamesFixture, at("x.bin"), dir + "/./x.bin"},
		{"split", gamesFixture, at("x.bin")},
		{"convert", "--append", at("a.bin"), dir + "/./a.bin"},
	} {
		if _, stderr, code := selfplayCommand(t, "", args...); code != 2 {
			t.Errorf("%v: exit %d, error %q", args, code, stderr)
		}
	}
}

// A file is searched again by the command line, in the unit of its format, and a record
// that cannot be read is named.
func TestRescore(t *testing.T) {
	dir := t.TempDir()
	in, out := binFixture, filepath.Join(dir, "out.plain")
	args := []string{"rescore", in, out, "--nodes", "50", "--player", "material", "--filter", "no-check"}
	if _, stderr, code := selfplayCommand(t, "", args...); code != 0 || !strings.Contains(stderr, "positions written; now") || strings.Contains(stderr, "converted") {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	first, err := os.ReadFile(out)
	if err != nil || !bytes.Contains(first, []byte("score ")) {
		t.Fatalf("found %.200q, error %v", first, err)
	}
	if _, stderr, code := selfplayCommand(t, "", args...); code != 0 || !strings.Contains(stderr, "complete") {
		t.Errorf("once more: exit code %d: %s", code, stderr)
	}
	if _, stderr, code := selfplayCommand(t, "", append(args, "--seed", "2")...); code != 2 || !strings.Contains(stderr, "another run") {
		t.Errorf("other settings: exit code %d: %s", code, stderr)
	}
	surprised := []string{"rescore", in, filepath.Join(dir, "surprised.plain"), "--nodes", "50", "--player", "material", "--first", "material"}
	if _, stderr, code := selfplayCommand(t, "", append(surprised, "--surprise", "100")...); code != 0 || !strings.Contains(stderr, "left out: no surprise") {
		t.Errorf("with a first player: exit code %d: %s", code, stderr)
	}
	for _, wrong := range [][]string{{"--depth", "-1"}, {"--save-interval", "-1s"}, {"--threads", "-1"}} {
		if _, stderr, code := selfplayCommand(t, "", append([]string{"rescore", in, filepath.Join(dir, "wrong.plain"), "--player", "material"}, wrong...)...); code != 2 || !strings.Contains(stderr, wrong[0]) {
			t.Errorf("%q: exit code %d: %s", wrong, code, stderr)
		}
	}
	if _, stderr, code := selfplayCommand(t, "", surprised...); code != 2 || !strings.Contains(stderr, "expected both") {
		t.Errorf("a first player alone: exit code %d: %s", code, stderr)
	}
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.bin")
	for i := range 40 {
		data[72+i] = 0xff
	}
	if err := os.WriteFile(bad, data, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "rescore", bad, filepath.Join(dir, "bad.chain"), "--nodes", "50", "--player", "material"); code != 1 || !strings.Contains(stderr, "record 1 at byte 72") || !strings.Contains(stderr, "--skip-bad") {
		t.Errorf("a bad record: exit code %d: %s", code, stderr)
	}
	late := filepath.Join(dir, "late.plain")
	if err := os.WriteFile(late, []byte("fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\nmove e2e4\nscore 5\nply 20000\nresult 0\ne\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "rescore", "--variant", "chess", late, filepath.Join(dir, "late.binpack"), "--nodes", "50", "--player", "material"); code != 1 || !strings.Contains(stderr, "choose another format") || strings.Contains(stderr, "--skip-bad") {
		t.Errorf("a ply that no .binpack takes: exit code %d: %s", code, stderr)
	}
}
