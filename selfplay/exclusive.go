package selfplay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

// Names of the leases of a run: of what one process at a time may do.
const (
	replayLease  = "replay"
	trainerLease = "trainer"
	refereeLease = "referee"
)

const leaseRetry = 2 * time.Second // after the bus failed

// exclusive does work while this process holds a lease, whose fencing number every
// write of work carries. It waits for another holder to end, and again if it loses
// the lease: then the context of work ends, and nothing that work still writes
// counts. The keys are the pointers that only the holder may set. The detail stands
// in the lease's record. Former, unless nil, may refuse to come after a holder. It ends
// with ctx or with an error of work or of former.
func (r *Run) exclusive(ctx context.Context, role int, lease, detail string, former func(bus.LeaseRecord) error, keys []string, work func(context.Context, *bus.Lease) error) error {
	r.status.set(role, waitsForServer+" to say who does this")
	for ctx.Err() == nil {
		l, err := r.bus.Lease(ctx, lease, r.holder(detail), func(other bus.LeaseRecord, waits bool) error {
			if former != nil {
				if err := former(other); err != nil {
					return err
				}
			}
			if !waits {
				return nil
			}
			r.status.set(role, "waiting: %s on %s, process %d, does this", other.Instance, other.Host, other.PID)
			r.log.Info("another process has this role, waiting until it ends", "role", lease, "host", other.Host, "pid", other.PID, "since", other.Since)
			return nil
		})
		if err == nil {
			err = r.hold(ctx, l, keys, work)
		}
		switch {
		case ctx.Err() != nil && errors.Is(err, ctx.Err()):
			return nil
		case errors.Is(err, errLeaseLost):
			r.event("role lost to another process, or its lease with the server", "role", lease)
			r.status.set(role, waitsForServer+": %v", err)
		case errors.Is(err, bus.ErrUnavailable):
			r.status.set(role, waitsForServer+": %v", err)
			pause.For(ctx, r.wait(leaseRetry))
		case err != nil || ctx.Err() == nil:
			return err
		}
	}
	return nil
}

// holder is who this process is to leases. With the host: a directory that was copied to
// another machine is another holder.
func (r *Run) holder(detail string) bus.Holder {
	return bus.Holder{Instance: r.identity.Instance + "@" + hostname(), Host: hostname(), PID: os.Getpid(), Build: r.opt.Build, Detail: detail}
}

var errLeaseLost = errors.New("lease lost")

// hold does work under a lease and releases it.
func (r *Run) hold(ctx context.Context, l *bus.Lease, keys []string, work func(context.Context, *bus.Lease) error) (err error) {
	defer func() {
		free, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseRetry)
		defer cancel()
		_ = l.Release(free) // it ends by itself if this fails
	}()
	if err := l.Touch(ctx, keys...); errors.Is(err, bus.ErrFenced) {
		return fmt.Errorf("%w (%v)", errLeaseLost, err)
	} else if err != nil {
		return err
	}
	held, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-l.Lost():
			cancel(errLeaseLost)
		case <-stop:
		}
	}()
	r.status.holds(l.Role(), true)
	defer r.status.holds(l.Role(), false)
	err = work(held, l)
	if errors.Is(context.Cause(held), errLeaseLost) || errors.Is(err, bus.ErrFenced) {
		return fmt.Errorf("%w (%v)", errLeaseLost, err)
	}
	return err
}

func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return "unknown"
	}
	return name
}
