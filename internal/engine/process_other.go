//go:build !unix

package engine

import "os/exec"

// isolate does nothing: process groups are a Unix notion.
func isolate(*exec.Cmd) {}

// killGroup kills the engine. An error means that it has ended already.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
