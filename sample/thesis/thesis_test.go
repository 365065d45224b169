package thesis_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/sample/plain"
	"github.com/crazyhouse-rl/selfplay/sample/sampletest"
	"github.com/crazyhouse-rl/selfplay/sample/thesis"
)

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// write returns a file of the samples, in chains or a line each.
func write(t testing.TB, all []sample.Sample, chains bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w := thesis.NewWriter(&b, chains)
	for i := range all {
		if err := w.Write(&all[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFixtures compares with chains written by another program from the same
// chess.plain.
func TestFixtures(t *testing.T) {
	want := sampletest.ReadAll(t, plain.NewReader(bytes.NewReader(readFile(t, "chess.plain")), chess.Chess))
	chains := readFile(t, "chess.compact.txt")
	if got := write(t, want, true); !bytes.Equal(got, chains) {
		for i := range got {
			if got[i] != chains[i] {
				t.Fatalf("chains differ at byte %d: %q, expected %q", i, got[max(i-100, 0):min(len(got), i+50)], chains[max(i-100, 0):min(len(chains), i+50)])
			}
		}
		t.Fatalf("%d bytes, expected %d", len(got), len(chains))
	}
	for _, text := range [][]byte{chains, write(t, want, false)} {
		got := sampletest.ReadAll(t, thesis.NewReader(bytes.NewReader(text), chess.Chess))
		if len(got) != len(want) {
			t.Fatalf("%d samples, expected %d", len(got), len(want))
		}
		for i, s := range got {
			w := want[i]
			w.Result, w.NoResult, w.Ply = 0, true, uint16(s.Pos.Ply())
			s.Pos.SetClocks(w.Pos.HalfmoveClock(), w.Pos.FullmoveNumber())
			if s != w {
				t.Fatalf("sample %d is %s %+v, expected %s %+v", i, s.Pos.FEN(), s, w.Pos.FEN(), w)
			}
		}
	}
}

// rewrite returns what is read from text as it is written in chains, with errors
// as lines in its place, and the bytes left.
func rewrite(t testing.TB, v *chess.Variant, text string) (string, int64) {
	t.Helper()
	r := thesis.NewReader(strings.NewReader(text), v)
	var b bytes.Buffer
	w := thesis.NewWriter(&b, true)
	for {
		var s sample.Sample
		err := r.Read(&s)
		if err == nil {
			err = w.Write(&s)
		} else if err == io.EOF {
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			return b.String(), r.Trailing()
		}
		if err != nil {
			if !errors.Is(err, sample.ErrRecord) {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			b.WriteString("error: " + err.Error() + "\n")
		}
	}
}

const (
	crazy = "rnb1kbnr/ppp1pppp/8/3q4/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"
	// ep lets White capture en passant, pinned that it cannot.
	ep     = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
	pinned = "4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 2"
)

// TestKept: chains in the form that is written stay as they are.
func TestKept(t *testing.T) {
	for _, c := range []struct {
		v    *chess.Variant
		text string
	}{
		{chess.Crazyhouse, crazy + ",-5,P@e4,,12,P@e3\n"},
		{chess.Crazyhouse, crazy + ",-5,b1c3,P@e4,12,P@e3,d5e4,7,d1e2\n"},
		{chess.Crazyhouse, crazy + ",-5,?@e4,P@e4,12,P@e3\n"},
		{chess.Crazyhouse, crazy + ",32767,0000\n"},
		{chess.Crazyhouse, "4k3/P7/8/8/8/8/8/4K3[] w - - 0 1,1,a7a8?,a7a8r,-2,e8e7,,3,a8h8\n"},
		{chess.Crazyhouse, "r3k2r/8/8/8/8/8/8/R3K2R[] w KQkq - 0 1,1,e1g1,,-1,e8c8,,5,f1f2\n"},
		{chess.Crazyhouse, "k7/8/8/8/8/8/8/6KR[] w H - 0 1,1,g1g2,g1h1,-1,a8a7\n"},
		{chess.Chess, ep + ",1,e5d6,,5,e8d8\n" + ep + ",1,e5d6,e5e6,-4,e8d8\n"},
		{chess.Chess, ep + ",1,e1e2\n" + ep + ",1,e1e2\n"},
	} {
		if got, rest := rewrite(t, c.v, c.text); got != c.text || rest != 0 {
			t.Errorf("read as\n%sexpected\n%s", got, c.text)
		}
	}
}

// TestReading: lines of one sample each become chains, and what may be written
// otherwise is understood.
func TestReading(t *testing.T) {
	const chain = crazy + ",-5,P@e4,,12,P@e3\n"
	next := mustPlay(t, crazy, "P@e4")
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"single lines", crazy + ",-5,P@e4\n" + next + ",12,P@e3\n", chain},
		{"castling by the rook alone", "k7/8/8/8/8/8/8/6KR[] w H - 0 1,1,g1h1\nk7/8/8/8/8/8/8/5RK1[] b - - 1 1,0,a8a7\n",
			"k7/8/8/8/8/8/8/6KR[] w H - 0 1,1,g1h1,,0,a8a7\n"},
		{"clocks that jump", crazy + ",-5,P@e4\n" + strings.Replace(next, " 0 3", " 9 77", 1) + ",12,P@e3\n", chain},
		{"CR LF", strings.ReplaceAll(chain, "\n", "\r\n"), chain},
		{"empty lines", "\n\n" + chain + "\r\n", chain},
		{"the move played is named", strings.ReplaceAll(chain, ",,", ",P@e4,"), chain},
		{"fractions", strings.ReplaceAll(chain, "-5", "-4.5"), chain},
		{"other hands", crazy + ",-5,P@e4\n" + strings.Replace(next, "[p]", "[pp]", 1) + ",12,P@e3\n",
			crazy + ",-5,P@e4\n" + strings.Replace(next, "[p]", "[pp]", 1) + ",12,P@e3\n"},
	} {
		if got, rest := rewrite(t, chess.Crazyhouse, c.in); got != c.want || rest != 0 {
			t.Errorf("%s: read as\n%s, expected\n%s(%d bytes left)", c.name, got, c.want, rest)
		}
	}
	// An en passant square without a legal capture is none.
	before := "4r1k1/3p4/8/4P3/8/8/8/4K3 b - - 0 1,1,d7d5\n"
	want := strings.TrimSuffix(before, "\n") + ",,2,e1e2\n"
	for _, fen := range []string{pinned, strings.Replace(pinned, "d6", "-", 1)} {
		if got, _ := rewrite(t, chess.Chess, before+fen+",2,e1e2\n"); got != want {
			t.Errorf("%s is not chained: %s", fen, got)
		}
	}
}

// TestPly: a sample's ply is that of its move number, which rises within a chain.
func TestPly(t *testing.T) {
	black := mustPlay(t, crazy, "b1c3")
	for text, want := range map[string][]uint16{
		crazy + ",-5,P@e4,,12,P@e3,d5e4,7,d1e2\n":                {4, 5, 6},
		crazy + ",-5,b1c3\n" + black + ",12,e7e6\n":              {4, 5},
		strings.Replace(black, " 3", " 65535", 1) + ",12,e7e6\n": {65535},
	} {
		var got []uint16
		for _, s := range sampletest.ReadAll(t, thesis.NewReader(strings.NewReader(text), chess.Crazyhouse)) {
			got = append(got, s.Ply)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%sfound plies %d, expected %d", text, got, want)
		}
	}
}

// mustPlay returns the FEN after a move.
func mustPlay(t *testing.T, fen, move string) string {
	t.Helper()
	p, err := chess.ParseFEN(chess.Crazyhouse, fen)
	if err != nil {
		t.Fatal(err)
	}
	m, err := p.ParseUCI(move)
	if err != nil {
		t.Fatal(err)
	}
	p.Make(m)
	return p.FEN()
}

// TestErrors spoils a line between two good ones. What stands before the error
// in the line is read.
func TestErrors(t *testing.T) {
	const good = crazy + ",-5,P@e4\n"
	at := len(good)
	for _, c := range []struct {
		line   string
		before string // read of it
		record int
		offset int
		text   string
	}{
		{"hello", "", 1, at, "three fields"},
		{crazy + ",5", "", 1, at, "three fields"},
		{crazy + ",x,P@e4", "", 1, at, "score"},
		{crazy + ",40000,P@e4", "", 1, at, "score"},
		{"x" + crazy + ",5,P@e4", "", 1, at, "FEN"},
		{crazy + ",5,P@e4,", crazy + ",5,P@e4", 1, at, "comma"},
		{crazy + ",5,", "", 1, at, "move"},
		{crazy + ",5,a1a8,,3,e7e6", crazy + ",5,a1a8\n", 2, at + len(crazy) + 8, "legal"},
		{crazy + ",5,b1c3,a1a8,3,e7e6", crazy + ",5,b1c3\n", 2, at + len(crazy) + 8, "legal"},
		{crazy + ",5,?@e4,,3,e7e6", crazy + ",5,?@e4\n", 2, at + len(crazy) + 8, "legal"},
		{crazy + ",5,0000,,3,e7e6", crazy + ",5,0000\n", 2, at + len(crazy) + 8, "legal"},
		{crazy + ",5,b1c3,d1,3,e7e6", crazy + ",5,b1c3\n", 2, at + len(crazy) + 8, "move"},
		{crazy + ",5,b1c3,,3", crazy + ",5,b1c3\n", 2, at + len(crazy) + 8, "three fields"},
		{strings.Repeat("x", 2<<20), "", 1, at, "line of 2097153 bytes"},
	} {
		if strings.HasSuffix(c.line, ",") && c.text == "comma" {
			c.before = ""
		}
		want := fmt.Sprintf("record %d at byte %d: ", c.record, c.offset)
		got, _ := rewrite(t, chess.Crazyhouse, good+c.line+"\n"+good)
		before, rest, _ := strings.Cut(got, "error: ")
		message, after, _ := strings.Cut(rest, "\n")
		if before != good+c.before || after != good || !strings.HasPrefix(message, want) || !strings.Contains(message, c.text) || len(message) > 400 {
			t.Errorf("%.80s: %s", c.line, got)
		}
	}
}

// TestForeign: of a text with no samples in its first lines none is read.
func TestForeign(t *testing.T) {
	many := strings.Repeat("no sample\n", 99)
	for text, want := range map[string]error{
		"my notes\nlast line\n":         sample.ErrFormat,
		many + "no sample\n":            sample.ErrFormat,
		many + crazy + ",-5,P@e4\n":     io.EOF,
		crazy + ",-5,P@e4\nno sample\n": io.EOF,
		"no sample":                     io.EOF,
		"":                              io.EOF,
	} {
		r := thesis.NewReader(strings.NewReader(text), chess.Crazyhouse)
		var s sample.Sample
		err := r.Read(&s)
		for err == nil || errors.Is(err, sample.ErrRecord) {
			err = r.Read(&s)
		}
		if !errors.Is(err, want) || !errors.Is(r.Read(&s), want) {
			t.Errorf("%.40q and %d bytes: error %v, expected %v", text, len(text), err, want)
		}
	}
}

// TestTruncated: a last line without an end is not read.
func TestTruncated(t *testing.T) {
	text := crazy + ",-5,P@e4,,12,P@e3\n"
	text += text
	for n := range len(text) + 1 {
		whole, left := n/(len(text)/2), n%(len(text)/2)
		if got, rest := rewrite(t, chess.Crazyhouse, text[:n]); got != text[:n-left] || rest != int64(left) {
			t.Errorf("%d bytes: %q and %d bytes left, expected %d lines and %d", n, got, rest, whole, left)
		}
	}
}

func TestAllocations(t *testing.T) {
	r := thesis.NewReader(bytes.NewReader(readFile(t, "chess.compact.txt")), chess.Chess)
	w := thesis.NewWriter(io.Discard, true)
	var s sample.Sample
	next := func() {
		if err := r.Read(&s); err != nil {
			t.Fatal(err)
		}
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}
	for range 1000 { // the longest line among them
		next()
	}
	if n := testing.AllocsPerRun(1000, next); n != 0 {
		t.Errorf("%v allocations a sample", n)
	}
}

// FuzzReader reads anything. What is read is written in a form that is read as
// the same.
func FuzzReader(f *testing.F) {
	fixture := readFile(f, "chess.compact.txt")
	for _, line := range bytes.SplitAfterN(fixture, []byte{'\n'}, 4)[:3] {
		f.Add(string(line), false)
	}
	f.Add(crazy+",-5,b1c3,P@e4,12,P@e3,d5e4,7,d1e2\n"+crazy+",1,?@e4\n", true)
	f.Fuzz(func(t *testing.T, text string, hands bool) {
		v := chess.Chess
		if hands {
			v = chess.Crazyhouse
		}
		r := thesis.NewReader(strings.NewReader(text), v)
		var b bytes.Buffer
		w := thesis.NewWriter(&b, true)
		var all []sample.Sample
		for n := 0; ; n++ {
			var s sample.Sample
			err := r.Read(&s)
			if err == io.EOF || errors.Is(err, sample.ErrFormat) { // both stay
				break
			}
			if n > len(text) {
				t.Fatal("more samples than bytes")
			}
			if err != nil {
				continue
			}
			if err := w.Write(&s); err != nil {
				t.Fatalf("%s was read but not written: %v", s.Pos.FEN(), err)
			}
			all = append(all, s)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for i, got := range sampletest.ReadAll(t, thesis.NewReader(&b, v)) {
			want := all[i]
			for _, p := range []*chess.Position{&got.Pos, &want.Pos} {
				p.SetClocks(0, 1)
				p.SetChess960(false)
				p.ClearEnPassant()
			}
			got.Ply, want.Ply = 0, 0 // as the clocks
			if got != want {
				t.Fatalf("sample %d %s came back as %s: %+v, expected %+v", i, want.Pos.FEN(), got.Pos.FEN(), got, want)
			}
		}
	})
}
