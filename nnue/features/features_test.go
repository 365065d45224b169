package features

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

var starts = []struct {
	name, fen string
	chess960  bool
	variant   *chess.Variant
}{
	{"crazyhouse", chess.Crazyhouse.StartFEN, false, chess.Crazyhouse},
	{"castling", "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R[QNqn] w KQkq - 0 1", false, chess.Crazyhouse},
	{"promotion", "k7/3PPP2/8/8/8/8/3ppp2/K7[] w - - 0 1", false, chess.Crazyhouse},
	{"en passant", "4k3/1p1p1p1p/8/P1P1P1P1/1p1p1p1p/8/P1P1P1P1/4K3[] w - - 0 1", false, chess.Crazyhouse},
	{"chess960", "rk2b1nr/pppppppp/8/8/8/8/PPPPPPPP/RK2B1NR[] w KQkq - 0 1", true, chess.Crazyhouse},
	{"chess960 king stays", "1r4kr/8/8/8/8/8/8/1R4KR[] w KQkq - 0 1", true, chess.Crazyhouse},
	{"large hand", "4k3/8/3p1p2/4P1P1/3p1p2/4P1P1/8/4K3[PPPPPPPPPPPPPPPPpppppppppppppppp] w - - 0 1", false, chess.Crazyhouse},
	{"chess", chess.Chess.StartFEN, false, chess.Chess},
}

func parse(t testing.TB, v *chess.Variant, fen string, chess960 bool) chess.Position {
	t.Helper()
	read := chess.ParseFEN
	if chess960 {
		read = chess.ParseFEN960
	}
	p, err := read(v, fen)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// activeSlowly is the definition of the features, square by square.
func activeSlowly(p *chess.Position, perspective chess.Color) []int32 {
	orient := func(s chess.Square) int {
		if perspective == chess.Black {
			return int(s ^ 56)
		}
		return int(s)
	}
	block := 704
	if p.Variant().CapturesToHand {
		block = 864
	}
	base := block * orient(p.King(perspective))
	var out []int32
	for s := chess.Square(0); s < 64; s++ {
		piece := p.PieceAt(s)
		if piece == chess.NoPiece {
			continue
		}
		plane := 2 * int(piece.Type())
		if piece.Color() != perspective {
			plane++
		}
		if piece.Type() == chess.King {
			plane = 10
		}
		out = append(out, int32(base+64*plane+orient(s)))
	}
	if block == 864 {
		for _, c := range []chess.Color{chess.White, chess.Black} {
			for t := chess.Pawn; t <= chess.Queen; t++ {
				plane := 2 * int(t)
				if c != perspective {
					plane++
				}
				for j := 0; j < p.Hand(c).Count(t) && j < 16; j++ {
					out = append(out, int32(base+704+16*plane+j))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func sorted(f []int32) []int32 {
	f = slices.Clone(f)
	slices.Sort(f)
	return f
}

// apply returns the set before with added and removed applied; a feature both
// added and removed, or added twice, is counted.
func apply(t *testing.T, before, added, removed []int32) []int32 {
	t.Helper()
	counts := map[int32]int{}
	for _, f := range before {
		counts[f]++
	}
	for _, f := range added {
		counts[f]++
	}
	for _, f := range removed {
		counts[f]--
	}
	var out []int32
	for f, n := range counts {
		if n < 0 || n > 1 {
			t.Fatalf("feature %d active %d times", f, n)
		}
		if n == 1 {
			out = append(out, f)
		}
	}
	slices.Sort(out)
	return out
}

// randomMove prefers captures, promotions and castling, which are rare among
// crazyhouse's many drops.
func randomMove(rng *rand.Rand, p *chess.Position) chess.Move {
	var list chess.MoveList
	p.Legal(&list)
	moves := list.Slice()
	if len(moves) == 0 {
		return chess.NoMove
	}
	for range 3 {
		m := moves[rng.IntN(len(moves))]
		if p.IsCapture(m) || m.IsPromotion() || m.IsCastle() || m.IsEnPassant() {
			return m
		}
	}
	return moves[rng.IntN(len(moves))]
}

func TestChangesMatchActive(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	kinds := map[string]int{}
	for _, start := range starts {
		h := NewHalfKAv2(start.variant)
		for range 25 {
			p := parse(t, start.variant, start.fen, start.chess960)
			var snapshots [2][64]chess.Position
			var held [2][64][]int32
			for range 60 {
				m := randomMove(rng, &p)
				if m == chess.NoMove {
					break
				}
				count(kinds, &p, m)
				child := p
				child.Make(m)
				checkChange(t, h, &p, &child, m)
				for _, c := range []chess.Color{chess.White, chess.Black} {
					king := child.King(c)
					added, removed := h.Difference(&snapshots[c][king], &child, c, nil, nil)
					snapshots[c][king] = child
					held[c][king] = apply(t, held[c][king], added, removed)
					if want := activeSlowly(&child, c); !slices.Equal(held[c][king], want) {
						t.Fatalf("%s, perspective %v: difference leads to %v, want %v", child.FEN(), c, held[c][king], want)
					}
				}
				p = child
			}
		}
	}
	for _, kind := range []string{"drop", "capture", "promoted capture", "promotion", "castle", "en passant", "king"} {
		if kinds[kind] == 0 {
			t.Errorf("no move of kind %q among the random games: %v", kind, kinds)
		}
	}
}

func count(kinds map[string]int, p *chess.Position, m chess.Move) {
	for kind, is := range map[string]bool{
		"drop":             m.IsDrop(),
		"capture":          p.IsCapture(m),
		"promoted capture": !m.IsDrop() && p.IsCapture(m) && p.Promoted()>>m.To()&1 != 0,
		"promotion":        m.IsPromotion(),
		"castle":           m.IsCastle(),
		"en passant":       m.IsEnPassant(),
		"king":             !m.IsDrop() && p.PieceAt(m.From()).Type() == chess.King,
	} {
		if is {
			kinds[kind]++
		}
	}
}

func checkChange(t *testing.T, h HalfKAv2, p, child *chess.Position, m chess.Move) {
	t.Helper()
	change := Changed(p, m)
	for _, c := range []chess.Color{chess.White, chess.Black} {
		before, want := activeSlowly(p, c), activeSlowly(child, c)
		if got := sorted(h.Active(child, c, nil)); !slices.Equal(got, want) {
			t.Fatalf("%s, perspective %v: active %v, want %v", child.FEN(), c, got, want)
		}
		if change.Refresh(c) {
			if c != p.SideToMove() {
				t.Fatalf("%s, %s: perspective %v needs a refresh but does not move", p.FEN(), p.UCI(m), c)
			}
			continue
		}
		if p.King(c) != child.King(c) {
			t.Fatalf("%s, %s: king of %v moved without refresh", p.FEN(), p.UCI(m), c)
		}
		added, removed := h.Append(&change, c, child.King(c), nil, nil)
		if got := apply(t, before, added, removed); !slices.Equal(got, want) {
			t.Fatalf("%s, %s, perspective %v: change leads to %v, want %v", p.FEN(), p.UCI(m), c, got, want)
		}
	}
}

func TestNullMoveChangesNothing(t *testing.T) {
	p := chess.Crazyhouse.Start()
	if c := Changed(&p, chess.NoMove); c != (Change{}) {
		t.Errorf("null move changes %+v", c)
	}
}

func TestExamples(t *testing.T) {
	h := NewHalfKAv2(chess.Crazyhouse)
	for _, c := range []struct {
		fen          string
		white, black []int32
	}{
		{
			"8/8/8/8/8/8/8/K1k5[PPp] w - - 0 90",
			[]int32{640, 642, 704, 705, 720}, []int32{50808, 50810, 50816, 50832, 50833},
		},
		{
			"4k3/1Q~6/8/8/4b3/8/Kpp5/8[Nnn] b - - 3 17",
			[]int32{6985, 6986, 7260, 7473, 7560, 7612, 7648, 7664, 7665},
			[]int32{3505, 3506, 3748, 4041, 4100, 4144, 4192, 4193, 4208},
		},
	} {
		p := parse(t, chess.Crazyhouse, c.fen, false)
		if got := sorted(h.Active(&p, chess.White, nil)); !slices.Equal(got, c.white) {
			t.Errorf("%s: White sees %v, want %v", c.fen, got, c.white)
		}
		if got := sorted(h.Active(&p, chess.Black, nil)); !slices.Equal(got, c.black) {
			t.Errorf("%s: Black sees %v, want %v", c.fen, got, c.black)
		}
	}
}

// TestHalfKAv2Sizes compares the set with what Fairy-Stockfish reckons with.
func TestHalfKAv2Sizes(t *testing.T) {
	for _, c := range []struct {
		v                    *chess.Variant
		block, size, virtual int
	}{{chess.Crazyhouse, 864, 55296, 928}, {chess.Chess, 704, 45056, 768}} {
		h := NewHalfKAv2(c.v)
		if h.Block() != c.block || h.Size() != c.size || h.VirtualSize() != c.virtual || h.MaxActive() != 32 {
			t.Errorf("%v: block %d, size %d, virtual %d, active %d, want %d, %d, %d, 32",
				c.v, h.Block(), h.Size(), h.VirtualSize(), h.MaxActive(), c.block, c.size, c.virtual)
		}
	}
}

// TestVirtual compares with the definition: the virtual feature is the piece or
// hand step alone, both kings apart.
func TestVirtual(t *testing.T) {
	for _, v := range []*chess.Variant{chess.Crazyhouse, chess.Chess} {
		h := NewHalfKAv2(v)
		hits := make([]int, h.VirtualSize())
		for king := range 64 {
			for plane := range 11 {
				for square := range 64 {
					want := 64*plane + square
					if plane == 10 && square != king {
						want = 64*11 + square
					}
					got := h.Virtual(king*h.Block() + 64*plane + square)
					if got != want {
						t.Fatalf("king %d, plane %d, square %d: virtual %d, want %d", king, plane, square, got, want)
					}
					hits[got]++
				}
			}
			for offset := 704; offset < h.Block(); offset++ {
				plane, step := (offset-704)/16, (offset-704)%16
				got := h.Virtual(king*h.Block() + offset)
				if want := 64*12 + 16*plane + step; got != want {
					t.Fatalf("king %d, hand plane %d, step %d: virtual %d, want %d", king, plane, step, got, want)
				}
				hits[got]++
			}
		}
		for f, n := range hits {
			want := 64 // every king square
			switch {
			case f >= 640 && f < 704:
				want = 1
			case f >= 704 && f < 768:
				want = 63
			}
			if n != want {
				t.Errorf("%v: virtual feature %d serves %d real ones, want %d", v, f, n, want)
			}
		}
	}
}

// TestNoAllocations gives every set the room it asks for.
func TestNoAllocations(t *testing.T) {
	before := parse(t, chess.Crazyhouse, "r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R[QNqn] w KQkq - 0 1", false)
	m, err := before.ParseUCI("e1g1")
	if err != nil {
		t.Fatal(err)
	}
	change, after, zero := Changed(&before, m), before, chess.Position{}
	after.Make(m)
	for _, s := range testedSets(t, chess.Crazyhouse, rand.New(rand.NewPCG(5, 6))) {
		added, removed := make([]int32, 0, Room(s.set)), make([]int32, 0, Room(s.set))
		linear, _ := s.set.(Linear)
		if n := testing.AllocsPerRun(20, func() {
			s.set.Active(&after, chess.Black, added)
			s.set.Difference(&before, &after, chess.Black, added, removed)
			s.set.Difference(&zero, &after, chess.White, added, removed)
			if linear != nil {
				linear.Append(&change, chess.Black, after.King(chess.Black), added, removed)
			}
		}); n != 0 {
			t.Errorf("%v: %v allocations per run, want none", s.set, n)
		}
	}
}

var benchmarked = []string{"HalfKAv2", "All", "All + Hand", "PH", "All + PH", "King * All", "H", "MB", "MC", "HandHeld * All", "DropChecks", "DropCheckSquares", "DropZone", "Threats"}

// benchGame returns the positions of a random game of 64 plies without moves of
// kings, in which every set can go from one to the next, and their changes.
func benchGame(b *testing.B) (positions []chess.Position, changes []Change) {
	rng := rand.New(rand.NewPCG(7, 8))
	p := chess.Crazyhouse.Start()
	positions = append(positions, p)
	for len(positions) <= 64 {
		m := randomMove(rng, &p)
		if m == chess.NoMove {
			b.Fatal("the game ended early")
		}
		change := Changed(&p, m)
		if change.king != 0 {
			continue
		}
		p.Make(m)
		positions, changes = append(positions, p), append(changes, change)
	}
	return positions, changes
}

func BenchmarkActive(b *testing.B) {
	positions, _ := benchGame(b)
	for _, expression := range benchmarked {
		b.Run(expression, func(b *testing.B) {
			s := mustParse(b, expression, chess.Crazyhouse)
			dst := make([]int32, 0, Room(s))
			for i := 0; b.Loop(); i++ {
				s.Active(&positions[i%64], chess.Black, dst)
			}
		})
	}
}

func BenchmarkDifference(b *testing.B) {
	positions, _ := benchGame(b)
	for _, expression := range benchmarked {
		b.Run(expression, func(b *testing.B) {
			s := mustParse(b, expression, chess.Crazyhouse)
			added, removed := make([]int32, 0, Room(s)), make([]int32, 0, Room(s))
			for i := 0; b.Loop(); i++ {
				s.Difference(&positions[i%64], &positions[i%64+1], chess.Black, added, removed)
			}
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	positions, changes := benchGame(b)
	king := positions[0].King(chess.Black)
	for _, expression := range benchmarked {
		s, ok := mustParse(b, expression, chess.Crazyhouse).(Linear)
		if !ok {
			continue
		}
		b.Run(expression, func(b *testing.B) {
			added, removed := make([]int32, 0, Room(s)), make([]int32, 0, Room(s))
			for i := 0; b.Loop(); i++ {
				s.Append(&changes[i%64], chess.Black, king, added, removed)
			}
		})
	}
}

func BenchmarkChanged(b *testing.B) {
	p := chess.Crazyhouse.Start()
	m, err := p.ParseUCI("e2e4")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		Changed(&p, m)
	}
}
