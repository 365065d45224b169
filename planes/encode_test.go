package planes_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/planes"
	"github.com/crazyhouse-rl/selfplay/search"
)

// fixture is a line of planes.jsonl: a position, the moves that lead on from it,
// and every number of the planes that is not 0, as plane, row, column, value.
type fixture struct {
	ID       string       `json:"id"`
	FEN      string       `json:"fen"`
	Moves    []string     `json:"moves"`
	Final    string       `json:"final_fen"`
	Occurred int          `json:"occurred_before"`
	Sparse   [][4]float64 `json:"sparse"`
	Check    struct {
		NormSum float64 `json:"norm_sum"`
		NormKey float64 `json:"norm_key"`
		RawSum  float64 `json:"raw_sum"`
		RawKey  float64 `json:"raw_key"`
	} `json:"check"`
}

func fixtures(t testing.TB) []fixture {
	t.Helper()
	data, err := os.ReadFile("testdata/planes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var list []fixture
	for s := bufio.NewScanner(bytes.NewReader(data)); s.Scan(); {
		var f fixture
		if err := json.Unmarshal(s.Bytes(), &f); err != nil {
			t.Fatal(err)
		}
		list = append(list, f)
	}
	if len(list) != 40 {
		t.Fatalf("found %d fixtures, expected 40", len(list))
	}
	return list
}

// line plays a fixture's moves.
func (f *fixture) line(t testing.TB) *chess.Line {
	t.Helper()
	return playLine(t, chess.Crazyhouse, f.FEN, f.Moves...)
}

func playLine(t testing.TB, v *chess.Variant, fen string, moves ...string) *chess.Line {
	t.Helper()
	start, err := chess.ParseFEN(v, fen)
	if err != nil {
		t.Fatal(err)
	}
	l := chess.NewLine(start)
	for _, text := range moves {
		m, err := l.Pos().ParseUCI(text)
		if err != nil {
			t.Fatal(err)
		}
		l.Push(m)
	}
	return l
}

// encodeLine returns the planes of a line's current position.
func encodeLine(l *chess.Line) []float32 {
	p := search.Current(l)
	x := make([]float32, planes.Size)
	planes.Encode(x, &p, l.Repetitions())
	return x
}

func TestEncodeFixtures(t *testing.T) {
	for _, f := range fixtures(t) {
		l := f.line(t)
		p := search.Current(l)
		if f.Final != "" && p.FEN() != f.Final {
			t.Errorf("%s: found position %s, expected %s", f.ID, p.FEN(), f.Final)
		}
		if l.Repetitions() != f.Occurred {
			t.Errorf("%s: found %d repetitions, expected %d", f.ID, l.Repetitions(), f.Occurred)
		}
		want := make([]float64, planes.Size)
		for _, c := range f.Sparse {
			want[int(c[0])*64+int(c[1])*8+int(c[2])] = c[3]
		}
		for i, got := range encodeLine(l) {
			if math.Abs(float64(got)-want[i]) > 1e-6 {
				t.Errorf("%s: plane %d, row %d, column %d: found %v, expected %v", f.ID, i/64, i/8%8, i%8, got, want[i])
			}
		}
	}
}

// scales undoes the normalisation.
func scale(plane int) float64 {
	switch {
	case plane >= 14 && plane <= 23:
		return 32
	case plane == 28:
		return 500
	case plane == 33:
		return 40
	}
	return 1
}

// TestEncodeStatistics compares sums over all numbers with those that come with
// the fixtures, two of which stand in CrazyAra's own tests.
func TestEncodeStatistics(t *testing.T) {
	for _, f := range fixtures(t) {
		var normSum, normKey, rawSum, rawKey float64
		for i, v := range encodeLine(f.line(t)) {
			raw := math.Round(float64(v) * scale(i/64))
			normSum, normKey = normSum+float64(v), normKey+float64(i)*float64(v)
			rawSum, rawKey = rawSum+raw, rawKey+float64(i)*raw
		}
		c := f.Check
		if math.Abs(normSum-c.NormSum) > 1e-3 || math.Abs(normKey-c.NormKey) > 0.1 || rawSum != c.RawSum || rawKey != c.RawKey {
			t.Errorf("%s: found sums %.3f %.3f %v %v, expected %v", f.ID, normSum, normKey, rawSum, rawKey, c)
		}
	}
}

func TestEncodeEqualPositions(t *testing.T) {
	byID := map[string][]float32{}
	for _, f := range fixtures(t) {
		byID[f.ID] = encodeLine(f.line(t))
	}
	for _, pair := range [][2]string{{"z002", "z003"}, {"z007", "z008"}} {
		if !slices.Equal(byID[pair[0]], byID[pair[1]]) {
			t.Errorf("planes of %s and %s differ", pair[0], pair[1])
		}
	}
}

// TestEncodeClock counts the clock through drops: a pawn's is progress, others are
// not.
func TestEncodeClock(t *testing.T) {
	l := playLine(t, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QNPp] w - - 3 20", "N@f3", "e8d8", "Q@a1", "d8c7")
	if got, want := encodeLine(l)[33*64], float32(7)/40; got != want {
		t.Errorf("after two drops of pieces: found clock %v, expected %v", got, want)
	}
	l.Push(mustMove(t, l.Pos(), "P@h6"))
	if got := encodeLine(l)[33*64]; got != 0 {
		t.Errorf("after the drop of a pawn: found clock %v, expected 0", got)
	}
}

func mustMove(t testing.TB, p *chess.Position, text string) chess.Move {
	t.Helper()
	m, err := p.ParseUCI(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// encodeSlowly is Encode square by square, from the words of docs/formats.md.
func encodeSlowly(p *chess.Position, repetitions int) []float32 {
	x := make([]float32, planes.Size)
	us := p.SideToMove()
	square := func(row, column int) chess.Square {
		if us == chess.Black {
			row = 7 - row
		}
		return chess.NewSquare(column, row)
	}
	rights := [2][2]bool{}
	for s := chess.A1; s <= chess.H8; s++ {
		if p.CastlingRooks().Has(s) {
			side := 0
			c := p.PieceAt(s).Color()
			if s.File() < p.King(c).File() {
				side = 1
			}
			rights[c][side] = true
		}
	}
	number := func(yes bool) float32 {
		if yes {
			return 1
		}
		return 0
	}
	for row := range 8 {
		for column := range 8 {
			s := square(row, column)
			set := func(plane int, v float32) { x[plane*64+row*8+column] = v }
			if pc := p.PieceAt(s); pc != chess.NoPiece {
				enemy := 0
				if pc.Color() != us {
					enemy = 1
				}
				set(6*enemy+int(pc.Type()), 1)
				set(24+enemy, number(p.Promoted().Has(s)))
			}
			set(12, number(repetitions >= 1))
			set(13, number(repetitions >= 2))
			for t := range 5 {
				set(14+t, float32(p.Hand(us).Count(chess.PieceType(t)))/32)
				set(19+t, float32(p.Hand(us.Other()).Count(chess.PieceType(t)))/32)
			}
			set(26, number(p.EnPassant() == s))
			set(27, number(us == chess.White))
			set(28, float32(p.FullmoveNumber())/500)
			for side := range 2 {
				set(29+side, number(rights[us][side]))
				set(31+side, number(rights[us.Other()][side]))
			}
			set(33, float32(p.HalfmoveClock())/40)
		}
	}
	return x
}

// startPositions are where random games of the tests begin.
func startPositions(t testing.TB) []chess.Position {
	t.Helper()
	list := []chess.Position{chess.Crazyhouse.Start(), chess.Chess.Start()}
	for _, fen := range []string{
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[QRBNPqrbnp] w KQkq - 0 1",
		"r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R[Pp] w KQkq - 0 1",
		"bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN[] w EGeg - 0 1",
		"rk5r/pppppppp/8/8/8/8/PPPPPPPP/RK5R[] b AHah - 0 1",
		"5rkr/pppppppp/8/8/8/8/PPPPPPPP/5RKR[Nn] w FHfh - 0 1",
	} {
		for _, v := range chess.Variants() {
			if !v.CapturesToHand {
				fen = fen[:strings.IndexByte(fen, '[')] + fen[strings.IndexByte(fen, ']')+1:]
			}
			p, err := chess.ParseFEN(v, fen)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, p)
		}
	}
	return list
}

// eachRandom calls do for the positions of random games from every start, where
// nothing but moves ends them.
func eachRandom(t testing.TB, games, plies int, do func(*chess.Line)) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	for _, start := range startPositions(t) {
		for range games {
			l := chess.NewLine(start)
			for range plies {
				var moves chess.MoveList
				l.Pos().Legal(&moves)
				if moves.N == 0 {
					break
				}
				do(l)
				l.Push(moves.Moves[rng.IntN(moves.N)])
			}
		}
	}
}

func TestEncodeSlowTwin(t *testing.T) {
	eachRandom(t, 4, 120, func(l *chess.Line) {
		p := search.Current(l)
		got := encodeLine(l)
		if !slices.Equal(got, encodeSlowly(&p, l.Repetitions())) {
			t.Fatalf("%s: planes differ from those of the slow twin", p.FEN())
		}
		for plane := range planes.Channels {
			square := got[plane*64:][:64]
			if planes.Constant(plane) && slices.Max(square) != slices.Min(square) {
				t.Fatalf("%s: plane %d (%s) is not constant", p.FEN(), plane, planes.Name(plane))
			}
		}
	})
}

// mirror returns the position with sides swapped.
func mirror(t testing.TB, p *chess.Position) chess.Position {
	t.Helper()
	s := chess.Setup{SideToMove: p.SideToMove().Other(), EnPassant: p.EnPassant(),
		Hands:         [2]chess.Hand{p.Hand(chess.Black), p.Hand(chess.White)},
		HalfmoveClock: uint16(p.HalfmoveClock()), FullmoveNumber: uint16(p.FullmoveNumber())}
	if s.EnPassant != chess.NoSquare {
		s.EnPassant ^= chess.A8
	}
	for sq := chess.A1; sq <= chess.H8; sq++ {
		if pc := p.PieceAt(sq); pc != chess.NoPiece {
			s.Board[sq^chess.A8] = chess.MakePiece(pc.Color().Other(), pc.Type())
		}
		if p.Promoted().Has(sq) {
			s.Promoted |= (sq ^ chess.A8).Bitboard()
		}
		if p.CastlingRooks().Has(sq) {
			s.CastlingRooks |= (sq ^ chess.A8).Bitboard()
		}
	}
	m, err := s.Position(p.Variant())
	if err != nil {
		t.Fatal(err)
	}
	m.SetChess960(p.Chess960())
	return m
}

// TestEncodeMirror: with sides swapped only the plane of the colour changes.
func TestEncodeMirror(t *testing.T) {
	a, b := make([]float32, planes.Size), make([]float32, planes.Size)
	eachRandom(t, 3, 80, func(l *chess.Line) {
		p := *l.Pos()
		q := mirror(t, &p)
		planes.Encode(a, &p, 1)
		planes.Encode(b, &q, 1)
		for i := range 64 {
			a[27*64+i] = 1 - a[27*64+i]
		}
		if !slices.Equal(a, b) {
			t.Fatalf("%s: planes differ from those of %s by more than the colour", p.FEN(), q.FEN())
		}
	})
}

func TestEncodeOverwrites(t *testing.T) {
	x := make([]float32, planes.Size+1)
	for i := range x {
		x[i] = 7
	}
	p := chess.Crazyhouse.Start()
	planes.Encode(x, &p, 0)
	if !slices.Equal(x[:planes.Size], encodeSlowly(&p, 0)) {
		t.Error("planes depend on what stood in their memory")
	}
	if x[planes.Size] != 7 {
		t.Error("Encode wrote behind the planes")
	}
}

func TestClamp(t *testing.T) {
	x := encodeLine(playLine(t, chess.Crazyhouse, "6k1/8/8/8/8/8/8/6K1[Qq] b - - 45 600"))
	if x[28*64] != 1.2 || x[33*64] != 1.125 {
		t.Errorf("found move number %v, clock %v, expected 1.2 and 1.125, not clamped", x[28*64], x[33*64])
	}
	planes.Clamp(x)
	if x[28*64] != 1 || x[33*64] != 1 || x[18*64] != 1./32 {
		t.Errorf("clamped: found %v, %v, %v, expected 1, 1, %v", x[28*64], x[33*64], x[18*64], 1./32)
	}
}

func TestNames(t *testing.T) {
	seen := map[string]int{}
	for plane := range planes.Channels {
		name := planes.Name(plane)
		if other, ok := seen[name]; ok || name == "" {
			t.Errorf("plane %d: found name %q, expected one of its own; plane %d has it too", plane, name, other)
		}
		seen[name] = plane
	}
}

func TestEncodeAllocatesNothing(t *testing.T) {
	p := *fixtures(t)[30].line(t).Pos()
	x := make([]float32, planes.Size)
	if n := testing.AllocsPerRun(100, func() { planes.Encode(x, &p, 2) }); n != 0 {
		t.Errorf("found %v allocations, expected none", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	x := make([]float32, planes.Size)
	for _, f := range fixtures(b) {
		if f.ID != "z001" && f.ID != "z031" {
			continue
		}
		p := *f.line(b).Pos()
		b.Run(f.ID, func(b *testing.B) {
			for b.Loop() {
				planes.Encode(x, &p, 1)
			}
		})
	}
}
