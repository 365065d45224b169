//go:build (amd64 || arm64) && !purego

package memory

import "unsafe"

// Prefetch starts to load the cache line at p, which may be any address, and does not
// wait for it.
//
//go:noescape
func Prefetch(p unsafe.Pointer)
