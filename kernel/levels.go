package kernel

import (
	"errors"
	"fmt"
)

// Level is a set of instructions kernels may use. A higher level includes the
// lower ones.
type Level int

// Generic is plain Go, in which every kernel exists. The architectures amd64 and
// arm64 have levels above it, in assembly: AVX2, AVX512 and AMX, NEON and DotProd. The
// tag purego leaves them out.
const Generic Level = 0

// vectorLevel is a level above Generic. The dispatching functions branch on use. A
// function variable per kernel would be neater, but arguments passed through one
// escape to the heap.
type vectorLevel struct {
	name string
	use  *bool
}

// ErrLevel says that this machine or build lacks a level.
var ErrLevel = errors.New("instructions not available")

// String returns the level's name: generic, avx2, avx512, amx, neon or dotprod.
func (l Level) String() string {
	switch {
	case l == Generic:
		return "generic"
	case l > Generic && int(l) <= len(vectorLevels):
		return vectorLevels[l-1].name
	}
	return fmt.Sprintf("level %d", int(l))
}

var (
	best  = detect()
	using Level
)

func init() { use(best) }

func use(l Level) {
	using = l
	for i, v := range vectorLevels {
		*v.use = l > Level(i)
	}
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
