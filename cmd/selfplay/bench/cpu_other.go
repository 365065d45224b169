//go:build !linux

package bench

import "time"

func threadCPU() time.Duration { return wallClock() }

func processCPU(int) time.Duration { return wallClock() }
