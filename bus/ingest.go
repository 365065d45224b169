package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// MaxUnacked is how many messages of games may be fetched and not yet
	// acknowledged; at the limit Games returns nothing.
	MaxUnacked = 2048

	maxFetchBytes = 16 << 20              // of one Games call, about
	maxFetch      = 64                    // messages asked for at a time: at most 58 MiB
	fetchLinger   = 20 * time.Millisecond // for more games once there is one, if the server has none now
	fetchKnown    = time.Second           // for games that the server has

	storedOverhead = 256 // bytes that a message takes in the stream beside its data, about
)

// Batch is what one call of Games found.
type Batch struct {
	Msgs  []Msg
	Holes []Hole
}

// Games returns the number of games in the messages.
func (b *Batch) Games() int {
	n := 0
	for i := range b.Msgs {
		n += len(b.Msgs[i].Games)
	}
	return n
}

// Msg is one fetched message of games.
type Msg struct {
	Actor    string   // who played, from the subject
	Games    [][]byte // encoded games, plain or sealed
	Err      error    // why Games is empty: the message is not a bundle; wraps ErrBundle
	Data     []byte   // the whole message
	Sequence uint64   // place in the stream

	msg     jetstream.Msg
	waiting uint64 // messages behind it when it was delivered
}

// Games waits up to wait for games and returns the oldest ones that are not
// acknowledged, in order. It returns an empty batch, without an error, if none
// came. Games that were returned and not acknowledged come again with the next
// call. One ingester per run calls it.
//
// max says roughly how many games are wanted: a message is never split, and
// how many of them are fetched is reckoned from the first one. A batch has at
// most MaxUnacked messages and about 16 MiB.
//
// Since an acknowledgement covers everything before it, a delivery that went
// missing would be acknowledged unseen with the next one: after a gap in the
// sequence the stream itself is asked. What it has is asked for again, and
// what lies after it is not returned yet. What it has not is a hole, which is
// skipped and reported once.
//
// Games and AckGames also remove what is acknowledged from the stream, so that
// one which is full of such games has room again before anything is waited for.
// The error wraps ErrUnavailable while the servers cannot answer, as those of a cluster
// that have just lost the consumer.
func (b *Bus) Games(ctx context.Context, max int, wait time.Duration) (Batch, error) {
	if max <= 0 {
		return Batch{}, nil
	}
	b.consumer.mu.Lock()
	defer b.consumer.mu.Unlock()
	c := &b.consumer
	if c.returned > c.acked {
		c.unbind() // binding again asks for everything not acknowledged
	}
	for deadline := time.Now().Add(wait); ; {
		batch, err := b.nextBatch(ctx, max, wait)
		if err != nil {
			c.unbind()
			return Batch{}, fmt.Errorf("fetch games: %w", mapUnavailable(err))
		}
		if len(batch.Msgs) > 0 || len(batch.Holes) > 0 {
			return batch, nil
		}
		if wait = time.Until(deadline); wait <= 0 {
			return Batch{}, nil
		}
	}
}

// nextBatch does what Games does, once: it may return nothing before its time
// is over. The mutex of b.consumer is held.
func (b *Bus) nextBatch(ctx context.Context, max int, wait time.Duration) (Batch, error) {
	bound, err := b.bindConsumer(ctx)
	if err != nil {
		return Batch{}, err
	}
	if err := b.purgeIfDue(ctx); err != nil {
		return Batch{}, err
	}
	// A fetch ends when it is full or its time is over, so the first message
	// is waited for alone.
	msgs, err := b.fetch(ctx, bound, nil, 1, wait)
	if err == nil && len(msgs) == 1 {
		if n := messagesFor(max, len(msgs[0].Games)); n > 1 {
			msgs, err = b.fetchMore(ctx, bound, msgs, n-1)
		}
	}
	if err == nil && len(msgs) == 0 {
		err = b.lookAtEnd(ctx)
	}
	if err != nil {
		return Batch{}, err
	}
	c := &b.consumer
	whole, err := b.skipHoles(ctx, msgs)
	if err != nil {
		return Batch{}, err
	}
	if whole < len(msgs) {
		c.unbind()
	}
	msgs = msgs[:whole]
	if whole > 0 {
		c.returned = msgs[whole-1].Sequence
	}
	for i := range msgs {
		c.unpurged += storedBytes(&msgs[i])
	}
	batch := Batch{Msgs: msgs, Holes: c.holes}
	c.holes = nil
	return batch, nil
}

// fetchMore appends up to n messages to the first one: those that the server has, and
// if there are none, those that come within a moment. What the server has may take
// it long: where actors publish as fast as it syncs, each delivery waits for a sync.
func (b *Bus) fetchMore(ctx context.Context, c jetstream.Consumer, first []Msg, n int) ([]Msg, error) {
	waiting := first[0].waiting
	if waiting == 0 {
		return b.fetch(ctx, c, first, min(n, maxFetch), fetchLinger)
	}
	msgs, size := first, storedBytes(&first[0])
	for left := int(min(uint64(n), waiting)); left > 0 && size < maxFetchBytes; {
		before := len(msgs)
		var err error
		if msgs, err = b.fetch(ctx, c, msgs, min(left, maxFetch), fetchKnown); err != nil || len(msgs) == before {
			return msgs, err
		}
		for i := before; i < len(msgs); i++ {
			size += storedBytes(&msgs[i])
		}
		left -= len(msgs) - before
	}
	return msgs, nil
}

// messagesFor reckons how many messages hold about the given number of games,
// if the first one holds perMessage.
func messagesFor(games, perMessage int) int {
	perMessage = max(perMessage, 1)
	return min((games+perMessage-1)/perMessage, MaxUnacked)
}

func storedBytes(m *Msg) int64 { return int64(storedOverhead + len(m.Data)) }

// fetch appends up to n messages that come within wait. The request has no limit of
// bytes: when one with such a limit is complete, the server says so, and in a cluster
// it says so before the last message has come, which is then lost to the request.
func (b *Bus) fetch(ctx context.Context, c jetstream.Consumer, dst []Msg, n int, wait time.Duration) ([]Msg, error) {
	fetchCtx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	batch, err := c.Fetch(n, jetstream.FetchContext(fetchCtx))
	if err != nil {
		// The context's timer may be late, where the client looks at the clock.
		if end, _ := fetchCtx.Deadline(); ctx.Err() == nil && !time.Now().Before(end) {
			err = nil // a busy machine: the time was over before the request was sent
		}
		return dst, err
	}
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return dst, err
		}
		dst = append(dst, b.newMsg(m, meta))
	}
	err = batch.Error()
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil // nothing more came in time
	}
	return dst, err
}

func (b *Bus) newMsg(m jetstream.Msg, meta *jetstream.MsgMetadata) Msg {
	msg := Msg{Actor: strings.TrimPrefix(m.Subject(), b.gameSubject("")), Data: m.Data(), Sequence: meta.Sequence.Stream, msg: m, waiting: meta.NumPending}
	msg.Games, msg.Err = DecodeBundle(msg.Data)
	return msg
}

// AckGames acknowledges last and every message before it, and returns once the
// server knows.
func (b *Bus) AckGames(ctx context.Context, last Msg) error {
	if last.msg == nil {
		return errors.New("acknowledge games: message was not fetched")
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	b.consumer.mu.Lock()
	defer b.consumer.mu.Unlock()
	c := &b.consumer
	c.asked = max(c.asked, last.Sequence)
	if err := last.msg.DoubleAck(ctx); err != nil {
		c.unbind() // it may have arrived all the same
		return fmt.Errorf("acknowledge games up to sequence %d: %w", last.Sequence, err)
	}
	c.setAcked(max(c.acked, last.Sequence))
	if err := b.purgeIfDue(ctx); err != nil {
		b.warn("acknowledged games not removed from the stream yet", "error", err) // Games tries again
	}
	return nil
}
