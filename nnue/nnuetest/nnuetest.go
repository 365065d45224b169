// Package nnuetest makes networks for tests from seeds: the fixture files whose
// evaluations by Fairy-Stockfish are on record, and small random networks.
//
// The fixture files are written byte by byte from a description of the format,
// without package nnue, so that they test its codec.
package nnuetest

import (
	"encoding/binary"

	"github.com/crazyhouse-rl/selfplay/internal/splitmix"
	"github.com/crazyhouse-rl/selfplay/nnue"
	"github.com/crazyhouse-rl/selfplay/nnue/features"
)

// Fixture is a reproducible network file in one of Stockfish's formats.
type Fixture struct {
	Seed        uint64
	Hot         bool   // layer 2 uses all of int8, also in its padding
	Description string // of the file
	SHA256      string // of the whole file, in hexadecimal

	layout *layout
}

// The fixtures on record.
var (
	// A has layer weights within ±63, so that no build of Fairy-Stockfish
	// saturates a 16-bit sum.
	A = Fixture{
		Seed: 0x5EEDC0DE00000001, Description: "crazyhouse fixture A", layout: &fairy,
		SHA256: "2a213cdb9da9072deedc137ad298014b1db3bc6b466bd72a29f828a40a3bc6de",
	}
	// S saturates in some builds, and has garbage in its padding.
	S = Fixture{
		Seed: 0x5EEDC0DE00000002, Hot: true, Description: "crazyhouse fixture S", layout: &fairy,
		SHA256: "da85cb9a216a2c1f5ebca28dde10227c6df291bd86988feefcd286187b345cc8",
	}
	// K is a chess network of Stockfish 12 and 13.
	K = Fixture{
		Seed: 0x5EEDC0DE00000006, layout: &halfKP,
		Description: "Features=HalfKP(Friend)[41024->256x2],Network=AffineTransform[1<-32](ClippedReLU[32](" +
			"AffineTransform[32<-32](ClippedReLU[32](AffineTransform[32<-512](InputSlice[512(0:512)])))))",
		SHA256: "a272a036120f60802ea3bc0b821cf8878af5ac8c401b83f38808e3d5edbd3da4",
	}
)

// layout is what files of one format have in common.
type layout struct {
	version, fileHash, transformerHash, stackHash uint32

	features, width, columns, stacks int
	layer1, layer2                   int // outputs; rows of layer 2 have 32 weights
}

var (
	fairy = layout{
		version: 0x7AF32F20, fileHash: 0x3C103E72, transformerHash: 0x5F2348B8, stackHash: 0x633376CA,
		features: 64 * block, width: 512, columns: 8, stacks: 8, layer1: 16, layer2: 32,
	}
	halfKP = layout{
		version: 0x7AF32F16, fileHash: 0x3E5AA6EE, transformerHash: 0x5D69D7B8, stackHash: 0x63337156,
		features: 41024, width: 256, columns: 0, stacks: 1, layer1: 32, layer2: 32,
	}
)

// block is the number of HalfKAv2's features with the own king on one square.
const block = 864

// Bytes returns the file. It takes about 0.3 s.
func (f Fixture) Bytes() []byte {
	r := splitmix.Source(f.Seed)
	l := f.layout
	out := make([]byte, 0, 60_000_000)
	word := func(v uint32) { out = binary.LittleEndian.AppendUint32(out, v) }
	int32s := func(n, scale int) {
		for range n {
			word(uint32(scale * bell(r.Uint64())))
		}
	}
	int16s := func(n int, value func(z uint64) int) {
		for range n {
			out = binary.LittleEndian.AppendUint16(out, uint16(value(r.Uint64())))
		}
	}
	int8s := func(n int, value func(z uint64) int) {
		for range n {
			out = append(out, byte(value(r.Uint64())))
		}
	}

	word(l.version)
	word(l.fileHash)
	word(uint32(len(f.Description)))
	out = append(out, f.Description...)
	word(l.transformerHash)
	int16s(l.width, func(z uint64) int { return bell(z) / 4 })
	int16s(l.features*l.width, func(z uint64) int { return spiky(z, 4, 2, 8) })
	for i := range l.features * l.columns {
		word(uint32(materialValue(i/l.columns%block) + 4*bell(r.Uint64())))
	}
	for range l.stacks {
		word(l.stackHash)
		int32s(l.layer1, 8)
		int8s(l.layer1*2*l.width, func(z uint64) int { return spiky(z, 8, 8, 32) })
		int32s(l.layer2, 16)
		for i := range l.layer2 * 32 {
			out = append(out, byte(f.layer2Weight(r.Uint64(), i%32)))
		}
		int32s(1, 16)
		int8s(l.layer2, func(z uint64) int { return bell(z) / 4 })
	}
	return out
}

// layer2Weight returns a weight of the second layer, whose columns past the
// outputs of the first are padding.
func (f Fixture) layer2Weight(z uint64, column int) int {
	switch {
	case f.Hot:
		return high(z) - 128
	case column < f.layout.layer1:
		return bell(z) / 8
	}
	return 0
}

// materialValue is what a feature adds to piece-square sums before noise, by
// its place in a block: 16 times the piece's value, kings 0, the enemy's pieces
// negative.
func materialValue(offset int) int {
	plane := offset / 64
	switch {
	case offset >= 704:
		plane = (offset - 704) / 16
	case offset >= 640:
		return 0
	}
	value := 16 * [...]int{126, 781, 825, 1276, 2538}[plane/2]
	if plane%2 == 1 {
		return -value
	}
	return value
}

// Random returns a network of any architecture with parameters drawn from a
// seed, of the fixtures' distribution: a nonsensical but lively evaluation. With
// HalfKAv2 and piece-square columns pieces have about their usual values.
func Random(a nnue.Architecture, seed uint64) (*nnue.Network, error) {
	n, err := nnue.New(a)
	if err != nil {
		return nil, err
	}
	n.Description = "random network for tests"
	r := splitmix.Source(seed)
	for i := range n.FTBias {
		n.FTBias[i] = int16(bell(r.Uint64()) / 4)
	}
	for f := range n.Features().Size() {
		row := n.FTRow(f)
		for i := range row {
			row[i] = int16(spiky(r.Uint64(), 4, 2, 8))
		}
	}
	halfKA, valued := n.Features().(features.HalfKAv2)
	for f := range n.Features().Size() {
		value := 0
		if valued {
			value = materialValue(f % halfKA.Block())
		}
		row := n.PSQTRow(f)
		for i := range row {
			row[i] = int32(value + 4*bell(r.Uint64()))
		}
	}
	for i := range n.Stacks {
		fillStack(&n.Stacks[i], &r)
	}
	return n, nil
}

func fillStack(s *nnue.Stack, r *splitmix.Source) {
	int32s := func(dst []int32, scale int) {
		for i := range dst {
			dst[i] = int32(scale * bell(r.Uint64()))
		}
	}
	int8s := func(dst []int8, value func(z uint64) int) {
		for i := range dst {
			dst[i] = int8(value(r.Uint64()))
		}
	}
	int32s(s.L1Bias, 8)
	int8s(s.L1Weights, func(z uint64) int { return spiky(z, 8, 8, 32) })
	int32s(s.L2Bias, 16)
	int8s(s.L2Weights, func(z uint64) int { return bell(z) / 8 })
	s.OutBias = int32(16 * bell(r.Uint64()))
	int8s(s.OutWeights, func(z uint64) int { return bell(z) / 4 })
}

// bell returns -510..510, bell shaped with standard deviation 148.
func bell(z uint64) int {
	return int(z&255+z>>8&255+z>>16&255+z>>24&255) - 510
}

// high returns 0..255, independent of bell.
func high(z uint64) int { return int(z >> 56) }

// spiky returns a bell divided by rare in often of 256 draws, by common
// otherwise.
func spiky(z uint64, often, rare, common int) int {
	if high(z) < often {
		return bell(z) / rare
	}
	return bell(z) / common
}
