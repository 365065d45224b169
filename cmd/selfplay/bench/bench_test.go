package bench

import (
	"strings"
	"testing"
)

func TestBenchIsASignature(t *testing.T) {
	nodes := func() string {
		out, _, code := selfplayCommand(t, "", "bench", "--depth", "3")
		i := strings.Index(out, "nodes ")
		if code != 0 || i < 0 {
			t.Fatalf("exit %d, output %q", code, out)
		}
		return out[i:]
	}
	if a, b := nodes(), nodes(); a != b {
		t.Errorf("%q, then %q", a, b)
	}
}

func TestBenchThreads(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "bench", "threads", "--depth", "2", "--positions", "2", "--rounds", "1", "--hash", "1")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 5 || !strings.HasPrefix(lines[2], "time ") || !strings.HasPrefix(lines[3], "nodes ") || !strings.HasPrefix(lines[4], "nodes/s ") {
		t.Errorf("exit %d, output %q", code, out)
	}
	if out, stderr, code := selfplayCommand(t, "", "bench", "threads", "--threads", "1"); code != 2 || out != "" || !strings.Contains(stderr, "expected 2 to 512") {
		t.Errorf("exit %d, output %q, errors %q", code, out, stderr)
	}
}

// Nets of feature sets are timed in turn, and bad expressions refused.
func TestBenchFeatures(t *testing.T) {
	out, _, code := selfplayCommand(t, "", "bench", "features", "All", "--width", "16", "--rounds", "1")
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[2], "All + Hand ") || !strings.HasPrefix(lines[3], "All ") {
		t.Errorf("exit %d, output %q", code, out)
	}
	for _, c := range []struct {
		args []string
		say  string
	}{
		{[]string{"All + Threat"}, `such as "Threats"`},
		{[]string{"All", "--rounds", "0"}, "expected 1 to 1000"},
		{[]string{"All", "--width", "17"}, "width"},
	} {
		if out, stderr, code := selfplayCommand(t, "", append([]string{"bench", "features"}, c.args...)...); code != 2 || out != "" || !strings.Contains(stderr, c.say) {
			t.Errorf("%q: exit %d, output %q, errors %q", c.args, code, out, stderr)
		}
	}
}
