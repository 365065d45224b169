package bus

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
)

const (
	dialWait     = 2 * time.Second        // for one address, and for what a server says first
	firstBackoff = 250 * time.Millisecond // after the first failed attempt, twice as much after each other
	maxBackoff   = 10 * time.Second
	accountWait  = 3 * time.Second       // for JetStream, of a server that says that it has it
	accountPause = 20 * time.Millisecond // between questions for it
	refusedWait  = time.Second           // for a server that refuses a user, as it may while it loads the account
	refusedPause = 50 * time.Millisecond // between attempts then
	maxFailures  = 256                   // remembered by a reporter
	maxQuiet     = time.Minute           // between reports of the same failure
	pingInterval = 10 * time.Second      // a server that does not answer two of them is lost

	// neededVersion is the oldest server whose consumers can be reset, without
	// which games that were fetched and not acknowledged come a minute late.
	neededVersion = "2.14.0"

	codeClusterUnavailable jetstream.ErrorCode = 10008          // no leader yet
	codeNoPeers            jetstream.ErrorCode = 10005          // fewer servers than copies
	peerOffline                                = "peer offline" // in the description of codeNoPeers: there are enough, and some are away
	codeStreamOffline      jetstream.ErrorCode = 10118          // its leader is lost, and there is no other yet
)

// readToken reads the file of the shared secret.
func (c *Conn) readToken() error {
	c.token.Store("")
	if c.opt.TokenFile == "" {
		return nil
	}
	text, err := secret.ReadFile(c.opt.TokenFile)
	if err != nil {
		return fmt.Errorf("%w: token: %w", ErrConfig, err)
	}
	c.token.Store(string(text))
	return nil
}

// latestToken returns the shared secret for a connection that is made now: the
// file may have been replaced since.
func (c *Conn) latestToken() string {
	if text, err := secret.ReadFile(c.opt.TokenFile); err != nil {
		c.warn("token cannot be read, the last one is used", "error", err)
	} else {
		c.token.Store(string(text))
	}
	return c.token.Load().(string)
}

// connect sets nc and js as soon as there is a server that can be used.
func (c *Conn) connect(ctx context.Context) error {
	opts, err := c.natsOptions()
	if err != nil {
		return err
	}
	patience := cmp.Or(c.opt.Patience, DefaultPatience)
	start := time.Now()
	for attempt := 1; ; attempt++ {
		err := c.tryConnect(ctx, opts)
		if err == nil {
			return nil
		}
		c.closeConnection()
		if errors.Is(err, ErrServer) {
			if c.mayBeLoading(err) && time.Since(start) < min(refusedWait, patience) && pause.For(ctx, refusedPause) {
				continue
			}
			return err
		}
		c.failures.report(c.opt.URL, err)
		wait := backoff(attempt)
		left := patience - time.Since(start)
		if left > 0 && ctx.Err() == nil {
			if pause.For(ctx, min(wait, left)) {
				continue
			}
		}
		err = fmt.Errorf("%w: tried %s %d times in %v, at last: %w", ErrUnreachable, c.opt.URL, attempt, time.Since(start).Round(time.Millisecond), err)
		if ctx.Err() != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
}

// mayBeLoading reports whether a server has refused a user that it may know in a moment: one of
// an operator loads an account when its first user comes, and of those who come meanwhile
// it may refuse some.
func (c *Conn) mayBeLoading(err error) bool {
	return errors.Is(err, nats.ErrAuthorization) && c.opt.Creds != "" && expired(c.opt.Creds) == ""
}

// backoff is how long to wait after the given number of failed attempts, from 1:
// doubled each time, and spread, so that those who lost the same server do not
// all come back at once.
func backoff(attempts int) time.Duration {
	wait := maxBackoff
	if attempts < 10 {
		wait = min(wait, firstBackoff<<max(attempts-1, 0))
	}
	return pause.Spread(wait)
}

// natsOptions returns what all connections of c are made with.
func (c *Conn) natsOptions() ([]nats.Option, error) {
	opts := []nats.Option{
		nats.Name(strings.TrimSpace("selfplay " + c.opt.Name)),
		nats.Timeout(dialWait),
		nats.MaxReconnects(-1),
		nats.IgnoreAuthErrorAbort(), // secrets may be replaced on the server first
		nats.CustomReconnectDelay(backoff),
		nats.PingInterval(pingInterval),
		nats.MaxPingsOutstanding(2),
		// Without a server a publish shall fail at once and stay with its
		// caller, not wait in a buffer that a crash forgets.
		nats.ReconnectBufSize(-1),
		nats.DrainTimeout(drainWait),
		nats.ReconnectHandler(c.reconnected),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.warn("connection to the server lost", "error", err)
			}
		}),
		nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.failures.report(c.opt.URL, err) }),
		nats.ErrorHandler(c.asyncError),
	}
	if c.srv != nil {
		opts = append(opts, nats.InProcessServer(c.srv))
	}
	if c.opt.TokenFile != "" {
		opts = append(opts, nats.TokenHandler(c.latestToken))
	}
	if c.opt.Creds != "" {
		user, err := readCreds(c.opt.Creds)
		if err != nil {
			return nil, fmt.Errorf("%w: credentials: %w", ErrConfig, err)
		}
		if inbox := ownInbox(user); inbox != "" {
			opts = append(opts, nats.CustomInboxPrefix(inbox))
		}
		opts = append(opts, nats.UserCredentials(c.opt.Creds))
	}
	if c.opt.TLSCA != "" {
		ca := nats.RootCAs(c.opt.TLSCA)
		if err := ca(&nats.Options{}); err != nil {
			return nil, fmt.Errorf("%w: certificates: %w", ErrConfig, err)
		}
		opts = append(opts, ca)
	}
	return opts, nil
}

// tryConnect connects once and looks at the server.
func (c *Conn) tryConnect(ctx context.Context, opts []nats.Option) (err error) {
	url := c.opt.URL
	dial := &dialer{ctx: ctx}
	if c.srv == nil {
		opts = append(opts[:len(opts):len(opts)], nats.SetCustomDialer(dial))
	} else {
		url = nats.DefaultURL // not dialled
	}
	if c.nc, err = nats.Connect(url, opts...); err != nil {
		return connectError(err, dial.errors(), expired(c.opt.Creds))
	}
	dial.release()
	if c.js, err = jetstream.New(c.nc, jetstream.WithDefaultTimeout(c.answerWait())); err != nil {
		return err
	}
	if err := checkVersion(c.nc.ConnectedServerVersion()); err != nil {
		return fmt.Errorf("%s: %w", c.nc.ConnectedUrlRedacted(), err)
	}
	return c.checkJetStream(ctx)
}

func (c *Conn) closeConnection() {
	if c.nc != nil {
		c.nc.Close()
		c.nc = nil
	}
}

// connectError returns why no server could be connected to; expired is what is to be
// added if the server refused us. Those that no further attempt would change wrap
// ErrServer or ErrConfig.
func connectError(err, dialled error, expired string) error {
	var cert *tls.CertificateVerificationError
	var op *net.OpError
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return fmt.Errorf("%w: it refused who we are (%w): look at the files of the token and of the credentials%s", ErrServer, err, expired)
	case errors.As(err, &cert):
		return fmt.Errorf("%w: its certificate does not descend from those that are trusted, or names another host (%w): look at the file of the certificates", ErrServer, err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fmt.Errorf("%w: it does not speak TLS, which the address or the file of certificates asks for", ErrServer)
	case dialled != nil && (errors.Is(err, nats.ErrNoServers) || errors.As(err, &op)):
		return dialled // says which server did what
	}
	return err
}

// checkVersion refuses a server that is too old, before anything is asked of it.
func checkVersion(found string) error {
	if versionLess(found, neededVersion) {
		return fmt.Errorf("%w: found NATS server %.40q, needed %s or newer", ErrServer, found, neededVersion)
	}
	return nil
}

// versionLess compares major.minor.patch. What is no such version is less than all.
func versionLess(a, b string) bool {
	x, y := parseVersion(a), parseVersion(b)
	for i := range x {
		if x[i] != y[i] {
			return x[i] < y[i]
		}
	}
	return false
}

func parseVersion(s string) (v [3]int) {
	s, _, _ = strings.Cut(s, "-") // a preview counts as what it precedes
	parts := strings.Split(s, ".")
	if len(parts) != len(v) {
		return v
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return [3]int{}
		}
		v[i] = n
	}
	return v
}

// checkJetStream refuses a server that keeps nothing, or nothing for us. A server of an
// operator loads an account when its first user comes, and denies JetStream to those who
// come meanwhile, as do the others of its cluster: they are asked again.
func (c *Conn) checkJetStream(ctx context.Context) error {
	has, _ := c.nc.ConnectedServerJetStream()
	for start := time.Now(); ; {
		err := c.askJetStream(ctx)
		denied := errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount)
		if denied && has && time.Since(start) < accountWait && pause.For(ctx, accountPause) {
			continue
		}
		return err
	}
}

// askJetStream asks once what the server keeps for us.
func (c *Conn) askJetStream(ctx context.Context) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	answer := make(chan error, 1)
	go func() {
		_, err := c.js.AccountInfo(ctx)
		answer <- err
	}()
	var err error
	select {
	case err = <-answer:
	case err = <-c.refused: // the request is never answered
		return fmt.Errorf("%w: it does not permit JetStream to us: %w: give the user the right to publish $JS.API.> and to subscribe to _INBOX.>", ErrServer, err)
	}
	var api *jetstream.APIError
	switch {
	case errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return fmt.Errorf("%w: JetStream is not enabled for the account: enable it in the server's configuration of the account (%w)", ErrServer, err)
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled):
		return fmt.Errorf("%w: JetStream is not enabled: start the server with -js, or with jetstream in its configuration (%w)", ErrServer, err)
	case errors.As(err, &api) && api.ErrorCode == codeClusterUnavailable:
		return fmt.Errorf("the cluster has no leader: %w", err)
	}
	return err
}

func (c *Conn) reconnected(nc *nats.Conn) {
	c.failures.reset()
	c.unbind() // the server may have lost the tail of a stream
	c.again.announce()
	c.start(c.ctx, c.ensure)
	c.warn("connected to the server again", "url", nc.ConnectedUrlRedacted())
	if err := checkVersion(nc.ConnectedServerVersion()); err != nil {
		c.warn("a server of the cluster is too old", "url", nc.ConnectedUrlRedacted(), "error", err)
	}
}

func (c *Conn) asyncError(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		c.denied.Store(denial{err.Error(), time.Now()})
		select {
		case c.refused <- err:
		default:
		}
	}
	c.warn("connection error", "error", err)
}

// dialer dials, for a first connection until ctx ends, and remembers what went
// wrong then, which package nats reports for one server at most.
type dialer struct {
	mu     sync.Mutex
	ctx    context.Context // nil: the connection stood once
	failed []error
}

// Dial is nats.CustomDialer's.
func (d *dialer) Dial(network, address string) (net.Conn, error) {
	nd := net.Dialer{Timeout: dialWait}
	d.mu.Lock()
	ctx := d.ctx
	d.mu.Unlock()
	if ctx == nil {
		return nd.Dial(network, address)
	}
	conn, err := nd.DialContext(ctx, network, address)
	if err != nil {
		d.mu.Lock()
		d.failed = append(d.failed, err)
		d.mu.Unlock()
	}
	return conn, err
}

func (d *dialer) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx = nil
}

func (d *dialer) errors() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.failed) == 0 {
		return nil
	}
	texts := make([]string, len(d.failed))
	for i, err := range d.failed {
		texts[i] = err.Error()
	}
	slices.Sort(texts) // addresses are tried in any order
	return errors.New(strings.Join(slices.Compact(texts), "; "))
}

// reporter logs failures to connect: a new one at once, the same again at
// intervals that grow.
type reporter struct {
	warn func(msg string, args ...any)

	mu   sync.Mutex
	seen map[string]*failure // by text
}

// failure is one that was reported since the connection stood last.
type failure struct {
	count int
	quiet time.Duration
	next  time.Time // when it may be reported again
}

func (r *reporter) report(url string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.seen[err.Error()]
	if f == nil {
		if r.seen == nil || len(r.seen) == maxFailures {
			r.seen = map[string]*failure{}
		}
		f = &failure{quiet: firstBackoff}
		r.seen[err.Error()] = f
	}
	f.count++
	now := time.Now()
	if now.Before(f.next) {
		return
	}
	f.quiet = min(2*f.quiet, maxQuiet)
	f.next = now.Add(f.quiet)
	args := []any{"url", secret.Redact(url), "error", err}
	if f.count > 1 {
		args = append(args, "times", f.count)
	}
	r.warn("not connected", args...)
}

func (r *reporter) reset() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = nil
}
