//go:build linux && !purego && amxemulated

package kernel

// hasAMX is true: something executes the instructions that the processor lacks; see
// kernel/emulate.
func hasAMX() bool { return true }
