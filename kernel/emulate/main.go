//go:build linux && amd64

// Command emulate runs a program on a processor without AMX and executes the program's
// AMX instructions for bytes itself, one by one, as a debugger:
//
//	go build -o bin/emulate ./kernel/emulate
//	go test -tags amxemulated -exec "$PWD/bin/emulate" ./kernel
//
// The tag has package kernel take AMX for present. It says what is right, and nothing of
// time: an instruction takes some 10 µs.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: emulate PROGRAM [ARGUMENT...]")
		os.Exit(2)
	}
	status, err := run(os.Args[1], os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "emulate:", err)
		status = 1
	}
	os.Exit(status)
}

// run returns the program's exit status.
func run(name string, args []string) (int, error) {
	runtime.LockOSThread() // a debugger is one thread
	c := exec.Command(name, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := c.Start(); err != nil {
		return 0, err
	}
	program := c.Process.Pid
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(program, &status, 0, nil); err != nil {
		return 0, err
	}
	if err := syscall.PtraceSetOptions(program, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_EXITKILL); err != nil {
		return 0, err
	}
	threads := map[int]*tiles{program: {}}
	for thread, signal := program, 0; ; {
		if err := syscall.PtraceCont(thread, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return 0, err
		}
		for {
			id, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
			if errors.Is(err, syscall.EINTR) {
				continue
			}
			if err != nil {
				return 0, err
			}
			switch {
			case status.Stopped():
			case id != program:
				delete(threads, id)
				continue
			case status.Signaled():
				return 128 + int(status.Signal()), nil
			default:
				return status.ExitStatus(), nil
			}
			thread = id
			break
		}
		signal = 0
		switch s := status.StopSignal(); {
		case threads[thread] == nil: // begins
			threads[thread] = new(tiles)
		case s == syscall.SIGILL:
			done, err := threads[thread].execute(thread)
			if err != nil {
				return 0, err
			}
			if !done {
				signal = int(s)
			}
		case s != syscall.SIGTRAP:
			signal = int(s)
		}
	}
}
