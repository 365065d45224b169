package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/cputime"
)

const (
	runName      = "load"
	runID        = "load000000"
	configKey    = "config"
	streamBytes  = 8 << 30         // room for games on the server
	atOnce       = 32              // actors that connect at the same time
	progressEach = 2 * time.Second // of a line
)

// caseOptions say what one case does.
type caseOptions struct {
	actors      int
	connections int           // that the actors share; 0: one each
	bundle      int           // games in a message, at most
	pause       time.Duration // between two messages that are not full
	rate        float64       // games a second of all actors; 0: as many as go
	spool       int           // games of an actor that are not on disk, at most
	raw         bool          // nobody takes the games off the stream
	warm        time.Duration // before what counts
	length      time.Duration // of what counts, at most
	drain       time.Duration // for the games that are left at the end
	profile     string        // directory for CPU profiles; empty: none
}

// result is what came out of a case.
type result struct {
	Actors          int       `json:"actors"`
	Connections     int       `json:"connections"`
	Bundle          int       `json:"bundle"`
	Rate            float64   `json:"offered_games_a_second"` // 0: as many as go
	Raw             bool      `json:"raw"`                    // without a replay role
	Seconds         float64   `json:"seconds"`
	ConnectSeconds  float64   `json:"connect_seconds"` // until all actors were there
	SyncsRate       float64   `json:"syncs_a_second"`  // that the disk took just before, of 4 KiB each, one after the other
	Games           int64     `json:"games"`           // stored in that time
	GamesRate       float64   `json:"games_a_second"`
	PositionsRate   float64   `json:"positions_a_second"`
	BytesRate       float64   `json:"bytes_a_second"` // of sealed games
	MessagesRate    float64   `json:"messages_a_second"`
	QuestionsRate   float64   `json:"questions_a_second"` // which games are on disk
	GamesPerMessage float64   `json:"games_a_message"`
	Publish         quantiles `json:"publish"`
	OnDisk          quantiles `json:"on_disk"` // from the end of a game until its actor knows that it is on disk
	Ask             quantiles `json:"ask"`
	Server          usage     `json:"server"`
	Replay          usage     `json:"replay"`
	Senders         usage     `json:"senders"` // this process: all actors together
	Pauses          int64     `json:"pauses"`  // games that a full spool held up
	Refusals        int64     `json:"refusals"`
	Failures        int64     `json:"failures"` // questions without an answer
	Republished     int64     `json:"republished"`
	LastError       string    `json:"last_error,omitempty"`
	Finished        int       `json:"finished"` // games in all, the time before and after included
	Waiting         int       `json:"waiting"`  // of them, not confirmed at the end
	audit
}

// sound reports whether every finished game is there once.
func (r *result) sound() bool {
	return r.Raw || r.Waiting == 0 && r.Lost == 0 && r.Twice == 0 && r.Alien == 0
}

// runCase runs one case in a new directory.
func runCase(ctx context.Context, dir string, o *caseOptions, shares []share, progress io.Writer) (*result, error) {
	for _, sub := range []string{"bus", "run"} {
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			return nil, err
		}
	}
	profile := func(role string) string {
		if o.profile == "" {
			return ""
		}
		return filepath.Join(o.profile, fmt.Sprintf("%s-%d-%d.pprof", role, o.actors, o.bundle))
	}
	server, err := startRole(dir, profile(roleServer), roleServer, filepath.Join(dir, "bus"))
	if err != nil {
		return nil, err
	}
	c := &running{o: o, url: "nats://" + server.said, server: server, log: newRecord(), progress: progress}
	r, err := c.run(ctx, dir, profile(roleReplay), shares)
	err = errors.Join(err, c.close(), server.stop())
	if err != nil || o.raw {
		return r, err
	}
	r.audit, err = auditBuffer(filepath.Join(dir, "run", "replay"), c.finished())
	return r, err
}

// running is a case under way.
type running struct {
	o        *caseOptions
	url      string
	server   *process
	replay   *process // nil in a raw case
	log      *record
	progress io.Writer
	conns    []*bus.Conn
	actors   []*actor
}

func (c *running) close() error {
	c.conns = slices.DeleteFunc(c.conns, func(conn *bus.Conn) bool { return conn == nil })
	var errs []error
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(atOnce)
	for _, conn := range c.conns {
		group.Go(func() error {
			err := conn.Close()
			mu.Lock()
			defer mu.Unlock()
			errs = append(errs, err)
			return nil
		})
	}
	_ = group.Wait()
	if c.replay != nil {
		errs = append(errs, c.replay.stop())
	}
	return errors.Join(errs...)
}

// finished are the ids of all games that actors finished.
func (c *running) finished() map[string]bool {
	ids := make(map[string]bool)
	for _, a := range c.actors {
		for _, g := range a.games[:a.begun] {
			ids[g.id] = true
		}
	}
	return ids
}

// run does the case and measures it.
func (c *running) run(ctx context.Context, dir, profile string, shares []share) (*result, error) {
	syncs, err := syncsPerSecond(dir)
	if err != nil {
		return nil, err
	}
	if err := c.begin(ctx); err != nil {
		return nil, err
	}
	if !c.o.raw {
		if c.replay, err = startRole(dir, profile, roleReplay, filepath.Join(dir, "run"), c.url); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	if err := c.connect(ctx, shares); err != nil {
		return nil, err
	}
	r := &result{
		Actors: c.o.actors, Connections: len(c.conns), Bundle: c.o.bundle, Rate: c.o.rate, Raw: c.o.raw,
		ConnectSeconds: time.Since(began).Seconds(), SyncsRate: syncs,
	}
	carry, carried := context.WithCancel(ctx)
	defer carried()
	producing, produced := context.WithCancel(carry)
	defer produced()
	group, failed := errgroup.WithContext(carry)
	c.measure(failed, r, func() {
		for _, a := range c.actors {
			group.Go(func() error { return a.run(failed, producing) })
		}
	})
	produced()
	if c.o.raw {
		carried()
	}
	stop := time.AfterFunc(c.o.drain, carried)
	defer stop.Stop()
	ended := make(chan struct{})
	go c.report(ended, "storing what is left")
	err = group.Wait()
	close(ended)
	for _, a := range c.actors {
		r.Finished += a.begun
		r.Waiting += a.spooled()
	}
	r.Pauses, r.Refusals, r.Failures = c.log.pauses.Load(), c.log.refusals.Load(), c.log.failures.Load()
	r.Republished, r.LastError = c.log.republished.Load(), c.log.lastError
	r.Publish, r.OnDisk, r.Ask = quantilesOf(c.log.publish), quantilesOf(c.log.onDisk), quantilesOf(c.log.ask)
	return r, errors.Join(err, ctx.Err())
}

// measure starts the actors, waits for the time that counts, which is from the very
// start if there is no time to warm up, and takes the figures.
func (c *running) measure(ctx context.Context, r *result, start func()) {
	ended := make(chan struct{})
	defer close(ended)
	go c.report(ended, "sending")
	if c.o.warm > 0 {
		start()
		c.await(ctx, c.o.warm)
	}
	pids := []int{c.server.cmd.Process.Pid, os.Getpid()}
	usages := []*usage{&r.Server, &r.Senders}
	if c.replay != nil {
		pids, usages = append(pids, c.replay.cmd.Process.Pid), append(usages, &r.Replay)
	}
	before := make([]time.Duration, len(pids))
	from := c.log.begin()
	for i, pid := range pids {
		before[i] = cputime.Process(pid)
	}
	if c.o.warm == 0 {
		start()
	}
	c.await(ctx, c.o.length)
	to := c.log.end()
	took := to.at.Sub(from.at)
	r.Games = to.games - from.games
	for i, pid := range pids {
		*usages[i] = usageOf(pid, before[i], took, r.Games)
	}
	r.Seconds = took.Seconds()
	r.GamesRate = float64(r.Games) / r.Seconds
	r.PositionsRate = float64(to.plies-from.plies) / r.Seconds
	r.BytesRate = float64(to.bytes-from.bytes) / r.Seconds
	r.MessagesRate = float64(to.messages-from.messages) / r.Seconds
	r.QuestionsRate = float64(to.questions-from.questions) / r.Seconds
	if messages := to.messages - from.messages; messages > 0 {
		r.GamesPerMessage = float64(r.Games) / float64(messages)
	}
}

// await waits for d, or until an actor has no more games.
func (c *running) await(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-c.log.exhausted:
	case <-ctx.Done():
	}
}

// report says how far the case is, until ended is closed.
func (c *running) report(ended <-chan struct{}, doing string) {
	last := c.log.totals()
	for {
		select {
		case <-ended:
			return
		case <-time.After(progressEach):
		}
		now := c.log.totals()
		what := "on disk"
		if c.o.raw {
			what = "published"
		}
		fmt.Fprintf(c.progress, "  %s: %d games %s, %.0f a second\n", doing, now.games, what,
			float64(now.games-last.games)/now.at.Sub(last.at).Seconds())
		last = now
	}
}

// begin makes the run on the server, as a trainer does.
func (c *running) begin(ctx context.Context) error {
	conn, err := bus.Open(ctx, bus.Options{URL: c.url, Name: "trainer"})
	if err != nil {
		return err
	}
	defer conn.Close()
	cfg, err := configs.Preset("laptop")
	if err != nil {
		return err
	}
	err = conn.CreateRun(ctx, bus.RunRecord{
		Schema: bus.RunSchema, Name: runName, ID: runID, Variant: cfg.Variant, Kind: cfg.Net.Kind,
		PublicKey: fmt.Sprintf("%064x", 1), Build: "load", Protocol: bus.Protocol, Created: time.Now().UTC(),
	})
	if err != nil {
		return err
	}
	b, err := conn.Join(ctx, runID, bus.JoinOptions{MaxBytes: streamBytes})
	if err != nil {
		return err
	}
	_, err = b.SetPointer(ctx, configKey, string(configs.Shared(cfg)), 0)
	return err
}

// connect opens the connections and joins the run with all actors.
func (c *running) connect(ctx context.Context, shares []share) error {
	n := c.o.connections
	if n == 0 {
		n = c.o.actors
	}
	buses := make([]*bus.Bus, n)
	c.conns = make([]*bus.Conn, n)
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range n {
		group.Go(func() (err error) {
			c.conns[i], err = bus.Open(groupCtx, bus.Options{URL: c.url, Name: "actor"})
			if err != nil {
				return err
			}
			buses[i], err = c.conns[i].Join(groupCtx, runID, bus.JoinOptions{})
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return fmt.Errorf("connect actors: %w", err)
	}
	for i := range c.o.actors {
		c.actors = append(c.actors, newActor(shares[i], buses[i%n], c.o, c.log))
	}
	return nil
}

// syncsPerSecond says how often a second the disk of dir takes and syncs 4 KiB.
func syncsPerSecond(dir string) (float64, error) {
	f, err := os.Create(filepath.Join(dir, "syncs"))
	if err != nil {
		return 0, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4<<10)
	began := time.Now()
	n := 0
	for ; time.Since(began) < 200*time.Millisecond; n++ {
		if _, err := f.Write(block); err != nil {
			return 0, err
		}
		if err := f.Sync(); err != nil {
			return 0, err
		}
	}
	return float64(n) / time.Since(began).Seconds(), nil
}
