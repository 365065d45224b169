//go:build !linux && !purego

package kernel

// hasAMX is false: other systems have not been tried.
func hasAMX() bool { return false }
