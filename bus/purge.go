package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// What is acknowledged leaves the stream when it takes this part of its room,
// or after this time.
const (
	purgeShare = 16
	purgeEvery = 10 * time.Second
)

// purgeIfDue removes what is acknowledged if it takes a share of the stream's
// room or has been there for a while. The mutex of b.consumer is held.
func (b *Bus) purgeIfDue(ctx context.Context) error {
	c := &b.consumer
	large := c.maxBytes > 0 && c.unpurged >= c.maxBytes/purgeShare
	if c.unpurged == 0 || !large && time.Since(c.purged) < purgeEvery {
		return nil
	}
	if _, err := b.Purge(ctx); err != nil {
		return err
	}
	c.unpurged, c.purged = 0, time.Now()
	return nil
}

// Purge removes the games up to the last acknowledged one, and says how many
// bytes the stream holds afterwards. Games and AckGames do it by themselves
// often enough to keep room.
func (b *Bus) Purge(ctx context.Context) (left uint64, err error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	if left, err = b.purge(ctx); err != nil {
		return 0, fmt.Errorf("purge games: %w", err)
	}
	return left, nil
}

func (b *Bus) purge(ctx context.Context) (left uint64, err error) {
	info, err := b.games.Info(ctx)
	if err != nil {
		return 0, err
	}
	floor, err := b.ackFloor(ctx)
	if err != nil {
		return 0, err
	}
	// A consumer ahead of its stream has not seen what is there now; Games
	// puts that right.
	if floor < info.State.FirstSeq || floor > info.State.LastSeq {
		return info.State.Bytes, nil
	}
	// The server removes what lies before the sequence, not the sequence.
	if err := b.games.Purge(ctx, jetstream.WithPurgeSequence(floor+1)); err != nil {
		return 0, fmt.Errorf("up to sequence %d: %w", floor, err)
	}
	if info, err = b.games.Info(ctx); err != nil {
		return 0, err
	}
	return info.State.Bytes, nil
}

// ackFloor is the sequence up to which all games are acknowledged, 0 before
// the consumer exists.
func (b *Bus) ackFloor(ctx context.Context) (uint64, error) {
	c, err := b.games.Consumer(ctx, consumerName)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return c.CachedInfo().AckFloor.Stream, nil
}
