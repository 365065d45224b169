package ab

import (
	"math"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/search"
)

// mateBound is the least score that announces a mate.
const (
	mateScore = int(search.MateScore)
	mateBound = mateScore - search.MaxPly
	infinite  = int(search.Infinite)
)

// tuning is what a search of one family of variants goes by, in early and in late
// iterations.
type tuning struct {
	early, late         stage
	lateFrom            int // first late iteration
	longNodes, longFrom int // least nodes of a long search, and its first late iteration
}

// at returns the stage of an iteration, numbered by its depth in plies, of a search that
// may visit the given number of nodes.
func (t *tuning) at(iteration int, nodes uint64) *stage {
	from := t.lateFrom
	if nodes >= uint64(t.longNodes) {
		from = t.longFrom
	}
	if iteration >= from {
		return &t.late
	}
	return &t.early
}

// stage is what an iteration goes by: parameters and what is made of them.
type stage struct {
	Selection
	values *values
	// reductions holds those of late moves in 1024ths of a ply, by depth and
	// number of moves searched before.
	reductions [64][128]int16
}

var (
	valuesChess = newValues(materialChess.board, materialChess.hand, false)
	valuesHand  = newValues(materialHand.board, materialHand.hand, true)
)

// newTuning returns the tuning of a variant with some parameters changed, which must
// be right.
func newTuning(v *chess.Variant, settings map[string]string) *tuning {
	p, values := DefaultParams(v), valuesChess
	if v.CapturesToHand {
		values = valuesHand
	}
	if err := p.Set(settings); err != nil {
		panic(err)
	}
	t := &tuning{lateFrom: p.LateFrom, longNodes: p.LongNodes, longFrom: p.LongFrom}
	t.early.set(&p.Selection, values)
	t.late.set(&p.Late, values)
	return t
}

func (s *stage) set(selection *Selection, v *values) {
	s.Selection, s.values = *selection, v
	for d := 1; d < len(s.reductions); d++ {
		for n := 1; n < len(s.reductions[d]); n++ {
			s.reductions[d][n] = int16(min(s.exactReduction(d, n), math.MaxInt16))
		}
	}
}

// exactReduction is a reduction in 1024ths of a ply before its fraction is dropped.
// With the numbers that stand in this package none is so near to an integer that an
// architecture's way to round would matter.
func (s *stage) exactReduction(depth, n int) float64 {
	product := float64(logs[depth] * logs[n])
	return float64(s.ReduceBase) + product*1024*1024/float64(s.ReduceDivisor)
}

var logs = func() (l [128]float64) {
	for i := 1; i < len(l); i++ {
		l[i] = math.Log(float64(i))
	}
	return l
}()

// reduction returns by how much to reduce a move at the given depth after n others,
// in 1024ths of a ply and before adjustments.
func (s *stage) reduction(depth, n int) int { return int(s.reductions[min(depth, 63)][min(n, 127)]) }
