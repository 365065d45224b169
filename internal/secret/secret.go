// Package secret reads files that only their owner may read, and keeps passwords out
// of what is printed.
package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"runtime"
)

// ErrMode says that a file of a secret can be read or changed by others than its
// owner.
var ErrMode = errors.New("others can read this secret")

// MaxBytes is the size of the largest file of a secret.
const MaxBytes = 64 << 10

// ReadFile returns the content of a file of at most MaxBytes, without the newline at
// its end. A file whose mode gives its group or others any right is refused with an
// error that wraps ErrMode and says how to change that; Windows has no such modes. One
// right passes: root's file may be read by the group of a process of another user, as
// Kubernetes mounts secrets, since there is no other way to give it one. Errors never
// show the content.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat() // of the file that is read, not of one that took its name
	if err != nil {
		return nil, err
	}
	if info.IsDir() {
		return nil, fmt.Errorf("%s: found a directory, expected a file", path)
	}
	if err := checkMode(path, info.Mode(), lentByRoot(info)); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%s: found more than %d bytes, expected a secret of at most that", path, MaxBytes)
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
		if n > 1 && text[n-2] == '\r' {
			text = text[:n-2]
		}
	}
	if len(text) == 0 {
		return nil, fmt.Errorf("%s: found an empty file, expected a secret", path)
	}
	return text, nil
}

// checkMode looks at the mode of a file; lent says that root lets this process read it.
func checkMode(path string, mode fs.FileMode, lent bool) error {
	forbidden := fs.FileMode(0o077)
	if lent {
		forbidden = 0o037
	}
	if runtime.GOOS == "windows" || mode.Perm()&forbidden == 0 {
		return nil
	}
	return fmt.Errorf("%w: %s: found mode %04o, expected 0600: run chmod 600 %s", ErrMode, path, mode.Perm(), path)
}

var userInfo = regexp.MustCompile(`(?i)([a-z][a-z0-9+.-]*://)?[^,\s]*@`)

// Redact returns a text with what stands before the @ of the addresses in it, user
// and password, replaced.
func Redact(text string) string { return userInfo.ReplaceAllString(text, "${1}***@") }
