package bus

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	operationHeader = "KV-Operation" // of the key-value protocol
	operationDelete = "DEL"
)

// wrongLastSequence are the errors of a compare-and-set that lost, the second one of
// streams with several copies.
var wrongLastSequence = []jetstream.ErrorCode{
	jetstream.JSErrCodeStreamWrongLastSequence, jetstream.JSErrCodeStreamWrongLastSequenceConstant,
}

// Touch makes the pointers under keys this lease's own: what a former holder has
// on its way to one of them will fail. A new holder calls it before it reads
// them. Values stay as they are; revisions change unless the former holder ended
// in good order. The error wraps ErrFenced if the lease is lost.
func (l *Lease) Touch(ctx context.Context, keys ...string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if err := l.touch(ctx, key); err != nil {
			return fmt.Errorf("touch pointer %q: %w", key, err)
		}
	}
	return nil
}

func (l *Lease) touch(ctx context.Context, key string) error {
	if err := l.renew(ctx); err != nil {
		return err
	}
	for {
		revision, deleted, err := l.bus.touchOnce(ctx, key, l.clean)
		if errors.Is(err, ErrConflict) && ctx.Err() == nil {
			continue // the former holder wrote meanwhile, or a copy of the bucket was behind
		}
		if err != nil {
			return err
		}
		l.absent[key] = 0
		if deleted {
			l.absent[key] = revision
		}
		return nil
	}
}

// touchOnce writes again what stands under key, a deletion if nothing does, and
// returns its new revision; look leaves it as it is.
func (b *Bus) touchOnce(ctx context.Context, key string, look bool) (revision uint64, deleted bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	m := nats.NewMsg("$KV." + b.ctlName() + "." + key)
	last, err := b.ctlStream.GetLastMsgForSubject(ctx, m.Subject)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		deleted = true
	case err != nil:
		return 0, false, mapUnavailable(err)
	default:
		m.Data, revision = last.Data, last.Sequence
		deleted = last.Header.Get(operationHeader) != ""
	}
	if look {
		return revision, deleted, nil
	}
	if deleted {
		m.Data = nil
		m.Header.Set(operationHeader, operationDelete)
	}
	ack, err := b.js.PublishMsg(ctx, m, jetstream.WithExpectLastSequencePerSubject(revision), jetstream.WithRetryAttempts(0))
	var api *jetstream.APIError
	if errors.As(err, &api) && slices.Contains(wrongLastSequence, api.ErrorCode) {
		return 0, false, ErrConflict
	}
	if err != nil {
		return 0, false, mapUnavailable(err)
	}
	return ack.Sequence, deleted, nil
}

// SetPointer is Bus.SetPointer, under the lease: it fails, with an error that
// wraps ErrFenced, once another process has taken the lease and touched the
// pointer. The pointer must have been touched under this lease.
func (l *Lease) SetPointer(ctx context.Context, key, value string, revision uint64) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	absent, touched := l.absent[key]
	if !touched {
		return 0, fmt.Errorf("pointer %q: the lease of %q has not touched it", key, l.role)
	}
	if err := l.renew(ctx); err != nil {
		return 0, fmt.Errorf("pointer %q: %w", key, err)
	}
	if l.renewedHook != nil {
		l.renewedHook()
	}
	if revision == 0 {
		revision = absent
	}
	requestCtx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	set, err := l.bus.ctl.Update(requestCtx, key, []byte(value), revision)
	if err == nil {
		return set, nil
	}
	err = pointerError(key, err)
	if !errors.Is(err, ErrConflict) {
		l.doubt = true
		return 0, err
	}
	// Who came after us, or another writer?
	if e := l.renew(ctx); errors.Is(e, ErrFenced) {
		err = fmt.Errorf("%w: %w", e, err)
	}
	return 0, err
}
