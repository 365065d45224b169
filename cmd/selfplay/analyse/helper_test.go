package analyse

import (
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func TestMain(m *testing.M) { clitest.Main(m, Commands()) }

func selfplayCommand(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return clitest.Run(t, Commands(), stdin, args...)
}
