package dirlock

import (
	"errors"
	"fmt"
	"os"
	"time"
)

// grace is how long a lock that is held is asked for again. A process that was
// killed while it started another has its lock until that one has closed its copies
// of the open files, a moment later; Windows too takes a moment to unlock.
const grace = time.Second

// lockInGrace is lockFile, repeated for the time of grace while the lock is held.
func lockInGrace(f *os.File) error {
	for deadline := time.Now().Add(grace); ; time.Sleep(grace / 100) {
		err := lockFile(f)
		if !errors.Is(err, errWouldBlock) || time.Now().After(deadline) {
			return err
		}
	}
}

// LockFile gives this process the sole use of an open file among those who ask
// for it, until the file is closed. If another process, or this one through
// another opening, has it for a second more, the error wraps ErrFileHeld. The content
// of the file, up to 1 GiB on Windows, may still be read and written by anyone.
func LockFile(f *os.File) error {
	err := lockInGrace(f)
	if errors.Is(err, errWouldBlock) {
		return fmt.Errorf("%s: %w", f.Name(), ErrFileHeld)
	}
	if err != nil {
		return fmt.Errorf("lock file: %w", err)
	}
	return nil
}
