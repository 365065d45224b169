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

// tuning is what a search of one family of variants goes by: parameters and what is
// made of them.
type tuning struct {
	Params
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
	t := &tuning{Params: DefaultParams(v), values: valuesChess}
	if v.CapturesToHand {
		t.values = valuesHand
	}
	if err := t.Set(settings); err != nil {
		panic(err)
	}
	for d := 1; d < len(t.reductions); d++ {
		for n := 1; n < len(t.reductions[d]); n++ {
			t.reductions[d][n] = int16(t.exactReduction(d, n))
		}
	}
	return t
}

// exactReduction is a reduction in 1024ths of a ply before its fraction is dropped.
// With the numbers that stand in this package none is so near to an integer that an
// architecture's way to round would matter.
func (t *tuning) exactReduction(depth, n int) float64 {
	product := float64(logs[depth] * logs[n])
	return float64(t.ReduceBase) + product*1024*1024/float64(t.ReduceDivisor)
}

var logs = func() (l [128]float64) {
	for i := 1; i < len(l); i++ {
		l[i] = math.Log(float64(i))
	}
	return l
}()

// reduction returns by how much to reduce a move at the given depth after n others,
// in 1024ths of a ply and before adjustments.
func (t *tuning) reduction(depth, n int) int { return int(t.reductions[min(depth, 63)][min(n, 127)]) }
