package data

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/cmd/selfplay/internal/clitest"
	"github.com/crazyhouse-rl/selfplay/replay"
)

func TestReplayAudit(t *testing.T) {
	dir, id := clitest.SmallRun(t)
	buffer := filepath.Join(dir, "replay")
	for _, d := range []string{dir, buffer} {
		out, stderr, code := selfplayCommand(t, "", "replay", "audit", "--json", d)
		var report replay.AuditReport
		if err := json.Unmarshal([]byte(out), &report); code != 0 || err != nil || report.Games != 1 || report.UniqueIDs != 1 {
			t.Errorf("exit %d, error %v %q, output %q", code, err, stderr, out)
		}
		if out, stderr, code := selfplayCommand(t, "", "replay", "audit", "--ids", d); code != 0 || out != id+"\n" {
			t.Errorf("ids: exit %d, error %q, output %q", code, stderr, out)
		}
	}

	segments, _ := filepath.Glob(filepath.Join(buffer, "*.seg"))
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	record := data[24:] // behind the segment's header
	if err := os.WriteFile(segments[0], append(data, record...), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, stderr, code := selfplayCommand(t, "", "replay", "audit", dir); code != 1 || stderr != "" || !strings.Contains(out, "uplicates") {
		t.Errorf("a game twice: exit %d, error %q, output %q", code, stderr, out)
	}

	empty := t.TempDir()
	if _, stderr, code := selfplayCommand(t, "", "replay", "audit", empty); code != 1 || !strings.Contains(stderr, empty+": found no segments") {
		t.Errorf("no buffer: exit %d, error %q", code, stderr)
	}
	if _, stderr, code := selfplayCommand(t, "", "replay", "audit", filepath.Join(empty, "none")); code != 1 || !strings.Contains(stderr, "none") {
		t.Errorf("no directory: exit %d, error %q", code, stderr)
	}
}

// Every command that reads a buffer reports what it has lost.
func TestReplayDamageIsTold(t *testing.T) {
	dir, _ := clitest.SmallRun(t)
	segments, _ := filepath.Glob(filepath.Join(dir, "replay", "*.seg"))
	data, err := os.ReadFile(segments[0])
	if err != nil {
		t.Fatal(err)
	}
	run := func(damage string) {
		t.Helper()
		const lost = "games lost: 1"
		if out, _, code := selfplayCommand(t, "", "replay", "audit", dir); code != 1 || !strings.Contains(out, lost) {
			t.Errorf("%s: audit: exit %d, output %q", damage, code, out)
		}
		if _, stderr, code := selfplayCommand(t, "", "validate", "replay:"+dir); code != 1 || !strings.Contains(stderr, lost) {
			t.Errorf("%s: validate: exit %d, error %q", damage, code, stderr)
		}
		for _, args := range [][]string{{"stats", "replay:" + dir}, {"convert", "replay:" + dir, filepath.Join(t.TempDir(), "out.chain")}} {
			if _, stderr, _ := selfplayCommand(t, "", args...); !strings.Contains(stderr, lost) {
				t.Errorf("%s: %v: error %q", damage, args, stderr)
			}
		}
	}
	if err := os.WriteFile(segments[0], data[:24], 0o644); err != nil {
		t.Fatal(err)
	}
	run("cut")
	if err := os.Remove(segments[0]); err != nil {
		t.Fatal(err)
	}
	run("deleted")
}
