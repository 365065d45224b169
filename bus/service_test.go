package bus

import (
	"bytes"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
)

func TestServices(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	b, other := joinRun(t, c, "one", JoinOptions{}), joinRun(t, c, "two", JoinOptions{})
	if _, err := b.Ask(ctx, "echo.one", nil); !errors.Is(err, ErrNobody) {
		t.Errorf("got %v, want ErrNobody", err)
	}
	var answered atomic.Int32
	var stops []func()
	for range 2 { // each request goes to both
		stop, err := b.Serve("echo.one", func(request []byte) ([]byte, error) {
			answered.Add(1)
			switch string(request) {
			case "fail":
				return nil, errors.New("it is\r\nbroken")
			case "large":
				return make([]byte, MaxPayload+1), nil
			}
			return request, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		stops = append(stops, stop)
	}
	if err := c.nc.Flush(); err != nil { // the server knows of both
		t.Fatal(err)
	}
	var all sync.WaitGroup
	const many = 200
	for i := range many {
		all.Go(func() {
			request := bytes.Repeat([]byte{byte(i)}, i*400)
			if got, err := b.Ask(ctx, "echo.one", request); err != nil || !bytes.Equal(got, request) {
				t.Errorf("request %d: %d bytes, %v", i, len(got), err)
			}
		})
	}
	all.Wait()
	if n := answered.Load(); n < many || n > 2*many {
		t.Errorf("%d requests were answered %d times, expected once or twice each", many, n)
	}
	if _, err := b.Ask(ctx, "echo.one", []byte("fail")); err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Errorf("got %v, want the service's error", err)
	}
	if _, err := b.Ask(ctx, "echo.one", []byte("large")); err == nil || !strings.Contains(err.Error(), ErrTooLarge.Error()) {
		t.Errorf("got %v, want the answer to be too large", err)
	}
	if _, err := b.Ask(ctx, "echo.one", make([]byte, MaxPayload+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if _, err := other.Ask(ctx, "echo.one", nil); !errors.Is(err, ErrNobody) {
		t.Errorf("another run: got %v, want ErrNobody", err)
	}
	for _, name := range []string{"", "a..b", "*", "a.>"} {
		if _, err := b.Ask(ctx, name, nil); !errors.Is(err, ErrName) {
			t.Errorf("%q: got %v, want ErrName", name, err)
		}
		if _, err := b.Serve(name, nil); !errors.Is(err, ErrName) {
			t.Errorf("%q: got %v, want ErrName", name, err)
		}
	}
	for _, stop := range stops {
		stop()
		stop()
	}
	if err := c.nc.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Ask(ctx, "echo.one", nil); !errors.Is(err, ErrNobody) {
		t.Errorf("stopped: got %v, want ErrNobody", err)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Serve("echo", nil); err == nil {
		t.Error("serving on a closed connection")
	}
}

// A process that serves and does not answer, as one that is suspended, takes no
// request from another.
func TestServicePassesOverASilentProcess(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	b := joinRun(t, c, "one", JoinOptions{})
	wake := make(chan struct{})
	silent, err := b.Serve("echo", func([]byte) ([]byte, error) { <-wake; return nil, errors.New("late") })
	if err != nil {
		t.Fatal(err)
	}
	defer silent()
	defer close(wake)
	stop, err := b.Serve("echo", func(request []byte) ([]byte, error) { return request, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if err := c.nc.Flush(); err != nil { // the server knows of both
		t.Fatal(err)
	}
	for i := range 20 {
		request := []byte{byte(i)}
		if got, err := b.Ask(ctx, "echo", request); err != nil || !bytes.Equal(got, request) {
			t.Fatalf("request %d: found %q, error %v, expected the answer of the process that answers", i, got, err)
		}
	}
}

// A request or an answer that is not what was sent counts for nothing; one of an earlier
// build, without a checksum, counts.
func TestDamagedQuestions(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	b := joinRun(t, c, "one", JoinOptions{})
	stop, err := b.Serve("echo", func(request []byte) ([]byte, error) { return request, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for _, test := range []struct {
		sum, want string
	}{{sumOf([]byte("game-12")), ""}, {"", ""}, {sumOf([]byte("game-13")), "damaged on its way"}} {
		q := nats.NewMsg(b.askSubject("echo"))
		q.Data = []byte("game-12")
		if test.sum != "" {
			q.Header.Set(sumHeader, test.sum)
		}
		m, err := c.nc.RequestMsgWithContext(ctx, q)
		if err != nil {
			t.Fatal(err)
		}
		if why := m.Header.Get(errorHeader); (why != "") != (test.want != "") || !strings.Contains(why, test.want) {
			t.Errorf("sum %q: found error %q, expected %q", test.sum, why, test.want)
		}
	}
	sub, err := c.nc.Subscribe(b.askSubject("bent"), func(m *nats.Msg) {
		reply := nats.NewMsg(m.Reply)
		reply.Data = []byte("s")
		reply.Header.Set(sumHeader, sumOf([]byte("u")))
		_ = m.RespondMsg(reply)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = sub.Unsubscribe() }()
	if got, err := b.Ask(ctx, "bent", nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a damaged answer: found %q, %v, expected ErrUnavailable", got, err)
	}
}

// Requests that wait are bounded by their size too, and the service answers later ones.
func TestServiceBoundsWhatWaits(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	b := joinRun(t, c, "one", JoinOptions{})
	wake := make(chan struct{})
	stop, err := b.Serve("echo", func(request []byte) ([]byte, error) { <-wake; return request, nil })
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	large, replies := make([]byte, MaxPayload), c.nc.NewInbox()
	answers, err := c.nc.SubscribeSync(replies)
	if err != nil {
		t.Fatal(err)
	}
	const room = serveAtOnce + serveBytes/MaxPayload
	for range room + 50 {
		if err := c.nc.PublishRequest(b.askSubject("echo"), replies, large); err != nil {
			t.Fatal(err)
		}
		if err := c.nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	close(wake)
	for range serveAtOnce + 1 { // so that one that waited was answered, and there is room
		if _, err := answers.NextMsgWithContext(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.Ask(ctx, "echo", []byte("later")); err != nil || string(got) != "later" {
		t.Errorf("a later request: %q, error %v", got, err)
	}
	if n, _, err := answers.Pending(); err != nil || n > room-serveAtOnce-1 {
		t.Errorf("found %d more answers, error %v, expected at most %d: the others were not kept", n, err, room-serveAtOnce-1)
	}
	if err := answers.Unsubscribe(); err != nil { // closing waits for who reads what it has
		t.Error(err)
	}
}
