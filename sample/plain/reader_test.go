package plain_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
)

const (
	start   = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1"
	record0 = "fen " + start + "\nmove e2e4\nscore 180\nply 0\nresult 1\ne\n"
)

// rewrite returns what is read from text as it is written, with errors as lines
// in its place, and the bytes left.
func rewrite(t testing.TB, text string) (string, int64) {
	t.Helper()
	r := plain.NewReader(strings.NewReader(text), chess.Crazyhouse)
	var b bytes.Buffer
	for {
		var s sample.Sample
		err := r.Read(&s)
		if err == io.EOF {
			return b.String(), r.Trailing()
		}
		if err != nil {
			b.WriteString("error: " + err.Error() + "\n")
			if !errors.Is(err, sample.ErrRecord) {
				return b.String(), 0
			}
			continue
		}
		w := plain.NewWriter(&b)
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReading: what readers of the format take beyond what is written.
func TestReading(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"as written", record0, record0},
		{"nothing", "", ""},
		{"CR LF", strings.ReplaceAll(record0, "\n", "\r\n"), record0},
		{"no end of the last line", strings.TrimSuffix(record0, "\n"), record0},
		{"blanks", strings.ReplaceAll(strings.ReplaceAll("  "+record0, " ", " \t "), "1\n", "1 \n"), record0},
		{"empty lines", "\n\n" + strings.ReplaceAll(record0, "\n", "\n\n"), record0},
		{
			"keys in any order, move before FEN", "result 1\nply 0\nscore 180\nmove e2e4\nfen " + start + "\ne\n", record0,
		},
		{"unknown keys", "depth 8\nfe x\n" + record0[:4] + record0[4:len(record0)-2] + "time\ne\n", record0},
		{"a key twice", "score 7\n" + record0, record0},
		{
			"values of the record before", record0 + "score -3\nmove d2d4\ne\n",
			record0 + strings.NewReplacer("180", "-3", "e2e4", "d2d4").Replace(record0),
		},
		{"all of the record before", record0 + "e\n", record0 + record0},
		{"fractions", strings.ReplaceAll(record0, "180", "179.5"), record0},
		{"fractions below zero", strings.ReplaceAll(record0, "180", "-179.5"), strings.ReplaceAll(record0, "180", "-180")},
		{"exponents", strings.ReplaceAll(record0, "180", "1.8e2"), record0},
		{"signs", strings.ReplaceAll(record0, "180", "+180"), record0},
		{"greatest", strings.ReplaceAll(record0, "180", "32767"), strings.ReplaceAll(record0, "180", "32767")},
		{"least", strings.ReplaceAll(record0, "180", "-32768"), strings.ReplaceAll(record0, "180", "-32768")},
		{"last ply", strings.ReplaceAll(record0, "ply 0", "ply 65535"), strings.ReplaceAll(record0, "ply 0", "ply 65535")},
		{"null move", strings.ReplaceAll(record0, "e2e4", "0000"), strings.ReplaceAll(record0, "e2e4", "0000")},
		{"king takes rook", "fen r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1\nmove e1h1\nscore 0\nply 0\nresult 0\ne\n",
			"fen r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1\nmove e1g1\nscore 0\nply 0\nresult 0\ne\n"},
		{"a long line of another key", "comment " + strings.Repeat("x", 200_000) + "\n" + record0, record0},
	} {
		if got, rest := rewrite(t, c.in); got != c.want || rest != 0 {
			t.Errorf("%s: read as\n%s, expected\n%s(%d bytes left)", c.name, got, c.want, rest)
		}
	}
}

// TestKept: files in the form that is written stay as they are.
func TestKept(t *testing.T) {
	rest := "\nscore 0\nply 65535\nresult -1\ne\n"
	for _, text := range []string{
		"fen rnbq1rk1/ppppppbp/5np1/8/8/5N2/PPPPPPPP/RNBQK~B1R[QRRBNPPqrbbnp] w KQ - 127 65535\nmove ?@d3" + rest,
		"fen r~nbqk1r1/1ppppppP/5npb/8/8/5N2/PPPPPPPP/RNBQKB1R[QRRBNPPqrbbnp] w KQ - 127 65535\nmove h7g8?" + rest,
		"fen 4k3/8/8/3pP3/8/8/8/4K3[PPPPPPPPPPPPPPqrbn] w - d6 0 999\nmove e5d6" + rest,
		"fen 4k3/8/8/3pP3/8/8/8/4K3[PPPPPPPPPPPPPPqrbn] w - d6 0 999\nmove P@a1" + rest, // illegal
		"fen 4k3/8/8/8/8/8/8/5KR1[] w G - 0 1\nmove f1g1" + rest,
	} {
		got, _ := rewrite(t, text)
		if strings.Contains(text, "K~") {
			if !strings.Contains(got, "error: record 0 at byte 0: bad record: chess: FEN: board") {
				t.Errorf("%s: %s", text, got)
			}
		} else if got != text {
			t.Errorf("read as\n%s, expected\n%s", got, text)
		}
	}
}

// TestErrors spoils a record between two good ones.
func TestErrors(t *testing.T) {
	for _, c := range []struct{ old, new, text string }{
		{start, "rnbqkbnr", "FEN: board"},
		{start, "", "FEN: board"},
		{"e2e4", "e2e5e", "move: found \"e2e5e\""},
		{"e2e4", strings.Repeat("e2", 1000), "move"},
		{"e2e4", "", "move: found \"\""},
		{"e2e4", "P@e9", "move"},
		{"e2e4", "e2e4?", "a pawn's move"},
		{"e2e4", "p@e4", "move"},
		{"180", "32768", "score: found \"32768\", expected a number from -32768 to 32767"},
		{"180", "-32768.6", "score"},
		{"180", "NaN", "score"},
		{"180", "inf", "score"},
		{"180", "1e999", "score"},
		{"180", "", "score: found \"\""},
		{"180", "12 3", "score"},
		{"ply 0", "ply 65536", "ply: found \"65536\", expected 0 to 65535"},
		{"ply 0", "ply -1", "ply"},
		{"ply 0", "ply 99999999999999999999", "ply"},
		{"result 1", "result 2", "result"},
		{"result 1", "result 0.5", "result"},
		{"result 1", "result " + strings.Repeat("1", 100_000), "result"},
	} {
		bad := strings.Replace(record0, c.old, c.new, 1)
		got, _ := rewrite(t, record0+bad+record0)
		before, after, _ := strings.Cut(got, "error: ")
		message, after, _ := strings.Cut(after, "\n")
		if before != record0 || after != record0 || !strings.HasPrefix(message, fmt.Sprintf("record 1 at byte %d: ", len(record0))) || !strings.Contains(message, c.text) || len(message) > 400 {
			t.Errorf("%.40q instead of %q: %s", c.new, c.old, got)
		}
	}
	// Unreadable values do not fall back to those of an earlier record.
	got, _ := rewrite(t, record0+"fen x\nscore 5\ne\nscore 6\ne\n"+record0)
	if n := strings.Count(got, "error: "); n != 2 || !strings.Contains(got, "no fen") {
		t.Errorf("%d errors: %s", n, got)
	}
	for i, key := range []string{"fen", "move", "score", "ply", "result"} {
		lines := strings.SplitAfter(record0, "\n")
		lines[i] = ""
		if got, _ := rewrite(t, strings.Join(lines, "")); !strings.Contains(got, "found no "+key) {
			t.Errorf("without %s: %s", key, got)
		}
	}
}

// TestTruncated cuts a file at every length: a record without its end is not
// read, and counted.
func TestTruncated(t *testing.T) {
	text := record0 + record0
	for n := range len(text) + 1 {
		got, rest := rewrite(t, text[:n])
		whole := n / len(record0)
		left := n % len(record0)
		if left == len(record0)-1 { // the end of the last line is not needed
			whole, left = whole+1, 0
		}
		if n > 0 && n < len("fen") { // not even a key
			if !strings.Contains(got, "wrong format") {
				t.Errorf("%q: %s", text[:n], got)
			}
			continue
		}
		if got != text[:whole*len(record0)] || rest != int64(left) {
			t.Errorf("%d bytes: %q and %d bytes left, expected %d", n, got, rest, left)
		}
	}
}

func TestWrongFormat(t *testing.T) {
	for _, text := range []string{
		"hello\n", strings.Repeat("a,b,c\n", 20_000), strings.Repeat("\x00\xff", 100_000), string(readFile(t, "crazyhouse.bin")),
	} {
		r := plain.NewReader(strings.NewReader(text), chess.Crazyhouse)
		for range 2 {
			if err := r.Read(new(sample.Sample)); !errors.Is(err, sample.ErrFormat) || errors.Is(err, sample.ErrRecord) {
				t.Errorf("%.20q: %v", text, err)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	good := sample.Sample{Pos: chess.Crazyhouse.Start(), Move: chess.NewMove(12, 28, chess.DoublePush)}
	for name, do := range map[string]func(s *sample.Sample){
		"score":  func(s *sample.Sample) { s.Score = 32768 },
		"result": func(s *sample.Sample) { s.Result = -2 },
		"move":   func(s *sample.Sample) { s.Move = chess.NewMove(12, 28, chess.EnPassant) },
	} {
		s := good
		do(&s)
		var b bytes.Buffer
		w := plain.NewWriter(&b)
		if err := w.Write(&s); !errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
		if err := w.Close(); err != nil || b.Len() != 0 {
			t.Errorf("%s: %q written, %v", name, b.String(), err)
		}
	}
}

func TestAllocations(t *testing.T) {
	r := plain.NewReader(bytes.NewReader(readFile(t, "crazyhouse.plain")), chess.Crazyhouse)
	w := plain.NewWriter(io.Discard)
	var s sample.Sample
	if n := testing.AllocsPerRun(1000, func() {
		if err := r.Read(&s); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a record", n)
	}
}

// FuzzReader reads anything. What is read is written in a form that is read as
// the same.
func FuzzReader(f *testing.F) {
	fixture := readFile(f, "crazyhouse.plain")
	for i := range 5 {
		f.Add(string(fixture[20_000*i:20_000*i+600]), true)
	}
	f.Add(record0+"score 5\n\ne\n", true)
	f.Add(strings.Replace(record0, "[]", "", 1), false)
	f.Fuzz(func(t *testing.T, text string, hands bool) {
		v := chess.Chess
		if hands {
			v = chess.Crazyhouse
		}
		r := plain.NewReader(strings.NewReader(text), v)
		for range len(text) + 1 {
			var s, again sample.Sample
			err := r.Read(&s)
			if errors.Is(err, sample.ErrRecord) {
				continue
			}
			if err != nil {
				return
			}
			var b bytes.Buffer
			w := plain.NewWriter(&b)
			if err := w.Write(&s); err != nil {
				t.Fatalf("%s was read but not written: %v", s.Pos.FEN(), err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if err := plain.NewReader(&b, v).Read(&again); err != nil {
				t.Fatalf("%s: %v", s.Pos.FEN(), err)
			}
			again.Pos.SetChess960(s.Pos.Chess960()) // a FEN without rights does not say it
			if again != s {
				t.Fatalf("%s came back as %s: %+v, expected %+v", s.Pos.FEN(), again.Pos.FEN(), again, s)
			}
		}
		t.Fatal("more records than bytes")
	})
}
