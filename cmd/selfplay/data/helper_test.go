package data

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func selfplayCommand(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	replay := &cobra.Command{Use: "replay"}
	replay.AddCommand(NewReplayAudit())
	return clitest.Run(t, append(Commands(), replay), stdin, args...)
}
