package kernel

import (
	"errors"
	"fmt"
)

// Level is a set of instructions kernels may use. A higher level includes the
// lower ones.
type Level int

// The levels. Every kernel exists as plain Go, level Generic; on amd64, unless
// built with the tag purego, there is assembly beside it.
const (
	Generic Level = iota // plain Go
	AVX2                 // AVX2 and FMA
	AVX512               // AVX-512 F, BW, DQ, VL and VNNI
)

// ErrLevel says that this machine or build lacks a level.
var ErrLevel = errors.New("instructions not available")

// String returns the level's name: generic, avx2 or avx512.
func (l Level) String() string {
	switch l {
	case Generic:
		return "generic"
	case AVX2:
		return "avx2"
	case AVX512:
		return "avx512"
	}
	return fmt.Sprintf("level %d", int(l))
}

var (
	best  = detect()
	using Level

	// What the dispatching functions branch on. A function variable per kernel
	// would be neater, but arguments passed through one escape to the heap.
	useAVX2, useAVX512 bool
)

func init() { use(best) }

func use(l Level) {
	using, useAVX2, useAVX512 = l, l >= AVX2, l >= AVX512
}

// Best returns the highest level this machine and build have.
func Best() Level { return best }

// Force makes all kernels use a level until restore is called, for tests and
// benchmarks. It must not run while another goroutine computes. The error wraps
// ErrLevel if the level is above Best.
func Force(l Level) (restore func(), err error) {
	if l < Generic || l > best {
		return nil, fmt.Errorf("%w: found %v, expected at most %v", ErrLevel, l, best)
	}
	before := using
	use(l)
	return func() { use(before) }, nil
}
