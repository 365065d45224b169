//go:build unix

package clustertest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// awaitCheck waits until the command status --check, as a process, ends with the exit code
// given and says what is wanted.
func (c *Cluster) awaitCheck(ctx context.Context, code int, want string) error {
	var said string
	err := c.await(ctx, fmt.Sprintf("status --check to say %q with exit code %d", want, code), func() (bool, error) {
		cmd := exec.CommandContext(ctx, c.opt.Programs.Selfplay, "status", "--nats", url(c.servers), "--run", RunName, "--check", "--over", "3s")
		out, err := cmd.CombinedOutput()
		said = strings.TrimSpace(string(out))
		if ended := (*exec.ExitError)(nil); err != nil && !errors.As(err, &ended) {
			return false, err
		}
		return cmd.ProcessState.ExitCode() == code && strings.Contains(said, want), nil
	})
	if err != nil {
		return fmt.Errorf("%w; it said last: %s", err, said)
	}
	c.opt.Log.Info("status --check", "code", code, "says", said)
	return nil
}
