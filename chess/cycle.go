package chess

// cycleBits is the size of cycles: a third of the slots are taken.
const cycleBits = 15

// cycle is a move of one piece between two squares, either way, by what it changes
// in the position's key but for the side to move. An empty slot has difference 0.
type cycle struct {
	difference uint64
	a, b       Square
}

// cycles are the moves of all pieces but pawns, on an empty board, marked as promoted
// or not: a hash table with linear probing.
var cycles [1 << cycleBits]cycle

// cycleSlot returns where the search for a difference begins.
func cycleSlot(difference uint64) uint64 { return difference >> (64 - cycleBits) }

func fillCycles() {
	for c := White; c <= Black; c++ {
		for t := Knight; t <= King; t++ {
			pc := MakePiece(c, t)
			for a := A1; a <= H8; a++ {
				for to := attacksOf(t, c, a, 0); to != 0; to &= to - 1 {
					b := to.First()
					if b < a {
						continue
					}
					moved := keyPiece[pc&15][a] ^ keyPiece[pc&15][b]
					addCycle(cycle{moved, a, b})
					if t != King {
						addCycle(cycle{moved ^ keyPromoted[a] ^ keyPromoted[b], a, b})
					}
				}
			}
		}
	}
}

func addCycle(c cycle) {
	slot := cycleSlot(c.difference)
	for cycles[slot].difference != 0 {
		slot = (slot + 1) % uint64(len(cycles))
	}
	cycles[slot] = c
}

// MayReturn reports whether the side to move can make a move, of a piece other than a
// pawn and without capturing, to the position with the given key, an earlier one of
// the game. It compares keys only, so that it need not generate moves.
func (p *Position) MayReturn(key uint64) bool {
	difference := p.key ^ key ^ keySide
	if p.ep != NoSquare { // it ends with any move
		difference ^= keyEP[p.ep&7]
	}
	if difference == 0 {
		return false
	}
	slot := cycleSlot(difference)
	for cycles[slot].difference != difference {
		if cycles[slot].difference == 0 {
			return false
		}
		slot = (slot + 1) % uint64(len(cycles))
	}
	c := &cycles[slot]
	occ, ends := p.Occupied(), bit(c.a)|bit(c.b)
	return (ends&occ).Count() == 1 && ends&p.byColor[p.side&1] != 0 && Between(c.a, c.b)&occ == 0
}
