package ab

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// worth returns the material of us less that of the opponent, board and hands.
func worth(v *values, hand [7]int, p *chess.Position, us chess.Color) int {
	sum := 0
	for t := chess.Pawn; t < chess.King; t++ {
		sum += v.board[t] * (p.Pieces(us, t).Count() - p.Pieces(us.Other(), t).Count())
		sum += hand[t] * (p.Hand(us).Count(t) - p.Hand(us.Other()).Count(t))
	}
	return sum
}

// cheapest returns the capture on to that an exchange goes on with, judging by
// the board alone, and whether that capture and no other matter is legal: no
// pins, no checks, no promotion.
func cheapest(p *chess.Position, to chess.Square) (m chess.Move, any, plain bool) {
	us := p.SideToMove()
	attackers := p.AttackersTo(to, p.Occupied()) & p.ByColor(us)
	if attackers == 0 {
		return chess.NoMove, false, true
	}
	kind := chess.Pawn
	for attackers&p.ByType(kind) == 0 {
		kind++
	}
	if kind == chess.King && p.AttackersTo(to, p.Occupied())&p.ByColor(us.Other()) != 0 {
		return chess.NoMove, false, true
	}
	from := attackers & p.ByType(kind)
	if from&p.Promoted() != 0 {
		from &= p.Promoted()
	}
	m = chess.NewMove(from.First(), to, chess.Normal)
	return m, true, p.IsLegal(m) // a pawn reaching the last rank is not: it promotes
}

// exchange plays the exchange on to out on real positions, each side stopping
// when that is best, and returns what the side to move wins by it. plain is
// false if an exchange that heeds pins and checks differs.
func exchange(v *values, hand [7]int, p *chess.Position, to chess.Square) (gain int, plain bool) {
	m, any, plain := cheapest(p, to)
	if !any || !plain {
		return 0, plain
	}
	us := p.SideToMove()
	child := *p
	child.Make(m)
	reply, plain := exchange(v, hand, &child, to)
	gain = worth(v, hand, &child, us) - worth(v, hand, p, us) - reply
	return max(0, gain), plain
}

func TestExchangeAgainstRealMoves(t *testing.T) {
	compared, skipped, deep := 0, 0, 0
	walk(t, 1, 60, func(p *chess.Position) {
		weights, v := &materialChess, newTuning(p.Variant(), nil).early.values
		if p.Variant().CapturesToHand {
			weights = &materialHand
		}
		var l chess.MoveList
		p.Legal(&l)
		us := p.SideToMove()
		for _, m := range l.Slice() {
			if m.IsCastle() {
				continue
			}
			child := *p
			child.Make(m)
			reply, plain := exchange(v, weights.hand, &child, m.To())
			if !plain {
				skipped++
				continue
			}
			before := worth(v, weights.hand, p, us)
			if m.IsDrop() { // counts as worth the same on the board
				before += weights.board[m.DropType()] - weights.hand[m.DropType()]
			}
			want := worth(v, weights.hand, &child, us) - before - reply
			if !v.exchangeAtLeast(p, m, want) || v.exchangeAtLeast(p, m, want+1) {
				t.Fatalf("%s %s: want exactly %d", p.FEN(), p.UCI(m), want)
			}
			compared++
			if reply != 0 {
				deep++
			}
		}
	})
	if compared < 10*skipped || deep < 1000 {
		t.Errorf("compared %d exchanges, %d with recaptures, skipped %d: too few to mean anything", compared, deep, skipped)
	}
}

func TestExchangeCases(t *testing.T) {
	v := valuesHand
	pawn, knight, rook := v.swing[chess.Pawn], v.swing[chess.Knight], v.swing[chess.Rook]
	for _, tc := range []struct {
		name, fen, move string
		want            int
	}{
		{"even trade", "4k3/8/2p5/3p4/4P3/8/8/4K3[] w - - 0 1", "e4d5", 0},
		{"rook takes guarded pawn", "4k3/8/2p5/3p4/8/8/8/3RK3[] w - - 0 1", "d1d5", pawn - rook},
		{"rook takes promoted queen, guarded", "4k3/8/2p5/3q~4/8/8/8/3RK3[] w - - 0 1", "d1d5", v.promoted[chess.Queen] - rook},
		{"drop on a guarded square", "4k3/8/2p5/8/8/8/8/4K3[N] w - - 0 1", "N@d5", -knight},
		{"drop where a recapture threatens", "4k3/8/2q5/8/4P3/8/8/4K3[P] w - - 0 1", "P@d5", 0},
		{"king may not take a guarded piece", "8/8/3k4/3p4/4P3/8/8/3RK3[] w - - 0 1", "e4d5", pawn},
		{"x-ray behind the rook", "3rk3/8/8/3p4/8/8/3R4/3RK3[] w - - 0 1", "d2d5", pawn},
	} {
		p := mustFEN(t, chess.Crazyhouse, tc.fen)
		m, err := p.ParseUCI(tc.move)
		if err != nil {
			t.Fatal(err)
		}
		if !v.exchangeAtLeast(&p, m, tc.want) || v.exchangeAtLeast(&p, m, tc.want+1) {
			t.Errorf("%s: %s in %s is not worth exactly %d", tc.name, tc.move, tc.fen, tc.want)
		}
	}
}
