package nnue_test

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
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
	present := filepath.Join("testdata", fmt.Sprintf("v%d", nnue.OwnVersion), "golden.nnue.gz")
	if *update {
		writeGolden(t, present)
	}
	paths, err := filepath.Glob("testdata/v*/golden.nnue.gz")
	if err != nil || !slices.Contains(paths, present) {
		t.Fatalf("no %s (%v)", present, err)
	}
	for _, path := range paths {
		data := unzip(t, path)
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

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func writeGolden(t *testing.T, path string) {
	t.Helper()
	n := goldenNetwork(t)
	var zipped bytes.Buffer
	z, err := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(file(t, n)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	for path, data := range map[string][]byte{path: zipped.Bytes(), textBeside(path): networkText(t, n)} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
