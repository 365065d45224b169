package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	errorHeader  = "Selfplay-Error" // of an answer that is none: why
	serveAtOnce  = 16               // requests of one service answered at a time
	servePending = 4096             // requests of one service that may wait
)

func (b *Bus) askSubject(name string) string { return b.id + ".ask." + name }

// Serve answers the requests for a service of the run until stop is called or the
// Conn closes. Where several processes serve the same, each request goes to all of
// them and the first answer counts, so that one which is suspended or cut off, and
// which the servers take for alive for minutes, takes no request away from its
// successor. answer may be called from several goroutines; its error goes to who
// asked, as text. stop returns when no answer is under way.
func (b *Bus) Serve(name string, answer func(request []byte) ([]byte, error)) (stop func(), err error) {
	if err := checkKey("service", name); err != nil {
		return nil, err
	}
	requests := make(chan *nats.Msg, servePending)
	sub, err := b.conn.nc.ChanSubscribe(b.askSubject(name), requests)
	if err != nil {
		return nil, fmt.Errorf("serve %q: %w", name, mapUnavailable(err))
	}
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	for range serveAtOnce {
		working.Add(1)
		open := b.conn.start(ctx, func(ctx context.Context) {
			defer working.Done()
			for {
				select {
				case <-ctx.Done():
					return
				case m := <-requests:
					b.answer(name, m, answer)
				}
			}
		})
		if !open {
			working.Done()
			err = errors.New("bus is closed")
		}
	}
	stop = sync.OnceFunc(func() {
		_ = sub.Unsubscribe() // a closed connection has done that
		cancel()
		working.Wait()
	})
	if err != nil {
		stop()
		return nil, fmt.Errorf("serve %q: %w", name, err)
	}
	return stop, nil
}

func (b *Bus) answer(name string, m *nats.Msg, answer func([]byte) ([]byte, error)) {
	reply := nats.NewMsg(m.Reply)
	data, err := answer(m.Data)
	if err == nil && len(data) > MaxPayload {
		err = fmt.Errorf("%w: an answer of %d bytes, at most %d", ErrTooLarge, len(data), MaxPayload)
	}
	if err != nil {
		reply.Header.Set(errorHeader, headerText(err.Error()))
	} else {
		reply.Data = data
	}
	if err := m.RespondMsg(reply); err != nil {
		b.warn("answer was not sent", "service", name, "error", err)
	}
}

// Ask sends a request to a service of the run and returns the answer, after five
// seconds at the latest. The error wraps ErrNobody if no process serves it,
// ErrUnavailable if no answer came, ErrTooLarge above MaxPayload; an error of
// the service itself comes as text.
func (b *Bus) Ask(ctx context.Context, name string, request []byte) ([]byte, error) {
	if err := checkKey("service", name); err != nil {
		return nil, err
	}
	if len(request) > MaxPayload {
		return nil, fmt.Errorf("ask %q: %w: %d bytes, at most %d", name, ErrTooLarge, len(request), MaxPayload)
	}
	ctx, cancel := bound(ctx)
	defer cancel()
	m, err := b.conn.nc.RequestWithContext(ctx, b.askSubject(name), request)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("ask %q: %w", name, ErrNobody)
	}
	if err != nil {
		return nil, fmt.Errorf("ask %q: %w", name, mapUnavailable(err))
	}
	if why := m.Header.Get(errorHeader); why != "" {
		return nil, fmt.Errorf("ask %q: the service answers: %s", name, why)
	}
	return m.Data, nil
}

// checkKey accepts names separated by dots.
func checkKey(what, s string) error {
	for part := range strings.SplitSeq(s, ".") {
		if err := checkName(what, part); err != nil {
			return err
		}
	}
	return nil
}
