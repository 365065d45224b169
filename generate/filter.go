package generate

import (
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Reason is why a ply does not serve for training.
type Reason uint8

// The reasons, in the order in which they are looked at.
const (
	Kept       Reason = iota
	Unsearched        // its move was random or part of the opening
	Early             // before Settings.WriteMinPly
	InCheck           // the side to move
	Decided           // the score is beyond all bounds
	Capture           // or promotion, by Settings.SkipCaptures
	Unquiet           // by Settings.EvalDiffLimit
	Seen              // the position came before
	reasons
)

// String returns the reason in words.
func (r Reason) String() string {
	return [...]string{"kept", "random or opening", "early", "in check", "decided", "capture or promotion", "not quiet", "seen before"}[r]
}

// Counts says how many plies there were for each Reason.
type Counts [reasons]int64

// Plies returns the number of all plies.
func (c *Counts) Plies() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}

func (c *Counts) add(other *Counts) {
	for i := range c {
		c[i] += other[i]
	}
}

// against returns the first reason against training on a position searched, Seen
// left out.
func (w *worker) against(p *chess.Position, ply int, unquiet bool, r *search.Result) Reason {
	switch {
	case ply < w.cfg.WriteMinPly:
		return Early
	case p.InCheck():
		return InCheck
	case r.Score >= decided || r.Score <= -decided:
		return Decided
	case w.cfg.SkipCaptures && (r.Move.IsPromotion() || p.IsCapture(r.Move)):
		return Capture
	case unquiet:
		return Unquiet
	}
	return Kept
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
func (s seen) mark(g *game.Game) (n int64) {
	pos := g.Start
	for i := range g.Plies {
		if p := &g.Plies[i]; p.Train && s.add(&pos) {
			p.Train = false
			n++
		}
		pos.Make(g.Plies[i].Move)
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
