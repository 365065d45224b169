package selfplay

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

// ErrOtherBuffer says that the games of a run are in another replay buffer than this one.
var ErrOtherBuffer = errors.New("the run's games are in another replay buffer")

// Replay keeps the run's games in the replay buffer of the directory until ctx ends. It
// waits while another process has the directory, or keeps the games in the same buffer.
// The error wraps ErrOtherBuffer if the run's games are in another one.
func (r *Run) Replay(ctx context.Context) (err error) {
	ctx, err = r.whileSettingsStay(ctx)
	if err != nil || ctx.Err() != nil {
		return because(ctx, err)
	}
	defer func() { err = because(ctx, err) }()
	in, err := r.awaitIngester(ctx)
	if in == nil {
		return err
	}
	defer in.close()
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return r.replayRole(ctx, in) })
	group.Go(func() error { return r.announce(ctx, r.identity.Instance) })
	err = group.Wait()
	s := r.Status()
	r.event("stopped", "role", r.opt.Role, "games", s.Games, "positions", s.Positions)
	return err
}

// awaitIngester opens the replay buffer of the run's directory once no other process has
// it. It returns nil without an error if ctx ends before that.
func (r *Run) awaitIngester(ctx context.Context) (*ingester, error) {
	for said := false; ; said = true {
		in, err := openIngester(r)
		if !errors.Is(err, dirlock.ErrHeld) {
			return in, err
		}
		if !said {
			r.status.set(roleReplay, "waiting: another process has %s", r.path(replayDir))
			r.event("another process has the replay buffer, waiting until it ends", "dir", r.path(replayDir), "found", err.Error())
		}
		if !pause.For(ctx, r.wait(joinRetry)) {
			return nil, nil
		}
	}
}

// replayRole stores the games of all actors and answers for them, as long as no other
// process does.
func (r *Run) replayRole(ctx context.Context, in *ingester) error {
	if err := r.patiently(ctx, in.mayBegin); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return r.exclusive(ctx, roleReplay, replayLease, in.buffer.ID(), in.mayFollow, nil, func(ctx context.Context, _ *bus.Lease) error {
		stop, err := in.serve()
		if err != nil {
			return err
		}
		defer stop()
		return in.ingest(ctx)
	})
}

// mayBegin refuses, where servers have lost the lease and with it who held it before, to store
// games in another buffer than the one that the run's record names.
func (in *ingester) mayBegin(ctx context.Context) error {
	switch _, err := in.run.bus.ReadLease(ctx, replayLease); {
	case errors.Is(err, bus.ErrUnavailable):
		return err
	case !errors.Is(err, bus.ErrNoLease):
		return nil // who takes the lease asks mayFollow
	}
	record, err := in.run.conn.FindRun(ctx, in.run.identity.Name)
	if err != nil && !errors.Is(err, bus.ErrNoRun) {
		return err
	}
	return in.mayFollow(bus.LeaseRecord{Holder: bus.Holder{Detail: record.Buffer, Host: "another machine", Instance: "the servers have lost which"}})
}

// mayFollow refuses to store games after a holder of the role who stored them in another
// buffer: the games there would be the run's no more. Where nobody else can reach the bus,
// the buffer in the run's directory is the run's.
func (in *ingester) mayFollow(former bus.LeaseRecord) error {
	was, is := former.Detail, in.buffer.ID()
	switch {
	case was == "" || was == is || !in.run.reachable():
		return nil
	case in.run.opt.ReplaceBuffer:
		in.run.event("another replay buffer becomes the run's", "former", was, "host", former.Host, "present", is)
		return nil
	}
	return fmt.Errorf("%w: found buffer %s in %s, expected %s, which was kept on %s (%s): start replay there, or give the directory that holds it; "+
		"if it is lost, --replace-buffer makes this one the run's, without the games stored there", ErrOtherBuffer, is, in.run.path(replayDir), was, former.Host, former.Instance)
}
