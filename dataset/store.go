package dataset

import (
	"unsafe"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
	"github.com/crazyhouse-rl/selfplay/search"
)

// store is a list of n samples that grows without being copied. With a smaller n
// the memory of the others is used again.
type store struct {
	chunks [][]packed // of storeChunk samples each
	n      int
}

const storeChunk = 1 << 12

func (s *store) add(one *sample.Sample) {
	if s.n == len(s.chunks)*storeChunk {
		s.chunks = append(s.chunks, make([]packed, storeChunk))
	}
	s.chunks[s.n/storeChunk][s.n%storeChunk] = pack(one)
	s.n++
}

// get sets one to sample i.
func (s *store) get(i int, one *sample.Sample) { s.chunks[i/storeChunk][i%storeChunk].unpack(one) }

// packed is a sample in less memory.
type packed struct {
	pos         chess.Packed
	policy      *sample.Policy
	score       int32
	move        chess.Move
	ply         uint16
	pliesLeft   uint16
	result      int8
	repetitions uint8
	noResult    bool
	partial     bool
}

func pack(s *sample.Sample) packed {
	return packed{
		pos: s.Pos.Pack(), policy: s.Policy, score: int32(s.Score), move: s.Move, ply: s.Ply, pliesLeft: s.PliesLeft,
		result: s.Result, repetitions: s.Repetitions, noResult: s.NoResult, partial: s.Partial,
	}
}

func (p *packed) unpack(s *sample.Sample) {
	p.pos.Unpack(&s.Pos)
	s.Policy, s.Score, s.Move, s.Ply, s.PliesLeft = p.policy, search.Score(p.score), p.move, p.ply, p.pliesLeft
	s.Result, s.Repetitions, s.NoResult, s.Partial = p.result, p.repetitions, p.noResult, p.partial
}

// packedSize is the memory that a sample without a policy takes in a store.
const packedSize = int64(unsafe.Sizeof(packed{}))
