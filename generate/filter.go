package generate

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// against returns the first reason against training on a position searched:
// early, in check, as good as decided, capture by Settings.SkipCaptures, or not
// quiet by Settings.EvalDiffLimit. Ply counts from the end of the opening.
func (w *worker) against(p *chess.Position, ply int, unquiet bool, r *search.Result) sample.Reason {
	switch {
	case ply < w.cfg.WriteMinPly:
		return sample.Early
	case p.InCheck():
		return sample.InCheck
	case r.Score >= decided || r.Score <= -decided:
		return sample.Decided
	case w.cfg.SkipCaptures && sample.IsCapture(p, r.Move):
		return sample.Capture
	case unquiet:
		return sample.Unquiet
	}
	return sample.Kept
}

// seen is a table of positions, each at a place given by its hash, where it takes
// that of another.
type seen []uint64

func newSeen(mb int) seen { return make(seen, mb<<20/8) }

// add adds a position and reports whether it was there.
func (s seen) add(p *chess.Position) bool {
	if len(s) == 0 {
		return false
	}
	key := identity(p)
	place := &s[key%uint64(len(s))]
	known := *place == key
	*place = key
	return known
}

// mark takes the mark for training off the positions of g that were seen before
// and says how many those are.
func (s seen) mark(g *game.Game) (n uint64) {
	for w := sample.WalkGame(g, sample.RulesClock); w.Ply < len(g.Plies); w.Make(g.Plies[w.Ply].Move) {
		if p := &g.Plies[w.Ply]; p.Train && s.add(&w.Pos) {
			p.Train = false
			n++
		}
	}
	return n
}

// identity is a hash of what all formats keep of a position: not of the marks of
// promoted pieces, nor of the clocks.
func identity(p *chess.Position) uint64 {
	h := uint64(p.SideToMove()) | uint64(p.EnPassant())<<1
	mix := func(x uint64) {
		h = (h ^ x) * 0x9e3779b97f4a7c15 // 2^64 divided by the golden ratio
		h ^= h >> 32
	}
	mix(uint64(p.ByColor(chess.White)))
	for t := chess.Pawn; t <= chess.King; t++ {
		mix(uint64(p.ByType(t)))
	}
	mix(uint64(p.CastlingRooks()))
	mix(uint64(p.Hand(chess.White))<<32 | uint64(p.Hand(chess.Black)))
	return h
}
