//go:build !purego && !amxemulated

package kernel

import (
	"golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"
)

// hasAMX reports whether the processor has AMX for bytes and the system lets this process
// use it. Linux keeps the tiles of a process's threads once it has asked for that; where
// it does not know of them or refuses, the program does without.
func hasAMX() bool {
	const (
		requestPermission = 0x1023 // ARCH_REQ_XCOMP_PERM
		tileData          = 18     // XFEATURE_XTILEDATA
	)
	if !cpu.X86.HasAMXTile || !cpu.X86.HasAMXInt8 {
		return false
	}
	_, _, err := unix.RawSyscall(unix.SYS_ARCH_PRCTL, requestPermission, tileData, 0)
	return err == 0
}
