package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Stats are the figures of the game stream and its ingester.
type Stats struct {
	Stream   int64  // which stream it is: when the server made it, in nanoseconds since 1970
	Messages uint64 // messages of games in the stream
	Bytes    uint64 // they take, headers included
	MaxBytes int64  // room for them; at the limit publishing fails with ErrFull
	FirstSeq uint64 // oldest message in the stream
	LastSeq  uint64 // newest message ever stored
	Missing  uint64 // sequences from FirstSeq to LastSeq that the stream does not have

	Oldest time.Time `json:",omitzero"` // when the oldest message came; zero if there is none
	Newest time.Time `json:",omitzero"` // when the newest message ever stored came; zero if there was none

	Pending  uint64 // messages not fetched yet
	Unacked  int    // messages fetched and not acknowledged; MaxUnacked stops the ingester
	AckFloor uint64 // sequence up to which all are acknowledged

	Holes uint64 // reported by Games of this bus
	Lost  uint64 // messages in them

	Rejects uint64 // messages in the reject stream
}

// Stored reports whether every message is acknowledged, as far as is known: Pending may be
// behind the stream for a moment, and AckFloor may stay below messages that were deleted.
func (s *Stats) Stored() bool { return s.Pending == 0 && s.Unacked == 0 && s.AckFloor >= s.LastSeq }

// Stats asks the server. Before the consumer exists, all games are pending. The error wraps
// ErrDenied if the user may not know.
func (b *Bus) Stats(ctx context.Context) (Stats, error) {
	began := time.Now()
	s, err := b.stats(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("bus stats: %w", b.conn.orDenied(began, err))
	}
	return s, nil
}

// End returns which game stream there is, as Stats.Stream, and the sequence of the newest
// message ever stored in it. That goes back if the servers' store is put back from an earlier
// copy, and may be late for a moment after a cluster has chosen another leader.
func (b *Bus) End(ctx context.Context) (stream int64, sequence uint64, err error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	info, err := b.games.Info(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("end of the stream of games: %w", mapUnavailable(err))
	}
	return info.Created.UnixNano(), info.State.LastSeq, nil
}

func (b *Bus) stats(ctx context.Context) (Stats, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	info, err := b.games.Info(ctx)
	if err != nil {
		return Stats{}, err
	}
	b.stream.set(info.Created.UnixNano())
	s := Stats{
		Stream:   info.Created.UnixNano(),
		Messages: info.State.Msgs,
		Bytes:    info.State.Bytes,
		MaxBytes: info.Config.MaxBytes,
		FirstSeq: info.State.FirstSeq,
		LastSeq:  info.State.LastSeq,
		Missing:  uint64(info.State.NumDeleted),
		Newest:   info.State.LastTime,
		Pending:  info.State.Msgs,
		Holes:    b.consumer.holeCount.Load(),
		Lost:     b.consumer.lostCount.Load(),
	}
	if s.Messages > 0 {
		s.Oldest = info.State.FirstTime
	}
	switch c, err := b.games.Consumer(ctx, consumerName); {
	case err == nil:
		ci := c.CachedInfo()
		s.Pending, s.Unacked, s.AckFloor = ci.NumPending, ci.NumAckPending, ci.AckFloor.Stream
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return Stats{}, err
	}
	rejects, err := b.rejects.Info(ctx)
	if err != nil {
		return Stats{}, err
	}
	s.Rejects = rejects.State.Msgs
	return s, nil
}
