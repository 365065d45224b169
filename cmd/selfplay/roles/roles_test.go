package roles

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/configs"
)

// The help of gate says how many games it plays without --workers: as many as the machine's
// setting says, and without one as the preset does.
func TestGateHelpSaysWorkers(t *testing.T) {
	laptop, err := configs.Preset("laptop")
	if err != nil {
		t.Fatal(err)
	}
	out, stderr, code := run(t, "gate", "--help")
	if want := fmt.Sprintf("(default gate.concurrency, %d unless set)", laptop.Gate.Concurrency); code != 0 || !strings.Contains(out, want) {
		t.Errorf("exit %d, error %q, found\n%s\nexpected %q", code, stderr, out, want)
	}
}
