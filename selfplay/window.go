package selfplay

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// windowService is the service by which the replay role gives its games to a trainer
// on another machine.
const windowService = "replay.window"

const (
	mirrorEvery = time.Second // between questions when there was nothing new
	windowBytes = 900 << 10   // of an answer
)

// windowRequest asks for the games stored after a place. The answer is a
// [replay.Chunk].
type windowRequest struct {
	Schema  int    `json:"schema"`
	Segment uint64 `json:"segment"` // 0: from the oldest game that the window needs
	Offset  int64  `json:"offset"`  // bytes, in the segment
}

func (q *windowRequest) check() error {
	if q.Offset < 0 {
		return fmt.Errorf("found offset %d, expected 0 or more", q.Offset)
	}
	return checkSchema(q.Schema)
}

// answerWindow answers an encoded windowRequest.
func (in *ingester) answerWindow(request []byte) ([]byte, error) {
	var q windowRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	chunk, err := in.buffer.ReadFrom(replay.Cursor{Segment: q.Segment, Offset: q.Offset}, windowBytes)
	if err != nil {
		return nil, err
	}
	return chunk.Append(nil), nil
}

// askWindow is the source of a trainer's mirror.
func (r *Run) askWindow(ctx context.Context, after replay.Cursor) (replay.Chunk, error) {
	answer, err := r.bus.Ask(ctx, windowService, encodeMessage(&windowRequest{Schema: messageSchema, Segment: after.Segment, Offset: after.Offset}))
	if err != nil {
		return replay.Chunk{}, err
	}
	return replay.DecodeChunk(answer)
}

// copying says how far a trainer's copy of the window is.
type copying struct {
	whole         atomic.Bool            // it has caught up with the replay role since it began, or began anew
	stored, total atomic.Uint64          // positions: that the copy counts, and the replay role
	failed        atomic.Pointer[string] // why the last step failed; nil: it did not
}

// mirror keeps the trainer's copy of the window until ctx ends.
func (r *Run) mirror(ctx context.Context, m *replay.Mirror, c *copying) error {
	joined := false
	for ctx.Err() == nil {
		all, err := m.Step(ctx)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, replay.ErrBroken):
			return err
		case err != nil:
			text := err.Error()
			if said := c.failed.Swap(&text); said == nil || *said != text {
				r.log.Warn("the run's games cannot be read, trying again", "error", err)
			}
			pause.For(ctx, pause.Spread(r.wait(mirrorEvery)))
		default:
			c.failed.Store(nil)
			st := m.Stats()
			joined = joined || all
			c.stored.Store(st.Plies)
			c.total.Store(m.Total().Rows)
			c.whole.Store(joined && (all || m.Whole()))
			r.status.update(func(s *Status) { s.Games, s.Positions, s.Window = st.Games, st.Plies, st.WindowPlies })
			if all {
				pause.For(ctx, pause.Spread(r.wait(mirrorEvery)))
			}
		}
	}
	return nil
}
