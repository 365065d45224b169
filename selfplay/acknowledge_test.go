package selfplay

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// watchedStream is a bus that tells when it is asked to acknowledge, and whose
// rejects are out of order.
type watchedStream struct {
	*bus.Bus
	beforeAck func()
	acked     int
	rejected  int
}

func (s *watchedStream) AckGames(ctx context.Context, last bus.Msg) error {
	s.beforeAck()
	s.acked++
	return s.Bus.AckGames(ctx, last)
}

func (s *watchedStream) Reject(context.Context, string, []byte) error {
	s.rejected++
	return errors.New("no rejects today")
}

// shortGame returns the encoding of a game of one move.
func shortGame(t *testing.T, id string) []byte {
	t.Helper()
	v := chess.Crazyhouse
	line := chess.NewLine(v.Start())
	g := &game.Game{ID: id, Variant: v, Start: v.Start(), Outcome: chess.Draw, Reason: game.PlyLimit}
	move, err := line.Pos().ParseUCI("e2e4")
	if err != nil {
		t.Fatal(err)
	}
	g.Plies = []game.Ply{{Move: move, HasScore: true, Train: true}}
	data, err := game.Encode(nil, g)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// When a batch is acknowledged, its games are on disk, legal or not, and no copy
// of a refused one has been waited for.
func TestAcknowledgedAfterStored(t *testing.T) {
	t.Parallel()
	r, buffer := openWithBuffer(t, filepath.Join(t.TempDir(), "run"), smallConfig(t))
	for id, data := range map[string][]byte{"a": shortGame(t, "a"), "bad": []byte("junk"), "b": shortGame(t, "b")} {
		if _, err := r.bus.PublishGames(t.Context(), "test", id, [][]byte{data}); err != nil {
			t.Fatal(err)
		}
	}
	stream := &watchedStream{Bus: r.bus}
	stream.beforeAck = func() {
		stored := 0
		if err := replay.VisitIDs(r.path(replayDir), func(string) { stored++ }); err != nil || stored != 2 {
			t.Errorf("at the acknowledgement %d games are on disk (error %v), want 2", stored, err)
		}
		names, err := filepath.Glob(filepath.Join(r.path(replayDir), "quarantine", "*.game"))
		if err != nil || len(names) != 1 {
			t.Errorf("at the acknowledgement the quarantine holds %q (error %v)", names, err)
		}
		if stream.rejected != 0 {
			t.Error("the acknowledgement waited for the bus's copy of a refused game")
		}
	}
	in := &ingester{run: r, stream: stream, buffer: buffer}
	if err := in.drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if st := r.Status(); st.Games != 2 || st.Quarantined != 1 || stream.rejected != 1 {
		t.Errorf("%d games, %d quarantined, %d rejected; want 2, 1, 1", st.Games, st.Quarantined, stream.rejected)
	}
	if st, err := r.bus.Stats(t.Context()); err != nil || st.Pending+uint64(st.Unacked) != 0 {
		t.Errorf("not acknowledged: %+v, error %v", st, err)
	}
}

// What is not on disk is not acknowledged and comes again.
func TestFailedBatchIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "run")
	r, closed := openWithBuffer(t, dir, smallConfig(t))
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.bus.PublishGames(t.Context(), "test", "a", [][]byte{shortGame(t, "a")}); err != nil {
		t.Fatal(err)
	}
	stream := &watchedStream{Bus: r.bus, beforeAck: func() {}}
	in := &ingester{run: r, stream: stream, buffer: closed}
	if _, err := in.once(t.Context(), time.Minute); !errors.Is(err, replay.ErrClosed) || stream.acked != 0 {
		t.Fatalf("error %v with %d acknowledgements, want ErrClosed and none", err, stream.acked)
	}
	buffer, err := openBuffer(r)
	if err != nil {
		t.Fatal(err)
	}
	defer buffer.Close()
	in.buffer = buffer
	if n, err := in.once(t.Context(), time.Minute); n != 1 || err != nil || stream.acked != 1 {
		t.Errorf("then %d games, error %v, %d acknowledgements; want 1, none and 1", n, err, stream.acked)
	}
}
