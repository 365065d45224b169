//go:build unix && !aix && !solaris

package dirlock

import (
	"os"

	"golang.org/x/sys/unix"
)

const errWouldBlock = unix.EWOULDBLOCK

func lockFile(f *os.File) error {
	return unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
}
