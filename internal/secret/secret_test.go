package secret

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for _, tc := range []struct{ text, want string }{
		{"word", "word"}, {"word\n", "word"}, {"word\r\n", "word"}, {"word\n\n", "word\n"}, {" word ", " word "},
	} {
		if err := os.WriteFile(path, []byte(tc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadFile(path); err != nil || string(got) != tc.want {
			t.Errorf("%q: found %q, error %v, expected %q", tc.text, got, err, tc.want)
		}
	}
	for _, text := range []string{"", "\n", "\r\n", strings.Repeat("x", MaxBytes+1)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "xxx") {
			t.Errorf("%d bytes: error %v, expected one that names the file alone", len(text), err)
		}
	}
	if _, err := ReadFile(path + "2"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: error %v, expected os.ErrNotExist", err)
	}
	if _, err := ReadFile(t.TempDir()); err == nil {
		t.Error("a directory was read")
	}
}

func TestModes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(path, []byte("word"), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, good := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o700: true, 0o644: false, 0o640: false, 0o620: false, 0o604: false, 0o601: false} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err := ReadFile(path)
		if good || runtime.GOOS == "windows" {
			if err != nil {
				t.Errorf("%04o: %v", mode, err)
			}
			continue
		}
		if !errors.Is(err, ErrMode) || !strings.Contains(err.Error(), "chmod 600 "+path) || strings.Contains(err.Error(), "word") {
			t.Errorf("%04o: error %v, expected ErrMode and the command that helps", mode, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"nats://host:1":                         "nats://host:1",
		"nats://me:word@host:1":                 "nats://***@host:1",
		"nats://me:wo/rd@host,tls://word@other": "nats://***@host,tls://***@other",
		"me:word@host":                          "***@host",
		"dial nats://word@host: refused":        "dial nats://***@host: refused",
		"nats://me:w@rd@host":                   "nats://***@host",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, expected %q", text, got, want)
		}
	}
}

// What Kubernetes mounts for a process of another user than root is root's, and may be
// read by the process's group; nothing more passes.
func TestModesOfLentSecrets(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there are no such modes")
	}
	for _, tc := range []struct {
		mode os.FileMode
		lent bool
		good bool
	}{
		{0o600, false, true}, {0o400, true, true}, {0o440, true, true}, {0o640, true, true},
		{0o440, false, false}, {0o640, false, false}, {0o660, true, false}, {0o444, true, false}, {0o604, true, false}, {0o644, true, false},
	} {
		if err := checkMode("token", tc.mode, tc.lent); (err == nil) != tc.good || err != nil && !errors.Is(err, ErrMode) {
			t.Errorf("mode %04o, lent by root %v: found %v", tc.mode, tc.lent, err)
		}
	}
}
