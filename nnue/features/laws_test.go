package features

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// expressions are the sets whose laws are tested beside the blocks.
var expressions = []struct {
	hands bool
	tree  *node
}{
	{false, op('+', named("All"), named("PH"))},
	{false, op('+', named("H"), named("V"), named("D1"), named("D2"), named("All"))},
	{false, op('+', named("All"), named("PH"), named("PV"))},
	{false, op('*', named("King"), named("P"))},
	{false, op('*', named("All"), named("King"))},
	{false, op('*', named("King"), named("King"))},
	{false, op('*', named("King"), named("H"))},
	{false, op('*', named("King"), named("HalfKP"))},
	{false, op('*', named("King"), op('+', named("All"), named("King")))},
	{false, op('+', named("King"), op('*', named("King"), named("All")), named("MC"))},
	{false, op('*', op('+', named("H"), named("King")), op('+', named("V"), named("MC")))},
	{false, op('*', named("H"), named("V"), named("King"))},
	{false, op('+', named("HalfKP"), named("KingAll"), named("HalfKAv2"))},
	{false, op('*', named("All"), named("All"))},
	{true, op('+', named("All"), named("Hand"))},
	{true, op('*', named("King"), op('+', named("P"), named("Hand")))},
	{true, op('*', named("HandHeld"), named("All"))},
	{true, op('*', named("King"), named("HandExact"))},
	{true, op('*', named("KingHalf"), op('+', named("AllHalf"), named("Hand")))},
	{false, op('*', named("EnemyKing"), named("All"))},
	{false, op('*', named("All"), named("KingZone"))},
	{false, op('*', named("KingZone"), named("King"), named("P"))},
	{true, op('*', named("King"), named("All"), named("HandHeld"))},
	{true, op('+', named("All"), op('*', named("HandHeld"), named("All")), named("HandPairs"), named("DropChecks"))},
	{true, op('*', named("HandTotal"), named("HandPairs"))},
	{false, op('*', named("King"), named("Threats"))},
	{true, op('+', named("All"), named("Hand"), named("Threats"), named("DropCheckSquares"), named("DropZone"))},
	{true, op('*', named("King"), op('+', named("DropCheckSquares"), named("DropZone")))},
}

// randomTree makes an expression with up to depth operations in each other and
// at most size features.
func randomTree(rng *rand.Rand, v *chess.Variant, depth, size int) *node {
	for {
		n := growTree(rng, v.CapturesToHand, depth)
		// A big size here would be slow in the twin, not in the set.
		if _, err := Parse(n.String(), v); !errors.Is(err, ErrTooLarge) && n.size(v.CapturesToHand) <= size {
			return n
		}
	}
}

func growTree(rng *rand.Rand, hands bool, depth int) *node {
	if depth == 0 || rng.IntN(4) == 0 {
		names := Blocks(chess.Chess)
		if hands {
			names = Blocks(chess.Crazyhouse)
		}
		return named(names[rng.IntN(len(names))])
	}
	n := &node{operator: "+*"[rng.IntN(2)]}
	for range 2 + rng.IntN(2) {
		n.operands = append(n.operands, growTree(rng, hands, depth-1))
	}
	return n
}

// tested is a set with its twin and, by perspective, what is known of it from
// the last position.
type tested struct {
	tree  *node
	set   Set
	table *Table // nil if the set has none
	last  [2]*chess.Position
	group []int8 // by feature
	held  [2][]int32
	far   [2]map[int]*memory

	changes, differences int // features that were in any
}

// memory is a position that had an anchor, with its features.
type memory struct {
	p    chess.Position
	held []int32
}

func testedSets(t *testing.T, v *chess.Variant, rng *rand.Rand) []*tested {
	t.Helper()
	var trees []*node
	for _, name := range Blocks(v) {
		trees = append(trees, named(name))
	}
	for _, e := range expressions {
		if !e.hands || v.CapturesToHand {
			trees = append(trees, e.tree)
		}
	}
	for range 12 {
		trees = append(trees, randomTree(rng, v, 2, 1_000_000))
	}
	var sets []*tested
	for _, tree := range trees {
		set, err := Parse(tree.String(), v)
		if err != nil {
			t.Fatal(err)
		}
		var table *Table
		if linear, ok := set.(Linear); ok {
			table = NewTable(linear)
		}
		sets = append(sets, &tested{tree: tree, set: set, table: table, group: groupOfEach(t, set)})
	}
	return sets
}

// groupOfEach returns the group of every feature, and checks that each has one.
func groupOfEach(t *testing.T, set Set) []int8 {
	t.Helper()
	group := make([]int8, set.Size())
	for f := range group {
		group[f] = -1
	}
	groups := GroupsOf(set)
	for g := range groups.Count {
		for i := range groups.Size {
			if f := groups.Feature(g, i); group[f] >= 0 {
				t.Fatalf("%v: feature %d is in groups %d and %d", set, f, group[f], g)
			} else {
				group[f] = int8(g)
			}
		}
	}
	if slices.Contains(group, -1) {
		t.Fatalf("%v: feature %d is in no group", set, slices.Index(group, -1))
	}
	return group
}

// TestLaws holds every set against its twin along random games: its active
// features, and those it reaches by changes and differences.
func TestLaws(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	changes, differences := map[string]int{}, map[string]int{} // features, by set
	games := 3
	if testing.Short() {
		games = 1
	}
	for _, start := range starts {
		sets := testedSets(t, start.variant, rng)
		for range games {
			for _, s := range sets {
				s.last, s.far = [2]*chess.Position{}, [2]map[int]*memory{{}, {}}
			}
			p := parse(t, start.variant, start.fen, start.chess960)
			var change Change
			for range 40 {
				for _, s := range sets {
					for _, c := range []chess.Color{chess.White, chess.Black} {
						s.check(t, &p, &change, c)
					}
				}
				m := randomMove(rng, &p)
				if m == chess.NoMove {
					break
				}
				change = Changed(&p, m)
				p.Make(m)
			}
		}
		for _, s := range sets {
			changes[s.set.String()] += s.changes
			differences[s.set.String()] += s.differences
		}
	}
	for _, name := range Blocks(chess.Crazyhouse) {
		_, linear := mustParse(t, name, chess.Crazyhouse).(Linear)
		if differences[name] == 0 || linear && changes[name] == 0 {
			t.Errorf("%s: %d differences, %d changes among the random games", name, differences[name], changes[name])
		}
	}
}

// TestOddPositions goes between positions that random games hardly see.
func TestOddPositions(t *testing.T) {
	var positions []chess.Position
	for _, fen := range []string{
		"4k3/8/8/3Q4/8/8/8/4K3[] w - - 0 1",
		"4k3/8/8/3Q~4/8/8/8/4K3[] w - - 0 1",           // the mark alone differs
		"4k3/8/8/3q~4/8/8/8/4K3[] w - - 0 1",           // the side alone differs
		"8/3K4/8/8/8/8/3k4/8[PPpp] w - - 0 1",          // pawns would check from the last rank
		"4k3/8/8/8/8/8/4r3/4K3[Pp] w - - 0 1",          // in check from beside
		"4k3/8/8/8/4r3/8/8/4K3[Pp] w - - 0 1",          // with squares between
		"4k3/8/8/8/4r3/8/3n4/4K3[Pp] w - - 0 1",        // one checker
		"4k3/8/8/8/4r3/3n4/8/4K3[Pp] w - - 0 1",        // two checkers
		"6k1/8/R6R/8/8/R6R/8/K7[QRBNPqrbnp] w - - 0 1", // the same pair twice on different lines
		"7k/8/RRR5/8/8/8/8/K7[QQRRBBNNPPqq] w - - 0 1", // the same pair twice on one line
		"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1",
	} {
		positions = append(positions, parse(t, chess.Crazyhouse, fen, false))
	}
	for _, s := range testedSets(t, chess.Crazyhouse, rand.New(rand.NewPCG(9, 10))) {
		for i := range positions {
			for j := range positions {
				from, to := &positions[i], &positions[j]
				for _, c := range []chess.Color{chess.White, chess.Black} {
					want := s.tree.activeOf(to, c)
					s.checkBounds(t, to, want)
					if got := sorted(s.set.Active(to, c, nil)); !slices.Equal(got, want) {
						t.Fatalf("%v, %s, perspective %v: active %v, want %v", s.set, to.FEN(), c, got, want)
					}
					if s.set.Anchor(from, c) == s.set.Anchor(to, c) {
						s.checkDifference(t, from, to, c, s.tree.activeOf(from, c), want)
					}
				}
			}
		}
	}
}

// check compares with the twin the active features of p, which change leads to
// from the last position, and what differences lead to.
func (s *tested) check(t *testing.T, p *chess.Position, change *Change, c chess.Color) {
	t.Helper()
	want := s.tree.activeOf(p, c)
	if got := sorted(s.set.Active(p, c, nil)); !slices.Equal(got, want) {
		t.Fatalf("%v, %s, perspective %v: active %v, want %v", s.set, p.FEN(), c, got, want)
	}
	s.checkBounds(t, p, want)
	if last := s.last[c]; last != nil && (s.set.Anchors() == 1 || last.King(c) == p.King(c)) {
		s.checkDifference(t, last, p, c, s.held[c], want)
		if s.set.Anchors() == 1 || !change.Refresh(c) {
			added, removed := Step(s.set, change, last, p, c, nil, nil)
			if got := apply(t, s.held[c], added, removed); !slices.Equal(got, want) {
				t.Fatalf("%v, %s, perspective %v: a step leads to %v, want %v", s.set, p.FEN(), c, got, want)
			}
		}
		if linear, ok := s.set.(Linear); ok && (s.set.Anchors() == 1 || !change.Refresh(c)) {
			added, removed := linear.Append(change, c, p.King(c), nil, nil)
			s.changes += len(added) + len(removed)
			if got := apply(t, s.held[c], added, removed); !slices.Equal(got, want) {
				t.Fatalf("%v, %s, perspective %v: change leads to %v, want %v", s.set, p.FEN(), c, got, want)
			}
			if s.table != nil {
				on, off := s.table.Append(change, c, p.King(c), nil, nil)
				if on, off, added, removed := sorted(on), sorted(off), sorted(added), sorted(removed); !slices.Equal(on, added) || !slices.Equal(off, removed) {
					t.Fatalf("%v, %s, perspective %v: by the table %v on and %v off, want %v and %v", s.set, p.FEN(), c, on, off, added, removed)
				}
			}
		}
	}
	anchor := s.set.Anchor(p, c)
	if anchor < 0 || anchor >= s.set.Anchors() {
		t.Fatalf("%v: anchor %d of %d", s.set, anchor, s.set.Anchors())
	}
	far := s.far[c][anchor]
	if far == nil {
		far = &memory{} // the zero Position
		s.far[c][anchor] = far
	}
	// Most often the memory is left alone, to be far from the positions to come.
	s.checkDifference(t, &far.p, p, c, far.held, want)
	if len(far.held) == 0 || p.Ply()%9 == 0 {
		*far = memory{*p, want}
	}
	last := *p
	s.last[c], s.held[c] = &last, want
}

func (s *tested) checkDifference(t *testing.T, from, to *chess.Position, c chess.Color, before, want []int32) {
	t.Helper()
	added, removed := s.set.Difference(from, to, c, nil, nil)
	s.differences += len(added) + len(removed)
	if got := apply(t, before, added, removed); !slices.Equal(got, want) {
		t.Fatalf("%v, %s, perspective %v: difference leads to %v, want %v", s.set, to.FEN(), c, got, want)
	}
	for _, f := range added {
		if slices.Contains(removed, f) {
			t.Fatalf("%v, %s: feature %d is both added and removed", s.set, to.FEN(), f)
		}
	}
}

func (s *tested) checkBounds(t *testing.T, p *chess.Position, active []int32) {
	t.Helper()
	if len(active) > s.set.MaxActive() && p.Warnings() == nil {
		t.Fatalf("%v, %s: %d active, at most %d expected", s.set, p.FEN(), len(active), s.set.MaxActive())
	}
	for i, f := range active {
		if f < 0 || int(f) >= s.set.Size() || i > 0 && active[i-1] == f {
			t.Fatalf("%v, %s: feature %d of %d, duplicate or out of range", s.set, p.FEN(), f, s.set.Size())
		}
		if s.group[f] != s.group[active[0]] {
			t.Fatalf("%v, %s: features %d and %d of two groups are active", s.set, p.FEN(), f, active[0])
		}
		if s.set.dead(int(f), noKing) && p.Warnings() == nil {
			t.Fatalf("%v, %s: dead feature %d is active", s.set, p.FEN(), f)
		}
	}
}
