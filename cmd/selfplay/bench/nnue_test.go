package bench

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/kernel"
)

// A net is timed in every way at a level, and a bad level refused.
func TestBenchNNUE(t *testing.T) {
	_, net := clitest.NarrowNet(t)
	level := kernel.Best().String()
	out, errOut, code := selfplayCommand(t, "", "bench", "nnue", "--net", net, "--level", level, "--rounds", "1")
	if row := regexp.MustCompile(fmt.Sprintf(`(?m)^ *%s( +\d+){5} +\d+\.\d\dM +\d+\.\d\dx *$`, level)); code != 0 || !strings.Contains(out, "651539 nodes, median of 1 rounds") || !row.MatchString(out) {
		t.Errorf("exit %d: %s%s\nexpected a match of %v", code, errOut, out, row)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--rounds", "0"}, "found --rounds 0, expected 1 to 1000"},
		{[]string{"--level", "mmx"}, "found --level mmx"},
		{[]string{"--net", "no such file.nnue"}, "no such file"},
	} {
		out, errOut, code := selfplayCommand(t, "", append([]string{"bench", "nnue"}, c.args...)...)
		if code == 0 || out != "" || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d with %q, expected an error with %q", c.args, code, errOut, c.want)
		}
	}
}
