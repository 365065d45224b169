package dataset

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/game/positions"
	"github.com/crazyhouse-rl/selfplay/replay/replaytest"
)

func fens(list []chess.Position) (out []string) {
	for i := range list {
		out = append(out, list[i].FEN())
	}
	return out
}

// writeBuffer writes a replay buffer with one game and returns it with the game.
func writeBuffer(t *testing.T) (string, *game.Game) {
	t.Helper()
	record, err := os.ReadFile("../game/testdata/v1/crazyhouse.game")
	if err != nil {
		t.Fatal(err)
	}
	g, err := game.Decode(record)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	replaytest.Store(t, dir, record)
	return dir, g
}

func TestBufferPositions(t *testing.T) {
	dir, g := writeBuffer(t)
	line := chess.NewLine(g.Start)
	var want []string
	for _, ply := range g.Plies {
		if ply.Train {
			want = append(want, line.Pos().FEN())
		}
		line.Push(ply.Move)
	}
	source := BufferPositions(t.Context(), dir, chess.Crazyhouse)
	list, err := positions.First(source, math.MaxInt)
	if err != nil || len(want) == 0 || !slices.Equal(fens(list), want) {
		t.Errorf("found %q, error %v, expected %q", fens(list), err, want)
	}
	if list, err := positions.First(source, 2); err != nil || len(list) != 2 {
		t.Errorf("found %d positions, error %v, expected 2", len(list), err)
	}
	if list, err := positions.First(source, 0); err != nil || len(list) != 0 {
		t.Errorf("found %d positions, error %v, expected none", len(list), err)
	}
	if _, err := positions.First(BufferPositions(t.Context(), dir, chess.Chess), 1); !errors.Is(err, ErrVariant) {
		t.Errorf("another variant: error %v", err)
	}
	if _, err := positions.First(BufferPositions(t.Context(), filepath.Join(dir, "none"), chess.Crazyhouse), 1); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list, err := positions.First(BufferPositions(ctx, dir, chess.Crazyhouse), 5); len(list) != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: found %d positions, error %v", len(list), err)
	}
}
