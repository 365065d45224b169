package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const pointerHistory = 64 // revisions kept of each pointer, the most a server allows

// Pointer is a small value under a key, such as the id of the best net.
type Pointer struct {
	Value    string
	Revision uint64    // grows with every change of any pointer of the run
	Time     time.Time // when the server stored it
}

// Pointer returns the current value under key. The error wraps ErrNoPointer
// if there is none.
func (b *Bus) Pointer(ctx context.Context, key string) (Pointer, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	e, err := b.ctl.Get(ctx, key)
	if err != nil {
		return Pointer{}, pointerError(key, err)
	}
	return pointerOf(e), nil
}

// SetPointer changes key from the given revision to value and returns the
// new revision. Revision 0 means the pointer must not exist yet. The error
// wraps ErrConflict if it has another revision.
func (b *Bus) SetPointer(ctx context.Context, key, value string, revision uint64) (uint64, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	var rev uint64
	var err error
	if revision == 0 {
		rev, err = b.ctl.Create(ctx, key, []byte(value))
	} else {
		rev, err = b.ctl.Update(ctx, key, []byte(value), revision)
	}
	if err != nil {
		return 0, pointerError(key, err)
	}
	return rev, nil
}

// PointerHistory returns the values that key has had, oldest first, as far as the
// server keeps them: 64 revisions. A value that was written again, as Lease.Touch
// does, stands there once, with its newest revision and the time when it was new.
// There is none, without an error, if the key never had a value.
func (b *Bus) PointerHistory(ctx context.Context, key string) ([]Pointer, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	entries, err := b.ctl.History(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("history of %w", pointerError(key, err))
	}
	var ps []Pointer
	for _, e := range entries {
		if e.Operation() == jetstream.KeyValuePut {
			ps = addPointer(ps, pointerOf(e))
		}
	}
	return ps, nil
}

// addPointer adds a revision to a history. One that has the value of the one before takes
// its place, but for the time.
func addPointer(ps []Pointer, p Pointer) []Pointer {
	if n := len(ps); n > 0 && ps[n-1].Value == p.Value {
		ps[n-1].Revision = p.Revision
		return ps
	}
	return append(ps, p)
}

func pointerOf(e jetstream.KeyValueEntry) Pointer {
	return Pointer{Value: string(e.Value()), Revision: e.Revision(), Time: e.Created()}
}

func pointerError(key string, err error) error {
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound): // a deleted key too
		err = ErrNoPointer
	case errors.Is(err, jetstream.ErrKeyExists), errors.Is(err, jetstream.ErrKeyRevisionMismatch):
		err = ErrConflict
	case errors.Is(err, jetstream.ErrInvalidKey):
		err = fmt.Errorf("%w: %w", ErrName, err)
	default:
		err = mapUnavailable(err)
	}
	return fmt.Errorf("pointer %q: %w", key, err)
}

// WatchPointer sends the value of key, if it has one, and then every change,
// until ctx ends or the bus closes; then it closes the channel. A slow
// reader sees only the newest value. Lost connections and a restarted server
// are lived through, also one that is away when the watch begins.
func (b *Bus) WatchPointer(ctx context.Context, key string) (<-chan Pointer, error) {
	ctx, cancel := context.WithCancel(ctx)
	first, err := b.ctl.Watch(ctx, key, jetstream.IgnoreDeletes())
	if err != nil {
		first = nil
		if err = pointerError(key, err); ctx.Err() != nil || !errors.Is(err, ErrUnavailable) {
			cancel()
			return nil, err
		}
	}
	w := &watch{bus: b, key: key, out: make(chan Pointer, 1)}
	open := b.conn.start(ctx, func(ctx context.Context) {
		defer cancel()
		w.run(ctx, first)
	})
	if !open {
		cancel()
		return nil, fmt.Errorf("pointer %q: bus is closed", key)
	}
	return w.out, nil
}

// watch is the goroutine of WatchPointer, which begins without a watch of the server if
// that is away. The server's watch reports a
// change at once but may fall silent without an error when the connection is
// lost, so the pointer is also polled.
type watch struct {
	bus  *Bus
	key  string
	out  chan Pointer
	last Pointer
}

func (w *watch) run(ctx context.Context, kw jetstream.KeyWatcher) {
	defer close(w.out)
	if kw == nil {
		if kw = w.reopen(ctx); kw == nil {
			return
		}
	}
	tick := time.NewTicker(pointerPoll)
	defer tick.Stop()
	again := w.bus.conn.again.wait()
	for {
		select {
		case <-ctx.Done():
			kw.Stop()
			return
		case e, ok := <-kw.Updates():
			if !ok {
				if kw = w.reopen(ctx); kw == nil {
					return
				}
				continue
			}
			if e != nil { // nil marks the end of the values there at the start
				w.send(pointerOf(e), false)
			}
		case <-tick.C:
			w.lookUp(ctx)
		case <-again:
			again = w.bus.conn.again.wait()
			w.lookUp(ctx)
		}
	}
}

// reopen watches again as soon as that works; nil means to give up.
func (w *watch) reopen(ctx context.Context) jetstream.KeyWatcher {
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchReopen):
		}
		if kw, err := w.bus.ctl.Watch(ctx, w.key, jetstream.IgnoreDeletes()); err == nil {
			return kw
		}
	}
}

// lookUp reads the pointer itself. A failure is left to the next time.
func (w *watch) lookUp(ctx context.Context) {
	if p, err := w.bus.Pointer(ctx, w.key); err == nil {
		w.send(p, true)
	}
}

// send passes p on unless it is known already, and replaces a value that has not been
// read yet. A poll reads the server's state: it may go back to an older revision
// when the server lost the newest one.
func (w *watch) send(p Pointer, polled bool) {
	same := p.Revision == w.last.Revision && p.Value == w.last.Value
	if same || p.Revision < w.last.Revision && !polled {
		return
	}
	w.last = p
	select {
	case <-w.out:
	default:
	}
	w.out <- p // only this goroutine sends, so there is room
}
