package dash

import (
	"os"
	"path/filepath"
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
		{[]string{"dash"}, 2, "found 0 arguments, server \"\" and run \"\", expected one argument"},
		{[]string{"dash", "--nats", "nats://h:1"}, 2, "found 0 arguments, server \"nats://h:1\" and run \"\""},
		{[]string{"dash", run, "--run", "x"}, 2, "found 1 arguments"},
		{[]string{"dash", run, run}, 2, "found 2 arguments"},
		{[]string{"dash", "--nats", "nats://127.0.0.1:1", "--run", "x", "--wait", "10ms"}, 1, "127.0.0.1:1"},
		{[]string{"dash", run}, 1, "no run in this directory"},
		{[]string{"dash", "../../../dash/testdata/run", "--listen", "8080"}, 2, `found "8080", expected host:port`},
		{[]string{"report"}, 2, "found 0 arguments, expected 1"},
		{[]string{"report", run}, 1, "no run in this directory"},
		{[]string{"report", "../../../dash/testdata/run", "--games", "501"}, 2, "--games: found 501, expected 0 to 500"},
	} {
		_, stderr, code := clitest.Run(t, Commands(), "", tc.args...)
		if code != tc.code || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, error %q; expected exit %d and %q", tc.args, code, stderr, tc.code, tc.want)
		}
	}
}

func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "out.html")
	stdout, stderr, code := clitest.Run(t, Commands(), "", "report", "../../../dash/testdata/run", "--output", file)
	if code != 0 || !strings.Contains(stdout, "out.html: 0.") || !strings.Contains(stdout, "the newest 0 games") {
		t.Fatalf("exit %d, output %q, error %q", code, stdout, stderr)
	}
	if page, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(page), "<!doctype html>") {
		t.Errorf("found %.40q, error %v", page, err)
	}
}

// A token that others can read, or guess, is refused before anything is served.
func TestBadTokens(t *testing.T) {
	dir := t.TempDir()
	for name, f := range map[string]struct {
		text string
		mode os.FileMode
		want string
	}{
		"open":  {"0123456789abcdef", 0o644, "expected 0600"},
		"short": {"0123456789abcde", 0o600, "found a secret of 15 characters, expected 16 or more"},
		"empty": {"", 0o600, "found an empty file"},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(f.text), f.mode); err != nil {
			t.Fatal(err)
		}
		_, stderr, code := clitest.Run(t, Commands(), "", "dash", "../../../dash/testdata/run", "--page-token", file)
		if code != 2 || !strings.Contains(stderr, f.want) || f.text != "" && strings.Contains(stderr, f.text) {
			t.Errorf("%s: exit %d, error %q, expected exit 2 and %q", name, code, stderr, f.want)
		}
	}
}
