package memory

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Total returns the memory of the machine in bytes; 0: it is not known.
func Total() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 0
	}
	return uint64(info.Totalram) * uint64(info.Unit)
}

// LargePages asks for large pages for the whole pages among the size bytes at p, of
// which the processor translates the addresses of 2 MiB at once.
func LargePages(p unsafe.Pointer, size uintptr) {
	page := uintptr(os.Getpagesize())
	skip := -uintptr(p) & (page - 1)
	if size < skip+page {
		return
	}
	whole := (size - skip) &^ (page - 1)
	// A refusal costs speed alone: kernels may be built without them.
	_ = unix.Madvise(unsafe.Slice((*byte)(unsafe.Add(p, skip)), whole), unix.MADV_HUGEPAGE)
}
