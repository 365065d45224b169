package match

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

func readBook(t *testing.T, v *chess.Variant, text string, seed uint64) Openings {
	t.Helper()
	o, err := BookOpenings(v, strings.NewReader(text), seed)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// text returns the opening of a pair as the record has it.
func text(t *testing.T, o Openings, pair int) string {
	t.Helper()
	opening, err := o.Opening(pair)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openingText(opening)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBookFiles(t *testing.T) {
	for _, v := range []*chess.Variant{chess.Crazyhouse, chess.Chess} {
		data, err := os.ReadFile("testdata/" + v.Name + "-book.epd")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Fields(strings.ReplaceAll(strings.TrimSpace(string(data)), " ", "_"))
		o, other := readBook(t, v, string(data), 1), readBook(t, v, string(data), 2)
		seen := make(map[string]bool)
		moved := 0
		for pair := range lines {
			fen := text(t, o, pair)
			seen[fen] = true
			if fen != text(t, o, pair+len(lines)) {
				t.Errorf("%v: pair %d has another opening the second time through the book", v, pair)
			}
			if fen != text(t, other, pair) {
				moved++
			}
		}
		if len(seen) != len(lines) || moved == 0 {
			t.Errorf("%v: %d different openings of %d, %d in another place with another seed", v, len(seen), len(lines), moved)
		}
		if o.ID == other.ID || !strings.HasPrefix(o.ID, "book ") {
			t.Errorf("IDs %q and %q", o.ID, other.ID)
		}
	}
}

func TestBookLines(t *testing.T) {
	const board = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq -"
	want := text(t, readBook(t, chess.Crazyhouse, board+" 0 1", 1), 0)
	for _, line := range []string{board, board + ` id "start"; bm e4;`, board + " hmvc 0; fmvn 1;", "\n# comment\n\n  " + board + "  \r\n"} {
		if got := text(t, readBook(t, chess.Crazyhouse, line, 1), 0); got != want {
			t.Errorf("%q gives %s, want %s", line, got, want)
		}
	}
}

func TestBadBooks(t *testing.T) {
	const start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1\n"
	for name, text := range map[string]string{
		"empty":        "# nothing\n",
		"few fields":   start + "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq\n",
		"bad FEN":      start + "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNX[] w KQkq - 0 1\n",
		"game is over": start + "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR[] w KQkq - 1 3\n",
		"long line":    start + strings.Repeat("x", 1<<17),
	} {
		_, err := BookOpenings(chess.Crazyhouse, strings.NewReader(text), 1)
		if !errors.Is(err, ErrBadBook) {
			t.Errorf("%s: error %v", name, err)
		}
		if lines := strings.Contains(text, start) && name != "long line"; lines && !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: error %v does not name the line", name, err)
		}
	}
}

func TestRandomOpenings(t *testing.T) {
	o, other := RandomOpenings(chess.Crazyhouse, 1, 4, 9), RandomOpenings(chess.Crazyhouse, 2, 4, 9)
	black := 0
	for pair := range 40 {
		opening, err := o.Opening(pair)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(opening.Moves); n < 4 || n > 9 {
			t.Errorf("pair %d: %d plies", pair, n)
		}
		if same := text(t, o, pair); same != text(t, o, pair) || same == text(t, other, pair) {
			t.Errorf("pair %d: the opening is not a function of the seed", pair)
		}
		black += len(opening.Moves) % 2
	}
	if black == 0 || black == 40 {
		t.Errorf("%d of 40 openings leave Black to move", black)
	}
}

// No bytes make the reader of books panic, and what it accepts can be played.
func FuzzBook(f *testing.F) {
	f.Add("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1")
	f.Add("8/2P1k3/8/8/3K4/8/6p1/8[Qn] w - - acd 3;\n# x\n")
	f.Fuzz(func(t *testing.T, text string) {
		o, err := BookOpenings(chess.Crazyhouse, strings.NewReader(text), 1)
		if err != nil {
			return
		}
		if opening, err := o.Opening(0); err != nil || !opening.Start.HasLegalMove() {
			t.Errorf("no move in %s, error %v", opening.Start.FEN(), err)
		}
	})
}
