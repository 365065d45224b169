package position

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func TestEval(t *testing.T) {
	n, path := clitest.NarrowNet(t)
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

func TestPerft(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "perft", "--depth", "3")
	if code != 0 || !strings.Contains(out, "nodes 8902 ") {
		t.Errorf("exit %d, output %q", code, out)
	}
	out, _, code = selfplayCommand(t, "", "perft", "--depth", "2", "--divide", "--fen", "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1")
	if code != 0 || !strings.Contains(out, "N@e4\t") {
		t.Errorf("divide: exit %d, output %q", code, out)
	}
	_, stderr, code := selfplayCommand(t, "", "perft", "--fen", "4k3/8/8/8/8/8/8/8[N] w - - 0 1")
	if code != 1 || !strings.Contains(stderr, "king") {
		t.Errorf("bad FEN: exit %d, error %q", code, stderr)
	}
	if _, stderr, code = selfplayCommand(t, "", "perft", "--depth", "1000000"); code != 2 || !strings.Contains(stderr, "expected 0 to 32") {
		t.Errorf("a depth beyond the stack: exit %d, error %q", code, stderr)
	}
}

func TestPerftFile(t *testing.T) {
	start := "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	good := "# comment\n" + start + "\t2\t400\n" + start + "\t3\t8902\n"
	out, _, code := selfplayCommand(t, good, "perft", "--file", "-")
	if code != 0 || !strings.Contains(out, "2 lines, 0 wrong") {
		t.Errorf("exit %d, output %q", code, out)
	}
	bad := good + start + "\t1\t21\nnonsense\t1\t2\n" + start + "\n"
	out, _, code = selfplayCommand(t, bad, "perft", "--file", "-")
	if code != 1 || !strings.Contains(out, "5 lines, 3 wrong") || !strings.Contains(out, "-:4: ") || !strings.Contains(out, "found 20 nodes, expected 21") {
		t.Errorf("exit %d, output %q", code, out)
	}
	if _, stderr, code := selfplayCommand(t, "", "perft", "--file", filepath.Join(t.TempDir(), "none.tsv")); code != 1 || !strings.Contains(stderr, "none.tsv") {
		t.Errorf("missing file: exit %d, error %q", code, stderr)
	}
}
