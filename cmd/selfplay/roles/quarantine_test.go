package roles

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return clitest.Run(t, Commands(newGate()), "", args...)
}

func TestQuarantineOfStoppedRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	for args, want := range map[string]string{
		"quarantine local " + dir + " --why broken": "actor local is in quarantine: its games are not trained on, later ones are refused\n",
	} {
		if out, stderr, code := run(t, strings.Fields(args)...); code != 0 || out != want {
			t.Errorf("%s: exit %d, output %q, error %q, expected %q", args, code, out, stderr, want)
		}
	}
	if out, stderr, code := run(t, "quarantine", "local", dir, "--why", "mended", "--release"); code != 0 || out != "actor local is released: its games are trained on again\n" {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
	if _, stderr, code := run(t, "quarantine", "local", dir, "--why", "gone", "--new-key"); code != 1 || !strings.Contains(stderr, "no key of actor local") {
		t.Errorf("an actor without a key: exit %d, error %q", code, stderr)
	}
	out, stderr, code := run(t, "audit", dir)
	lines := strings.Split(out, "\n")
	if code != 0 || len(lines) != 4 || !strings.Contains(lines[1], "quarantine  local  broken") || !strings.Contains(lines[2], "release     local  mended") {
		t.Errorf("exit %d, output\n%s\nerror %q", code, out, stderr)
	}
}

func TestQuarantineUsage(t *testing.T) {
	for args, want := range map[string]string{
		"quarantine":                                 "found 0 arguments",
		"quarantine a":                               `--why ""`,
		"quarantine a --why x":                       "neither the directory of a run nor both --nats and --run",
		"quarantine a b c --why x":                   "found 3 arguments",
		"quarantine a b --why x --release --new-key": "expected one of them",
		"audit a b":                                  "found 2 arguments",
		"audit --nats nats://a":                      "neither the directory",
	} {
		if _, stderr, code := run(t, strings.Fields(args)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, error %q, expected %q", args, code, stderr, want)
		}
	}
}

// What others have written moves no cursor.
func TestPrintAudit(t *testing.T) {
	var out bytes.Buffer
	err := printAudit(&out, []bus.AuditEntry{{Time: time.Unix(0, 0), By: "a@b", Action: "settings", What: "run zh", Why: "\x1b[2Jgone"}}, false)
	want := "time                  by   action    what    why\n1970-01-01 00:00:00Z  a@b  settings  run zh  \"\\x1b[2Jgone\"\n"
	if err != nil || out.String() != want {
		t.Errorf("found %q, error %v, expected %q", out.String(), err, want)
	}
}
