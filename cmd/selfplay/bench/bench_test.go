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
