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

// pruning switches the rules that make the search selective. With all of them
// off the search visits the full width of the tree and returns its minimax
// value, which is what tests compare it with.
type pruning struct {
	nullMove       bool // give the opponent a free move to show a cutoff
	reverseFutile  bool // trust a static evaluation far above beta
	reductions     bool // search late moves less deep first
	moveCount      bool // leave out late quiet moves near the leaves
	futility       bool // leave out quiet moves that cannot reach alpha
	exchange       bool // leave out moves that lose material
	delta          bool // quiescence: leave out captures that cannot reach alpha
	evasions       bool // quiescence: try few quiet evasions
	checkExtension bool // search one ply deeper in check
	internalReduce bool // search less deep where the table knows no move
	quiescence     bool // resolve captures and drop checks below depth 0
}

// allPruning is how the engine plays.
func allPruning() pruning {
	return pruning{true, true, true, true, true, true, true, true, true, true, true}
}

// tuning holds the numbers of the selective rules for one family of variants,
// margins in centipawns.
type tuning struct {
	values     *values
	aspiration int // half the first window around the last score
	reverse    int // reverse futility, per ply of depth
	futileBase int // futility, at depth 0
	futileStep int // futility, per ply of depth more
	delta      int // quiescence, above the swing of the capture
	quietLoss  int // exchange loss allowed to quiet moves, per depth squared
	noisyLoss  int // exchange loss allowed to captures, per ply of depth
	countBase  int // quiet moves tried near the leaves, at depth 0
	dropPlies  int // quiescence plies that look at drops giving check
}

var (
	tuningChess = tuning{
		values:     newValues(materialChess.board, materialChess.hand, false),
		aspiration: 25, reverse: 80, futileBase: 100, futileStep: 80, delta: 150,
		quietLoss: 25, noisyLoss: 90, countBase: 4,
	}
	// tuningHand is for variants where captures go to hand: scores jump about
	// twice as far between plies, and good moves hide among many more.
	tuningHand = tuning{
		values:     newValues(materialHand.board, materialHand.hand, true),
		aspiration: 45, reverse: 150, futileBase: 160, futileStep: 130, delta: 200,
		quietLoss: 40, noisyLoss: 160, countBase: 6, dropPlies: -minDepth,
	}
)

// tuningFor returns the tuning for a variant, by its properties.
func tuningFor(v *chess.Variant) *tuning {
	if v.CapturesToHand {
		return &tuningHand
	}
	return &tuningChess
}

// reductions holds late move reductions in plies, by depth and number of moves
// searched before.
var reductions = func() (r [64][128]int8) {
	for d := 1; d < len(r); d++ {
		for n := 1; n < len(r[d]); n++ {
			r[d][n] = int8(exactReduction(d, n))
		}
	}
	return r
}()

// exactReduction is a reduction before its fraction is dropped. None is so near to
// an integer that an architecture's way to round would matter.
func exactReduction(depth, n int) float64 {
	return 0.6 + math.Log(float64(depth))*math.Log(float64(n))/2.2
}

// reduction returns by how many plies to reduce a move at the given depth after
// n others, before adjustments.
func reduction(depth, n int) int { return int(reductions[min(depth, 63)][min(n, 127)]) }
