package bus

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// Hole is a range of sequences, both ends included, that the stream does not
// have any more although they were not acknowledged: the server dropped them,
// as it does with a block of messages after a damaged one. Who published them
// has to publish them again.
type Hole struct{ First, Last uint64 }

// Len returns the number of messages that are missing.
func (h Hole) Len() uint64 { return h.Last - h.First + 1 }

// skipHoles returns how many of the messages follow on what is acknowledged
// with nothing between them but holes, which it notes.
func (b *Bus) skipHoles(ctx context.Context, msgs []Msg) (int, error) {
	c := &b.consumer
	next := c.acked + 1
	for i := range msgs {
		seq := msgs[i].Sequence
		if seq > next {
			first, err := b.firstFrom(ctx, next)
			if err != nil {
				return 0, err
			}
			if first == seq {
				c.note(Hole{First: next, Last: seq - 1})
				next = seq
			}
		}
		if seq != next { // a lost delivery, or one that came twice
			if i == 0 {
				c.misses++
			}
			return i, nil
		}
		c.misses = 0
		next++
	}
	return len(msgs), nil
}

// lookAtEnd is called when nothing came: the stream may be another one, or its
// end may be missing, which no later message shows if all actors wait for it
// to be acknowledged.
func (b *Bus) lookAtEnd(ctx context.Context) error {
	c := &b.consumer
	reqCtx, cancel := b.bound(ctx)
	defer cancel()
	info, err := b.games.Info(reqCtx)
	if err != nil {
		return err
	}
	last := info.State.LastSeq
	if info.Created.UnixNano() != c.stream || last < c.acked {
		c.unbind()
		return nil
	}
	if last == c.acked {
		return nil
	}
	first, err := b.firstFrom(ctx, c.acked+1)
	if err != nil {
		return err
	}
	if first != 0 && first <= last { // just published, or its delivery was lost
		c.unbind()
		return nil
	}
	c.note(Hole{First: c.acked + 1, Last: last})
	c.setAcked(last)
	return nil
}

// firstFrom returns the first sequence at or after seq that the stream has, 0 if
// there is none. The stream's leader answers: a copy may lag behind.
func (b *Bus) firstFrom(ctx context.Context, seq uint64) (uint64, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	m, err := b.games.GetMsg(ctx, seq, jetstream.WithGetMsgSubject(b.gameSubject("*")))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look for sequence %d: %w", seq, err)
	}
	return m.Sequence, nil
}

// note adds h to the holes to report, but for what is reported already: a hole
// comes again with the games around it until they are acknowledged.
func (c *gameConsumer) note(h Hole) {
	h.First = max(h.First, c.told+1)
	if h.First > h.Last {
		return
	}
	c.told = h.Last
	c.holes = append(c.holes, h)
	c.holeCount.Add(1)
	c.lostCount.Add(h.Len())
}
