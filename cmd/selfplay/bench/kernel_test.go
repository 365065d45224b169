package bench

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/kernel"
)

// Every kernel has a time and a rate at every level, and above plain Go their ratio.
func TestBenchKernel(t *testing.T) {
	fast := []string{"bench", "kernel", "--each", "1ms"}
	out, errOut, code := selfplayCommand(t, "", append(fast, "--level", "generic")...)
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	if rows := kernelRows(out); len(rows) != 1+len(kernelCases()) || strings.Contains(out, "× generic") {
		t.Errorf("found\n%s\nexpected a row of each kernel and no ratio", out)
	}
	out, errOut, code = selfplayCommand(t, "", "bench", "kernel", "--each", "50us")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, errOut)
	}
	for i, row := range kernelRows(out) {
		if want := 4 + 3*int(kernel.Best()); len(row) != want {
			t.Fatalf("found %q, expected %d columns", row, want)
		}
		for j := 4; j < len(row); j += 3 {
			if i == 0 {
				if row[j+2] != "× generic" {
					t.Errorf("found column %q, expected × generic", row[j+2])
				}
				continue
			}
			generic, ns, ratio := number(t, row[2]), number(t, row[j]), number(t, row[j+2])
			if rounding := 0.005*ns + 0.05*ratio + 0.1; !(math.Abs(ratio*ns-generic) <= rounding) {
				t.Errorf("%s: found %v × generic, expected %v/%v", row[0], ratio, generic, ns)
			}
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--each", "0"}, "found --each 0s, expected 1µs to 1m"},
		{[]string{"--level", "mmx"}, "found --level mmx, expected one of [generic"},
	} {
		out, errOut, code := selfplayCommand(t, "", append(fast, c.args...)...)
		if code != 2 || out != "" || !strings.Contains(errOut, c.want) {
			t.Errorf("%v: exit %d with %q, expected an error with %q", c.args, code, errOut, c.want)
		}
	}
}

// kernelRows returns the columns of each line, whose words are one space apart.
func kernelRows(out string) (rows [][]string) {
	for line := range strings.Lines(out) {
		rows = append(rows, regexp.MustCompile(` {2,}`).Split(strings.TrimSpace(line), -1))
	}
	return rows
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
