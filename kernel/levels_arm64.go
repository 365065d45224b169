//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// The levels of arm64. They differ in products of bytes; floats have the same bits
// at both.
const (
	NEON    Level = 1 + iota // NEON, which every processor has that Go runs on
	DotProd                  // NEON and SDOT, the feature asimddp
)

var useNEON, useDotProd bool

var vectorLevels = []vectorLevel{{"neon", &useNEON}, {"dotprod", &useDotProd}}

func detect() Level {
	if cpu.ARM64.HasASIMDDP {
		return DotProd
	}
	return NEON
}
