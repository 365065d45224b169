//go:build linux || darwin || freebsd

// Package disk asks the system about disks.
package disk

import "golang.org/x/sys/unix"

// Free returns the bytes that this process may still write in dir.
func Free(dir string) (uint64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, err
	}
	return uint64(max(st.Bavail, 0)) * uint64(st.Bsize), nil
}
