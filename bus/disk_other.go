//go:build !linux && !darwin && !freebsd

package bus

import "math"

// diskFree is not known on this system: the server finds out by itself.
func diskFree(string) (uint64, error) { return math.MaxUint64, nil }
