package version

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func TestVersion(t *testing.T) {
	out, stderr, code := clitest.Run(t, Commands(), "", "version")
	if code != 0 || !strings.HasPrefix(out, "selfplay test, go") || !strings.Contains(out, runtime.GOARCH) {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
	out, stderr, code = clitest.Run(t, Commands(), "", "version", "--json")
	var b build
	if err := json.Unmarshal([]byte(out), &b); err != nil || code != 0 || b.Version != "test" || b.Go != runtime.Version() || b.Protocol != bus.Protocol || b.Kernels == "" {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
}
