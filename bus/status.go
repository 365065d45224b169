package bus

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
)

// Stats are the figures of the game stream and its ingester.
type Stats struct {
	Messages uint64 // games in the stream
	Bytes    uint64 // they take, headers included
	MaxBytes int64  // room for them; at the limit publishing fails with ErrFull
	FirstSeq uint64 // oldest game in the stream
	LastSeq  uint64 // newest game ever stored

	Pending  uint64 // games not fetched yet
	Unacked  int    // games fetched and not acknowledged; MaxUnacked stops the ingester
	AckFloor uint64 // sequence up to which all are acknowledged

	Rejects uint64 // messages in the reject stream
}

// Stats asks the server. Before the consumer exists, all games are pending.
func (b *Bus) Stats(ctx context.Context) (Stats, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	info, err := b.games.Info(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("bus stats: %w", err)
	}
	s := Stats{
		Messages: info.State.Msgs,
		Bytes:    info.State.Bytes,
		MaxBytes: info.Config.MaxBytes,
		FirstSeq: info.State.FirstSeq,
		LastSeq:  info.State.LastSeq,
		Pending:  info.State.Msgs,
	}
	switch c, err := b.games.Consumer(ctx, consumerName); {
	case err == nil:
		ci := c.CachedInfo()
		s.Pending, s.Unacked, s.AckFloor = ci.NumPending, ci.NumAckPending, ci.AckFloor.Stream
	case !errors.Is(err, jetstream.ErrConsumerNotFound):
		return Stats{}, fmt.Errorf("bus stats: %w", err)
	}
	rejects, err := b.rejects.Info(ctx)
	if err != nil {
		return Stats{}, fmt.Errorf("bus stats: %w", err)
	}
	s.Rejects = rejects.State.Msgs
	return s, nil
}

// Health returns nil if the run can publish: the connection stands, the
// server answers for the game stream and, where the server is embedded, no
// stream was lost at start or stopped by a disk error. Errors wrap
// ErrUnhealthy.
func (b *Bus) Health(ctx context.Context) error {
	if !b.nc.IsConnected() {
		return fmt.Errorf("%w: not connected to the server: %v", ErrUnhealthy, b.nc.Status())
	}
	if b.srv != nil {
		if h := b.srv.Healthz(&server.HealthzOptions{}); h.StatusCode != http.StatusOK {
			return fmt.Errorf("%w: server says %s: %s", ErrUnhealthy, h.Status, h.Error)
		}
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if _, err := b.games.Info(ctx); err != nil {
		return fmt.Errorf("%w: stream %s: %w", ErrUnhealthy, b.gamesName(), err)
	}
	return nil
}
