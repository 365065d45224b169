package sample

import (
	"errors"
	"io"
	"math"
	"testing"

	"github.com/crazyhouse-rl/selfplay/search"
)

// TestConvertRounds compares with rounding in floating point, which is exact for
// such small numbers.
func TestConvertRounds(t *testing.T) {
	const most = 32000 - 128 - 1
	for s := MinScore; s <= MaxScore; s++ {
		for _, units := range [][2]Unit{{CentipawnUnit, InternalUnit}, {InternalUnit, CentipawnUnit}} {
			want := search.Score(math.Round(float64(int(s)*int(units[1])) / float64(units[0])))
			want = min(max(want, -most), most)
			if s.IsMate() {
				want = s
			}
			if got := Convert(s, units[0], units[1]); got != want {
				t.Fatalf("%d from %v to %v: %d, expected %d", s, units[0], units[1], got, want)
			}
		}
		if got := Convert(s, InternalUnit, InternalUnit); got != s {
			t.Fatalf("%d became %d between equal units", s, got)
		}
	}
}

// TestConvertBack: centipawns are the coarser unit, so they survive.
func TestConvertBack(t *testing.T) {
	for s := search.Score(-15000); s <= 15000; s++ {
		if got := Convert(Convert(s, CentipawnUnit, InternalUnit), InternalUnit, CentipawnUnit); got != s {
			t.Fatalf("%d came back as %d", s, got)
		}
	}
}

func TestReadError(t *testing.T) {
	err := error(&ReadError{Record: 12, Offset: 864, Err: io.ErrUnexpectedEOF})
	if !errors.Is(err, io.ErrUnexpectedEOF) || err.Error() != "record 12 at byte 864: unexpected EOF" {
		t.Errorf("%v", err)
	}
}
