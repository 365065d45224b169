package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// maxHeldOut is how many held-out games are kept at hand, the newest ones.
const maxHeldOut = 2048

// facts are what the buffer needs to know about a game to count it.
type facts struct {
	id        uint64 // hash
	heldOut   bool
	excluded  bool // its actor is
	trainable int  // plies that may be trained on
}

// idHash is how an id is remembered. Two of ten million ids share a hash with
// a probability of three in a million.
func idHash(id string) uint64 {
	sum := sha256.Sum256([]byte(id))
	return binary.LittleEndian.Uint64(sum[:])
}

// factsOf reads an encoded game without replaying it. The trainable plies are
// not in its header.
func (b *Buffer) factsOf(encoded []byte) (facts, error) {
	h, err := game.DecodeHeader(encoded)
	if err != nil {
		return facts{}, err
	}
	f := facts{id: idHash(h.ID), heldOut: sample.HeldOut(h.ID)}
	if len(b.banned) > 0 {
		_, f.excluded = b.banned[ActorOf(h.ID, b.opt.Run)]
	}
	return f, nil
}

// entry is a stored game that may be drawn.
type entry struct {
	segment   uint64
	offset    int64 // of its record
	size      int   // of the encoded game in bytes
	trainable int
	replay    atomic.Pointer[packed]
}

// index holds the games at hand.
type index struct {
	rule    WindowRule
	rows    uint64   // training positions stored, ever
	window  []*entry // training games with positions, oldest first
	befores []uint64 // training positions stored before each of them, ever
	heldOut []*entry // oldest first
}

func (x *index) init(rule WindowRule, rows uint64) { x.rule, x.rows = rule, rows }

// add adds the newest game and removes those that leave the window.
func (x *index) add(e *entry, heldOut bool) {
	switch {
	case e.trainable == 0:
	case heldOut:
		x.heldOut = append(x.heldOut, e)
		if len(x.heldOut) > maxHeldOut {
			x.heldOut = dropFirst(x.heldOut)
		}
	default:
		x.window, x.befores = append(x.window, e), append(x.befores, x.rows)
		x.rows += uint64(e.trainable)
		for size := x.rule.Size(x.rows); len(x.window) > 1 && x.rows-x.befores[1] >= size; {
			x.window, x.befores = dropFirst(x.window), x.befores[1:]
		}
	}
}

// dropFirst returns all but the first entry, which is left to the garbage
// collector.
func dropFirst(list []*entry) []*entry {
	list[0] = nil
	return list[1:]
}

// windowRows returns the training positions in the window.
func (x *index) windowRows() uint64 {
	if len(x.window) == 0 {
		return 0
	}
	return x.rows - x.befores[0]
}

// at returns the game of the window that holds the position with the given
// number, counted from the window's first.
func (x *index) at(row uint64) *entry {
	row += x.befores[0]
	i := sort.Search(len(x.befores), func(i int) bool { return x.befores[i] > row })
	return x.window[i-1]
}

// oldestSegment returns the number of the first segment the window needs.
func (x *index) oldestSegment() uint64 {
	if len(x.window) == 0 {
		return math.MaxUint64
	}
	return x.window[0].segment
}

// oldestNeeded returns the number of the first segment that the window or the
// held-out games need.
func (x *index) oldestNeeded() uint64 {
	if len(x.heldOut) == 0 {
		return x.oldestSegment()
	}
	return min(x.oldestSegment(), x.heldOut[0].segment)
}

// forget removes the held-out games in segments below number.
func (x *index) forget(number uint64) {
	i := slices.IndexFunc(x.heldOut, func(e *entry) bool { return e.segment >= number })
	if i < 0 {
		i = len(x.heldOut)
	}
	clear(x.heldOut[:i])
	x.heldOut = x.heldOut[i:]
}

// packed is a decoded game in 6 bytes a ply, but for what tree searches made of
// the moves. Replaying it needs no move generation, which an encoded game does.
type packed struct {
	start    *chess.Position // nil for the variant's start position
	outcome  chess.Outcome
	plies    []packedPly
	policies []*search.Policy // of each ply; nil if no ply has one
}

type packedPly struct {
	move  chess.Move
	score int16 // within ±search.MateScore
	flags uint8
}

const (
	plyScored = 1 << iota
	plyTrain
	plyInCheck // sample.Traits of its position
	plyCapture

	// Two bits from this one on say how often the position stood on the board
	// before, which is never three times.
	repetitionShift = 4
	repetitionMask  = 3

	plyResearched = 1 << 6 // searched again
)

// pack returns g in short. usual is the variant's start position.
func pack(g *game.Game, usual *chess.Position) *packed {
	p := &packed{outcome: g.Outcome, plies: make([]packedPly, len(g.Plies))}
	if g.Start != *usual {
		start := g.Start // alone: g with its plies is not kept
		p.start = &start
	}
	keys := make(sample.Keys, 0, len(g.Plies))
	w := sample.WalkGame(g, sample.PlanesClock)
	for i, ply := range g.Plies {
		keys = append(keys, w.Pos.Key())
		traits := sample.TraitsOf(&w.Pos, ply.Move)
		flags := bitIf(ply.HasScore, plyScored) | bitIf(ply.Train, plyTrain) | bitIf(traits.InCheck, plyInCheck) | bitIf(traits.Capture, plyCapture)
		flags |= keys.Repetitions() << repetitionShift
		if ply.Policy != nil {
			if p.policies == nil {
				p.policies = make([]*search.Policy, len(g.Plies))
			}
			p.policies[i] = ply.Policy
		}
		p.plies[i] = packedPly{move: ply.Move, score: int16(ply.Score), flags: flags}
		w.Make(ply.Move)
	}
	_, again := game.SplitResearch(g.Limits)
	for _, i := range again {
		if i < len(p.plies) {
			p.plies[i].flags |= plyResearched
		}
	}
	return p
}

func bitIf(set bool, bit uint8) uint8 {
	if set {
		return bit
	}
	return 0
}

// unpack returns what samples are made from, and the traits of the position.
func (q packedPly) unpack() (game.Ply, sample.Traits) {
	ply := game.Ply{Move: q.move, Score: search.Score(q.score), HasScore: q.flags&plyScored != 0, Train: q.flags&plyTrain != 0}
	return ply, sample.Traits{InCheck: q.flags&plyInCheck != 0, Capture: q.flags&plyCapture != 0}
}

// samples appends to dst the samples of the given plies, which are in order, that
// pass f, with clocks as nets on planes know them. A game without an outcome has
// none. Chance decides for what f leaves out at random, unless it is nil.
func (p *packed) samples(usual *chess.Position, plies []uint16, f *sample.Filter, chance func(sample.Reason) float64, dst []sample.Sample) []sample.Sample {
	if p.outcome == chess.Ongoing {
		return dst
	}
	if p.start != nil {
		usual = p.start
	}
	w := sample.Walk(usual, len(p.plies), p.outcome, sample.PlanesClock)
	for _, i := range plies {
		ply, traits := p.plies[i].unpack()
		if !f.Passes(&ply, int(i), traits, p.outcome) || chance != nil && f.AgainstByChance(int(i), chance) != sample.Kept {
			continue
		}
		for w.Ply < int(i) {
			w.Make(p.plies[w.Ply].move)
		}
		if p.policies != nil {
			ply.Policy = p.policies[i]
		}
		s := w.Sample(&ply, p.plies[i].flags>>repetitionShift&repetitionMask)
		if f.Replace(&s) {
			dst = append(dst, s)
		}
	}
	return dst
}

// trainable counts the plies that may be trained on.
func trainable(g *game.Game) int {
	n := 0
	for _, p := range g.Plies {
		if p.Train {
			n++
		}
	}
	return n
}
