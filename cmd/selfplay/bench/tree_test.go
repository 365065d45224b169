package bench

import (
	"regexp"
	"strings"
	"testing"
)

// A search is compared with its net alone, by one thread and by several.
func TestBenchTree(t *testing.T) {
	fast := []string{"bench", "tree", "--arch", "residual 1x16", "--batch", "2", "--nodes", "20", "--rounds", "1"}
	out, errOut, code := selfplayCommand(t, "", append(fast, "--threads", "3")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	for _, want := range []string{
		`^ *evaluations alone +\d+ +1\.00 *$`, `^ *nodes, mates of 3 plies +\d+ +\d+\.\d\d *$`,
		`^3 threads, mates of \d plies: \d+\.\d\d times the nodes/s of one \(.*\)$`,
		`^share of as many nets alone: 1 thread \d+\.\d\d, 3 threads \d+\.\d\d$`,
	} {
		if !regexp.MustCompile("(?m)" + want).MatchString(out) {
			t.Errorf("found\n%s\nexpected a match of %s", out, want)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--threads", "1"}, "--threads 2 to 512"},
		{[]string{"--rounds", "0"}, "--rounds 0"},
		{[]string{"--arch", "tower"}, `found "tower"`},
	} {
		out, errOut, code := selfplayCommand(t, "", append(fast, c.args...)...)
		if code == 0 || out != "" || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d with %q, expected an error with %q", c.args, code, errOut, c.want)
		}
	}
}
