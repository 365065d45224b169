package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
)

// PointerHistories returns the values that each pointer of the run has had, oldest first,
// as PointerHistory does for one. Leases are left out, and pointers that were deleted.
func (b *Bus) PointerHistories(ctx context.Context) (map[string][]Pointer, error) {
	ctx, cancel := b.transferContext(ctx, 0)
	defer cancel()
	all, err := b.pointerHistories(ctx)
	if err != nil {
		return nil, fmt.Errorf("pointers of run %q: %w", b.id, mapUnavailable(err))
	}
	return all, nil
}

func (b *Bus) pointerHistories(ctx context.Context) (map[string][]Pointer, error) {
	w, err := b.ctl.WatchAll(ctx, jetstream.IncludeHistory())
	if err != nil {
		return nil, err
	}
	entries, err := drainWatch(ctx, w)
	if err != nil {
		return nil, err
	}
	all := map[string][]Pointer{}
	for _, e := range entries {
		switch {
		case strings.HasPrefix(e.Key(), leasePrefix):
		case e.Operation() != jetstream.KeyValuePut:
			delete(all, e.Key())
		default:
			all[e.Key()] = addPointer(all[e.Key()], pointerOf(e))
		}
	}
	return all, nil
}

// PendingMessage is a message of the game stream that is not acknowledged.
type PendingMessage struct {
	Actor string // who played, from the subject
	ID    string // that it was published under
	Data  []byte
}

// VisitPending calls visit with every message of games that is not acknowledged, oldest
// first. It does not consume them: they come to the ingester as if it had not been
// called. Those that are acknowledged meanwhile may be left out. It ends with the first
// error of visit.
func (b *Bus) VisitPending(ctx context.Context, visit func(PendingMessage) error) error {
	if err := b.visitPending(ctx, visit); err != nil {
		return fmt.Errorf("pending games: %w", mapUnavailable(err))
	}
	return nil
}

func (b *Bus) visitPending(ctx context.Context, visit func(PendingMessage) error) error {
	st, err := b.Stats(ctx)
	if err != nil {
		return err
	}
	for seq := max(st.AckFloor+1, st.FirstSeq); seq <= st.LastSeq; seq++ {
		m, err := b.message(ctx, b.games, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		p := PendingMessage{Actor: strings.TrimPrefix(m.Subject, b.gameSubject("")), ID: m.Header.Get(jetstream.MsgIDHeader), Data: m.Data}
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// message asks for one message of a stream.
func (b *Bus) message(ctx context.Context, of jetstream.Stream, seq uint64) (*jetstream.RawStreamMsg, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	return of.GetMsg(ctx, seq)
}

// PublishPending stores a message that VisitPending returned. All else is as of
// PublishGames, but what is in the message is not looked at.
func (b *Bus) PublishPending(ctx context.Context, m PendingMessage) error {
	if len(m.Data) > MaxPayload {
		return fmt.Errorf("publish message %.80s: %w: %d bytes, at most %d", m.ID, ErrTooLarge, len(m.Data), MaxPayload)
	}
	_, err := b.publishMessage(ctx, m.Actor, m.ID, m.Data)
	return err
}
