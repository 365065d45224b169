package cli

import (
	"os"
	"path/filepath"
)

// SameFile reports whether two names are of one file, there or not yet.
func SameFile(a, b string) bool {
	x, xErr := os.Stat(a)
	y, yErr := os.Stat(b)
	if xErr == nil && yErr == nil {
		return os.SameFile(x, y)
	}
	a, aErr := filepath.Abs(a)
	b, bErr := filepath.Abs(b)
	return aErr == nil && bErr == nil && a == b
}
