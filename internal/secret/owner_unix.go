//go:build unix

package secret

import (
	"io/fs"
	"os"
	"syscall"
)

// lentByRoot reports whether a file is root's and this process is not.
func lentByRoot(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Uid == 0 && os.Geteuid() != 0
}
