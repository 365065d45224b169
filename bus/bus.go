package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
)

// Errors of this package. They come wrapped; test with errors.Is.
var (
	ErrFull      = errors.New("game stream is full")         // no room until games are acknowledged and purged
	ErrTooLarge  = errors.New("message is too large")        // above MaxPayload
	ErrName      = errors.New("bad name")                    // a run, actor, id or key with characters a subject cannot hold
	ErrNoNet     = errors.New("no such net")                 // GetNet, NetManifest, DeleteNet
	ErrCorrupt   = errors.New("content does not match hash") // PutNet, GetNet
	ErrNoPointer = errors.New("no such pointer")             // Pointer
	ErrConflict  = errors.New("pointer was changed by another writer")
	ErrConfig    = errors.New("bus configuration") // Open
)

const (
	// MaxPayload is the largest game in bytes. The server's own limit is
	// 1 MiB for the whole message; the rest is for headers.
	MaxPayload = 900 << 10

	// DefaultMaxBytes is the room for games in a new stream if Options does
	// not say.
	DefaultMaxBytes = 2 << 30

	// DefaultDuplicateWindow is how long the server remembers game ids if
	// Options does not say.
	DefaultDuplicateWindow = 2 * time.Hour

	connectWait   = 250 * time.Millisecond // between attempts to connect
	requestWait   = 5 * time.Second        // for one request: a lost connection loses its answer
	drainWait     = 5 * time.Second        // for what is under way when the bus closes
	pointerPoll   = 10 * time.Second       // a watch that went silent is noticed after this
	watchReopen   = time.Second            // between attempts to watch again
	rejectMaxAge  = 7 * 24 * time.Hour
	rejectMaxSize = 64 << 20
)

// Options say which server a bus talks to and which run it belongs to.
type Options struct {
	Run string // name of the run: letters, digits, '-' and '_', 1 to 64 of them

	// Exactly one of Dir and URL is set.
	Dir string // directory of the embedded server's store; one process at a time
	URL string // address of a server or cluster to use instead, nats://host:port,…

	Listen string // host:port the embedded server opens to others; empty: no port
	Token  string // shared secret asked of clients, and given when connecting

	MaxBytes        int64         // room of the game stream in bytes; 0: as it is, DefaultMaxBytes for a new one
	DuplicateWindow time.Duration // how long game ids are remembered; 0: as it is, DefaultDuplicateWindow for a new one
	Replicas        int           // copies of everything in a cluster, 1, 3 or 5; 0: 1

	Name string       // name of the client in the server's lists, such as its role; may be empty
	Log  *slog.Logger // warnings of the embedded server and of the connection; nil: none
}

// Bus is one connection of a run to its server. Its methods may be called
// from several goroutines; Games and AckGames belong to one ingester.
type Bus struct {
	opt  Options
	lock *dirlock.Lock  // nil unless embedded
	srv  *server.Server // nil unless embedded
	nc   *nats.Conn
	js   jetstream.JetStream

	games   jetstream.Stream
	rejects jetstream.Stream
	nets    jetstream.ObjectStore
	ctl     jetstream.KeyValue

	consumer gameConsumer
	again    signal     // the connection was lost and is back
	netsMu   sync.Mutex // one PutNet at a time: look, then store

	ctx      context.Context // ends when the bus closes
	cancel   context.CancelFunc
	closeMu  sync.Mutex // orders the start of a watch and Close
	watches  sync.WaitGroup
	once     sync.Once
	closeErr error
}

var runName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// validate reports the first thing in o that cannot work.
func (o *Options) validate() error {
	switch {
	case !runName.MatchString(o.Run):
		return fmt.Errorf("%w: run %q: want 1 to 64 letters, digits, '-' or '_'", ErrConfig, o.Run)
	case (o.Dir == "") == (o.URL == ""):
		return fmt.Errorf("%w: directory %q and URL %q: want exactly one of them", ErrConfig, o.Dir, o.URL)
	case o.Listen != "" && o.Dir == "":
		return fmt.Errorf("%w: listen address %q needs the embedded server", ErrConfig, o.Listen)
	case o.MaxBytes < 0 || o.DuplicateWindow < 0 || o.Replicas < 0:
		return fmt.Errorf("%w: negative size, window or replicas", ErrConfig)
	}
	return nil
}

// Open starts or joins the server and makes sure the run's objects exist.
// It waits for a server that is not there yet until ctx ends. The error
// wraps dirlock.ErrHeld if another process has the store directory.
func Open(ctx context.Context, o Options) (*Bus, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	b := &Bus{opt: o}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if err := b.open(ctx); err != nil {
		b.Close()
		return nil, fmt.Errorf("open bus: %w", err)
	}
	return b, nil
}

func (b *Bus) open(ctx context.Context) error {
	if b.opt.Dir != "" {
		if err := b.startServer(); err != nil {
			return err
		}
	}
	if err := b.connect(ctx); err != nil {
		return err
	}
	return b.ensureObjects(ctx)
}

// connect sets nc and js, and waits until the connection stands.
func (b *Bus) connect(ctx context.Context) error {
	up := make(chan struct{}, 1)
	opts := []nats.Option{
		nats.Name("selfplay " + b.opt.Run + " " + b.opt.Name),
		nats.Token(b.opt.Token),
		nats.MaxReconnects(-1),
		nats.RetryOnFailedConnect(true),
		nats.ReconnectWait(connectWait),
		// Without a server a publish shall fail at once and stay with its
		// caller, not wait in a buffer that a crash forgets.
		nats.ReconnectBufSize(-1),
		nats.DrainTimeout(drainWait),
		nats.ConnectHandler(func(*nats.Conn) { up <- struct{}{} }),
		nats.ReconnectHandler(func(nc *nats.Conn) {
			b.consumer.unbind() // the server may have lost its tail
			b.again.announce()
			b.warn("connected to the server again", "url", nc.ConnectedUrlRedacted())
		}),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				b.warn("connection to the server lost", "error", err)
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			b.warn("connection error", "error", err)
		}),
	}
	url := b.opt.URL
	if b.srv != nil {
		opts = append(opts, nats.InProcessServer(b.srv))
		url = nats.DefaultURL // not dialled
	}
	var err error
	if b.nc, err = nats.Connect(url, opts...); err != nil {
		return fmt.Errorf("connect to %q: %w", url, err)
	}
	select {
	case <-up:
	case <-ctx.Done():
		return fmt.Errorf("connect to %q: %w (last error: %v)", url, ctx.Err(), b.nc.LastError())
	}
	b.js, err = jetstream.New(b.nc, jetstream.WithDefaultTimeout(requestWait))
	return err
}

// Close ends all watches, finishes what is under way, stops an embedded
// server and gives its directory back. Calling it again returns the same
// error.
func (b *Bus) Close() error {
	b.once.Do(func() {
		b.closeMu.Lock()
		b.cancel()
		b.closeMu.Unlock()
		b.watches.Wait()
		var errs []error
		if b.nc != nil {
			errs = append(errs, b.drain())
		}
		if b.srv != nil {
			b.srv.Shutdown()
			b.srv.WaitForShutdown()
		}
		if b.lock != nil {
			errs = append(errs, b.lock.Release())
		}
		b.closeErr = errors.Join(errs...)
	})
	return b.closeErr
}

// drain closes the connection after what is already sent has arrived.
func (b *Bus) drain() error {
	if !b.nc.IsConnected() {
		b.nc.Close()
		return nil
	}
	done := make(chan struct{})
	b.nc.SetClosedHandler(func(*nats.Conn) { close(done) })
	if err := b.nc.Drain(); err != nil {
		b.nc.Close()
		if errors.Is(err, nats.ErrConnectionReconnecting) {
			return nil // lost since it was looked at: nothing to finish
		}
		return fmt.Errorf("drain connection: %w", err)
	}
	<-done
	return nil
}

// Addr is the address others can connect to, host:port, or "" if the bus
// does not listen.
func (b *Bus) Addr() string {
	if b.srv == nil || b.opt.Listen == "" {
		return ""
	}
	return b.srv.Addr().String()
}

func (b *Bus) warn(msg string, args ...any) {
	if b.opt.Log != nil {
		b.opt.Log.Warn(msg, args...)
	}
}

// gameConsumer is the consumer of the game stream and how far it is read.
type gameConsumer struct {
	mu       sync.Mutex
	bound    jetstream.Consumer // nil until it is looked at for the first time
	stale    atomic.Bool
	acked    uint64 // sequence up to which all games are acknowledged, while the consumer is bound
	returned uint64 // last sequence that Games returned
}

func (c *gameConsumer) unbind() { c.stale.Store(true) }

// signal wakes all that wait for it, each time it is announced.
type signal struct {
	mu sync.Mutex
	c  chan struct{}
}

// wait returns a channel that is closed at the next announcement.
func (s *signal) wait() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c == nil {
		s.c = make(chan struct{})
	}
	return s.c
}

func (s *signal) announce() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.c != nil {
		close(s.c)
		s.c = nil
	}
}

// bound limits one request.
func bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, requestWait)
}
