//go:build !linux

package cputime

import "time"

// Thread stands in for the CPU time this thread has used.
func Thread() time.Duration { return wallClock() }

// Process stands in for the CPU time that a process has used.
func Process(int) time.Duration { return wallClock() }
