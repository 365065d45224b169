package match

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/match/book"
)

func readBook(t *testing.T, v *chess.Variant, text string, seed uint64) Openings {
	t.Helper()
	b, err := book.Read(strings.NewReader(text), v, book.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return FromBook(b, seed)
}

// text returns the opening of a pair as the record has it.
func text(t *testing.T, o Openings, pair int) string {
	t.Helper()
	opening, err := o.Opening(pair)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpeningText(opening)
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

// Openings keep the IDs they have in the book, wherever the seed puts them.
func TestBookIDs(t *testing.T) {
	o := readBook(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[Q] w - - id \"first\";\n4k3/8/8/8/8/8/8/4K3[Q] b - -", 1)
	for pair := range 4 {
		opening, err := o.Opening(pair)
		if err != nil {
			t.Fatal(err)
		}
		want := "first"
		if opening.Start.SideToMove() == chess.Black {
			want = "2"
		}
		if opening.ID != want {
			t.Errorf("pair %d: %s has ID %q, expected %q", pair, opening.Start.FEN(), opening.ID, want)
		}
	}
}

// A book has as many openings as differ.
func TestBookDistinct(t *testing.T) {
	const white, black = "4k3/8/8/8/8/8/8/4K3[Q] w - -", "4k3/8/8/8/8/8/8/4K3[Q] b - -"
	if n := readBook(t, chess.Crazyhouse, white+"\n"+black+"\n"+white+" id \"again\";\n", 1).Distinct; n != 2 {
		t.Errorf("of EPD found %d openings, expected 2", n)
	}
	const games = "[Event \"x\"]\n\n1. e4 e5 *\n\n[Event \"x\"]\n\n1. e4 d5 *\n\n[Event \"x\"]\n\n1. d4 *\n"
	for plies, want := range map[int]int{0: 3, 1: 2} {
		b, err := book.Read(strings.NewReader(games), chess.Crazyhouse, book.Options{Plies: plies})
		if err != nil {
			t.Fatal(err)
		}
		if n := FromBook(b, 1).Distinct; n != want {
			t.Errorf("of games cut after %d plies found %d openings, expected %d", plies, n, want)
		}
	}
	if n := RandomOpenings(chess.Crazyhouse, 1, 4, 9).Distinct; n != 0 {
		t.Errorf("of random openings found %d, expected no end", n)
	}
}

// No opening comes again before all that differ have come, whatever the seed, and only a book
// that has some twice is named so.
func TestBookRepeatsLast(t *testing.T) {
	var lines []string
	for _, hand := range []string{"Q", "R", "B", "N"} {
		lines = append(lines, "4k3/8/8/8/8/8/8/4K3["+hand+"] w - -")
	}
	a, b, c, d := lines[0], lines[1], lines[2], lines[3]
	const mark = " repeats last"
	for seed := range uint64(20) {
		o := readBook(t, chess.Crazyhouse, strings.Join([]string{a, b, a, c, a, d}, "\n"), seed)
		seen := make(map[string]bool)
		for pair := range o.Distinct {
			seen[text(t, o, pair)] = true
		}
		if o.Distinct != 4 || len(seen) != o.Distinct || !strings.HasSuffix(o.ID, mark) {
			t.Errorf("seed %d: %s has %d different openings in its first %d pairs, expected 4", seed, o.ID, len(seen), o.Distinct)
		}
		if text(t, o, 0) != text(t, o, 6) || text(t, o, 4) != text(t, o, 5) {
			t.Errorf("seed %d: expected the repeats last, and then the book once more", seed)
		}
	}
	if o := readBook(t, chess.Crazyhouse, strings.Join(lines, "\n"), 1); strings.Contains(o.ID, mark) {
		t.Errorf("a book without repeats is %s", o.ID)
	}
}

func TestFromBook(t *testing.T) {
	b, err := book.Read(strings.NewReader("[Event \"x\"]\n\n1. e4 e5 *\n"), chess.Crazyhouse, book.Options{Plies: 1})
	if err != nil {
		t.Fatal(err)
	}
	all, err := book.Read(strings.NewReader("[Event \"x\"]\n\n1. e4 e5 *\n"), chess.Crazyhouse, book.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if FromBook(b, 1).ID == FromBook(all, 1).ID {
		t.Error("a book cut after one ply has the ID of the whole book")
	}
	if got := text(t, FromBook(b, 1), 0); !strings.HasSuffix(got, " moves e2e4") {
		t.Errorf("opening %s", got)
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
		if opening.ID != strconv.Itoa(pair) {
			t.Errorf("pair %d: ID %q", pair, opening.ID)
		}
	}
	if black == 0 || black == 40 {
		t.Errorf("%d of 40 openings leave Black to move", black)
	}
}
