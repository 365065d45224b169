// Package dirlock gives one process the sole use of a directory or a file.
//
// The lock belongs to the operating system (flock, LockFileEx), not to the
// existence of a file, so it goes away with the process that holds it,
// however that process ends. The lock file of a directory stays and holds the
// process id of its last owner, which is read for error messages only.
package dirlock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// FileName is the name of the lock file inside the locked directory.
const FileName = "LOCK"

// ErrHeld says that another process, or this one through another Acquire,
// has the directory. Errors that wrap it are of type *HeldError.
var ErrHeld = errors.New("directory is in use")

// ErrFileHeld says that another process, or this one through another LockFile,
// has the file.
var ErrFileHeld = errors.New("file is in use by another process")

// HeldError names the directory and the process that has it.
type HeldError struct {
	Dir string
	PID int // 0 if the owner has not written its id yet
}

// Error names the owner and what to do about it.
func (e *HeldError) Error() string {
	owner := "another process"
	if e.PID != 0 {
		owner = fmt.Sprintf("process %d", e.PID)
	}
	return fmt.Sprintf("%s is in use by %s: stop it or choose another directory", e.Dir, owner)
}

// Unwrap makes errors.Is(err, ErrHeld) true.
func (e *HeldError) Unwrap() error { return ErrHeld }

// Lock is a held directory.
type Lock struct{ file *os.File }

// Acquire creates dir if need be and locks it. It waits a second at most.
func Acquire(dir string) (*Lock, error) {
	if err := durable.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("lock directory: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock directory: %w", err)
	}
	if err := lockInGrace(f); err != nil {
		defer f.Close()
		if errors.Is(err, errWouldBlock) {
			return nil, &HeldError{Dir: dir, PID: readPID(f)}
		}
		return nil, fmt.Errorf("lock directory %s: %w", dir, err)
	}
	if err := writePID(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock directory %s: %w", dir, err)
	}
	return &Lock{file: f}, nil
}

// Held reports whether a process has dir, this one included. While it looks, Acquire waits.
func Held(dir string) (bool, error) {
	f, err := os.Open(filepath.Join(dir, FileName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock of directory: %w", err)
	}
	defer f.Close()
	err = lockFile(f)
	if errors.Is(err, errWouldBlock) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock of directory %s: %w", dir, err)
	}
	return false, nil
}

// Release gives the directory back. A second call is an error of the file.
func (l *Lock) Release() error { return l.file.Close() }

func writePID(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// readPID returns 0 for anything that is not a process id.
func readPID(f *os.File) int {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}
