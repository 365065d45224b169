//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// The levels of amd64.
const (
	AVX2   Level = 1 + iota // AVX2 and FMA
	AVX512                  // AVX-512 F, BW, DQ, VL and VNNI
	AMX                     // AMX for bytes
)

var useAVX2, useAVX512, useAMX bool

var vectorLevels = []vectorLevel{{"avx2", &useAVX2}, {"avx512", &useAVX512}, {"amx", &useAMX}}

// detect asks the processor, and whether the operating system saves the wide
// registers. Those of AMX it saves for a process that has asked for it.
func detect() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return Generic
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI:
		return AVX2
	case !hasAMX():
		return AVX512
	}
	return AMX
}
