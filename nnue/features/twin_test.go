package features

import (
	"maps"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// seen is a position as a perspective sees it: the own side at the bottom, going
// up. A plane is 2*kind for an own piece and 2*kind+1 for an enemy one.
type seen struct {
	p        *chess.Position
	us       chess.Color
	board    [64]int // plane, or -1
	promoted [64]bool
	hand     [10]int // by plane
	king     int     // square of the own king
}

func see(p *chess.Position, us chess.Color) *seen {
	v := &seen{p: p, us: us}
	plane := func(t chess.PieceType, c chess.Color) int {
		if c == us {
			return 2 * int(t)
		}
		return 2*int(t) + 1
	}
	for s := chess.A1; s <= chess.H8; s++ {
		at := int(s)
		if us == chess.Black {
			at = 8*(7-s.Rank()) + s.File()
		}
		v.board[at] = -1
		if piece := p.PieceAt(s); piece != chess.NoPiece {
			v.board[at] = plane(piece.Type(), piece.Color())
			v.promoted[at] = p.Promoted().Has(s)
			if v.board[at] == 10 {
				v.king = at
			}
		}
	}
	for _, c := range []chess.Color{chess.White, chess.Black} {
		for t := chess.Pawn; t <= chess.Queen; t++ {
			v.hand[plane(t, c)] = p.Hand(c).Count(t)
		}
	}
	return v
}

// twin is a block told by its predicate, square by square.
type twin struct {
	chess, crazyhouse int // sizes, 0 where there is none
	active            func(v *seen) []int
}

var twins = map[string]twin{
	"All":        {768, 768, func(v *seen) []int { return v.pieces(func(int) bool { return true }) }},
	"P":          {640, 640, func(v *seen) []int { return v.pieces(func(s int) bool { return v.board[s] < 10 }) }},
	"King":       {64, 64, func(v *seen) []int { return []int{v.king} }},
	"KingAll":    {49152, 49152, func(v *seen) []int { return times([]int{v.king}, v.pieces(func(int) bool { return true }), 768) }},
	"HalfKP":     {41024, 41024, halfKPSlowly},
	"HalfKAv2":   {45056, 55296, halfKASlowly},
	"EnemyKing":  {64, 64, func(v *seen) []int { return []int{slices.Index(v.board[:], 11)} }},
	"KingZone":   {12, 12, func(v *seen) []int { return []int{4*min(v.king/8, 2) + v.king%8/2} }},
	"KingHalf":   {32, 32, kingHalfSlowly},
	"AllHalf":    {768, 768, allHalfSlowly},
	"H":          {96, 96, func(v *seen) []int { return v.lines(8, func(f, r int) int { return r }) }},
	"V":          {96, 96, func(v *seen) []int { return v.lines(8, func(f, r int) int { return f }) }},
	"D1":         {180, 180, func(v *seen) []int { return v.lines(15, func(f, r int) int { return 7 + f - r }) }},
	"D2":         {180, 180, func(v *seen) []int { return v.lines(15, func(f, r int) int { return f + r }) }},
	"PH":         {1152, 1152, func(v *seen) []int { return v.pairs(1, 8) }},
	"PV":         {1152, 1152, func(v *seen) []int { return v.pairs(8, 1) }},
	"MB":         {768, 768, (*seen).destinations},
	"MC":         {sumOf(mobilityTop.chess), sumOf(mobilityTop.crazyhouse), (*seen).mobility},
	"Hand":       {0, 160, func(v *seen) []int { return v.hands([5]int{16, 16, 16, 16, 16}, false) }},
	"HandCapped": {0, 60, func(v *seen) []int { return v.hands([5]int{16, 4, 4, 4, 2}, false) }},
	"HandExact":  {0, 60, func(v *seen) []int { return v.hands([5]int{16, 4, 4, 4, 2}, true) }},
	"HandHeld":   {0, 10, func(v *seen) []int { return v.hands([5]int{1, 1, 1, 1, 1}, true) }},
	"HandPairs":  {0, 45, handPairsSlowly},
	"HandTotal":  {0, 62, handTotalSlowly},
	"Promoted":   {0, 512, promotedSlowly},
	"DropChecks": {0, 80, dropChecksSlowly},
	"DropMoves":  {0, 10, dropMovesSlowly},

	"Threats":          {6400, 6400, threatsSlowly},
	"DropCheckSquares": {0, 640, dropCheckSquaresSlowly},
	"DropZone":         {0, 80, dropZoneSlowly},
}

func sumOf(top [6]int) int {
	n := 0
	for _, t := range top {
		n += 2 * t
	}
	return n
}

func (v *seen) pieces(counts func(square int) bool) []int {
	var out []int
	for s, plane := range v.board {
		if plane >= 0 && counts(s) {
			out = append(out, 64*plane+s)
		}
	}
	return out
}

// times pairs the features of two sets, the second of the given size.
func times(a, b []int, size int) []int {
	var out []int
	for _, i := range a {
		for _, j := range b {
			out = append(out, i*size+j)
		}
	}
	return out
}

// halfKPSlowly turns the board for Black, where the others mirror it.
func halfKPSlowly(v *seen) []int {
	turn := func(s int) int {
		if v.us == chess.Black {
			return s/8*8 + 7 - s%8
		}
		return s
	}
	var out []int
	for s, plane := range v.board {
		if plane >= 0 && plane < 10 {
			out = append(out, 641*turn(v.king)+1+64*plane+turn(s))
		}
	}
	return out
}

func halfKASlowly(v *seen) []int {
	var out []int
	for _, f := range activeSlowly(v.p, v.us) {
		out = append(out, int(f))
	}
	return out
}

func (v *seen) lines(n int, line func(file, rank int) int) []int {
	var out []int
	for plane := range 12 {
		for l := range n {
			for s := range 64 {
				if line(s%8, s/8) == l && v.board[s] == plane {
					out = append(out, n*plane+l)
					break
				}
			}
		}
	}
	return out
}

// pairs looks along every line for a piece, and from there for the next one. step
// leads from a square to its neighbour on the line, across to the next line.
func (v *seen) pairs(step, across int) []int {
	found := map[int]bool{}
	for line := range 8 {
		for i := range 8 {
			for j := i + 1; j < 8; j++ {
				a, b := v.board[line*across+i*step], v.board[line*across+j*step]
				between := false
				for k := i + 1; k < j; k++ {
					between = between || v.board[line*across+k*step] >= 0
				}
				if a >= 0 && b >= 0 && !between {
					found[(line*12+a)*12+b] = true
				}
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

var (
	straight = [][2]int{{1, 0}, {-1, 0}, {0, 1}, {0, -1}}
	diagonal = [][2]int{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}
	jumps    = [][2]int{{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}}
)

// attacks returns the squares a piece of a plane on s attacks, first pieces met
// included.
func (v *seen) attacks(plane, s int) []int {
	up := 1
	if plane%2 == 1 {
		up = -1
	}
	switch plane / 2 {
	case 0:
		return v.walk(s, 1, [][2]int{{1, up}, {-1, up}})
	case 1:
		return v.walk(s, 1, jumps)
	case 2:
		return v.walk(s, 7, diagonal)
	case 3:
		return v.walk(s, 7, straight)
	case 4:
		return v.walk(s, 7, append(slices.Clone(straight), diagonal...))
	default:
		return v.walk(s, 1, append(slices.Clone(straight), diagonal...))
	}
}

func (v *seen) walk(s, steps int, directions [][2]int) []int {
	var out []int
	for _, d := range directions {
		f, r := s%8+d[0], s/8+d[1]
		for n := 0; n < steps && f >= 0 && f < 8 && r >= 0 && r < 8; n++ {
			out = append(out, 8*r+f)
			if v.board[8*r+f] >= 0 {
				break
			}
			f, r = f+d[0], r+d[1]
		}
	}
	return out
}

func (v *seen) destinations() []int {
	var goes [768]bool
	for s, plane := range v.board {
		if plane < 0 {
			continue
		}
		for _, to := range v.attacks(plane, s) {
			enemy := v.board[to] >= 0 && v.board[to]%2 != plane%2
			if enemy || plane >= 2 && v.board[to] < 0 {
				goes[64*plane+to] = true
			}
		}
		up, home := 8, 1
		if plane == 1 {
			up, home = -8, 6
		}
		if plane < 2 && v.board[s+up] < 0 {
			goes[64*plane+s+up] = true
			if s/8 == home && v.board[s+2*up] < 0 {
				goes[64*plane+s+2*up] = true
			}
		}
	}
	var out []int
	for f, on := range goes {
		if on {
			out = append(out, f)
		}
	}
	return out
}

func (v *seen) mobility() []int {
	top := mobilityTop.chess
	if v.p.Variant().CapturesToHand {
		top = mobilityTop.crazyhouse
	}
	var counts [12]int
	for _, f := range v.destinations() {
		counts[f/64]++
	}
	var out []int
	first := 0
	for plane, n := range counts {
		if n > 0 {
			out = append(out, first+min(n, top[plane/2])-1)
		}
		first += top[plane/2]
	}
	return out
}

func (v *seen) hands(caps [5]int, exact bool) []int {
	var out []int
	first := 0
	for plane, n := range v.hand {
		n = min(n, caps[plane/2])
		for j := range n {
			if !exact || j == n-1 {
				out = append(out, first+j)
			}
		}
		first += caps[plane/2]
	}
	return out
}

func handPairsSlowly(v *seen) []int {
	var out []int
	f := 0
	for j := range 10 {
		for i := range j {
			if v.hand[i] > 0 && v.hand[j] > 0 {
				out = append(out, f)
			}
			f++
		}
	}
	return out
}

func handTotalSlowly(v *seen) []int {
	var total [2]int
	for plane, n := range v.hand {
		total[plane%2] += n
	}
	return []int{min(total[0], 30), 31 + min(total[1], 30)}
}

func promotedSlowly(v *seen) []int {
	var out []int
	for s, plane := range v.board {
		if plane >= 0 && v.promoted[s] {
			out = append(out, 64*(plane-2)+s)
		}
	}
	return out
}

func dropChecksSlowly(v *seen) []int {
	var counts [10]int
	for _, f := range dropCheckSquaresSlowly(v) {
		counts[f/64]++
	}
	var out []int
	for plane, n := range counts {
		if n > 0 {
			out = append(out, 8*plane+min(n, 8)-1)
		}
	}
	return out
}

// drops returns the empty squares on which a piece of a plane may stand, if one is
// in hand.
func (v *seen) drops(plane int) []int {
	var out []int
	for s := range 64 {
		if v.hand[plane] > 0 && v.board[s] < 0 && (plane >= 2 || s >= 8 && s < 56) {
			out = append(out, s)
		}
	}
	return out
}

func dropCheckSquaresSlowly(v *seen) []int {
	var out []int
	for plane := range v.hand {
		for _, s := range v.drops(plane) {
			for _, to := range v.attacks(plane, s) {
				if v.board[to] == 11-plane%2 { // the king of the other side
					out = append(out, 64*plane+s)
				}
			}
		}
	}
	return out
}

// dropZoneSlowly looks at the squares on which a piece may be dropped: whether the
// king of the other side, and no other of its pieces, attacks them.
func dropZoneSlowly(v *seen) []int {
	var out []int
	for plane := range v.hand {
		for _, s := range v.drops(plane) {
			king, others := -1, 0
			for from, defender := range v.board {
				if defender < 0 || defender%2 == plane%2 || !slices.Contains(v.attacks(defender, from), s) {
					continue
				}
				if defender >= 10 {
					king = from
				} else {
					others++
				}
			}
			if king >= 0 && others == 0 {
				step := map[[2]int]int{
					{-1, -1}: 0, {0, -1}: 1, {1, -1}: 2,
					{-1, 0}: 3, {1, 0}: 4,
					{-1, 1}: 5, {0, 1}: 6, {1, 1}: 7,
				}[[2]int{s%8 - king%8, s/8 - king/8}]
				out = append(out, 8*plane+step)
			}
		}
	}
	return out
}

func threatsSlowly(v *seen) []int {
	found := map[int]bool{}
	for s, attacker := range v.board {
		if attacker < 0 || attacker >= 10 {
			continue
		}
		for _, to := range v.attacks(attacker, s) {
			if victim := v.board[to]; victim >= 0 && victim < 10 {
				found[(10*attacker+victim)*64+to] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// dropMovesSlowly counts the legal drops of the side to move, and of the other
// side, which is not in check, the empty squares.
func dropMovesSlowly(v *seen) []int {
	var out []int
	for plane, c := range []chess.Color{v.us, v.us.Other()} {
		if v.hand[plane] == 0 {
			continue
		}
		n := 0
		if c == v.p.SideToMove() {
			var l chess.MoveList
			v.p.Legal(&l)
			for _, m := range l.Slice() {
				if m.DropType() == chess.Pawn {
					n++
				}
			}
		} else {
			for s := 8; s < 56; s++ {
				if v.board[s] < 0 {
					n++
				}
			}
		}
		band := 0
		for n > dropBands[band] {
			band++
		}
		out = append(out, 5*plane+band)
	}
	return out
}

// node is an expression: the name of a block, or operands with an operator.
type node struct {
	name     string
	operator byte
	operands []*node
}

// String writes every operation in parentheses.
func (n *node) String() string {
	if n.name != "" {
		return n.name
	}
	var parts []string
	for _, o := range n.operands {
		parts = append(parts, o.String())
	}
	return "(" + strings.Join(parts, string(n.operator)) + ")"
}

func (n *node) size(hands bool) int {
	if n.name != "" {
		if hands {
			return twins[n.name].crazyhouse
		}
		return twins[n.name].chess
	}
	size := n.operands[0].size(hands)
	for _, o := range n.operands[1:] {
		if n.operator == '+' {
			size += o.size(hands)
		} else {
			size = min(size*o.size(hands), 1<<30) // far above what a set may have
		}
	}
	return size
}

// active returns the active features in any order.
func (n *node) active(v *seen) []int {
	if n.name != "" {
		return twins[n.name].active(v)
	}
	hands := v.p.Variant().CapturesToHand
	out, size := n.operands[0].active(v), n.operands[0].size(hands)
	for _, o := range n.operands[1:] {
		if n.operator == '*' {
			out = times(out, o.active(v), o.size(hands))
			continue
		}
		for _, f := range o.active(v) {
			out = append(out, size+f)
		}
		size += o.size(hands)
	}
	return out
}

// activeOf returns the twin's features, sorted.
func (n *node) activeOf(p *chess.Position, us chess.Color) []int32 {
	var out []int32
	for _, f := range n.active(see(p, us)) {
		out = append(out, int32(f))
	}
	slices.Sort(out)
	return out
}

func named(name string) *node                   { return &node{name: name} }
func op(operator byte, operands ...*node) *node { return &node{operator: operator, operands: operands} }
