//go:build unix

package main

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/script"
)

// Wrong arguments are refused before the programs are built, which takes minutes.
func TestBadArguments(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // no program is built here
	dir := filepath.Join(t.TempDir(), "dir")
	for _, args := range [][]string{
		{}, {""}, {"fly"}, {"kill", "x"}, {"kill", "--servers", "2"}, {"wipe", "--servers", "0"}, {"stop", "--servers", "-3"},
		{"kill", "--actors", "0"}, {"kill", "--actors", "-1"}, {"stop", "--gates", "0"}, {"kill", "--kills", "-1"},
	} {
		if err := run(ctx, append(args, "--dir", dir)); !errors.Is(err, script.ErrUsage) {
			t.Errorf("%q: found the error %v, expected wrong usage", strings.Join(args, " "), err)
		}
	}
}
