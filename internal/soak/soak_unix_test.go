//go:build unix

package soak

import (
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/clustertest"
)

// A loop is sampled until its time is over, and ends in order. What it holds may double:
// in so short a time buffers fill.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("a loop for a minute")
	}
	programs, err := clustertest.Build(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Program: programs.Selfplay, Dir: t.TempDir(), For: time.Minute, Every: 2 * time.Second, Log: io.Discard}
	all, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	growth, err := Judge(all, 1)
	if err == nil {
		err = Err(growth)
	}
	if err != nil {
		t.Error(err)
	}
	if err := Figure("test", all).Save(filepath.Join(o.Dir, "soak.svg")); err != nil {
		t.Error(err)
	}
	o.Program, o.Dir = programs.Server, t.TempDir() // that ends at once: it has no such flags
	if _, err := Run(t.Context(), o); err == nil {
		t.Error("a program that ends at once was no error")
	}
}
