package dash

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/configs"
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
		{[]string{"dash", run, "--set", "actor.workers=2"}, 2, "found --set without --nats and --run"},
		{[]string{"dash", run, "--config", "own.yaml"}, 2, "found --config without --nats and --run"},
		{[]string{"dash", run, "--token-file", "token"}, 2, "found --token-file without --page-token, or --nats and --run"},
		{[]string{"dash", run, "--creds", "creds"}, 2, "found --creds without"},
		{[]string{"dash", run, "--tls-ca", "ca.pem"}, 2, "found --tls-ca without"},
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

// With a token, flags that lead to the server of a directory's run are checked before
// anything is served.
func TestWrongFlagsWithToken(t *testing.T) {
	dir := t.TempDir()
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	token := filepath.Join(dir, "token")
	for path, text := range map[string]string{filepath.Join(dir, "config.yaml"): string(cfg.YAML()), token: "0123456789abcdef"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for want, args := range map[string][]string{
		"--wait: found -1s":     {"--wait", "-1s"},
		"bus.creds: found file": {"--creds", "file"},
		"bus.tls_ca: found pem": {"--tls-ca", "pem"},
	} {
		_, stderr, code := clitest.Run(t, Commands(), "", append([]string{"dash", dir, "--listen", "8080", "--page-token", token}, args...)...)
		if code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%q: exit %d, error %q, expected exit 2 and %q", args, code, stderr, want)
		}
	}
}

// The page of a directory asks nothing of settings that are for a run on a server.
func TestDirectoryInAnyEnvironment(t *testing.T) {
	t.Setenv("SELFPLAY_ACTOR_NODES", "400")
	for want, args := range map[string][]string{
		"no run in this directory":          {"dash", t.TempDir()},
		"expected settings of this machine": {"dash", "--nats", "nats://h:1", "--run", "x"},
	} {
		if _, stderr, _ := clitest.Run(t, Commands(), "", args...); !strings.Contains(stderr, want) {
			t.Errorf("%q: error %q, expected %q", args, stderr, want)
		}
	}
}

// A change of the net of a directory's run is made with the flags that lead to its server.
func TestChangeTakesFlags(t *testing.T) {
	dir := t.TempDir()
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), cfg.YAML(), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SELFPLAY_BUS_URL", "nats://other:4222") // of another run
	var o dashOptions
	c := &cobra.Command{RunE: func(c *cobra.Command, _ []string) error { return o.choose(c, dir, nil)(t.Context(), nil) }}
	o.bus.Add(c)
	if cfg, err := o.settings(c, dir); err != nil || cfg.Bus.URL != "" {
		t.Errorf("server %q, error %v, expected none", cfg.Bus.URL, err)
	}
	c.SetArgs([]string{"--creds", "file"})
	c.SetErr(io.Discard)
	c.SetOut(io.Discard)
	if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "bus.creds: found file") {
		t.Errorf("error %v, expected one about the credentials", err)
	}
}
