//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/cli"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

// childDir is the variable with the directory of the loop that TestLoopWithoutReader starts.
const childDir = "TEST_LOOP_DIRECTORY"

// A loop goes on when what reads its output has ended, and ends in order.
func TestLoopWithoutReader(t *testing.T) {
	if dir := os.Getenv(childDir); dir != "" {
		os.Exit(cli.Run(newRoot(), []string{"--preset", "tiny", "--dir", dir, "--games", "3", "--json"}, strings.NewReader(""), os.Stdout, os.Stderr))
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), childDir+"="+filepath.Join(t.TempDir(), "run"))
	cmd.Stdout, cmd.Stderr = writer, &stderr
	err = cmd.Start()
	writer.Close()
	reader.Close()
	if err == nil {
		err = cmd.Wait()
	}
	if err != nil {
		t.Errorf("%v: %s", err, &stderr)
	}
}

// One Ctrl-C ends commands that compute or wait for input, with exit code 130, or 4 if the
// same command goes on.
func TestInterrupt(t *testing.T) {
	_, net := clitest.NarrowNet(t)
	// While anyone listens the signal cannot kill the test.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	for _, command := range []struct {
		code int
		args []string
	}{
		{130, []string{"perft", "--depth", "20"}},
		{130, []string{"perft", "--depth", "20", "--divide"}},
		{130, []string{"perft", "--file", "-"}},
		{130, []string{"eval", "--net", net, "--file", "-"}},
		{130, []string{"bench", "perft", "--depth", "12"}},
		{130, []string{"bench", "--depth", "100"}},
		{4, []string{"book", "--out", filepath.Join(t.TempDir(), "book.epd")}},
	} {
		args := command.args
		stdin, typed := io.Pipe() // nobody types
		var stderr strings.Builder
		code := make(chan int)
		go func() { code <- cli.Run(newRoot(), args, stdin, io.Discard, &stderr) }()
		timeout := time.After(3 * time.Minute)
		for ended := false; !ended; {
			select {
			case c := <-code:
				if ended = true; c != command.code {
					t.Errorf("%q: exit %d, expected %d, error %q", args, c, command.code, stderr.String())
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
