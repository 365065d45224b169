package dash

import (
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
)

func TestWrongUse(t *testing.T) {
	run := t.TempDir()
	for _, tc := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"dash"}, 2, "found 0 arguments, expected 1"},
		{[]string{"dash", run}, 1, "no run in this directory"},
		{[]string{"dash", "../../../dash/testdata/run", "--listen", "8080"}, 2, `found "8080", expected host:port`},
	} {
		_, stderr, code := clitest.Run(t, Commands(), "", tc.args...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q; expected exit %d and %q", tc.args, code, stderr, tc.code, tc.want)
		}
	}
}
