package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/nnuetest"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

// narrowNet writes a random net and returns it with its path.
func narrowNet(t *testing.T) (*nnue.Network, string) {
	t.Helper()
	n, err := nnuetest.Random(nnue.Narrow(16), 5)
	if err != nil {
		t.Fatal(err)
	}
	n.Description = "random, narrow"
	var b bytes.Buffer
	if err := n.Write(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "random.nnue")
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return n, path
}

func TestEval(t *testing.T) {
	n, path := narrowNet(t)
	fens := []string{
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
		"r1bqk2r/pppp1ppp/2n2n2/2b1p3/2B1P3/2NP1N2/PPP2PPP/R1BQK2R[Pn] b KQkq - 0 6",
		"2k5/8/8/8/8/8/8/4K3[QRBNPqrbnp] w - - 0 1",
	}
	want := "fen\traw\tadjusted\tfinal\tpsqt\tpositional\tbucket\taccumulator\n"
	for _, fen := range fens {
		p, err := chess.ParseFEN(chess.Crazyhouse, fen)
		if err != nil {
			t.Fatal(err)
		}
		e := n.Evaluate(&p)
		list := func(values any) string {
			b, err := json.Marshal(values)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Trim(string(b), "[]")
		}
		want += fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%s\t%d\t%016x\n", fen, e.Raw, e.Adjusted, e.Final, list(e.PSQT), list(e.Positional), e.Bucket, e.Checksum)
	}
	file := "# positions\n\n" + strings.Join(fens, "\tanother column\r\n") + "\n"
	out, stderr, code := selfplayCommand(t, file, "eval", "--net", path, "--file", "-")
	if code != 0 || stderr != "" || out != want {
		t.Errorf("exit %d, error %q, output\n%swant\n%s", code, stderr, out, want)
	}
	out, stderr, code = selfplayCommand(t, file+"nonsense\n\tno FEN\n", "eval", "--net", path, "--file", "-")
	if code != 1 || out != want || !strings.Contains(stderr, "-:6: ") || !strings.Contains(stderr, "-:7: ") {
		t.Errorf("bad lines: exit %d, error %q, output\n%s", code, stderr, out)
	}
	out, _, code = selfplayCommand(t, "", "eval", "--net", path)
	if lines := strings.SplitAfter(want, "\n"); code != 0 || out != lines[0]+lines[1] {
		t.Errorf("start position: exit %d, output\n%s", code, out)
	}
}

func TestNetInspectAndImport(t *testing.T) {
	_, path := narrowNet(t)
	out, _, code := selfplayCommand(t, "", "net", "inspect", path)
	if code != 0 || !strings.Contains(out, `"random, narrow"`) || !strings.Contains(out, "crazyhouse") {
		t.Errorf("inspect: exit %d, output %q", code, out)
	}
	copied := filepath.Join(t.TempDir(), "copy.nnue")
	if _, stderr, code := selfplayCommand(t, "", "net", "import", path, copied); code != 0 {
		t.Fatalf("import: exit %d, error %q", code, stderr)
	}
	original, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := os.ReadFile(copied); err != nil || !bytes.Equal(again, original) {
		t.Errorf("the copy differs, error %v", err)
	}
	if again, _, _ := selfplayCommand(t, "", "net", "inspect", copied); again != out {
		t.Errorf("inspect prints %q, of the copy %q", out, again)
	}

	truncated := filepath.Join(t.TempDir(), "truncated.nnue")
	for _, n := range []int{0, 3, 100, len(original) / 2, len(original) - 1} {
		if err := os.WriteFile(truncated, original[:n], 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"net", "inspect", truncated}, {"net", "import", truncated, copied}} {
			if _, stderr, code := selfplayCommand(t, "", args...); code != 1 || !strings.Contains(stderr, "truncated.nnue") {
				t.Errorf("%s of %d bytes: exit %d, error %q", args[1], n, code, stderr)
			}
		}
	}
	if again, err := os.ReadFile(copied); err != nil || !bytes.Equal(again, original) {
		t.Errorf("a failed import changed what it should have replaced, error %v", err)
	}
}

func TestNetExport(t *testing.T) {
	_, path := narrowNet(t)
	exported := filepath.Join(t.TempDir(), "exported.nnue")
	_, stderr, code := selfplayCommand(t, "", "net", "export", path, exported)
	if code != 1 || !strings.Contains(stderr, "random.nnue: Fairy-Stockfish does not load such a net") || !strings.Contains(stderr, "Width: found 16, expected 512") {
		t.Errorf("narrow net: exit %d, error %q", code, stderr)
	}
	if _, err := os.Stat(exported); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the refused export left a file, error %v", err)
	}

	if err := os.WriteFile(path, nnuetest.A.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := selfplayCommand(t, "", "net", "export", path, exported); code != 0 {
		t.Fatalf("fairy net: exit %d, error %q", code, stderr)
	}
	if got, err := os.ReadFile(exported); err != nil || nets.Hash(got) != nnuetest.A.SHA256 {
		t.Errorf("the exported file is not the one that Fairy-Stockfish loads, error %v", err)
	}
}

// smallRun makes a run's directory with one game in its replay buffer and
// returns it with the game's id.
func smallRun(t *testing.T) (dir, id string) {
	t.Helper()
	record, err := os.ReadFile("../../game/testdata/v1/crazyhouse.game")
	if err != nil {
		t.Fatal(err)
	}
	g, err := game.Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	replaytest.Store(t, filepath.Join(dir, "replay"), record)
	return dir, g.ID
}

func TestReplayAudit(t *testing.T) {
	dir, id := smallRun(t)
	buffer := filepath.Join(dir, "replay")
	for _, d := range []string{dir, buffer} {
		out, stderr, code := selfplayCommand(t, "", "replay", "audit", "--json", d)
		var report replay.AuditReport
		if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil || report.Games != 1 || report.UniqueIDs != 1 {
			t.Errorf("exit %d, error %v %q, output %q", code, err, stderr, out)
		}
		if out, stderr, code := selfplayCommand(t, "", "replay", "audit", "--ids", d); code != 0 || out != id+"\n" {
			t.Errorf("ids: exit %d, error %q, output %q", code, stderr, out)
		}
	}

	segments, _ := filepath.Glob(filepath.Join(buffer, "*.seg"))
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	record := data[24:] // behind the segment's header
	if err := os.WriteFile(segments[0], append(data, record...), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := selfplayCommand(t, "", "replay", "audit", dir); code != 1 || stderr != "" || !strings.Contains(out, "uplicates") {
		t.Errorf("a game twice: exit %d, error %q, output %q", code, stderr, out)
	}

	empty := t.TempDir()
	if _, stderr, code := selfplayCommand(t, "", "replay", "audit", empty); code != 1 || !strings.Contains(stderr, empty+": found no segments") {
		t.Errorf("no buffer: exit %d, error %q", code, stderr)
	}
	if _, stderr, code := selfplayCommand(t, "", "replay", "audit", filepath.Join(empty, "none")); code != 1 || !strings.Contains(stderr, "none") {
		t.Errorf("no directory: exit %d, error %q", code, stderr)
	}
}

func TestConfigFileNamesPreset(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("schema: 1\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("preset: fairy\nseed: 3\n")
	want, _, _ := selfplayCommand(t, "", "config", "show", "--preset", "fairy", "--seed", "3")
	for _, args := range [][]string{nil, {"--preset", "fairy"}} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"config", "show", "--config", file}, args...)...)
		if code != 0 || out != want {
			t.Errorf("%q: exit %d, error %q, output\n%s", args, code, stderr, out)
		}
	}
	_, stderr, code := selfplayCommand(t, "", "config", "show", "--config", file, "--preset", "tiny")
	if code != 1 || !strings.Contains(stderr, "found fairy, expected tiny") {
		t.Errorf("two presets: exit %d, error %q", code, stderr)
	}
	for _, text := range []string{"preset: desktop\n", "actor:\n  workers: 0\n", "train:\n  lr: fast\n"} {
		write(text)
		if _, stderr, code := selfplayCommand(t, "", "config", "check", "--config", file); code != 1 || !strings.Contains(stderr, "found") {
			t.Errorf("%q: exit %d, error %q", text, code, stderr)
		}
	}
	// What the command line mends is not wrong.
	if _, stderr, code := selfplayCommand(t, "", "config", "check", "--config", file, "--set", "actor.workers=1"); code != 1 {
		t.Errorf("a text for a number: exit %d, error %q", code, stderr)
	}
	write("actor:\n  workers: 0\n")
	if _, stderr, code := selfplayCommand(t, "", "config", "check", "--config", file, "--set", "actor.workers=1"); code != 0 {
		t.Errorf("mended: exit %d, error %q", code, stderr)
	}
}

func TestMatchErrorPrintsNoEmptyResult(t *testing.T) {
	out, stderr, code := selfplayCommand(t, "", "match", "material", "uci:"+filepath.Join(t.TempDir(), "none"), "--games", "2")
	if code != 1 || out != "" || !strings.Contains(stderr, "none") {
		t.Errorf("exit %d, error %q, output %q", code, stderr, out)
	}
}

func TestWrongUse(t *testing.T) {
	_, path := narrowNet(t)
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"bench", "--depth", "0"}, 2, "found --depth 0, expected 1 to 127"},
		{[]string{"bench", "--depth", "128"}, 2, "found --depth 128"},
		{[]string{"eval", "--net", path, "--variant", "chess"}, 1, `found one for "crazyhouse", expected one for "chess"; --variant`},
		{[]string{"eval", "--net", filepath.Dir(path)}, 1, "found a directory, expected a regular file"},
	} {
		out, stderr, code := selfplayCommand(t, "", tc.args...)
		if code != tc.code || out != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q, output %q; expected exit %d and %q", tc.args, code, stderr, out, tc.code, tc.want)
		}
	}
}

// fullDisk takes no byte.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestFailedWritesAreReported(t *testing.T) {
	_, path := narrowNet(t)
	for _, args := range [][]string{
		{"perft", "--depth", "2"},
		{"perft", "--depth", "2", "--divide"},
		{"perft", "--file", "-"},
		{"eval", "--net", path},
		{"bench", "--depth", "1"},
		{"bench", "perft", "--depth", "2", "--rounds", "1"},
		{"net", "inspect", path},
		{"config", "show"},
	} {
		var stderr strings.Builder
		code := run(args, strings.NewReader("nonsense\n"), fullDisk{}, &stderr)
		if code != 1 || !strings.Contains(stderr.String(), "no space left") {
			t.Errorf("%q: exit %d, error %q", args, code, stderr.String())
		}
	}
}

func TestCancelledCommandsReturn(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := chess.Crazyhouse.Start()
	calls := 0
	_, err := perftNodes(ctx, &p, 30, func(p *chess.Position, depth int) uint64 {
		if calls++; calls == 3 {
			cancel()
		}
		return chess.Perft(p, depth)
	})
	if !errors.Is(err, context.Canceled) || calls != 3 {
		t.Errorf("perft: error %v after %d calls", err, calls)
	}

	// A reader that never ends, as a terminal nobody types at.
	in, typed := io.Pipe()
	defer typed.Close()
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	go func() { _, _ = io.WriteString(typed, "one\n") }()
	err = eachLine(ctx, "-", in, func(l line) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("lines: error %v", err)
	}
}

func TestPerftNodesIsPerft(t *testing.T) {
	p, err := chess.ParseFEN(chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[Np] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	for depth := range 5 {
		got, err := perftNodes(t.Context(), &p, depth, chess.PerftCount)
		if want := chess.Perft(&p, depth); err != nil || got != want {
			t.Errorf("depth %d: %d nodes, error %v; want %d", depth, got, err, want)
		}
	}
}
