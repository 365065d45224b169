package features

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

func mustParse(t testing.TB, expression string, v *chess.Variant) Set {
	t.Helper()
	s, err := Parse(expression, v)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSizes holds the sizes against those of the algebra: the thesis' table for
// chess, and what hands add to it.
func TestSizes(t *testing.T) {
	for _, c := range []struct {
		v          *chess.Variant
		expression string
		size       int
		active     int // most at once
	}{
		{chess.Chess, "All", 768, 32},
		{chess.Chess, "King", 64, 1},
		{chess.Chess, "KingAll", 49_152, 32},
		{chess.Chess, "King * All", 49_152, 32},
		{chess.Chess, "King * P", 40_960, 30},
		{chess.Chess, "HalfKP", 40_960 + 64, 30}, // one unused per own king's square
		{chess.Chess, "HalfKAv2", 45_056, 32},
		{chess.Chess, "H", 96, 32},
		{chess.Chess, "V", 96, 32},
		{chess.Chess, "D1", 180, 32},
		{chess.Chess, "D2", 180, 32},
		{chess.Chess, "H + V", 192, 64},
		{chess.Chess, "D1 + D2", 360, 64},
		{chess.Chess, "H + V + D1 + D2", 552, 128},
		{chess.Chess, "All + H + V", 960, 96},
		{chess.Chess, "All + D1 + D2", 1128, 96},
		{chess.Chess, "All + H + V + D1 + D2", 1320, 160},
		{chess.Chess, "PH", 1152, 28},
		{chess.Chess, "PV", 1152, 28},
		{chess.Chess, "All + PH", 1920, 60},
		{chess.Chess, "All + PV", 1920, 60},
		{chess.Chess, "All + PH + PV", 3072, 88},
		{chess.Chess, "MB", 768, 616},
		{chess.Chess, "MC", 228, 12},
		{chess.Chess, "All * All", 589_824, 1024},

		{chess.Crazyhouse, "All + Hand", 928, 32},
		{chess.Crazyhouse, "King * (All + Hand)", 59_392, 32},
		{chess.Crazyhouse, "HalfKAv2", 55_296, 32},
		{chess.Crazyhouse, "King * (P + Hand)", 51_200, 30},
		{chess.Crazyhouse, "H + Hand", 256, 32},
		{chess.Crazyhouse, "D1 + Hand", 340, 32},
		{chess.Crazyhouse, "H + V + Hand", 352, 64},
		{chess.Crazyhouse, "D1 + D2 + Hand", 520, 64},
		{chess.Crazyhouse, "H + V + D1 + D2 + Hand", 712, 128},
		{chess.Crazyhouse, "All + H + V + Hand", 1120, 96},
		{chess.Crazyhouse, "All + D1 + D2 + Hand", 1288, 96},
		{chess.Crazyhouse, "All + H + V + D1 + D2 + Hand", 1480, 160},
		{chess.Crazyhouse, "PH + Hand", 1312, 31}, // a pair needs two pieces,
		{chess.Crazyhouse, "All + PH + Hand", 2080, 60},
		{chess.Crazyhouse, "All + PH + PV + Hand", 3232, 88},
		{chess.Crazyhouse, "(All + Hand) * (All + Hand)", 861_184, 1024},
		{chess.Crazyhouse, "HandCapped", 60, 30},
		{chess.Crazyhouse, "HandExact", 60, 10},
		{chess.Crazyhouse, "HandTotal", 62, 2},
		{chess.Crazyhouse, "Promoted", 512, 16},
		{chess.Crazyhouse, "King * Hand", 10_240, 30},
		{chess.Crazyhouse, "HandHeld * All", 7680, 220},
		{chess.Crazyhouse, "HandPairs", 45, 45},
		{chess.Crazyhouse, "DropChecks", 80, 10},
		{chess.Crazyhouse, "DropMoves", 10, 2},
		{chess.Crazyhouse, "DropCheckSquares", 640, 128},
		{chess.Crazyhouse, "DropZone", 80, 80},
		{chess.Crazyhouse, "Threats", 6400, 240},
		{chess.Chess, "Threats", 6400, 240},
		{chess.Crazyhouse, "MC", 216, 12},
	} {
		s := mustParse(t, c.expression, c.v)
		if s.Size() != c.size || s.MaxActive() != c.active {
			t.Errorf("%v %s: size %d, %d active, want %d, %d", c.v, c.expression, s.Size(), s.MaxActive(), c.size, c.active)
		}
		if s.Describe() == "" {
			t.Errorf("%s has no description", c.expression)
		}
	}
}

// TestBlocksAreTested sees that every block has a twin, and the table of sizes
// agrees with it.
func TestBlocksAreTested(t *testing.T) {
	for _, v := range chess.Variants() {
		for _, name := range Blocks(v) {
			if got, want := mustParse(t, name, v).Size(), named(name).size(v.CapturesToHand); got != want || want == 0 {
				t.Errorf("%v %s: size %d, want %d", v, name, got, want)
			}
		}
	}
}

// TestList sees that the list has every block as Parse makes it, and that White sees
// the feature of every example, which Black does not see under that number.
func TestList(t *testing.T) {
	for _, v := range chess.Variants() {
		list := List(v)
		if len(list) != len(Blocks(v)) {
			t.Fatalf("%v: %d blocks listed, want %d", v, len(list), len(Blocks(v)))
		}
		for i, l := range list {
			s := mustParse(t, l.Name, v)
			_, linear := s.(Linear)
			if l.Name != Blocks(v)[i] || l.Meaning != s.Describe() || l.Size != s.Size() || l.MaxActive != s.MaxActive() || l.Linear != linear {
				t.Errorf("%v %s: listed as %+v", v, l.Name, l)
			}
			p := parse(t, v, l.Example.FEN, false)
			if f := int32(l.Example.Feature); l.Example.Meaning == "" || !slices.Contains(s.Active(&p, chess.White, nil), f) ||
				slices.Contains(s.Active(&p, chess.Black, nil), f) {
				t.Errorf("%v %s: example %+v is not what White alone sees: %v", v, l.Name, l.Example, s.Active(&p, chess.White, nil))
			}
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ expression, want string }{
		{"HalfKAv2", "HalfKAv2"},
		{"  All+PH  +Hand ", "All + PH + Hand"},
		{"(All)", "All"},
		{"All + (PH + PV)", "All + PH + PV"},
		{"King*(P+Hand)", "King * (P + Hand)"},
		{"King * (P * Hand)", "King * P * Hand"},
		{"(King * P) * Hand", "King * P * Hand"},
		{"(All * King)", "All * King"},
		{"All + (HandHeld * All)", "All + HandHeld * All"},
		{"((King + H) * King) * (H + V)", "(King + H) * King * (H + V)"},
		{"King * King * King", "King * King * King"},
		{strings.Repeat("(H)+", 40) + "(H)", strings.Repeat("H + ", 40) + "H"}, // closed ones are not counted
	} {
		s := mustParse(t, c.expression, chess.Crazyhouse)
		if s.String() != c.want {
			t.Errorf("%q is written %q, want %q", c.expression, s, c.want)
		}
		if again := mustParse(t, s.String(), chess.Crazyhouse); again != s {
			t.Errorf("%q does not read back as itself", s)
		}
	}
	if mustParse(t, "MC", chess.Chess) == mustParse(t, "MC", chess.Crazyhouse) {
		t.Error("MC is the same set in both variants")
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct {
		expression string
		err        error
		column     int
		say        []string
	}{
		{"", ErrSyntax, 1, []string{"found the end", `a block or "("`}},
		{"All +", ErrSyntax, 6, []string{"found the end"}},
		{"All + + PH", ErrSyntax, 7, []string{`found "+"`}},
		{"All PH", ErrSyntax, 5, []string{`found "PH"`, "an operator or the end"}},
		{"(All + PH", ErrSyntax, 10, []string{`found the end`, `")"`}},
		{"All)", ErrSyntax, 4, []string{`found ")"`}},
		{"All ⊕ PH", ErrSyntax, 5, []string{`found "⊕"`}},
		{"All + Haand", ErrUnknownSet, 7, []string{`"Haand"`, `"Hand"`}},
		{"all", ErrUnknownSet, 1, []string{`"All"`}},
		{"HalfKA", ErrUnknownSet, 1, []string{`"HalfK`}},
		{"All + Handcapped", ErrUnknownSet, 7, []string{`"HandCapped"`}},
		{"⊕", ErrSyntax, 1, []string{`found "⊕"`}},
		{"All*All*All", ErrTooLarge, 8, []string{"found 452984832 features", "at most 10000000"}},
		{"KingAll * HalfKAv2 + All", ErrTooLarge, 9, nil},
		{strings.Repeat("MB * ", 2) + "King", ErrTooLarge, 4, []string{"379456 features active at once", "at most 65536"}},
		{strings.Repeat("King*", 70) + "King", ErrTooLarge, 0, nil},
		{strings.Repeat("(", 33) + "All" + strings.Repeat(")", 33), ErrSyntax, 33, []string{"33 parentheses"}},
		{strings.Repeat(" ", MaxExpression) + "A", ErrSyntax, 1, []string{"401 bytes"}},
		{strings.Repeat("x", 390), ErrUnknownSet, 1, nil},
		{"All\x00", ErrSyntax, 4, nil},
		{"All + \xff", ErrSyntax, 7, nil},
	} {
		_, err := Parse(c.expression, chess.Crazyhouse)
		var at *ParseError
		if !errors.As(err, &at) || !errors.Is(err, c.err) {
			t.Errorf("%.40q: %v, want %v", c.expression, err, c.err)
			continue
		}
		if c.column != 0 && at.Column != c.column {
			t.Errorf("%.40q: column %d, want %d: %v", c.expression, at.Column, c.column, err)
		}
		for _, say := range c.say {
			if !strings.Contains(err.Error(), say) {
				t.Errorf("%.40q: %q does not say %q", c.expression, err, say)
			}
		}
		if len(err.Error()) > 300 {
			t.Errorf("%.40q: error of %d bytes", c.expression, len(err.Error()))
		}
	}
}

func TestHandsAreNeeded(t *testing.T) {
	_, err := Parse("All + Hand", chess.Chess)
	var at *ParseError
	if !errors.Is(err, ErrNoHands) || !errors.As(err, &at) || at.Column != 7 || !strings.Contains(err.Error(), `"Hand" for chess`) {
		t.Errorf("Hand in chess: %v", err)
	}
}

func TestSumAndProduct(t *testing.T) {
	all, king := mustParse(t, "All", chess.Chess), mustParse(t, "King", chess.Chess)
	ph := mustParse(t, "PH", chess.Chess)
	s, err := Sum(all, ph, king)
	if err != nil || s != mustParse(t, "All + PH + King", chess.Chess) {
		t.Errorf("Sum = %v, %v", s, err)
	}
	p, err := Product(s, king)
	if err != nil || p != mustParse(t, "(All + PH + King) * King", chess.Chess) {
		t.Errorf("Product = %v, %v", p, err)
	}
	if _, err := Sum(); !errors.Is(err, ErrSyntax) {
		t.Errorf("Sum of nothing: %v", err)
	}
	parts := Parts(s)
	if len(parts) != 3 || parts[0] != (Part{0, all}) || parts[1] != (Part{768, ph}) || parts[2] != (Part{1920, king}) {
		t.Errorf("Parts = %v", parts)
	}
	if parts := Parts(p); len(parts) != 1 || parts[0] != (Part{0, p}) {
		t.Errorf("Parts of a product = %v", parts)
	}
	if _, err := Product(p, p); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Product of 126,976 features with itself: %v", err)
	}
}

func TestLinear(t *testing.T) {
	for expression, want := range map[string]bool{
		"All": true, "P": true, "King": true, "KingAll": true, "HalfKP": true, "HalfKAv2": true,
		"Hand": true, "HandCapped": true, "HandExact": true, "HandHeld": true, "Promoted": true,
		"All + Hand": true, "King * (P + Hand)": true, "All * King": true, "King * King * All": true,
		"KingAll + HalfKP + All": true,
		"H":                      false, "All + PH": false, "King * H": false, "HandHeld * All": false, "HandTotal": false,
	} {
		if _, got := mustParse(t, expression, chess.Crazyhouse).(Linear); got != want {
			t.Errorf("%s linear: %v, want %v", expression, got, want)
		}
	}
}

// A set has a table if a piece or a step of a hand has one feature of it at most, wherever
// the own king stands.
func TestTable(t *testing.T) {
	for expression, want := range map[string]bool{
		"All": true, "Hand": true, "HandCapped": true, "Promoted": true, "All + Hand": true, "HalfKAv2": true, "HalfKP": true, "KingAll": true,
		"King * (P + Hand)": true, "(All + Hand) * King": true, "KingZone * (All + Hand)": true,
		"HandExact": false, "All + Promoted": false, "King * King * All": false, "KingAll + Hand": false,
	} {
		if table := NewTable(mustParse(t, expression, chess.Crazyhouse).(Linear)); (table != nil) != want {
			t.Errorf("%s has a table: %v, want %v", expression, table != nil, want)
		}
	}
}

func TestDead(t *testing.T) {
	const handDead = 2 * (3*12 + 14) // steps beyond 4 knights, bishops, rooks and 2 queens
	// Pawns on 16 squares, less the own king's when it is one of them, and
	// on that square; four other kinds there; both kings elsewhere than one may be.
	perKing := func(king int) int {
		n := 2*16 + 2*4 + 63 + 1 + len(neighboursOf(king))
		if king >= 8 && king < 56 {
			n += 2
		}
		return n
	}
	inKings := 0
	for king := range 64 {
		inKings += perKing(king)
	}
	for _, c := range []struct {
		expression string
		want       int
	}{
		{"All", 32},
		{"P", 32},
		{"H", 4},
		{"V", 0},
		{"D1", 8 - 4},
		{"PH", 2*(144-100) + 6*2 + 2*2},
		{"PV", 16},
		{"MB", 32},
		{"MC", 0},
		{"Hand", handDead},
		{"HandCapped", 0},
		{"DropChecks", 12},
		{"DropCheckSquares", 32},
		{"DropZone", 0},
		{"Threats", 10*32 + 20*16 - 2*(2*8)},
		{"All + Hand", 32 + handDead},
		{"HandHeld * All", 10 * 32},
		{"KingAll", inKings},
		{"All * King", inKings},
		{"HalfKAv2", inKings - 64*63 - 64 + 64*handDead},
		{"HalfKP", inKings - 64*63 - 64 - 420 + 64},
	} {
		s := mustParse(t, c.expression, chess.Crazyhouse)
		if got := len(Dead(s)); got != c.want {
			t.Errorf("%s: %d dead features, want %d", c.expression, got, c.want)
		}
	}
	if d := Dead(mustParse(t, "HalfKP", chess.Chess)); d[0] != 0 {
		t.Errorf("first dead feature of HalfKP: %d", d[0])
	}
}

// neighboursOf returns the squares a king step away, 420 in all over the board.
func neighboursOf(s int) []int {
	var out []int
	for other := range 64 {
		df, dr := other%8-s%8, other/8-s/8
		if other != s && df >= -1 && df <= 1 && dr >= -1 && dr <= 1 {
			out = append(out, other)
		}
	}
	return out
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"HalfKAv2",                  // a name
		"All + PH + Hand",           // a sum
		"King * (P + Hand)",         // a product of a sum
		"((All))",                   // parentheses without need
		"All*All*All",               // too large
		"King*King*King*King",       // too large, little active
		"HandHeld*HandHeld*MB*King", // much active
		"All +",                     // unfinished
		"Handd",                     // unknown
		"⊕\xff\x00",                 // no expression
	} {
		f.Add(seed, true)
		f.Add(seed, false)
	}
	f.Fuzz(func(t *testing.T, expression string, hands bool) {
		v := chess.Chess
		if hands {
			v = chess.Crazyhouse
		}
		s, err := Parse(expression, v)
		if err != nil {
			var at *ParseError
			if !errors.As(err, &at) || at.Column < 1 || at.Column > len(expression)+1 {
				t.Fatalf("%q: %v", expression, err)
			}
			return
		}
		if s.Size() < 1 || s.Size() > MaxSize || s.MaxActive() < 1 || s.MaxActive() > MaxActiveLimit {
			t.Fatalf("%q: %d features, %d active", expression, s.Size(), s.MaxActive())
		}
		again, err := Parse(s.String(), v)
		if err != nil || again != s || again.String() != s.String() {
			t.Fatalf("%q is written %q, which reads as %v, %v", expression, s, again, err)
		}
		size := 0
		for _, part := range Parts(s) {
			if part.First != size {
				t.Fatalf("%q: part %v at %d, want %d", expression, part.Set, part.First, size)
			}
			size += part.Set.Size()
		}
		if size != s.Size() {
			t.Fatalf("%q: parts of %d features, want %d", expression, size, s.Size())
		}
		if s.MaxActive() > 4096 {
			return
		}
		p := v.Start()
		for _, feature := range s.Active(&p, chess.Black, nil) {
			if feature < 0 || int(feature) >= s.Size() {
				t.Fatalf("%q: feature %d of %d", expression, feature, s.Size())
			}
		}
	})
}
