package book

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

const startBoard = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -"

func read(t *testing.T, v *chess.Variant, text string, o Options) *Book {
	t.Helper()
	b, err := Read(strings.NewReader(text), v, o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestEPDDialects reads one position as every program writes it.
func TestEPDDialects(t *testing.T) {
	const want = "r3k2r/ppp2ppp/2n5/3q4/8/5Q~2/PPP2PPP/R3K2R[NPPnp] b KQkq - 3 12"
	const board, hands = "r3k2r/ppp2ppp/2n5/3q4/8/5Q~2/PPP2PPP/R3K2R", " b KQkq - "
	for name, line := range map[string]string{
		"Fairy-Stockfish":      board + "[NPPnp]" + hands + "3 12",
		"other order":          board + "[pnPNP]" + hands + "3 12",
		"lichess":              board + "/NPPnp" + hands + "3 12",
		"counted":              board + "[N2Pnp]" + hands + "3 12",
		"EPD clocks":           board + "[NPPnp]" + hands + "hmvc 3; fmvn 12;",
		"EPD clocks reversed":  board + "[NPPnp]" + hands + "fmvn 12; hmvc 3",
		"clocks and operation": board + "[NPPnp]" + hands + "3 12 bm Qd1+; id \"a; b\";",
		"clocks, semicolon":    board + "[NPPnp]" + hands + "3 12; bm Qd1+",
		"tabs and spaces":      "  " + board + "[NPPnp]\tb  KQkq\t-\t3\t12 \r",
	} {
		e := read(t, chess.Crazyhouse, "# a book\n% of one line\n\n"+line+"\n", Options{}).Entries[0]
		if got := e.Start.FEN(); got != want {
			t.Errorf("%s: %s, expected %s", name, got, want)
		}
	}
	for _, line := range []string{startBoard, startBoard + " 0", startBoard + " id \"x\";", startBoard + " bm e4"} {
		e := read(t, chess.Crazyhouse, line, Options{}).Entries[0]
		if got := e.Start.FEN(); got != startBoard+" 0 1" {
			t.Errorf("%s: %s", line, got)
		}
	}
}

func TestEPDOperations(t *testing.T) {
	b := read(t, chess.Crazyhouse, startBoard+` ce 35; id "first; of all"; c0 "x"`+"\n"+
		strings.Replace(startBoard, " w ", " b ", 1)+" ce 35;\n"+startBoard+"\n", Options{})
	for i, want := range []struct {
		id    string
		score search.Score
		has   bool
	}{{"first; of all", 35, true}, {"2", -35, true}, {"3", 0, false}} {
		if e := b.Entries[i]; e.ID != want.id || e.Score != want.score || e.HasScore != want.has {
			t.Errorf("entry %d: id %q, score %d, %v; expected %+v", i, e.ID, e.Score, e.HasScore, want)
		}
	}
}

const pgnBook = `[Event "book"]
[Variant "Crazyhouse"]
[Result "*"]

1. e4 {a comment} d5 (1... e5) 2. exd5 Qxd5 *

[Event "book"]
[FEN "rnb1kbnr/ppp1pppp/8/3q4/8/8/PPPP1PPP/RNBQKBNR[Pp] w KQkq - 0 3"]
[SetUp "1"]

3. @e4 Qxe4+ 4. Be2 1-0
`

func TestPGNBook(t *testing.T) {
	for plies, want := range map[int][2]int{0: {4, 3}, 1: {1, 1}, 3: {3, 3}, 100: {4, 3}} {
		b := read(t, chess.Crazyhouse, "\ufeff\n"+pgnBook, Options{Plies: plies})
		if len(b.Entries) != 2 {
			t.Fatalf("%d openings", len(b.Entries))
		}
		for i, e := range b.Entries {
			if len(e.Moves) != want[i] {
				t.Errorf("%d plies at most: opening %s has %d, expected %d", plies, e.ID, len(e.Moves), want[i])
			}
		}
	}
	if b := read(t, chess.Crazyhouse, pgnBook, Options{}); b.Entries[1].Start.Hand(chess.Black).Total() != 1 {
		t.Errorf("start %s", b.Entries[1].Start.FEN())
	}
}

// A packed book is the same book.
func TestPackedBook(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write([]byte(pgnBook))
	z.Close()
	b := read(t, chess.Crazyhouse, packed.String(), Options{})
	if plain := read(t, chess.Crazyhouse, pgnBook, Options{}); b.SHA256 != plain.SHA256 || len(b.Entries) != len(plain.Entries) {
		t.Errorf("packed %s with %d, plain %s with %d", b.SHA256, len(b.Entries), plain.SHA256, len(plain.Entries))
	}
	for n := range packed.Len() {
		if _, err := Read(bytes.NewReader(packed.Bytes()[:n]), chess.Crazyhouse, Options{}); !errors.Is(err, ErrBad) {
			t.Fatalf("cut after %d bytes: %v", n, err)
		}
	}
}

func TestBadBooks(t *testing.T) {
	const start = startBoard + " 0 1\n"
	for name, c := range map[string]struct{ text, want string }{
		"empty":        {"# nothing\n", "no openings"},
		"few fields":   {start + "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq\n", "line 2: chess: FEN: fields: found"},
		"bad FEN":      {start + "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNX[] w KQkq - 0 1\n", "line 2: "},
		"bad hmvc":     {start + startBoard + " hmvc x;\n", "line 2: "},
		"bad ce":       {start + startBoard + " ce much;\n", "line 2: found ce"},
		"ce too great": {start + startBoard + " ce 32001;\n", "line 2: found ce"},
		"game is over": {start + "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR[] w KQkq - 1 3\n", "line 2: the game is over"},
		"long line":    {start + strings.Repeat("x", 1<<17), "line 2: "},
		"bad PGN":      {pgnBook + "\n[Event \"\n", "line"},
		"illegal move": {pgnBook + "\n[Event \"?\"]\n\n1. e5 *\n", "game of line 13"},
		"mate":         {pgnBook + "\n[Event \"?\"]\n\n1. f3 e5 2. g4 Qh4# 0-1\n", "the game is over"},
		"of chess":     {pgnBook + "\n[Variant \"Standard\"]\n\n1. f3 e5 *\n", "found variant chess"},
		"gzip":         {"\x1f\x8b", "gzip"},
	} {
		_, err := Read(strings.NewReader(c.text), chess.Crazyhouse, Options{})
		if !errors.Is(err, ErrBad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, expected %q in it", name, err, c.want)
		} else if len(err.Error()) > 400 {
			t.Errorf("%s: an error of %d bytes", name, len(err.Error()))
		}
	}
}

// TestWriteRead: what EPD writes is read as it was.
func TestWriteRead(t *testing.T) {
	var walks []Walk
	for i, line := range strings.Split(strings.TrimSpace(readFile(t, "testdata/positions.epd")), "\n") {
		e, err := parseEPD(chess.Crazyhouse, line)
		if err != nil {
			t.Fatal(err)
		}
		walks = append(walks, Walk{Number: 7 * i, End: e.Start, Score: search.Score(10*i - 35)})
	}
	b := read(t, chess.Crazyhouse, string(EPD(walks)), Options{})
	for i, w := range walks {
		if e := b.Entries[i]; e.Start != w.End || e.Score != w.Score || !e.HasScore {
			t.Errorf("wrote %s %d, read %s %d", w.End.FEN(), w.Score, e.Start.FEN(), e.Score)
		}
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Reversing the colours twice gives the position back, and once changes
// neither its number of moves nor its identity.
func TestReversed(t *testing.T) {
	for _, e := range read(t, chess.Crazyhouse, readFile(t, "testdata/positions.epd"), Options{}).Entries {
		p := e.Start
		q, err := reversed(&p)
		if err != nil {
			t.Fatal(err)
		}
		back, err := reversed(&q)
		if err != nil {
			t.Fatal(err)
		}
		if back.FEN() != p.FEN() {
			t.Errorf("%s comes back as %s", p.FEN(), back.FEN())
		}
		if p.CountLegal() != q.CountLegal() || p.SideToMove() == q.SideToMove() {
			t.Errorf("%s has %d moves, %s %d", p.FEN(), p.CountLegal(), q.FEN(), q.CountLegal())
		}
		a, errA := identity(&p)
		b, errB := identity(&q)
		if a != b || errA != nil || errB != nil {
			t.Errorf("identity %x of %s, %x reversed", a, p.FEN(), b)
		}
	}
}

// No bytes make the reader panic, and what it accepts can be played.
func FuzzRead(f *testing.F) {
	f.Add(startBoard + " 0 1")
	f.Add("8/2P1k3/8/8/3K4/8/6p1/8[Qn] w - - acd 3; id \"x;\n# x\n")
	f.Add(pgnBook)
	f.Fuzz(func(t *testing.T, text string) {
		b, err := Read(strings.NewReader(text), chess.Crazyhouse, Options{Plies: 3})
		if err != nil {
			if !errors.Is(err, ErrBad) {
				t.Errorf("error %v", err)
			}
			return
		}
		for _, e := range b.Entries {
			line := chess.NewLine(e.Start)
			for _, m := range e.Moves {
				if !line.Pos().IsLegal(m) {
					t.Fatalf("illegal move in %s", line.Pos().FEN())
				}
				line.Push(m)
			}
			if !line.Pos().HasLegalMove() {
				t.Errorf("no move in %s", line.Pos().FEN())
			}
		}
	})
}
