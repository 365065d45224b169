package server

import (
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
)

// TestUsed: the move that reaches a time control brings the time for the next.
func TestUsed(t *testing.T) {
	cycle := []string{"g1f3", "g8f6", "f3g1", "f6g8"}
	for _, test := range []struct {
		moves string // to a control
		plies int    // before the engine's move
		want  time.Duration
	}{
		{"40", 76, 6 * time.Second},
		{"40", 78, 306 * time.Second},
		{"40", 79, 306 * time.Second}, // as Black
		{"40", 80, 6 * time.Second},
		{"40", 158, 306 * time.Second},
		{"0", 78, 6 * time.Second},
	} {
		line := chess.NewLine(chess.Crazyhouse.Start())
		for i := range test.plies {
			m, err := line.Pos().ParseUCI(cycle[i%len(cycle)])
			if err != nil {
				t.Fatal(err)
			}
			line.Push(m)
		}
		clock := newTiming()
		if err := clock.level([]string{test.moves, "5", "2"}); err != nil {
			t.Fatal(err)
		}
		clock.own = 5 * time.Second
		if clock.used(time.Second, line); clock.own != test.want {
			t.Errorf("%s moves, %d plies: %v left, want %v", test.moves, test.plies, clock.own, test.want)
		}
	}
}

// TestNewGameForgetsLimits: neither depth nor nodes outlast a game, its clock does.
func TestNewGameForgetsLimits(t *testing.T) {
	clock := newTiming()
	clock.depth, clock.perSecond = 3, 400
	clock.newGame()
	lim := clock.limits(chess.NewLine(chess.Chess.Start()), chess.Black)
	if lim.Depth != 0 || lim.Nodes != 0 || lim.Time[chess.Black] != 5*time.Minute {
		t.Errorf("found %+v, expected the clock alone", lim)
	}
}
