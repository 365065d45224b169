package bus

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
	"sync"

	"github.com/nats-io/nats.go"
)

const (
	errorHeader  = "Selfplay-Error" // of an answer that is none: why
	sumHeader    = "Selfplay-Sum"   // of requests and answers: CRC-32C of the data, in hex; earlier builds send none
	serveAtOnce  = 16               // requests of one service answered at a time
	servePending = 4096             // requests of one service that may wait
	serveBytes   = 64 * MaxPayload  // and their size together
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
	sub, err := b.conn.nc.SubscribeSync(b.askSubject(name))
	if err == nil {
		err = sub.SetPendingLimits(servePending, serveBytes)
	}
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
				m, err := sub.NextMsgWithContext(ctx)
				switch {
				case err == nil:
					b.answer(name, m, answer)
				case !errors.Is(err, nats.ErrSlowConsumer): // else it says that requests were dropped
					return
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
	var data []byte
	err := checkSum(m)
	if err == nil {
		data, err = answer(m.Data)
	}
	if err == nil && len(data) > MaxPayload {
		err = fmt.Errorf("%w: an answer of %d bytes, at most %d", ErrTooLarge, len(data), MaxPayload)
	}
	if err != nil {
		reply.Header.Set(errorHeader, headerText(err.Error()))
	} else {
		reply.Data = data
		reply.Header.Set(sumHeader, sumOf(data))
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
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	q := nats.NewMsg(b.askSubject(name))
	q.Data = request
	q.Header.Set(sumHeader, sumOf(request))
	m, err := b.conn.nc.RequestMsgWithContext(ctx, q)
	if errors.Is(err, nats.ErrNoResponders) {
		return nil, fmt.Errorf("ask %q: %w", name, ErrNobody)
	}
	if err != nil {
		return nil, fmt.Errorf("ask %q: %w", name, mapUnavailable(err))
	}
	if why := m.Header.Get(errorHeader); why != "" {
		return nil, fmt.Errorf("ask %q: the service answers: %s", name, why)
	}
	if err := checkSum(m); err != nil {
		return nil, fmt.Errorf("ask %q: %w: %w", name, ErrUnavailable, err)
	}
	return m.Data, nil
}

// sumOf is what goes with the data of a request or an answer: an actor that asks for one
// game and hears of another would delete a game that nobody has.
func sumOf(data []byte) string { return fmt.Sprintf("%08x", crc32.Checksum(data, castagnoli)) }

// checkSum refuses data that is not what was sent.
func checkSum(m *nats.Msg) error {
	if sent, found := m.Header.Get(sumHeader), sumOf(m.Data); sent != "" && sent != found {
		return fmt.Errorf("damaged on its way: found checksum %s, expected %.20q", found, sent)
	}
	return nil
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
