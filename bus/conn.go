package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

// DefaultPatience is how long a first connection is tried if Options do not say.
const DefaultPatience = time.Minute

const drainWait = 5 * time.Second // for what is under way when the connection closes

// Options say which server to talk to.
type Options struct {
	// Exactly one of Dir and URL is set.
	Dir string // directory of the embedded server's store; one process at a time
	URL string // address of a server or cluster to use instead, nats://host:port,…; see CheckURL

	Listen string // host:port the embedded server opens to others; empty: no port

	// Files. Those of secrets are refused if others than their owner may read
	// them.
	TokenFile string // shared secret given when connecting, and asked of those who connect to the embedded server; empty: none
	Creds     string // NATS credentials, a user's JWT and key; empty: none
	TLSCA     string // PEM certificates that the server's must descend from, and TLS is insisted on; empty: the system's, if the server asks for TLS

	Patience time.Duration // how long the first connection is tried; 0: DefaultPatience
	Name     string        // name of the client in the server's lists, such as its role; may be empty
	Log      *slog.Logger  // warnings of the embedded server and of the connection; nil: none

	free func(dir string) (uint64, error) // instead of disk.Free, in tests
}

// Conn is a connection to a server, which may be embedded, and the registry
// of the runs on it. Its methods may be called from several goroutines.
type Conn struct {
	opt  Options
	lock *dirlock.Lock  // nil unless embedded
	srv  *server.Server // nil unless embedded
	nc   *nats.Conn
	js   jetstream.JetStream

	again    signal       // the connection was lost and is back
	token    atomic.Value // of TokenFile, string, as it was read last
	failures reporter     // of attempts to connect
	refused  chan error   // what the server does not permit, while Open waits for it
	denied   atomic.Value // the newest thing that it did not permit, denial

	mu     sync.Mutex
	joined []*Bus

	ctx      context.Context // ends when the connection closes
	cancel   context.CancelFunc
	closeMu  sync.Mutex     // orders the start of a goroutine and Close
	running  sync.WaitGroup // goroutines that Close waits for
	once     sync.Once
	closeErr error
}

// validate reports the first thing in o that cannot work.
func (o *Options) validate() error {
	switch {
	case (o.Dir == "") == (o.URL == ""):
		return fmt.Errorf("%w: directory %q and URL %q: want exactly one of them", ErrConfig, o.Dir, secret.Redact(o.URL))
	case o.Listen != "" && o.Dir == "":
		return fmt.Errorf("%w: listen address %q needs the embedded server", ErrConfig, o.Listen)
	case o.Patience < 0:
		return fmt.Errorf("%w: patience of %v: want none or more", ErrConfig, o.Patience)
	case o.Dir != "" && (o.Creds != "" || o.TLSCA != ""):
		return fmt.Errorf("%w: credentials %q and certificates %q are for servers elsewhere", ErrConfig, o.Creds, o.TLSCA)
	case o.URL != "":
		return CheckURL(o.URL)
	}
	return nil
}

// Open starts the embedded server or connects to one, which it tries again until
// the patience of o is over; each failure is logged. From then on a lost
// connection is made again, however long that takes. The error wraps
// dirlock.ErrHeld if another process has the store directory, ErrUnreachable if
// no server answered, ErrServer if one did that cannot be used, ErrConfig if o
// or one of its files cannot work.
func Open(ctx context.Context, o Options) (*Conn, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	c := &Conn{opt: o, refused: make(chan error, 1)}
	c.failures.warn = c.warn
	c.ctx, c.cancel = context.WithCancel(context.Background())
	if err := c.open(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("open bus: %w", err)
	}
	return c, nil
}

func (c *Conn) open(ctx context.Context) error {
	if err := c.readToken(); err != nil {
		return err
	}
	if c.opt.Dir != "" {
		if err := c.startServer(); err != nil {
			return err
		}
	}
	return c.connect(ctx)
}

// Close ends all joined runs and their watches, finishes what is under way,
// stops an embedded server and gives its directory back. Calling it again returns the same
// error.
func (c *Conn) Close() error {
	c.once.Do(func() {
		c.closeMu.Lock()
		c.cancel()
		c.closeMu.Unlock()
		c.running.Wait()
		var errs []error
		if c.nc != nil {
			errs = append(errs, c.drain())
		}
		if c.srv != nil {
			c.srv.Shutdown()
			c.srv.WaitForShutdown()
		}
		if c.lock != nil {
			errs = append(errs, c.lock.Release())
		}
		c.closeErr = errors.Join(errs...)
	})
	return c.closeErr
}

// drain closes the connection after what is already sent has arrived.
func (c *Conn) drain() error {
	if !c.nc.IsConnected() {
		c.nc.Close()
		return nil
	}
	done := make(chan struct{})
	c.nc.SetClosedHandler(func(*nats.Conn) { close(done) })
	if err := c.nc.Drain(); err != nil {
		c.nc.Close()
		if errors.Is(err, nats.ErrConnectionReconnecting) {
			return nil // lost since it was looked at: nothing to finish
		}
		return fmt.Errorf("drain connection: %w", err)
	}
	<-done
	return nil
}

// unbind makes all joined runs look at their consumers afresh.
func (c *Conn) unbind() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.joined {
		b.consumer.unbind()
		b.stream.doubt()
	}
}

// ensure makes the objects of all joined runs again, in case the server lost them.
func (c *Conn) ensure(ctx context.Context) {
	c.mu.Lock()
	joined := slices.Clone(c.joined)
	c.mu.Unlock()
	for _, b := range joined {
		for attempt := 1; ; attempt++ {
			request, cancel := context.WithTimeout(ctx, 2*requestWait)
			err := b.Ensure(request)
			cancel()
			if err == nil || !errors.Is(err, ErrUnavailable) {
				if err != nil {
					c.warn("objects of the run are not in order", "error", err)
				}
				break
			}
			if !pause.For(ctx, backoff(attempt)) || !c.nc.IsConnected() {
				return // the next connection begins anew
			}
		}
	}
}

// answerWait is how long the server may take to answer one request.
func (c *Conn) answerWait() time.Duration {
	if c.srv != nil {
		return embeddedWait
	}
	return requestWait
}

// bound limits one request that the server itself answers.
func (c *Conn) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.answerWait())
}

// start runs f in a goroutine that Close waits for. The context that f is given
// ends with ctx and when the connection closes. It reports whether the connection
// was open.
func (c *Conn) start(ctx context.Context, f func(context.Context)) bool {
	c.closeMu.Lock()
	defer c.closeMu.Unlock()
	if c.ctx.Err() != nil {
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.ctx, cancel)
	c.running.Go(func() {
		defer stop()
		defer cancel()
		f(ctx)
	})
	return true
}

// Connected reports whether there is a connection to a server at this moment.
func (c *Conn) Connected() bool { return c.nc != nil && c.nc.IsConnected() }

// Addr is the address others can connect to, host:port, or "" if the embedded
// server does not listen.
func (c *Conn) Addr() string {
	if c.srv == nil || c.opt.Listen == "" {
		return ""
	}
	return c.srv.Addr().String()
}

func (c *Conn) warn(msg string, args ...any) {
	if c.opt.Log != nil {
		c.opt.Log.Warn(msg, args...)
	}
}

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
