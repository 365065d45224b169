package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/doctor"
)

func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return clitest.Run(t, Commands(), "", args...)
}

func TestDoctorFindsSecretsOthersCanRead(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"trainer.key": 0o644, "actor.json": 0o600} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("secret"), mode); err != nil {
			t.Fatal(err)
		}
	}
	out, stderr, code := run(t, "doctor", "--dir", dir)
	if code != 1 || stderr != "" || !strings.Contains(out, "!   secret trainer.key: found ") || !strings.Contains(out, "ok  secret actor.json: mode 0600") || !strings.Contains(out, "chmod 600 "+dir) {
		t.Errorf("exit %d, %s%s", code, out, stderr)
	}
	out, _, code = run(t, "doctor", "--dir", dir, "--json")
	var r doctor.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != 1 || r.Wrong < 1 || len(r.Findings) < 5 {
		t.Errorf("exit %d, %v: %s", code, err, out)
	}
}

func TestDoctorWrongUse(t *testing.T) {
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{"--dir", "/no/such/directory"}, "--dir"},
		{[]string{"--run", "x"}, "--nats: found nothing"},
		{[]string{"--nats", "http://x"}, "expected nats://host:port"},
		{[]string{"--nats", "nats://x", "--monitor", "n1:8222"}, "expected http://host:8222"},
		{[]string{"--wait", "0s"}, "--wait"},
	} {
		out, stderr, code := run(t, append([]string{"doctor"}, tc.args...)...)
		if code != 2 || out != "" || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, %q, %q", tc.args, code, out, stderr)
		}
	}
}
