package backup

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

func TestMain(m *testing.M) { clitest.Main(m, Commands()) }

func run(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return clitest.Run(t, Commands(), "", args...)
}

// A backup that is killed leaves the one before, and the same command makes a new one.
func TestKilledBackup(t *testing.T) {
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	dir, output := filepath.Join(base, "run"), filepath.Join(base, "backup")
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	out, stderr, code := run(t, "backup", dir, "--output", output)
	if code != 0 || !strings.Contains(out, "trainer.key are not in this backup") {
		t.Fatalf("exit %d, output %q, error %q", code, out, stderr)
	}
	const parts = 40
	large := make([]byte, parts<<20)
	rand.Read(large)
	if err := os.WriteFile(filepath.Join(dir, "gate-large.log"), large, 0o644); err != nil {
		t.Fatal(err)
	}
	before := count(t, output, "parts")
	clitest.KillThrice(t, parts, func() int { return count(t, output, "parts") - before }, "backup", dir, "--output", output)
	if found := count(t, output, "snapshots"); found != 1 {
		t.Logf("found %d backups: the last kill came too late", found)
	}
	if out, stderr, code := run(t, "drill", output); code != 0 || !strings.Contains(out, "pointers") {
		t.Errorf("after the kills: exit %d, output %q, error %q", code, out, stderr)
	}
	if out, stderr, code := run(t, "backup", dir, "--output", output); code != 0 || !strings.Contains(out, "parts new") {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
	back := filepath.Join(base, "back")
	if out, stderr, code := run(t, "restore", output, back); code != 0 || !strings.Contains(out, "the server has 0 nets") {
		t.Errorf("exit %d, output %q, error %q", code, out, stderr)
	}
	if data, err := os.ReadFile(filepath.Join(back, "gate-large.log")); err != nil || string(data) != string(large) {
		t.Errorf("found %d bytes of %d, error %v", len(data), len(large), err)
	}
	// A damaged part is found.
	var damaged string
	err = filepath.WalkDir(filepath.Join(output, "parts"), func(path string, e fs.DirEntry, err error) error {
		if info, e := e.Info(); e == nil && info.Size() == 1<<20 {
			damaged = path
		}
		return err
	})
	if err == nil {
		err = os.Truncate(damaged, 1)
	}
	if err != nil {
		t.Fatal(err)
	}
	if out, _, code := run(t, "drill", output); code != 1 || !strings.Contains(out, "! ") || !strings.Contains(out, damaged) || !strings.Contains(out, "gate-large.log") {
		t.Errorf("exit %d, output %q, expected it to name %s", code, out, damaged)
	}
}

// count is the number of files under a folder of the backups.
// The directory of a role says whose it is, but not where the servers are.
func TestDirectoryOfRole(t *testing.T) {
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(r.Close(), os.Remove(filepath.Join(dir, "config.yaml"))); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := run(t, "backup", dir, "--output", filepath.Join(t.TempDir(), "backup")); code != 2 || !strings.Contains(stderr, "say where they are by --nats") {
		t.Errorf("exit %d, error %q, expected wrong usage", code, stderr)
	}
}

func count(t *testing.T, output, folder string) (n int) {
	err := filepath.WalkDir(filepath.Join(output, folder), func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			n++
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return n
}

// All three commands print on stderr how far they have come.
func TestProgress(t *testing.T) {
	cfg, err := configs.Preset("tiny")
	if err != nil {
		t.Fatal(err)
	}
	base := t.TempDir()
	dir, output := filepath.Join(base, "run"), filepath.Join(base, "backup")
	r, err := selfplay.Open(t.Context(), dir, cfg, selfplay.Options{Build: "test"})
	if err == nil {
		err = r.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func(every time.Duration) { progressEvery = every }(progressEvery)
	progressEvery = -1
	for _, args := range [][]string{{"backup", dir, "--output", output}, {"restore", output, filepath.Join(base, "back")}, {"drill", output}} {
		if out, stderr, code := run(t, args...); code != 0 || !strings.Contains(stderr, "0 MiB read, 0 MiB written\n") {
			t.Errorf("%s: exit %d, output %q, error %q", args[0], code, out, stderr)
		}
	}
}

func TestUsage(t *testing.T) {
	for args, want := range map[string]string{
		"backup dir":                    `found --output ""`,
		"backup a b --output c":         "found 2 arguments",
		"backup --output c":             "neither the directory of a run nor both --nats and --run",
		"backup a --output b --keep -1": "--keep -1",
		"restore a":                     "found 1 arguments",
		"restore a b --replicas 2":      "--replicas: found 2, expected 1, 3 or 5",
		"restore a b --replicas 3":      "found --replicas without --nats",
		"drill":                         "found 0 arguments",
	} {
		if _, stderr, code := run(t, strings.Fields(args)...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d, error %q, expected %q", args, code, stderr, want)
		}
	}
	if _, stderr, code := run(t, "drill", t.TempDir()); code != 1 || !strings.Contains(stderr, "expected the --output of selfplay backup") {
		t.Errorf("no backup: exit %d, error %q", code, stderr)
	}
}
