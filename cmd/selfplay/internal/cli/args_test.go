package cli

import (
	"strings"
	"testing"
)

// What "go run" made is gone when it ends, so a command to go on with says go run too.
func TestProgram(t *testing.T) {
	for path, want := range map[string]string{
		"/tmp/go-build3274/b001/exe/selfplay":        "go run ./cmd/selfplay",
		"/home/a/.cache/go-build/3f/3fe2-d/selfplay": "go run ./cmd/selfplay",
		"bin/selfplay":            "bin/selfplay",
		"/opt/go-builds/selfplay": "/opt/go-builds/selfplay",
	} {
		if got := strings.Join(program(path), " "); got != want {
			t.Errorf("%s: found %q, expected %q", path, got, want)
		}
	}
}
