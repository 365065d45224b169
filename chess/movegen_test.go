package chess

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// walkPositions calls visit with positions from seeded random games, begun from
// every start of the perft files and from the start positions, until it has seen
// about n of them.
func walkPositions(t testing.TB, n int, visit func(p *Position)) {
	t.Helper()
	type start struct {
		v   *Variant
		fen string
	}
	starts := []start{{Crazyhouse, Crazyhouse.StartFEN}, {Chess, Chess.StartFEN}}
	for _, file := range []string{"crazyhouse-perft.tsv", "crazyhouse960-perft.tsv"} {
		for _, row := range readTSV(t, file, 3) {
			if row[1] == "1" {
				starts = append(starts, start{Crazyhouse, row[0]})
			}
		}
	}
	for _, row := range readTSV(t, "chess-perft.tsv", 3) {
		if row[1] == "4" {
			starts = append(starts, start{Chess, row[0]})
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	each := n/len(starts) + 1
	for _, s := range starts {
		p := mustParse(t, s.v, s.fen)
		for range each {
			visit(&p)
			var l MoveList
			p.Legal(&l)
			if l.N == 0 {
				p = mustParse(t, s.v, s.fen)
				continue
			}
			p.Make(l.Moves[rng.IntN(l.N)])
		}
	}
}

// moveSet returns the moves of l and reports moves listed twice.
func moveSet(t *testing.T, p *Position, l *MoveList) map[Move]bool {
	t.Helper()
	set := map[Move]bool{}
	for _, m := range l.Slice() {
		if set[m] {
			t.Fatalf("%s: %s listed twice", p.FEN(), p.UCI(m))
		}
		set[m] = true
	}
	return set
}

// compareSets reports the moves in which two sets differ.
func compareSets(t *testing.T, p *Position, what string, got, want map[Move]bool) {
	t.Helper()
	for m := range got {
		if !want[m] {
			t.Fatalf("%s: %s has %s too much", p.FEN(), what, p.UCI(m))
		}
	}
	for m := range want {
		if !got[m] {
			t.Fatalf("%s: %s lacks %s", p.FEN(), what, p.UCI(m))
		}
	}
}

func TestLegalEqualsTwin(t *testing.T) {
	walkPositions(t, 4000, func(p *Position) {
		var l MoveList
		p.Legal(&l)
		w := twinOf(p)
		compareSets(t, p, "Legal", moveSet(t, p, &l), w.legal())
		if got := p.CountLegal(); got != l.N {
			t.Fatalf("%s: CountLegal = %d, Legal lists %d", p.FEN(), got, l.N)
		}
		if got := p.HasLegalMove(); got != (l.N > 0) {
			t.Fatalf("%s: HasLegalMove = %v, Legal lists %d", p.FEN(), got, l.N)
		}
		if got, want := p.InCheck(), w.inCheck(w.side); got != want || got != (p.Checkers() != 0) {
			t.Fatalf("%s: InCheck = %v, Checkers = %x, want check %v", p.FEN(), got, p.Checkers(), want)
		}
	})
}

func TestMakeEqualsTwin(t *testing.T) {
	walkPositions(t, 3000, func(p *Position) {
		w := twinOf(p)
		var l MoveList
		p.Legal(&l)
		for _, m := range l.Slice() {
			child := *p
			child.Make(m)
			if got, want := *twinOf(&child), *w.apply(m); got != want {
				t.Fatalf("%s: after %s:\n got %+v\nwant %+v", p.FEN(), p.UCI(m), got, want)
			}
		}
	})
}

// checkRebuilt verifies that p is what reading its own FEN gives, key, sets and
// all.
func checkRebuilt(t *testing.T, p *Position) {
	t.Helper()
	parse := ParseFEN
	if p.Chess960() {
		parse = ParseFEN960
	}
	fen := p.FEN()
	again, err := parse(p.Variant(), fen)
	if err != nil {
		t.Fatalf("own FEN %q refused: %v", fen, err)
	}
	if again != *p {
		t.Fatalf("%s: rebuilt from its FEN the position differs:\n got %+v\nwant %+v", fen, *p, again)
	}
	packed := p.Pack()
	if packed.Unpack(&again); again != *p {
		t.Fatalf("%s: unpacked the position differs:\n got %+v\nwant %+v", fen, again, *p)
	}
}

func TestMakeEqualsRebuilt(t *testing.T) {
	walkPositions(t, 2000, func(p *Position) {
		var l MoveList
		p.Legal(&l)
		for _, m := range l.Slice() {
			child := *p
			child.Make(m)
			if child.key != child.computeKey() {
				t.Fatalf("%s: after %s key %x, computed %x", p.FEN(), p.UCI(m), child.key, child.computeKey())
			}
			checkRebuilt(t, &child)
		}
	})
}

func TestMakeNull(t *testing.T) {
	walkPositions(t, 2000, func(p *Position) {
		if p.InCheck() {
			return
		}
		child := *p
		child.MakeNull()
		checkRebuilt(t, &child)
		if child.SideToMove() == p.SideToMove() || child.Occupied() != p.Occupied() || child.EnPassant() != NoSquare {
			t.Fatalf("%s: null move gives %s", p.FEN(), child.FEN())
		}
	})
}

func TestGivesCheckAndCaptures(t *testing.T) {
	walkPositions(t, 4000, func(p *Position) {
		var l, captures, drops MoveList
		p.Legal(&l)
		var wantAllChecks []Move
		wantCaptures, wantQuiets, wantDrops, wantChecks := map[Move]bool{}, map[Move]bool{}, map[Move]bool{}, map[Move]bool{}
		for _, m := range l.Slice() {
			child := *p
			child.Make(m)
			if got := p.GivesCheck(m); got != child.InCheck() {
				t.Fatalf("%s: GivesCheck(%s) = %v, want %v", p.FEN(), p.UCI(m), got, child.InCheck())
			}
			them := p.SideToMove().Other()
			capture := child.ByColor(them).Count() < p.ByColor(them).Count()
			if got := p.IsCapture(m); got != capture {
				t.Fatalf("%s: IsCapture(%s) = %v, want %v", p.FEN(), p.UCI(m), got, capture)
			}
			if victim := p.CapturedType(m); capture && p.Pieces(them, victim).Count() != child.Pieces(them, victim).Count()+1 {
				t.Fatalf("%s: CapturedType(%s) = %v", p.FEN(), p.UCI(m), victim)
			}
			if capture || m.PromotionType() == Queen {
				wantCaptures[m] = true
			} else {
				wantQuiets[m] = true
			}
			if child.InCheck() {
				wantAllChecks = append(wantAllChecks, m)
			}
			if m.IsDrop() && child.InCheck() {
				wantDrops[m] = true
			}
			if wantQuiets[m] && !m.IsPromotion() && !m.IsCastle() && child.AttackersTo(child.King(them), child.Occupied()).Has(m.To()) {
				wantChecks[m] = true
			}
		}
		p.LegalCaptures(&captures)
		compareSets(t, p, "LegalCaptures", moveSet(t, p, &captures), wantCaptures)
		var quiets MoveList
		p.LegalQuiets(&quiets)
		compareSets(t, p, "LegalQuiets", moveSet(t, p, &quiets), wantQuiets)
		p.LegalDropChecks(&drops)
		compareSets(t, p, "LegalDropChecks", moveSet(t, p, &drops), wantDrops)
		var checks MoveList
		p.LegalQuietChecks(&checks)
		compareSets(t, p, "LegalQuietChecks", moveSet(t, p, &checks), wantChecks)
		p.KeepChecks(&l)
		if !slices.Equal(l.Slice(), wantAllChecks) {
			t.Fatalf("%s: KeepChecks leaves %v, want %v", p.FEN(), l.Slice(), wantAllChecks)
		}
		p.LegalChecks(&checks)
		compareSets(t, p, "LegalChecks", moveSet(t, p, &checks), moveSet(t, p, &l))
	})
}

// TestLegalDropChecksAppends shows that it keeps what the list holds.
func TestLegalDropChecksAppends(t *testing.T) {
	p := mustParse(t, Crazyhouse, "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1")
	var l MoveList
	l.Add(NewMove(4, 3, Normal))
	p.LegalDropChecks(&l)
	if l.N != 5 || l.Moves[0] != NewMove(4, 3, Normal) {
		t.Errorf("list of %d moves, want the one before and 4 knight drops", l.N)
	}
}

// TestIsLegalEveryCode asks for every one of the 65536 codes of a move.
func TestIsLegalEveryCode(t *testing.T) {
	n := 0
	walkPositions(t, 4000, func(p *Position) {
		if n++; n%25 != 0 {
			return
		}
		var l MoveList
		p.Legal(&l)
		want := moveSet(t, p, &l)
		for code := range 1 << 16 {
			if m := Move(code); p.IsLegal(m) != want[m] {
				t.Fatalf("%s: IsLegal(%#x from %v to %v kind %d) = %v", p.FEN(), code, m.From(), m.To(), m.Kind(), !want[m])
			}
		}
	})
}

func TestAttackersTo(t *testing.T) {
	walkPositions(t, 500, func(p *Position) {
		w := twinOf(p)
		for s := A1; s <= H8; s++ {
			for c := White; c <= Black; c++ {
				got := p.AttackersTo(s, p.Occupied())&p.ByColor(c) != 0
				if want := w.attacked(s, c); got != want || p.attacked(s, c, p.Occupied()) != want {
					t.Fatalf("%s: %v attacks %v: %v, want %v", p.FEN(), c, s, got, want)
				}
			}
		}
	})
}

func TestNoAllocation(t *testing.T) {
	p := mustParse(t, Crazyhouse, middlegameFEN)
	var l MoveList
	buf := make([]byte, 0, 256)
	for name, f := range map[string]func(){
		"Legal":         func() { p.Legal(&l) },
		"CountLegal":    func() { p.CountLegal() },
		"LegalCaptures": func() { p.LegalCaptures(&l) },
		"IsLegal":       func() { p.IsLegal(NewDrop(Pawn, 34)) },
		"Make": func() {
			child := p
			child.Make(NewDrop(Pawn, 34))
		},
		"AppendFEN": func() { buf = p.AppendFEN(buf[:0]) },
		"AppendUCI": func() { buf = p.AppendUCI(buf[:0], NewDrop(Pawn, 34)) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times, want none", name, n)
		}
	}
}
