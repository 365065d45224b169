//go:build unix

package doctor

import "golang.org/x/sys/unix"

// fileLimit is the number of files that this process may have open.
func fileLimit() (uint64, bool) {
	var l unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l)
	return uint64(l.Cur), err == nil
}
