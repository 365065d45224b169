//go:build !linux

package main

import "time"

func threadCPU() time.Duration { return wallClock() }

func processCPU(int) time.Duration { return wallClock() }
