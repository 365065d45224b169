package ab

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// classOf orders kinds of pieces as attacks does.
var classOf = map[chess.PieceType]int{chess.Pawn: 1, chess.Knight: 2, chess.Bishop: 2, chess.Rook: 3, chess.Queen: 4, chess.King: 5}

// Every set is what the attackers of each square say.
func TestAttacks(t *testing.T) {
	all := &Selection{Rules: Rules{Escape: true, Loose: true, Threaten: true}}
	kinds := []chess.PieceType{chess.Pawn, chess.Knight, chess.Bishop, chess.Rook, chess.Queen}
	seen := 0
	walk(t, 4, 40, func(p *chess.Position) {
		var a attacks
		a.find(p, all)
		us := p.SideToMove()
		own, other, occ := p.ByColor(us), p.ByColor(us.Other()), p.Occupied()
		for s := range chess.Square(64) {
			attackers := p.AttackersTo(s, occ)
			if got, want := a.theirs.Has(s), attackers&other != 0; got != want {
				t.Fatalf("%s, %v: attacked by the opponent: %v, want %v", p.FEN(), s, got, want)
			}
			n := (attackers & own).Count()
			if a.once.Has(s) != (n > 0) || a.twice.Has(s) != (n > 1) {
				t.Fatalf("%s, %v: attacked once %v, twice %v, want by %d", p.FEN(), s, a.once.Has(s), a.twice.Has(s), n)
			}
			for _, kind := range kinds {
				lesser := false
				for b := attackers & other; b != 0; b &= b - 1 {
					lesser = lesser || classOf[p.PieceAt(b.First()).Type()] < classOf[kind]
				}
				if got := a.lesser[kind].Has(s); got != lesser {
					t.Fatalf("%s, %v: kind %v attacked by a lesser one: %v, want %v", p.FEN(), s, kind, got, lesser)
				}
				if occ.Has(s) || kind == chess.Pawn && (s < 8 || s >= 56) {
					continue
				}
				greater := attacksGreater(p, kind, s)
				if got := a.greater[kind].Has(s); got != greater {
					t.Fatalf("%s, %v: kind %v attacks a greater one: %v, want %v", p.FEN(), s, kind, got, greater)
				}
				if greater {
					seen++
				}
			}
		}
	})
	if seen == 0 {
		t.Error("no attack on a greater piece seen")
	}
}

// attacksGreater reports whether a piece of the side to move, put on the empty square s,
// attacks a greater one, the king apart.
func attacksGreater(p *chess.Position, kind chess.PieceType, s chess.Square) bool {
	var to chess.Bitboard
	switch kind {
	case chess.Pawn:
		to = chess.PawnAttacks(p.SideToMove(), s)
	case chess.Knight:
		to = chess.KnightAttacks(s)
	case chess.Bishop:
		to = chess.BishopAttacks(s, p.Occupied())
	case chess.Rook:
		to = chess.RookAttacks(s, p.Occupied())
	}
	for b := to & p.ByColor(p.SideToMove().Other()) &^ p.ByType(chess.King); b != 0; b &= b - 1 {
		if classOf[p.PieceAt(b.First()).Type()] > classOf[kind] {
			return true
		}
	}
	return false
}

func TestSafety(t *testing.T) {
	s := &Selection{
		Rules:   Rules{Escape: true, Loose: true, Threaten: true},
		Numbers: Numbers{EscapeBonus: 300, LooseBonus: 30, ThreatBonus: 1},
	}
	for _, tc := range []struct {
		name, fen, move string
		want            int32
	}{
		{"a drop that a pawn attacks", "4k3/8/3p4/8/8/8/8/4K3[N] w - - 0 1", "N@e5", -200},
		{"a drop that nothing attacks", "4k3/8/3p4/8/8/8/8/4K3[N] w - - 0 1", "N@e4", 0},
		{"a drop that is attacked and not defended", "4k2r/8/8/8/8/8/8/4K3[N] w - - 0 1", "N@h4", -20},
		{"the same, defended", "4k2r/8/8/8/8/6P1/8/4K3[N] w - - 0 1", "N@h4", 0},
		{"a queen out of a knight's attack", "4k3/8/8/3n4/5Q2/8/8/4K3[] w - - 0 1", "f4f1", 500},
		{"from one attack to another", "4k3/8/8/3n4/5Q2/8/8/4K3[] w - - 0 1", "f4f6", 0},
		{"a piece that nothing defends leaves an attack", "4k3/8/8/8/r3N3/8/8/7K[] w - - 0 1", "e4g3", 20},
		{"a piece that defends its target itself only", "4k3/8/8/8/7r/8/8/K2N4[] w - - 0 1", "d1f2", 0},
		{"a rook to where it alone attacks", "4k3/8/8/3b4/8/8/8/KR6[] w - - 0 1", "b1b7", -300},
		{"a pawn's step to where its own capture does not count", "4k3/8/8/r7/8/8/1P6/4K3[] w - - 0 1", "b2b3", 0},
		{"an undefended pawn under attack steps on", "4k3/8/8/8/8/1P5r/8/6K1[] w - - 0 1", "b3b4", 10},
		{"a fork", "4k3/8/8/q3r3/8/8/8/6K1[N] w - - 0 1", "N@c6", 1},
		{"a pawn that attacks a knight, undefended", "4k3/8/8/3n4/8/8/8/4K3[P] w - - 0 1", "P@c4", 1},
		{"a promoted piece has little to lose", "4k3/8/8/3n4/5Q~2/8/8/4K3[] w - - 0 1", "f4f1", 50},
		{"a king", "4k3/8/8/8/8/8/r7/4K3[] w - - 0 1", "e1d1", 0},
	} {
		p := mustLine(t, chess.Crazyhouse, tc.fen, "").Pos()
		m, err := p.ParseUCI(tc.move)
		if err != nil {
			t.Fatal(err)
		}
		var a attacks
		a.find(p, s)
		if got := a.safety(p, m, s); got != tc.want {
			t.Errorf("%s: %s is %d, want %d", tc.name, tc.move, got, tc.want)
		}
	}
}
