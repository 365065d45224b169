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

var hosts = []string{"--server", "n1=10.9.0.1", "--server", "n2=10.9.0.2", "--server", "n3=10.9.0.3",
	"--role", "trainer=10.9.0.4", "--role", "replay=10.9.0.4", "--role", "gate=10.9.0.5", "--role", "actor=10.9.0.6"}

func TestInitCluster(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "zh")
	out, stderr, code := run(t, append([]string{"init", "cluster", dir}, hosts...)...)
	if code != 0 || stderr != "" || !strings.Contains(out, "3 servers, 4 roles") {
		t.Fatalf("exit %d, %s%s", code, out, stderr)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const conf = "machines/10.9.0.1/etc/nats/nats.conf"
	key := read("keys/account.nk")
	before := read(conf)
	if !strings.Contains(before, "sync_interval: always") || !strings.Contains(before, "nats-route://10.9.0.3:6222") || !strings.Contains(before, "max_file_store: 64GB") {
		t.Errorf("found\n%s", before)
	}
	out, stderr, code = run(t, "init", "cluster", dir, "--role", "actor=10.9.0.8", "--role", "actor=10.9.0.6")
	if code != 0 || !strings.Contains(out, "3 servers, 5 roles") || read("keys/account.nk") != key {
		t.Errorf("an actor more: exit %d, %s%s", code, out, stderr)
	}
	read("machines/10.9.0.8/etc/selfplay/actor.creds")
	// What was asked for once holds when it is written again.
	for _, args := range [][]string{{"--store", "500GB"}, {"--renew-tls"}} {
		_, stderr, code := run(t, append([]string{"init", "cluster", dir}, args...)...)
		if code != 0 || !strings.Contains(read(conf), "max_file_store: 500GB") || !strings.Contains(read("kubernetes/servers.yaml"), "storage: 563Gi") {
			t.Errorf("%v: exit %d, %s, found\n%s", args, code, stderr, read(conf))
		}
	}
	for _, tc := range []struct {
		args []string
		want string
	}{
		{[]string{dir, "--run", "other"}, "the run of " + dir},
		{[]string{dir, "--role", "dancer=x"}, "found dancer"},
		{[]string{dir, "--store", "much"}, "store: found \"much\", expected a size such as 64GB"},
		{[]string{dir, "--store", "4GB"}, "store: found 4GB, expected 8GB or more"},
		{[]string{t.TempDir()}, "--server: found none"},
		{append([]string{t.TempDir()}, hosts[2:]...), "1, 3 or 5"},
		{nil, "expected a directory"},
	} {
		if _, stderr, code := run(t, append([]string{"init", "cluster"}, tc.args...)...); code != 2 || !strings.Contains(stderr, tc.want) {
			t.Errorf("%q: exit %d, %s", tc.args, code, stderr)
		}
	}
	if read("keys/account.nk") != key {
		t.Error("wrong use changed a key")
	}
}

func TestInitClusterAsks(t *testing.T) {
	var o initOptions
	var out strings.Builder
	if err := o.ask(strings.NewReader("a b c\nt\n\n\n-\nx y\n"), &out); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(append(o.servers, o.roles...), " "); got != "n1=a n2=b n3=c trainer=t replay=t gate=t actor=x actor=y" {
		t.Errorf("found %s, asked\n%s", got, out.String())
	}
	if err := new(initOptions).ask(strings.NewReader("a\n"), &out); err == nil {
		t.Error("an end of what is typed is no answer")
	}
}
