package ab

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/search/option"
)

// minimax is the slow twin of the search: the whole tree, no window, no table.
type minimax struct {
	eval  Material
	tune  *stage
	quiet bool // trust the evaluation at depth 0 instead of resolving captures
	nodes int
}

func (s *minimax) negamax(l *chess.Line, ply, depth int) int {
	s.nodes++
	p := l.Pos()
	var moves chess.MoveList
	p.Legal(&moves)
	v := p.Variant()
	if ply > 0 {
		switch {
		case v.FiftyMoveRule && p.HalfmoveClock() >= 100 && (!p.InCheck() || moves.N > 0),
			v.InsufficientMaterial && p.InsufficientMaterial(),
			s.repeated(l, ply):
			return 0
		}
	}
	if depth == 0 {
		return s.leaf(p, ply, 0)
	}
	if moves.N == 0 {
		if p.InCheck() {
			return ply - mateScore
		}
		return 0
	}
	best := -infinite
	for _, m := range moves.Slice() {
		l.Push(m)
		best = max(best, -s.negamax(l, ply+1, depth-1))
		l.Pop()
	}
	return best
}

// repeated reports whether the last position of l occurred since the root, ply
// moves ago, or twice before.
func (s *minimax) repeated(l *chess.Line, ply int) bool {
	keys := l.Keys()
	last := len(keys) - 1
	return slices.Contains(keys[last-ply:last], keys[last]) || l.Repetitions() >= 2
}

// leaf resolves captures, promotions and early drop checks.
func (s *minimax) leaf(p *chess.Position, ply, depth int) int {
	s.nodes++
	if s.quiet || depth == -quietPlies {
		return s.eval.Evaluate(p)
	}
	var moves chess.MoveList
	best := ply - mateScore
	if p.InCheck() {
		p.Legal(&moves)
	} else {
		best = s.eval.Evaluate(p)
		p.LegalCaptures(&moves)
		if depth > -s.tune.DropPlies {
			p.LegalDropChecks(&moves)
		}
	}
	for _, m := range moves.Slice() {
		if !p.InCheck() && !s.tune.values.exchangeAtLeast(p, m, 0) {
			continue
		}
		child := *p
		child.Make(m)
		best = max(best, -s.leaf(&child, ply+1, depth-1))
	}
	return best
}

// fullWidth is an engine without selective rules. Quiescence still leaves out
// what loses material, as the twin does: without that it would not end.
func fullWidth(quiescence bool) *Engine {
	return New(newMaterial, Options{HashMB: 1, Params: onlyRules(map[string]bool{"quiescence": quiescence})})
}

// onlyRules returns settings with all rules off but those that are true in on.
func onlyRules(on map[string]bool) map[string]string {
	settings := map[string]string{}
	for _, o := range option.All(&Rules{}) {
		settings[o.Key] = strconv.FormatBool(on[o.Key])
		settings["late_"+o.Key] = settings[o.Key]
	}
	return settings
}

var minimaxPositions = []struct {
	variant *chess.Variant
	fen     string
	depth   int // of full width
	quiet   int // of full width before quiescence; 0 where the twin takes too long
}{
	{chess.Crazyhouse, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR[] w KQkq - 0 1", 3, 2},
	{chess.Crazyhouse, "r1bqkb1r/ppp2ppp/2n2n2/3pp3/4P3/2NP1N2/PPP2PPP/R1BQKB1R[] w KQkq - 0 5", 3, 0},
	{chess.Crazyhouse, "r2qk2r/ppp2ppp/2np1n2/2b1p1B1/2B1P1b1/2NP1N2/PPP2PPP/R2QK2R[Pp] w KQkq - 0 7", 2, 0},
	{chess.Crazyhouse, "r4rk1/ppp2ppp/3b2qn/1P1p4/3P1P2/4P1BP/P1P1B2P/R1BQ1RK1[NNnp] w - - 0 20", 2, 1},
	{chess.Crazyhouse, "4k3/P7/8/8/8/8/7p/4K3[Np] w - - 0 1", 3, 2},
	{chess.Chess, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 4, 3},
	{chess.Chess, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", 2, 0},
	{chess.Chess, "7k/8/5K2/6Q1/8/8/8/8 w - - 98 80", 4, 3},
	{chess.Chess, "k7/8/1K6/8/8/8/8/7R b - - 0 1", 5, 3},
}

func TestFullWidthIsMinimax(t *testing.T) {
	for _, tc := range minimaxPositions {
		for depth := 1; depth <= tc.depth; depth++ {
			l := chess.NewLine(mustFEN(t, tc.variant, tc.fen))
			twin := minimax{quiet: true}
			want := twin.negamax(l, 0, depth)
			r := mustSearch(t, fullWidth(false), l, search.Limits{Depth: depth})
			if int(r.Score) != want {
				t.Errorf("%s depth %d: score %d, minimax %d", tc.fen, depth, int(r.Score), want)
			}
			if twin.nodes > 1000 && r.Nodes > uint64(twin.nodes) {
				t.Errorf("%s depth %d: %d nodes, minimax %d", tc.fen, depth, r.Nodes, twin.nodes)
			}
		}
	}
}

func TestQuiescenceIsMinimax(t *testing.T) {
	for _, tc := range minimaxPositions {
		if tc.quiet == 0 {
			continue
		}
		l := chess.NewLine(mustFEN(t, tc.variant, tc.fen))
		twin := minimax{tune: &newTuning(tc.variant, nil).early}
		want := twin.negamax(l, 0, tc.quiet)
		r := mustSearch(t, fullWidth(true), l, search.Limits{Depth: tc.quiet})
		if int(r.Score) != want {
			t.Errorf("%s depth %d: score %d, minimax %d", tc.fen, tc.quiet, int(r.Score), want)
		}
	}
}

// Each rule alone must keep the search sound enough to find a short mate. The selective
// ones must not, at equal depth, make it visit more nodes.
func TestEachRuleAlone(t *testing.T) {
	mate := mustLine(t, chess.Crazyhouse, "5r1k/6pp/7N/8/8/8/8/6K1[Q] w - - 0 1", "") // Q@g8, Rxg8, Nf7
	for _, o := range option.All(&Rules{}) {
		e := New(newMaterial, Options{HashMB: 1, Params: onlyRules(map[string]bool{o.Key: true})})
		if r := mustSearch(t, e, mate, search.Limits{Depth: 6, Mate: 2}); r.Score.MateIn() != 2 {
			t.Errorf("%s: %v, want mate 2", o.Key, r.Score)
		}
	}
	const fen = "r1bqkb1r/ppp2ppp/2n2n2/3pp3/4P3/2NP1N2/PPP2PPP/R1BQKB1R[] w KQkq - 0 5"
	nodes := func(settings map[string]string) uint64 {
		e := New(newMaterial, Options{HashMB: 1, Params: settings})
		r, err := e.Search(context.Background(), mustLine(t, chess.Crazyhouse, fen, ""), search.Limits{Depth: 5})
		if err != nil {
			t.Fatal(err)
		}
		return r.Nodes
	}
	quiescence := map[string]bool{"quiescence": true, "delta": true, "evasions": true}
	none := nodes(onlyRules(quiescence))
	for _, rule := range []string{"null_move", "reverse_futility", "reductions", "move_count", "futility", "exchange", "internal_reduction"} {
		with := maps.Clone(quiescence)
		with[rule] = true
		if got := nodes(onlyRules(with)); got > none {
			t.Errorf("%s: %d nodes, without %d", rule, got, none)
		}
	}
	if all := nodes(nil); all*3 >= none {
		t.Errorf("all rules: %d nodes, none: %d; want less than a third", all, none)
	}
}
