package dirlock

import (
	"errors"
	"fmt"
	"os"
)

// LockFile gives this process the sole use of an open file among those who ask
// for it, without waiting, until the file is closed. If another process, or
// this one through another opening, has it, the error wraps ErrFileHeld. The
// content of the file, up to 1 GiB on Windows, may still be read and written by
// anyone.
func LockFile(f *os.File) error {
	err := lockFile(f)
	if errors.Is(err, errWouldBlock) {
		return fmt.Errorf("%s: %w", f.Name(), ErrFileHeld)
	}
	if err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	return nil
}
