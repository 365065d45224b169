package bin

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// TestLongClock writes halfmove clocks that a record has no room for.
func TestLongClock(t *testing.T) {
	for clock, want := range map[int]int{99: 99, 127: 127, 128: 127, 300: 127} {
		s := sample.Sample{Pos: chess.Crazyhouse.Start()}
		s.Pos.SetClocks(clock, 200)
		var b bytes.Buffer
		w := NewWriter(&b, Bits512)
		if err := errors.Join(w.Write(&s), w.Close()); err != nil {
			t.Fatal(err)
		}
		var back sample.Sample
		if err := NewReader(&b, chess.Crazyhouse, Bits512).Read(&back); err != nil {
			t.Fatal(err)
		}
		if got := back.Pos.HalfmoveClock(); got != want || back.Pos.FullmoveNumber() != 200 {
			t.Errorf("clock %d reads back as %d, want %d; move number %d", clock, got, want, back.Pos.FullmoveNumber())
		}
	}
}

// TestRefused lists what does not fit into a record.
func TestRefused(t *testing.T) {
	const rest = " w - - 0 1"
	for _, c := range []struct {
		f    Format
		v    *chess.Variant
		fen  string
		do   func(s *sample.Sample)
		text string
	}{
		{Bits512, chess.Crazyhouse, "", func(s *sample.Sample) { s.Score = 32768 }, "score"},
		{Bits512, chess.Crazyhouse, "", func(s *sample.Sample) { s.Score = -32769 }, "score"},
		{Bits512, chess.Crazyhouse, "", func(s *sample.Sample) { s.Result = 2 }, "result"},
		{Bits512, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4K3[QQQQQQQQQQQQQQQQPPPPPPPPPPPPPPP]" + rest, nil, "pieces"},
		{Bits512, chess.Crazyhouse, "4k3/8/8/8/8/8/8/5KR1[] w G - 0 1", nil, "castling"},
		{Bits512, chess.Crazyhouse, "4k3/8/8/8/8/8/8/4KR2[] w F - 0 1", nil, "castling"},
		{Bits256, chess.Crazyhouse, "", nil, "variant"},
		{Bits512, chess.Chess, "", func(s *sample.Sample) { s.Move = chess.NewDrop(chess.Pawn, 30) }, "move"},
		{Bits256, chess.Chess, "4k3/7P/8/8/8/8/8/4K3" + rest, func(s *sample.Sample) {
			s.Move, s.Partial = chess.NewPromotion(55, 63, chess.Queen), true
		}, "unknown"},
	} {
		s := sample.Sample{Pos: c.v.Start()}
		if c.fen != "" {
			s.Pos = mustParse(t, c.v, c.fen)
		}
		if c.do != nil {
			c.do(&s)
		}
		var b bytes.Buffer
		w := NewWriter(&b, c.f)
		if err := w.Write(&s); !errors.Is(err, sample.ErrRecord) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, expected %q", s.Pos.FEN(), err, c.text)
		}
		if err := w.Close(); err != nil || b.Len() != 0 {
			t.Errorf("%s: %d bytes written, %v", s.Pos.FEN(), b.Len(), err)
		}
	}
}
