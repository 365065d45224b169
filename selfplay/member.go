package selfplay

import (
	"context"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

const announceEvery = 10 * time.Second // a third of the time after which a silent role counts as gone

// announce tells the others every few seconds that this process is there and what it
// does, until ctx ends. A failure is no error: the server may be away.
func (r *Run) announce(ctx context.Context, instance string) error {
	role := r.opt.Role
	if role == "" {
		role = "loop"
	}
	since := time.Now().UTC()
	member := func() bus.Member {
		s := r.Status()
		return bus.Member{
			Schema: bus.MemberSchema, Protocol: bus.Protocol, Role: role, Instance: instance, Host: hostname(), PID: os.Getpid(),
			Build: r.opt.Build, Since: since, State: s.state(role), Net: s.Net, Generation: s.Generation,
			Games: s.SessionGames, Waiting: uint64(s.Spooled), FailedNet: s.FailedNet, FailedWhy: s.FailedWhy,
			StreamLost: s.StreamLost, BufferLost: s.BufferLost, Unverifiable: s.Unverifiable,
		}
	}
	for {
		if err := r.bus.Announce(ctx, member()); err != nil && ctx.Err() == nil {
			r.log.Debug("not announced", "error", err)
		}
		if !pause.For(ctx, pause.Spread(r.wait(announceEvery))) {
			break
		}
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseRetry)
	defer cancel()
	_ = r.bus.Leave(leave, member()) // else it is forgotten after a while
	return nil
}

// state says what a role is doing; a loop says all.
func (s *Status) state(role string) string {
	for _, r := range s.Roles {
		if r.Name == role {
			return r.State
		}
	}
	return s.Waiting()
}
