package bus

import (
	"fmt"

	"github.com/nats-io/nats.go"
)

// watchedPending is how many messages of games may wait for a watcher. Of more it misses
// some: nobody waits for it.
const watchedPending = 1024

// WatchGames calls visit with the games of every message that actors publish from now on,
// whether the stream takes them or not: encoded, plain or sealed, and not checked. Visit is
// called by one goroutine at a time. It takes nothing from the stream, and misses messages
// while the connection is lost. It ends when stop is called or the Conn closes.
func (b *Bus) WatchGames(visit func(games [][]byte)) (stop func(), err error) {
	sub, err := b.conn.nc.Subscribe(b.gameSubject("*"), func(m *nats.Msg) {
		if games, err := DecodeBundle(m.Data); err == nil {
			visit(games)
		}
	})
	if err == nil {
		err = sub.SetPendingLimits(watchedPending, watchedPending*MaxPayload)
	}
	if err != nil {
		return nil, fmt.Errorf("watch games: %w", mapUnavailable(err))
	}
	return func() { _ = sub.Unsubscribe() }, nil // a closed connection has done that
}
