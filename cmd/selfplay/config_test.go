package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSameErrors: config check, a start of the loop and a start of learn refuse the
// same values in the same words, and neither start begins a directory.
func TestSameErrors(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("a.chain", nil, 0o644); err != nil { // whose name learn looks up first
		t.Fatal(err)
	}
	for _, tc := range []struct{ key, value, want string }{
		{"power", "1", "unusable training settings: KEY: found 1, expected more than 1, at most 10"},
		{"batch", "0", "unusable training settings: KEY: found 0, expected 1 to 1048576"},
		{"held_out", "1048577", "unusable training settings: KEY: found 1048577, expected 0 to 1048576"},
		{"net_scale", "0", "unusable training settings: KEY: found 0, expected more than 0, at most 3.4028234663852886e+38"},
		{"mean_decay", "1", "unusable training settings: KEY: found 1, expected 0 to 0.999999"},
		{"hidden_limit", "2", "unusable training settings: KEY: found 2, expected 0 to 1.984375"},
		{"optimiser", "best", "unusable training settings: KEY: found best, expected one of sgd, adam, adamw, radam, ranger"},
		{"loss", "mse", "unusable training settings: KEY: found mse, expected one of power, cross-entropy or pqr"},
		{"psqt_start", "high", "unusable training settings: KEY: found high, expected one of pieces, zero"},
		{"lr", "1.5", `unusable training settings: KEY: found "1.5", which reaches 1.5, expected at most 1`},
		{"lr", "up", `unusable training settings: KEY: schedule "up": unusable schedule: found curve "up"`},
		{"lambda", "-1", `unusable training settings: KEY: schedule "-1": unusable schedule: value -1, expected a finite number from 0`},
		{"workers", "-1", "unusable training settings: KEY: found -1, expected a number from 0"},
		{"mirror", "200", "unusable training settings: KEY: found 200, expected 0 to 100"},
		{"batch", "many", `configs: invalid configuration: KEY: found "many", expected a whole number`},
	} {
		dir := filepath.Join(t.TempDir(), "run")
		for _, start := range []struct {
			section string
			args    []string
		}{
			{"train.", []string{"config", "check", "--set", "train." + tc.key + "=" + tc.value}},
			{"train.", []string{"--dir", dir, "--set", "train." + tc.key + "=" + tc.value}},
			{"", []string{"learn", "a.chain", "--out", dir, "--" + strings.ReplaceAll(tc.key, "_", "-") + "=" + tc.value}},
		} {
			want := strings.Replace(tc.want, "KEY", start.section+tc.key, 1)
			_, stderr, code := selfplayCommand(t, "", start.args...)
			if code != 2 || !strings.Contains(stderr, want) {
				t.Errorf("%q: exit %d, %q, want exit 2 and %q", start.args, code, stderr, want)
			}
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Fatalf("%q: the directory was begun", start.args)
			}
		}
	}
}

// A start that lacks a file which a setting names makes nothing.
func TestMissingFiles(t *testing.T) {
	for _, key := range []string{"actor.book", "train.init"} {
		dir := filepath.Join(t.TempDir(), "run")
		_, stderr, code := selfplayCommand(t, "", "--dir", dir, "--set", key+"=/none")
		if code != 1 || !strings.Contains(stderr, key) || !strings.Contains(stderr, "/none") {
			t.Errorf("%s: exit %d, %q, expected exit 1 and the file's name", key, code, stderr)
		}
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: the directory was begun", key)
		}
	}
}
