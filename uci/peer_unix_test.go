//go:build unix

package uci

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPeerThatIsNoEngine(t *testing.T) {
	for _, tc := range []struct {
		binary, want string
		patience     time.Duration
	}{
		{"cat", "found no answer uciok to uci within 100ms", 100 * time.Millisecond}, // echoes, and never ends
		{"true", "found the end of its output, expected uciok", time.Minute},
		{filepath.Join(t.TempDir(), "none"), "none", time.Minute},
	} {
		_, err := StartPeer(t.Context(), tc.binary, tc.patience)
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v, lacks %q", tc.binary, err, tc.want)
		}
	}
}
