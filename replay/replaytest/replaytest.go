// Package replaytest fills replay buffers for tests.
package replaytest

import (
	"errors"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// Store adds records of crazyhouse games, as package game encodes them, to the
// buffer in dir, which it makes if there is none. All of them must be new. Segments
// are small: a few dozen games fill several.
func Store(t testing.TB, dir string, records ...[]byte) {
	t.Helper()
	b, err := replay.Open(dir, replay.Options{
		Variant: chess.Crazyhouse, MaxBytes: 1 << 20, SegmentBytes: 4 << 10, Window: replay.WindowRule{Min: 1, Exponent: 0.65, Slope: 0.4},
	})
	if err != nil {
		t.Fatal(err)
	}
	report, err := b.Append(records)
	if err := errors.Join(err, b.Close()); err != nil || report.Stored != len(records) {
		t.Fatalf("%d of %d games stored, error %v", report.Stored, len(records), err)
	}
}
