package features

// Material returns a weight for every feature of s such that the weights of the
// features active in a position sum to its material: the pieces on the board and
// in the hands of the own side less those of the enemy's, each at its value in
// values, pawn to queen. Kings count nothing, promoted pieces as what they have
// become, and those in hand like those on the board.
//
// Blocks that name every piece of a kind carry weights:
//
//	All, AllHalf, P, KingAll, HalfKP, HalfKAv2
//	                                    the piece's value
//	Hand, HandCapped, HandHeld          the value of one piece more: feature n
//	                                    stands for the nth piece in hand
//	HandExact                           n times the value
//
// All others have weight 0: Promoted, which marks pieces that other blocks name,
// and those whose features stand for several pieces or for none, such as H and PH.
//
// The summands of a sum share the pieces without counting any twice: a piece
// on the board, and the nth piece of a kind in hand, belongs to the first summand
// that names it. So a sum gives material as far as its blocks can tell it:
// HandHeld alone counts one piece of each kind held, HandHeld + Hand all of them.
//
// A product with King, EnemyKing, KingZone or KingHalf, which always have one active
// feature, weighs as its other factor. Of other products more or fewer features may be active than there are
// pieces; they have weight 0.
func Material(s Set, values [5]float32) []float32 {
	weights := make([]float32, s.Size())
	m := material{values: values}
	m.fill(weights, s)
	return weights
}

// material hands out pieces to the blocks of a set.
type material struct {
	values [handKinds]float32
	board  [handKinds]bool // kinds on the board that a block before has
	held   [handKinds]int  // pieces of a kind in hand that a block before has
}

// fill gives the features of s their weights, which are 0 before.
func (m *material) fill(weights []float32, s Set) {
	switch s := s.(type) {
	case linearSum:
		m.fillSum(weights, s.sum)
	case sum:
		m.fillSum(weights, s)
	case linearAnchored:
		m.fillAnchored(weights, s.anchored)
	case anchored:
		m.fillAnchored(weights, s)
	case HalfKAv2:
		m.fillHalfKAv2(weights, s)
	case product:
		m.fillProduct(weights, s)
	case setBlock:
		if s == allHalf { // whose planes are those of All
			m.fillBoard(weights, allPieces)
		}
	case pieceBlock:
		m.fillBoard(weights, s)
	case handBlock:
		m.fillHands(weights, s)
	}
}

func (m *material) fillSum(weights []float32, s sum) {
	m.fill(weights[:s.offset], s.a)
	m.fill(weights[s.offset:], s.b)
}

func (m *material) fillAnchored(weights []float32, a anchored) {
	inner := make([]float32, a.inner.Size())
	m.fill(inner, a.inner)
	for king := range a.king.Size() {
		for i, w := range inner {
			weights[king*a.kingStride+a.offset+i*a.stride] = w
		}
	}
}

// fillProduct fills in products of which one factor is a place of a king.
func (m *material) fillProduct(weights []float32, p product) {
	other := p.b
	if !isPartition(p.a) {
		if other = p.a; !isPartition(p.b) {
			return
		}
	}
	inner := make([]float32, other.Size())
	m.fill(inner, other)
	groups := GroupsOf(p)
	for group := range groups.Count {
		for i, w := range inner {
			weights[groups.Feature(group, i)] = w
		}
	}
}

func (m *material) fillHalfKAv2(weights []float32, h HalfKAv2) {
	block := weights[:h.Block()]
	m.fillBoard(block[:kingOffset], withoutKings)
	if h.hands {
		m.fillHands(block[handOffset:], handSet)
	}
	for king := 1; king < kingAnchors; king++ {
		copy(weights[king*len(block):], block)
	}
}

func (m *material) fillBoard(weights []float32, b pieceBlock) {
	if b.promoted {
		return
	}
	for kind, value := range m.values {
		if b.first[0][kind] < 0 || m.board[kind] {
			continue
		}
		m.board[kind] = true
		for square := range int32(64) {
			weights[b.first[0][kind]+square] = value
			weights[b.first[1][kind]+square] = -value
		}
	}
}

func (m *material) fillHands(weights []float32, b handBlock) {
	for kind, value := range m.values {
		before := m.held[kind]
		for n := before + 1; n <= b.caps[kind]; n++ {
			w := value
			if b.exact {
				w *= float32(n - before)
			}
			weights[int(b.first[0][kind])+n-1] = w
			weights[int(b.first[1][kind])+n-1] = -w
		}
		m.held[kind] = max(before, b.caps[kind])
	}
}
