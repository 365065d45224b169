package selfplay

import (
	"context"
	"encoding/json"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
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
			Games: s.SessionGames, Waiting: uint64(s.Spooled), FailedNet: s.FailedNet, FailedWhy: s.FailedWhy, FailedHere: s.FailedHere,
			StreamLost: s.StreamLost, BufferLost: s.BufferLost, Excluded: s.Excluded, Unverifiable: s.Unverifiable, Stalled: s.Stalled,
		}
	}
	for {
		m := member()
		if err := r.bus.Announce(ctx, m); err != nil && ctx.Err() == nil {
			r.log.Debug("not announced", "error", err)
		}
		if err := r.writeStatus(role, m); err != nil {
			r.log.Debug("status not written", "error", err)
		}
		if !pause.For(ctx, pause.Spread(r.wait(announceEvery))) {
			break
		}
	}
	leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseRetry)
	defer cancel()
	_ = r.bus.Leave(leave, member()) // else it is forgotten after a while
	_ = os.Remove(r.path(statusFile(role)))
	return nil
}

// statusFile is what a role says of itself to those who have the directory: a bus.Member,
// written anew every few seconds as long as the role works.
func statusFile(role string) string { return "status-" + role + ".json" }

func (r *Run) writeStatus(role string, m bus.Member) error {
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return durable.WriteSummed(r.path(statusFile(role)), append(text, '\n'))
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
