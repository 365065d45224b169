package dash

import (
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// A line with a checksum shows as one without, and one that is damaged shows that it is.
func TestEventsHaveChecksums(t *testing.T) {
	line := string(durable.Sum([]byte(`{"time":"2026-01-02T03:00:00Z","level":"INFO","msg":"stopped","games":3}` + "\n")))
	l := &eventLog{}
	l.add([]byte(line))
	if !l.stopped || len(l.recent) != 1 || !strings.Contains(l.recent[0].Text, "3") || strings.Contains(l.recent[0].Text, "crc32c") {
		t.Errorf("found %+v", l.recent)
	}
	l = &eventLog{}
	l.add([]byte(strings.Replace(line, `"games":3`, `"games":7`, 1)))
	if l.stopped || len(l.recent) != 1 || !strings.Contains(l.recent[0].Text, "damaged file") {
		t.Errorf("damaged: found %+v", l.recent)
	}
}
