//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// detect asks the processor, and whether the operating system saves the wide
// registers.
func detect() Level {
	x := &cpu.X86
	switch {
	case !x.HasAVX2 || !x.HasFMA:
		return Generic
	case !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512DQ || !x.HasAVX512VL || !x.HasAVX512VNNI:
		return AVX2
	}
	return AVX512
}
