package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestConfigFileNamesPreset(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("schema: 1\n"+text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("preset: fairy\nseed: 3\n")
	want, _, _ := selfplayCommand(t, "", "config", "show", "--preset", "fairy", "--seed", "3")
	for _, args := range [][]string{nil, {"--preset", "fairy"}} {
		out, stderr, code := selfplayCommand(t, "", append([]string{"config", "show", "--config", file}, args...)...)
		if code != 0 || out != want {
			t.Errorf("%q: exit %d, error %q, output\n%s", args, code, stderr, out)
		}
	}
	_, stderr, code := selfplayCommand(t, "", "config", "show", "--config", file, "--preset", "tiny")
	if code != 1 || !strings.Contains(stderr, "found fairy, expected tiny") {
		t.Errorf("two presets: exit %d, error %q", code, stderr)
	}
	for _, text := range []string{"preset: desktop\n", "actor:\n  workers: 0\n", "train:\n  lr: fast\n"} {
		write(text)
		if _, stderr, code := selfplayCommand(t, "", "config", "check", "--config", file); code != 1 || !strings.Contains(stderr, "found") {
			t.Errorf("%q: exit %d, error %q", text, code, stderr)
		}
	}
	// What the command line mends is not wrong.
	if _, stderr, code := selfplayCommand(t, "", "config", "check", "--config", file, "--set", "actor.workers=1"); code != 1 {
		t.Errorf("a text for a number: exit %d, error %q", code, stderr)
	}
	write("actor:\n  workers: 0\n")
	if _, stderr, code := selfplayCommand(t, "", "config", "check", "--config", file, "--set", "actor.workers=1"); code != 0 {
		t.Errorf("mended: exit %d, error %q", code, stderr)
	}
}

func TestConfigShowReadsBack(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "config", "show", "--preset", "tiny", "--seed", "9", "--set", "gate.enabled=false")
	if code != 0 {
		t.Fatalf("exit %d", code)
	}
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte(out), 0o644); err != nil {
		t.Fatal(err)
	}
	again, _, code := selfplayCommand(t, "", "config", "show", "--preset", "tiny", "--config", file)
	if code != 0 || again != out {
		t.Errorf("exit %d; the printed configuration does not read back", code)
	}
	if out, _, code := selfplayCommand(t, "", "config", "check"); code != 0 || out != "ok\n" {
		t.Errorf("check: exit %d, output %q", code, out)
	}
}
