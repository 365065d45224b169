//go:build !linux

package memory

import "unsafe"

// Total returns the memory of the machine in bytes; 0: it is not known.
func Total() uint64 { return 0 }

// LargePages asks for large pages for the whole pages among the size bytes at p, of
// which the processor translates the addresses of 2 MiB at once.
func LargePages(p unsafe.Pointer, size uintptr) {}
