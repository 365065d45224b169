package chess

import (
	"math/rand/v2"
	"testing"
)

// mayReturnSlowly is MayReturn by making every move.
func mayReturnSlowly(p *Position, key uint64) bool {
	var l MoveList
	p.Legal(&l)
	for _, m := range l.Slice() {
		if m.IsDrop() || m.IsCastle() || p.IsCapture(m) || p.PieceAt(m.From()).Type() == Pawn {
			continue
		}
		child := *p
		if child.Make(m); child.Key() == key {
			return true
		}
	}
	return false
}

// TestMayReturn plays games of piece moves to and fro, with other moves between, and
// asks at each position for every earlier one of the game.
func TestMayReturn(t *testing.T) {
	for _, v := range []*Variant{Crazyhouse, Chess} {
		rng := rand.New(rand.NewPCG(7, 7))
		found := 0
		for range 60 {
			p := v.Start()
			var last [2]Move // of each side
			keys := []uint64{p.Key()}
			for len(keys) < 90 {
				var l MoveList
				p.Legal(&l)
				if l.N == 0 {
					break
				}
				m := l.Moves[rng.IntN(l.N)]
				if back := last[p.SideToMove()]; back != NoMove && rng.IntN(3) > 0 {
					for _, other := range l.Slice() {
						if !other.IsDrop() && other.From() == back.To() && other.To() == back.From() {
							m = other
						}
					}
				}
				last[p.SideToMove()] = NoMove
				if !m.IsDrop() && !m.IsCastle() {
					last[p.SideToMove()] = m
				}
				p.Make(m)
				for _, key := range keys {
					got, want := p.MayReturn(key), mayReturnSlowly(&p, key)
					if got != want {
						t.Fatalf("%s: to the position with key %#x: %v, want %v", p.FEN(), key, got, want)
					}
					if want {
						found++
					}
				}
				keys = append(keys, p.Key())
			}
		}
		if found < 100 {
			t.Errorf("%s: %d positions could be returned to; the test is to see some", v.Name, found)
		}
	}
}
