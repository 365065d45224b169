package netstat

import (
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

func parse(t *testing.T, expression string, v *chess.Variant) features.Set {
	t.Helper()
	set, err := features.Parse(expression, v)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

const (
	g1 = chess.Square(6)
	f3 = chess.Square(21)
	e4 = chess.Square(28)
	a8 = chess.Square(56)
)

// TestAtlas lets every feature weigh its own number.
func TestAtlas(t *testing.T) {
	number := func(feature int) float64 { return float64(feature) }
	const block = 864 // of HalfKAv2
	mean := 0.0       // of block*king where the king may stand beside a knight on f3
	for k := range 64 {
		if k != int(f3) {
			mean += float64(block*k) / 63
		}
	}
	for _, tc := range []struct {
		set                        string
		king                       chess.Square
		pawn, knight, king1, king2 float64 // own pawn e4, enemy knight f3, own king g1, enemy king a8
		held                       float64 // own third bishop in hand
	}{
		{"All", chess.NoSquare, 28, 192 + 21, 640 + 6, 704 + 56, math.NaN()},
		{"H", chess.NoSquare, 3, 8*3 + 2, 80, 88 + 7, math.NaN()},
		{"Hand", chess.NoSquare, math.NaN(), math.NaN(), math.NaN(), math.NaN(), 4*16 + 2},
		{"HalfKAv2", g1, 6*block + 28, 6*block + 192 + 21, 6*block + 640 + 6, 6*block + 640 + 56, 6*block + 704 + 4*16 + 2},
		{"KingAll", g1, 6*768 + 28, 6*768 + 192 + 21, 6*768 + 640 + 6, 6*768 + 704 + 56, math.NaN()},
		{"King * (All + Hand)", g1, 6*928 + 28, 6*928 + 192 + 21, 6*928 + 640 + 6, 6*928 + 704 + 56, 6*928 + 768 + 66},
	} {
		set := parse(t, tc.set, chess.Crazyhouse)
		a := newAtlas(set, chess.Crazyhouse, tc.king)
		if !a.single(set, tc.king) {
			t.Errorf("%s: found not to follow from single pieces", tc.set)
		}
		p := a.picture(number)
		for name, f := range map[string][2]float64{
			"pawn e4":      {p.Pieces[0][chess.Pawn][e4], tc.pawn},
			"knight f3":    {p.Pieces[1][chess.Knight][f3], tc.knight},
			"own king":     {p.Pieces[0][chess.King][g1], tc.king1},
			"enemy king":   {p.Pieces[1][chess.King][a8], tc.king2},
			"third bishop": {p.Hands[0][chess.Bishop][2], tc.held},
			"pawn on a8":   {p.Pieces[0][chess.Pawn][a8], math.NaN()},
			"fourth rook":  {p.Hands[1][chess.Rook][3] - p.Hands[1][chess.Rook][2], step(tc.held)},
			"third queen":  {p.Hands[1][chess.Queen][2], math.NaN()},
		} {
			if f[0] != f[1] && !(math.IsNaN(f[0]) && math.IsNaN(f[1])) {
				t.Errorf("%s: %s: found %g, expected %g", tc.set, name, f[0], f[1])
			}
		}
	}

	set := parse(t, "HalfKAv2", chess.Crazyhouse)
	p := newAtlas(set, chess.Crazyhouse, chess.NoSquare).picture(number)
	if got, want := p.Pieces[0][chess.Knight][f3], mean+128+21; math.Abs(got-want) > 1e-6 {
		t.Errorf("mean over the own king's squares: found %g, expected %g", got, want)
	}
	if got, want := p.Pieces[0][chess.King][e4], float64(block*28+640+28); got != want {
		t.Errorf("own king on e4: found %g, expected %g", got, want)
	}
}

// step is 1 if hands have features.
func step(held float64) float64 {
	if math.IsNaN(held) {
		return held
	}
	return 1
}

func TestNotSingle(t *testing.T) {
	for _, expression := range []string{"PH", "PV", "MB", "MC", "DropChecks", "HandPairs"} {
		set := parse(t, expression, chess.Crazyhouse)
		if newAtlas(set, chess.Crazyhouse, chess.NoSquare).single(set, chess.NoSquare) {
			t.Errorf("%s: found to follow from single pieces", expression)
		}
	}
}

func TestAtlasOfChess(t *testing.T) {
	set := parse(t, "HalfKP", chess.Chess)
	a := newAtlas(set, chess.Chess, chess.NoSquare)
	if !a.single(set, chess.NoSquare) {
		t.Error("HalfKP: found not to follow from single pieces")
	}
	p := a.picture(func(f int) float64 { return float64(f % 641) })
	if got := p.Pieces[0][chess.Rook][f3]; math.Abs(got-(1+6*64+21)) > 1e-9 {
		t.Errorf("found %g, expected %d", got, 1+6*64+21)
	}
	if got := p.Pieces[1][chess.King][a8]; !math.IsNaN(got) {
		t.Errorf("a set without kings has %g for one", got)
	}
}

func TestFarFrom(t *testing.T) {
	for a := range chess.Square(64) {
		for b := range chess.Square(64) {
			s := farFrom(a, b)
			inLine := chess.QueenAttacks(s, 0)
			if (setup{own: a, enemy: s}).position(chess.Crazyhouse) == nil || inLine.Has(a) || inLine.Has(b) {
				t.Fatalf("%v is not far from %v and %v", s, a, b)
			}
		}
	}
}
