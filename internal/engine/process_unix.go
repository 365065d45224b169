//go:build unix

package engine

import (
	"os/exec"
	"syscall"
)

// isolate puts the engine into a process group of its own, so that a signal
// typed at our terminal does not reach it and killGroup reaches its children.
func isolate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// killGroup kills the engine and all processes it has started. An error means
// that none of them is left.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
