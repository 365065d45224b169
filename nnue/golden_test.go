package nnue_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

var update = flag.Bool("update", false, "rewrite golden files")

// goldenNetwork has nearly the same rows for every king square: its file of 2 MB
// compresses well, and yet no two blocks of features can be confused.
func goldenNetwork(t *testing.T) *nnue.Network {
	t.Helper()
	a := tiny()
	a.Stacks, a.PSQT = 2, 2
	n := random(t, a, 1)
	n.Description = "golden\x00bytes\xff"
	block := n.Features().(features.HalfKAv2).Block()
	for f := range n.Features().Size() {
		row, columns := n.FTRow(f), n.PSQTRow(f)
		for i := range row {
			if (f*len(row)+i)%997 != 0 {
				row[i] = n.FTRow(f % block)[i]
			}
		}
		for i := range columns {
			if (f*len(columns)+i)%997 != 0 {
				columns[i] = n.PSQTRow(f % block)[i]
			}
		}
	}
	return n
}

// networkText says what is in a network: its shape, its description and what
// it thinks of some positions.
func networkText(t *testing.T, n *nnue.Network) []byte {
	t.Helper()
	text := fmt.Appendf(nil, "# %v, %q\n# position, bucket, raw, checksum of the accumulators\n", n.Architecture(), n.Description)
	for i, row := range rows(t, "nnue-eval.tsv") {
		if i%10 == 0 {
			p := position(t, chess.Crazyhouse, row[0])
			e := n.Evaluate(&p)
			text = fmt.Appendf(text, "%s\t%d\t%d\t%016x\n", row[0], e.Bucket, e.Raw, e.Checksum)
		}
	}
	return text
}

// TestGolden reads the files of every version of our own format ever written,
// compressed here; a text beside each says what is in it. One of the present
// version must also be written as the same bytes.
func TestGolden(t *testing.T) {
	present := golden.Present(nnue.OwnVersion, "golden.nnue.gz")
	if *update {
		writeGolden(t, present)
	}
	for _, path := range golden.Versions(t, present) {
		data := golden.Read(t, path)
		n, err := nnue.Parse(data, chess.Crazyhouse)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want, err := os.ReadFile(textBeside(path))
		if err != nil {
			t.Fatal(err)
		}
		if got := networkText(t, n); !bytes.Equal(got, want) {
			t.Errorf("%s: found\n%s\nwant\n%s", path, got, want)
		}
		if path == present && !bytes.Equal(file(t, n), data) {
			t.Errorf("%s changes when read and written", path)
		}
	}
}

func textBeside(path string) string { return strings.TrimSuffix(path, ".nnue.gz") + ".tsv" }

func writeGolden(t *testing.T, path string) {
	t.Helper()
	n := goldenNetwork(t)
	golden.Write(t, path, file(t, n))
	golden.Write(t, textBeside(path), networkText(t, n))
}
