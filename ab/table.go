package ab

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/memory"
	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/search"
)

// Entries of the table are two words. The first is the position's signature
// XORed with the second, so that an entry torn by two threads writing at once
// fails the comparison instead of lying. The signature is the low 48 bits of
// the position's key above the 16 bits of the game's generation; the key's high
// bits choose the cluster, so hardly any bit of the key goes unchecked.
//
// The second word holds, from its low end: move 16 bits, score 16 (signed),
// static evaluation 16 (signed), depth-minDepth 8, bound 2 (kind+1; 0 marks an
// empty slot), 1 for a position of a principal variation, age 5 (search within the
// game, modulo 32).
const (
	clusterSlots = 4
	clusterBytes = clusterSlots * 16
	ageMask      = 1<<5 - 1

	// noEval marks an entry without static evaluation (the side to move was
	// in check).
	noEval = -1 << 15

	// minDepth is the least depth stored: quiescence beyond the plies that
	// look at drops giving check.
	minDepth = -2
)

type slot struct{ sig, data atomic.Uint64 }

type cluster [clusterSlots]slot

// entry is what the table remembers of a position.
type entry struct {
	move  chess.Move
	score int // as stored: mates counted from this position, not from the root
	eval  int // static evaluation or noEval
	depth int
	bound search.Bound
	pv    bool // was ever searched with an open window
}

// table is a transposition table that several threads may use at once.
//
// Starting a game bumps the generation, which is part of every signature:
// entries of earlier games are never found and count as empty, so a game runs
// as on a cleared table without the cost of clearing.
//
// A game of short searches uses only a part of the table: a few hundred KiB fit into the
// cache of a core.
type table struct {
	all        []cluster
	clusters   []cluster // those of this game
	searched   bool      // since the game began
	generation uint16
	age        uint8
}

// A game whose searches have n nodes uses 128·n slots of the table, enough for the positions
// of 128 searches.
const (
	clustersPerNode = 128 / clusterSlots
	leastClusters   = 1024
)

// newTable returns a table of about the given size, at least one cluster.
func newTable(mb int) *table {
	clusters := make([]cluster, max(1, mb<<20/clusterBytes))
	memory.LargePages(unsafe.Pointer(&clusters[0]), uintptr(len(clusters))*clusterBytes)
	return tableOf(clusters)
}

func tableOf(all []cluster) *table { return &table{all: all, clusters: all, generation: 1} }

// tableKey is what a position is stored under: its key, and where fifty moves end the game,
// how near they are, as scores follow from that: in steps of eight plies from 14 on, and of
// one from 90 on.
func tableKey(p *chess.Position) uint64 {
	clock := p.HalfmoveClock()
	if clock < 14 || !p.Variant().FiftyMoveRule {
		return p.Key()
	}
	if clock < 90 {
		clock &^= 7
	}
	return p.Key() ^ splitmix.Hash(uint64(clock))
}

// newGame forgets every entry.
func (t *table) newGame() {
	t.clusters, t.searched = t.all, false
	t.forget()
}

// forget makes every entry one of an earlier game.
func (t *table) forget() {
	t.generation++
	t.age = 0
	if t.generation == 0 {
		t.clear()
	}
}

// clear empties the table physically. Generation 0 is never in use: it belongs
// to slots never written.
func (t *table) clear() {
	for i := range t.all {
		for j := range t.all[i] {
			t.all[i][j].sig.Store(0)
			t.all[i][j].data.Store(0)
		}
	}
	t.generation, t.age = 1, 0
}

// newSearch prepares the table for a search of at most the given number of nodes, 0 for no
// limit, and ages the entries of earlier searches. The first search of a game decides how many
// clusters are used. A later one that needs more gets them, and the entries of the game are
// forgotten, since the cluster of a position depends on the number of clusters.
func (t *table) newSearch(nodes uint64) {
	want := len(t.all)
	if most := uint64(want / clustersPerNode); nodes > 0 && nodes < most {
		want = min(want, max(leastClusters, int(nodes)*clustersPerNode))
	}
	if t.searched && want > len(t.clusters) {
		t.forget()
	}
	if !t.searched || want > len(t.clusters) {
		t.clusters = t.all[:want]
	}
	t.searched = true
	t.age = (t.age + 1) & ageMask
}

func (t *table) cluster(key uint64) *cluster {
	hi, _ := bits.Mul64(key, uint64(len(t.clusters)))
	return &t.clusters[hi]
}

func (t *table) signature(key uint64) uint64 { return key<<16 | uint64(t.generation) }

// prefetch begins to load what probe will look at.
func (t *table) prefetch(key uint64) { memory.Prefetch(unsafe.Pointer(t.cluster(key))) }

// probe looks up a position of this game.
func (t *table) probe(key uint64) (entry, bool) {
	c, sig := t.cluster(key), t.signature(key)
	for i := range c {
		data := c[i].data.Load()
		if c[i].sig.Load()^data == sig {
			return unpack(data), true
		}
	}
	return entry{}, false
}

// store remembers a position, in place of what its cluster misses least:
// an entry of the same position, an empty slot or one of another game, else
// the shallowest, with each search that has passed since counting as some
// plies less.
func (t *table) store(key uint64, e entry) {
	c, sig := t.cluster(key), t.signature(key)
	victim, worst := &c[0], 1<<30
	for i := range c {
		data := c[i].data.Load()
		switch found := c[i].sig.Load() ^ data; {
		case found == sig:
			old := unpack(data)
			if e.move == chess.NoMove {
				e.move = old.move
			}
			if e.bound != search.Exact && e.depth+3 < old.depth && ageOf(data) == t.age {
				return
			}
			victim, worst = &c[i], -1<<30
		case uint16(found) != t.generation:
			if worst > -1<<20 {
				victim, worst = &c[i], -1<<20
			}
		default:
			worth := unpack(data).depth - 8*int((t.age-ageOf(data))&ageMask)
			if worth < worst {
				victim, worst = &c[i], worth
			}
		}
	}
	data := e.pack(t.age)
	victim.sig.Store(sig ^ data)
	victim.data.Store(data)
}

// hashfull returns the share of the table, per mille, that this game's
// searches of the current age have filled, by a sample of its first clusters.
func (t *table) hashfull() int {
	sample := t.clusters[:min(250, len(t.clusters))]
	used := 0
	for i := range sample {
		for j := range sample[i] {
			data := sample[i][j].data.Load()
			if uint16(sample[i][j].sig.Load()^data) == t.generation && ageOf(data) == t.age {
				used++
			}
		}
	}
	return used * 1000 / (len(sample) * clusterSlots)
}

func (e *entry) pack(age uint8) uint64 {
	return uint64(e.move) |
		uint64(uint16(e.score))<<16 |
		uint64(uint16(e.eval))<<32 |
		uint64(uint8(e.depth-minDepth))<<48 |
		uint64(e.bound+1)<<56 |
		bit(e.pv)<<58 |
		uint64(age)<<59
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func unpack(data uint64) entry {
	return entry{
		move:  chess.Move(uint16(data)),
		score: int(int16(data >> 16)),
		eval:  int(int16(data >> 32)),
		depth: int(uint8(data>>48)) + minDepth,
		bound: search.Bound(data>>56&3) - 1,
		pv:    data>>58&1 != 0,
	}
}

func ageOf(data uint64) uint8 { return uint8(data >> 59) }

// toTable turns a score counted from the root into one counted from the
// position at the given ply, which is what another line reaching the position
// needs of a mate.
func toTable(score, ply int) int {
	switch {
	case score >= mateBound:
		return score + ply
	case score <= -mateBound:
		return score - ply
	}
	return score
}

// fromTable undoes toTable at the ply where an entry is found.
func fromTable(score, ply int) int {
	switch {
	case score >= mateBound:
		return score - ply
	case score <= -mateBound:
		return score + ply
	}
	return score
}
