package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	consumerName = "ingest"
	ackWait      = time.Minute
	maxMisses    = 3 // deliveries asked for again before the consumer is started over
	maxSilence   = 8 // questions after the consumer without an answer likewise; each takes 5 s
)

// gameConsumer is the consumer of the game stream and how far it is read.
type gameConsumer struct {
	mu    sync.Mutex
	bound jetstream.Consumer // nil until it is looked at for the first time
	stale atomic.Bool

	// While the consumer is bound:
	stream   int64  // which stream this is about
	acked    uint64 // sequence up to which all is acknowledged or missing
	asked    uint64 // last sequence whose acknowledgement was sent
	returned uint64 // last sequence that Games returned
	misses   int    // times in a row that the next message was not delivered
	silent   int    // times in a row that the servers answered for the stream and not for the consumer
	told     uint64 // sequence up to which holes are reported
	holes    []Hole // found and not yet returned

	maxBytes int64     // room of the stream
	unpurged int64     // bytes to purge, at least those that are acknowledged
	purged   time.Time // when the last purge was

	floor     atomic.Pointer[Floor]
	holeCount atomic.Uint64
	lostCount atomic.Uint64 // messages in the holes
}

func (c *gameConsumer) unbind() { c.stale.Store(true) }

// setAcked notes that the ingester is done with everything up to sequence.
func (c *gameConsumer) setAcked(sequence uint64) {
	c.acked = sequence
	c.floor.Store(&Floor{Stream: c.stream, Sequence: sequence})
}

// Floor says how far the ingester is.
type Floor struct {
	Stream   int64  // which stream; see [Stats]
	Sequence uint64 // all messages up to it are acknowledged or in a reported hole
}

// Floor returns how far the ingester of this bus is, the zero Floor before its
// first call of Games. It asks nobody.
func (b *Bus) Floor() Floor {
	if f := b.consumer.floor.Load(); f != nil {
		return *f
	}
	return Floor{}
}

// bindConsumer returns the consumer, looking at it afresh after the run was
// joined, the connection was lost or the consumer vanished. A game stream that
// is gone, since the server's disk was lost, is made anew. The mutex of
// b.consumer is held.
func (b *Bus) bindConsumer(ctx context.Context) (jetstream.Consumer, error) {
	c := &b.consumer
	if c.bound != nil && !c.stale.Load() {
		return c.bound, nil
	}
	c.stale.Store(false)
	fresh, err := b.freshConsumer(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		b.warn("the server has lost the game stream, making it anew", "stream", b.gamesName())
		if _, err = b.makeObjects(ctx); err == nil {
			fresh, err = b.freshConsumer(ctx)
		}
	}
	if err != nil {
		c.stale.Store(true)
		return nil, fmt.Errorf("consumer %s of stream %s: %w", consumerName, b.gamesName(), err)
	}
	c.bound = fresh
	return fresh, nil
}

func (b *Bus) freshConsumer(ctx context.Context) (jetstream.Consumer, error) {
	cfg := jetstream.ConsumerConfig{
		Durable:       consumerName,
		Description:   "the replay buffer",
		DeliverPolicy: jetstream.DeliverAllPolicy,
		AckPolicy:     jetstream.AckAllPolicy,
		AckWait:       ackWait,
		MaxDeliver:    -1,
		MaxAckPending: MaxUnacked,
	}
	c := &b.consumer
	fresh, silence := b.games.CreateOrUpdateConsumer(ctx, cfg)
	if silence != nil && !errors.Is(silence, context.DeadlineExceeded) {
		return nil, silence
	}
	stream, err := b.games.Info(ctx)
	if err != nil {
		c.silent = 0
		return nil, err
	}
	if silence != nil {
		// The servers that hold the consumer may have lost it in ways of which its group
		// never finds a leader again. What its stream has is delivered by another one.
		if c.silent++; c.silent < maxSilence {
			return nil, silence
		}
		b.warn("the servers answer for the stream of games and not for its consumer, starting it over", "times", c.silent, "error", silence)
		return b.restartConsumer(ctx, cfg, max(stream.State.FirstSeq, 1)-1)
	}
	c.silent = 0
	floor := fresh.CachedInfo().AckFloor.Stream
	gone := max(stream.State.FirstSeq, 1) - 1 // the last sequence that has left the stream
	// What this ingester knows, and not the floor: the server lifts that over what it lost,
	// and begins at 0 where it has copies, whatever was purged before.
	c.asked = min(c.asked, stream.State.LastSeq) // the end may be lost
	known := max(c.acked, c.asked)
	if created := stream.Created.UnixNano(); created != c.stream {
		if c.stream != 0 {
			b.warn("the game stream is another one than before", "made", stream.Created)
		}
		c.stream, c.asked, c.told, c.misses, c.purged = created, 0, 0, 0, time.Now()
		b.stream.set(created)
		known = cmp.Or(floor, gone)
	}
	c.maxBytes, c.returned = stream.Config.MaxBytes, 0
	switch {
	case floor > stream.State.LastSeq:
		// The server lost the end of the stream but not the consumer's
		// state. New games would reuse sequences that count as delivered.
		b.warn("consumer is ahead of its stream, starting it over", "acknowledged", floor, "last", stream.State.LastSeq)
		return b.restartConsumer(ctx, cfg, gone)
	case c.misses >= maxMisses:
		// In a cluster another server may lead the consumer than the stream,
		// and may have a damaged copy.
		b.warn("consumer does not deliver what its stream has, starting it over", "next", c.acked+1)
		return b.restartConsumer(ctx, cfg, gone)
	}
	if gone > known { // Purge stops at what is acknowledged
		c.note(Hole{First: known + 1, Last: gone})
	}
	c.setAcked(max(floor, gone))
	if c.unpurged = 0; c.acked > gone {
		c.unpurged = int64(stream.State.Bytes)
	}
	if fresh.CachedInfo().NumAckPending > 0 {
		// What a predecessor fetched and did not acknowledge shall come now,
		// not after ackWait. A server that cannot do this still delivers it
		// then.
		if _, err := b.js.ResetConsumer(ctx, b.gamesName(), consumerName); err != nil {
			b.warn("consumer reset failed, unacknowledged games come late", "after", ackWait, "error", err)
		}
	}
	return fresh, nil
}

// restartConsumer makes the consumer anew. It delivers everything that the
// stream has, which begins after the sequence gone.
func (b *Bus) restartConsumer(ctx context.Context, cfg jetstream.ConsumerConfig, gone uint64) (jetstream.Consumer, error) {
	if err := b.games.DeleteConsumer(ctx, consumerName); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
		return nil, err
	}
	c := &b.consumer
	c.setAcked(gone)
	c.asked, c.told, c.misses, c.silent, c.unpurged = gone, gone, 0, 0, 0
	return b.games.CreateOrUpdateConsumer(ctx, cfg)
}

// streamIdentity is which game stream publishing goes to, as far as the bus
// knows.
type streamIdentity struct {
	created  atomic.Int64 // when the server made it, in nanoseconds since 1970; 0: not known
	doubtful atomic.Bool  // it may be another one by now
	last     atomic.Uint64
}

func (s *streamIdentity) doubt() { s.doubtful.Store(true) }

func (s *streamIdentity) set(created int64) { s.created.Store(created) }

// known returns the identity, from the server if there is doubt.
func (s *streamIdentity) known(ctx context.Context, games jetstream.Stream) (int64, error) {
	if created := s.created.Load(); created != 0 && !s.doubtful.Load() {
		return created, nil
	}
	s.doubtful.Store(false)
	info, err := games.Info(ctx)
	if err != nil {
		s.doubtful.Store(true)
		return 0, err
	}
	s.set(info.Created.UnixNano())
	return s.created.Load(), nil
}

// stored looks at the answer to a publish: sequences that do not grow are
// those of another stream, or of one that lost its end.
func (s *streamIdentity) stored(ack *jetstream.PubAck) {
	if !ack.Duplicate && s.last.Swap(ack.Sequence) >= ack.Sequence {
		s.doubt()
	}
}
