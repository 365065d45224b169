package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadCPU is the CPU time this thread has used.
func threadCPU() time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t); err != nil {
		return wallClock()
	}
	return time.Duration(t.Nano())
}
