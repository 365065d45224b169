package bench

import (
	"regexp"
	"strings"
	"testing"
)

func TestBenchTrain(t *testing.T) {
	fast := []string{"bench", "train", "--batch", "32", "--steps", "1"}
	out, errOut, code := selfplayCommand(t, "", append(fast, "--net", "tiny", "--net", "tiny:32")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	// No row of CPU time is asked for: steps so small may take none that is counted.
	for _, want := range []string{`^64 positions, read at `, `All \+ Hand 16\+8`, `All \+ Hand 32\+8`, `^ +layers +\d+ +\d+ % +\d+ +\d+\.\d\d *$`} {
		if !regexp.MustCompile("(?m)" + want).MatchString(out) {
			t.Errorf("found\n%s\nexpected a match of %s", out, want)
		}
	}
	if out, _, _ := selfplayCommand(t, "", append(fast, "--net", "tiny", "--workers", "1")...); strings.Contains(out, "ratio") {
		t.Errorf("found\n%s\nexpected one worker only", out)
	}
	out, errOut, code = selfplayCommand(t, "", append(fast, "--net", "planes:residual 1x16")...)
	if code != 0 || !regexp.MustCompile("residual 1x16 .*\n +part .*\n +draw .*\n +all ").MatchString(out) {
		t.Errorf("exit %d: %s%s", code, errOut, out)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--net", "mighty"}, "mighty"},
		{[]string{"--net", "planes:9x9"}, "9x9"},
		{[]string{"--net", "tiny:wide"}, `found width "wide"`},
		{[]string{"--net", "tiny:17"}, "17"},
		{[]string{"--batch", "0"}, "found --batch 0"},
		{[]string{"--steps", "0"}, "found --steps 0"},
		{[]string{"--workers", "0"}, "found --workers 0"},
		{[]string{"no such file.chain"}, "no such file"},
	} {
		_, errOut, code := selfplayCommand(t, "", append(fast, c.args...)...)
		if code == 0 || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d with %q, expected an error with %q", c.args, code, errOut, c.want)
		}
	}
}
