package bus

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
)

const serverStartWait = 30 * time.Second // a large store is read at start

// startServer locks the store directory and runs a server on it.
func (c *Conn) startServer() error {
	opts, err := c.serverOptions()
	if err != nil {
		return err
	}
	if c.lock, err = dirlock.Acquire(c.opt.Dir); err != nil {
		return err
	}
	if err := c.checkStartRoom(); err != nil {
		return err
	}
	srv, err := server.NewServer(opts)
	if err != nil {
		return fmt.Errorf("embedded server: %w", err)
	}
	c.srv = srv
	log := &serverLog{out: c.opt.Log}
	srv.SetLogger(log, false, false)
	srv.Start()
	if msg := log.fatal(); msg != "" {
		return fmt.Errorf("embedded server: %s", msg)
	}
	if !srv.ReadyForConnections(serverStartWait) {
		return fmt.Errorf("embedded server: not ready after %v", serverStartWait)
	}
	return nil
}

func (c *Conn) serverOptions() (*server.Options, error) {
	opts := &server.Options{
		ServerName:             "selfplay",
		DontListen:             true,
		NoSigs:                 true,
		NoLog:                  true,
		DisableJetStreamBanner: true,
		JetStream:              true,
		StoreDir:               c.opt.Dir,
		// Not derived from what is free, which grows less as the streams grow:
		// their own limits hold, and checkRoom.
		JetStreamMaxStore: 1 << 60,
		// With one copy an acknowledgement before the sync is a promise a
		// power cut breaks.
		SyncAlways: true,
		// Until the next look at its files the server keeps a buffer of 8 MiB for every
		// file it has filled, and the room of what was deleted: with its two minutes
		// hundreds of megabytes where a net is published every second.
		SyncInterval:  10 * time.Second,
		Authorization: c.token.Load().(string),
	}
	if c.opt.Listen == "" {
		return opts, nil
	}
	host, port, err := net.SplitHostPort(c.opt.Listen)
	if err != nil {
		return nil, fmt.Errorf("%w: listen address %q: %w", ErrConfig, c.opt.Listen, err)
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: listen address %q: want a port from 0 to 65535", ErrConfig, c.opt.Listen)
	}
	opts.DontListen = false
	opts.Host = host
	opts.Port = int(n)
	if n == 0 {
		opts.Port = server.RANDOM_PORT
	}
	return opts, nil
}

// serverLog passes the server's warnings on and keeps the first fatal one,
// which the server reports in no other way.
type serverLog struct {
	out   *slog.Logger // nil: nothing is passed on
	mu    sync.Mutex
	first string
}

func (l *serverLog) fatal() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.first
}

// Fatalf keeps the message; it does not end the process.
func (l *serverLog) Fatalf(format string, v ...any) {
	l.mu.Lock()
	if l.first == "" {
		l.first = fmt.Sprintf(format, v...)
	}
	l.mu.Unlock()
	l.Errorf(format, v...)
}

// Errorf passes an error on.
func (l *serverLog) Errorf(format string, v ...any) {
	if l.out != nil {
		l.out.Error("nats server: " + fmt.Sprintf(format, v...))
	}
}

// Warnf passes a warning on. Those that say no more than that the process was
// killed are for who debugs.
func (l *serverLog) Warnf(format string, v ...any) {
	if l.out == nil {
		return
	}
	msg := fmt.Sprintf(format, v...)
	level := slog.LevelWarn
	if slices.ContainsFunc(afterKill, func(s string) bool { return strings.HasSuffix(msg, s) }) {
		level = slog.LevelDebug
	}
	l.out.Log(context.Background(), level, "nats server: "+msg)
}

// afterKill are the ends of what the server warns of after every start that no
// orderly stop went before: its index is older than the messages, which it
// then reads themselves, as it does after damage. Messages that it finds
// damaged are missing from the stream, and Games reports that.
var afterKill = []string{
	"] Stream state outdated, last block has additional entries, will rebuild",
	"] Recovering stream state from index errored: prior state file",
}

// Noticef drops the server's chatter.
func (l *serverLog) Noticef(string, ...any) {}

// Debugf is never called: debugging is off.
func (l *serverLog) Debugf(string, ...any) {}

// Tracef is never called: tracing is off.
func (l *serverLog) Tracef(string, ...any) {}
