package ab

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// settleTwin is the search of Settle without bounds, order and windows: the value of
// every line is looked at. It is false beyond nodes.
func settleTwin(p *chess.Position, ply int, nodes *int) (best int, ok bool) {
	if *nodes--; *nodes < 0 {
		return 0, false
	}
	eval := NewMaterial()
	if ply == settlePlies {
		return eval.Evaluate(p), true
	}
	v := settleHand
	if !p.Variant().CapturesToHand {
		v = settleChess
	}
	var list chess.MoveList
	if p.InCheck() {
		best = ply - settleMate
		p.Legal(&list)
	} else {
		best = eval.Evaluate(p)
		p.LegalCaptures(&list)
	}
	for _, m := range list.Slice() {
		if !p.InCheck() && !v.exchangeAtLeast(p, m, 0) {
			continue
		}
		child := *p
		child.Make(m)
		worth, ok := settleTwin(&child, ply+1, nodes)
		if !ok {
			return 0, false
		}
		best = max(best, -worth)
	}
	return best, true
}

// TestSettle: in random positions the end of the line is worth what a search of all
// lines says, and is quiet: not in check, with moves, and nothing gains there.
func TestSettle(t *testing.T) {
	eval := NewMaterial()
	for _, v := range chess.Variants() {
		rng := rand.New(rand.NewPCG(1, 2))
		compared, moved, fled := 0, 0, 0
		for range 20 {
			p := v.Start()
			for range 70 {
				var moves chess.MoveList
				if p.Legal(&moves); moves.N == 0 {
					break
				}
				p.Make(moves.Moves[rng.IntN(moves.N)])
				end, line, ok := Settle(&p)
				if !ok {
					continue
				}
				if end.InCheck() || !end.HasLegalMove() {
					t.Fatalf("%s: the end %s is in check or has no move", p.FEN(), end.FEN())
				}
				played, sign := p, 1
				for _, m := range line {
					if !played.IsLegal(m) {
						t.Fatalf("%s: the line %v is not legal", p.FEN(), line)
					}
					played.Make(m)
					sign = -sign
				}
				if played != end {
					t.Fatalf("%s: the line ends in %s, not in %s", p.FEN(), played.FEN(), end.FEN())
				}
				nodes := 3_000
				want, known := settleTwin(&p, 0, &nodes)
				if !known {
					continue
				}
				compared++
				if found := sign * eval.Evaluate(&end); found != want {
					t.Errorf("%s: the end %s is worth %d, a search of all lines says %d", p.FEN(), end.FEN(), found, want)
				}
				if len(line) > 0 {
					moved++
					if p.InCheck() {
						fled++
					}
				}
				if len(line) < settlePlies/2 { // as deep again, what is quiet stays
					if _, more, ok := Settle(&end); !ok || len(more) > 0 {
						t.Errorf("%s: its end %s goes on with %v", p.FEN(), end.FEN(), more)
					}
				}
			}
		}
		if compared < 300 || moved < 50 || fled < 5 {
			t.Errorf("%s: %d positions compared, %d with a line, %d of them in check: too few to mean anything", v.Name, compared, moved, fled)
		}
	}
}

func TestSettleKnown(t *testing.T) {
	for _, c := range []struct{ fen, line string }{
		{"6k1/8/8/3q4/4P3/8/8/6K1[] w - - 0 1", "e4d5"},     // a queen hangs
		{"6k1/8/2p5/3p4/8/8/8/3R2K1[] w - - 0 1", ""},       // a pawn that is defended does not
		{"6k1/8/8/8/8/8/8/6K1[Q] w - - 0 1", ""},            // drops are quiet
		{"6k1/8/8/3q4/8/8/3R4/3R2K1[] b - - 0 1", ""},       // a queen for a rook
		{"3r2k1/8/8/3r4/8/8/3R4/3R2K1[] w - - 0 1", "d2d5"}, // taking back would lose a second rook
	} {
		p, err := chess.ParseFEN(chess.Crazyhouse, c.fen)
		if err != nil {
			t.Fatal(err)
		}
		_, line, ok := Settle(&p)
		var moves []string
		at := p
		for _, m := range line {
			moves = append(moves, at.UCI(m))
			at.Make(m)
		}
		if text := strings.Join(moves, " "); !ok || text != c.line {
			t.Errorf("%s: found %q (%v), expected %q", c.fen, text, ok, c.line)
		}
	}
	mate, err := chess.ParseFEN(chess.Crazyhouse, "r5k1/8/8/8/8/8/5PPP/r5K1[] w - - 0 1")
	if err != nil {
		t.Fatal(err)
	}
	if end, _, ok := Settle(&mate); ok {
		t.Errorf("mate has the end %s, expected none", end.FEN())
	}
	// A hunt of the king that is not over when the search has to end.
	long, err := chess.ParseFEN(chess.Crazyhouse, "r1b2bnr/pp2k2p/3qP3/2pPppp1/1PP3n1/N2P1NPB/P2K1P1P/1RB1Q2R[] b - - 0 17")
	if err != nil {
		t.Fatal(err)
	}
	if _, line, ok := Settle(&long); ok || len(line) != settlePlies {
		t.Errorf("a line of %d plies is at its end (%t)", len(line), ok)
	}
}

func BenchmarkSettle(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	p := chess.Crazyhouse.Start()
	var all []chess.Position
	for len(all) < 300 {
		var moves chess.MoveList
		if p.Legal(&moves); moves.N == 0 || p.FullmoveNumber() > 40 {
			p = chess.Crazyhouse.Start()
			continue
		}
		p.Make(moves.Moves[rng.IntN(moves.N)])
		all = append(all, p)
	}
	for i := 0; b.Loop(); i++ {
		Settle(&all[i%len(all)])
	}
}
