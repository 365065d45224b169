package lint

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wrongArguments has, for every script, arguments that it has to refuse; DIR stands for a
// directory that is not there. Those of forged.sh are the go command's.
var wrongArguments = map[string][][]string{
	"forged.sh":            nil,
	"fuzz.sh":              {{"soon"}, {"10s", "x"}},
	"kill9.sh":             {{"abc"}, {"0"}, {"-1"}, {"1.5"}, {"08"}, {"1", "DIR", "x"}},
	"killed-tournament.sh": {{}, {"DIR", "material"}},
	"loop-settings.sh":     {{}, {"DIR/list", "1m", "1", "10", "DIR"}, {"list", "1m", "1", "ten", "DIR"}, {"list", "1m", " ", "10", "DIR"}, {"empty", "1m", "1", "10", "DIR"}},
	"page-cost.sh":         {{"many"}, {"10", "x"}, {"10", "20", "0"}},
	"peer-match.sh":        {{}, {"engine", "net", "x", "400", "DIR"}, {"engine", "net", "10", "400 x", "DIR"}, {"engine", "net", "10", "", "DIR"}},
	"rating-list.sh":       {{}, {"DIR/list", "100", "DIR"}, {"list", "x", "DIR"}},
	"release.sh":           {{}, {"--fast"}, {"DIR", "v1", "x"}},
	"rule-tests.sh":        {{}, {"", "x", "10", "10", "DIR"}, {"", "400", "x", "10", "DIR"}, {"none_", "400", "10", "10", "DIR"}},
	"trainer-apart.sh":     {{"abc"}, {"4", "0"}},
	"vuln.sh":              {{"x"}},
}

// TestScripts asks every script for help, which is its comment, and calls it wrongly: both
// end before any work. No program can be built here, and ours lists no switches.
func TestScripts(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	here := t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(here, path), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("list", "base\nother\n")
	write("empty", "# nothing\n")
	write("go", "#!/bin/sh\necho found the go command called, expected no work >&2\nexit 9\n")
	write("selfplay", "#!/bin/sh\nexit 0\n")
	call := func(path string, args ...string) (code int, out, errs string) {
		t.Helper()
		cmd := exec.Command(bash, append([]string{path}, args...)...)
		cmd.Dir = here
		cmd.Env = append(os.Environ(), "PATH="+here+string(filepath.ListSeparator)+os.Getenv("PATH"), "SELFPLAY="+filepath.Join(here, "selfplay"))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
	}
	paths, err := filepath.Glob("../../scripts/*.sh")
	if err != nil || len(paths) != len(wrongArguments) {
		t.Fatalf("found %d scripts, error %v, expected the %d that have wrong arguments here", len(paths), err, len(wrongArguments))
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if path, err = filepath.Abs(path); err != nil {
			t.Fatal(err)
		}
		wrong, known := wrongArguments[name]
		if !known {
			t.Errorf("%s: found no wrong arguments to try, expected some", name)
		}
		if code, out, errs := call(path, "--help"); code != 0 || errs != "" || out == "" || strings.Contains(out, "#!") {
			t.Errorf("%s --help: found exit code %d, %q and the error %q, expected 0 and its comment", name, code, out, errs)
		}
		for _, args := range wrong {
			for i := range args {
				args[i] = strings.ReplaceAll(args[i], "DIR", filepath.Join(here, "new"))
			}
			code, out, errs := call(path, args...)
			if code != 2 || out != "" || !strings.Contains(errs, "expected") {
				t.Errorf("%s %q: found exit code %d, %q and the error %q, expected 2 and what was expected", name, args, code, out, errs)
			}
		}
	}
}
