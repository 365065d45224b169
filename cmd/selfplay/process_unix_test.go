//go:build unix

package main

import (
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

// One Ctrl-C ends commands that compute or wait for input, with exit code 130.
func TestInterrupt(t *testing.T) {
	_, net := clitest.NarrowNet(t)
	// While anyone listens the signal cannot kill the test.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	for _, args := range [][]string{
		{"perft", "--depth", "20"},
		{"perft", "--depth", "20", "--divide"},
		{"perft", "--file", "-"},
		{"eval", "--net", net, "--file", "-"},
		{"bench", "perft", "--depth", "12"},
		{"bench", "--depth", "100"},
	} {
		stdin, typed := io.Pipe() // nobody types
		var stderr strings.Builder
		code := make(chan int)
		go func() { code <- cli.Run(newRoot(), args, stdin, io.Discard, &stderr) }()
		timeout := time.After(3 * time.Minute)
		for ended := false; !ended; {
			select {
			case c := <-code:
				if ended = true; c != 130 {
					t.Errorf("%q: exit %d, error %q", args, c, stderr.String())
				}
			case <-time.After(20 * time.Millisecond): // again: the first may have come before run listened
				if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
					t.Fatal(err)
				}
			case <-timeout:
				t.Fatalf("%q did not end", args)
			}
		}
		typed.Close()
	}
}
