package chess

import "testing"

// FuzzFEN feeds the parser anything: it must refuse it or give a position whose
// own FEN gives it again, and whose moves hold the laws.
func FuzzFEN(f *testing.F) {
	for _, file := range []string{"crazyhouse-perft.tsv", "crazyhouse960-perft.tsv", "chess-perft.tsv"} {
		for _, row := range readTSV(f, file, 3) {
			if row[1] == "1" || row[1] == "4" {
				f.Add(row[0], file == "chess-perft.tsv")
			}
		}
	}
	f.Add("q~3k3/8/8/3pP3/8/8/8/R3K2R/QNPpp w KQ d6 0 0", false)
	f.Add("4k3/8/8/8/8/8/8/4K3[", false)
	f.Fuzz(func(t *testing.T, fen string, plain bool) {
		v := Crazyhouse
		if plain {
			v = Chess
		}
		p, err := ParseFEN(v, fen)
		if err != nil {
			return
		}
		checkRebuilt(t, &p)
		var l MoveList
		p.Legal(&l)
		if p.CountLegal() != l.N {
			t.Fatalf("%s: CountLegal = %d, Legal lists %d", p.FEN(), p.CountLegal(), l.N)
		}
		compareSets(t, &p, "Legal", moveSet(t, &p, &l), twinOf(&p).legal())
		_ = p.Warnings()
		_ = p.String()
	})
}

// fuzzFENs are positions for the move parsers, chosen by number.
var fuzzFENs = []string{
	Crazyhouse.StartFEN,
	middlegameFEN,
	"r3k2r/P6P/8/3pP3/8/8/p6p/R3K2R[QRBNPqrbnp] w KQkq d6 0 1",
	"bqnbrkrn/8/8/8/8/8/8/BQNBRKRN[P] w GEge - 0 1",
	"4r2k/8/8/8/8/3n4/8/4K3[QRBNP] w - - 0 1",
}

// FuzzUCI accepts a text only for a legal move, and writes that back.
func FuzzUCI(f *testing.F) {
	for i := range fuzzFENs {
		for _, text := range []string{"e2e4", "P@e4", "e1g1", "e1h1", "e5d6", "a7a8q", "0000", ""} {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		p := mustParse(t, Crazyhouse, fuzzFENs[int(n)%len(fuzzFENs)])
		m, err := p.ParseUCI(text)
		if err != nil {
			return
		}
		if !p.IsLegal(m) {
			t.Fatalf("%s: ParseUCI(%q) gives an illegal move", p.FEN(), text)
		}
		if again := p.UCI(m); again != text && !m.IsCastle() {
			t.Fatalf("%s: ParseUCI(%q) is %s", p.FEN(), text, again)
		}
	})
}

// FuzzSAN accepts a text only for a legal move.
func FuzzSAN(f *testing.F) {
	for i := range fuzzFENs {
		for _, text := range []string{"e4", "@e4", "P@e4", "N@f3+", "O-O", "0-0-0", "exd6", "axb8=Q#", "Nbd2", "R1a3", "="} {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, n uint8, text string) {
		p := mustParse(t, Crazyhouse, fuzzFENs[int(n)%len(fuzzFENs)])
		m, err := p.ParseSAN(text)
		if err != nil {
			return
		}
		if !p.IsLegal(m) {
			t.Fatalf("%s: ParseSAN(%q) gives an illegal move", p.FEN(), text)
		}
		if again, err := p.ParseSAN(p.SAN(m)); again != m {
			t.Fatalf("%s: SAN %q of %q reads as %v, %v", p.FEN(), p.SAN(m), text, again, err)
		}
	})
}

// FuzzMake walks by the bytes given, one a move, and rebuilds every position from
// its FEN.
func FuzzMake(f *testing.F) {
	f.Add(uint8(0), []byte("the quick brown fox jumps over the lazy dog"))
	f.Add(uint8(2), []byte{0, 255, 3, 200, 17, 90, 4, 4, 4})
	f.Add(uint8(3), []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
	f.Fuzz(func(t *testing.T, n uint8, walk []byte) {
		p := mustParse(t, Crazyhouse, fuzzFENs[int(n)%len(fuzzFENs)])
		if n >= 128 {
			p = Chess.Start()
		}
		for _, b := range walk[:min(len(walk), 200)] {
			var l MoveList
			p.Legal(&l)
			if l.N == 0 {
				break
			}
			m := l.Moves[int(b)*l.N/256]
			child := p
			child.Make(m)
			if got, want := *twinOf(&child), *twinOf(&p).apply(m); got != want {
				t.Fatalf("%s: after %s:\n got %+v\nwant %+v", p.FEN(), p.UCI(m), got, want)
			}
			if p.GivesCheck(m) != child.InCheck() {
				t.Fatalf("%s: GivesCheck(%s) = %v", p.FEN(), p.UCI(m), p.GivesCheck(m))
			}
			checkRebuilt(t, &child)
			p = child
		}
	})
}
