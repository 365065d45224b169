package selfplay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

const joinRetry = time.Second // between looks for a run that has not begun

// Join opens a run on a server for a single role, in a directory of its own or the
// one of other roles on the same machine. It waits, and says so, until a trainer has
// begun the run called name. What the machine decides for itself, such as how many
// games it plays at a time, comes from own; all else comes from the run. The error
// wraps bus.ErrProtocol if this build is too old for the run.
func Join(ctx context.Context, dir, name string, own configs.Config, o Options) (*Run, error) {
	r := newRun(dir, own, o)
	if err := r.joinRun(ctx, name); err != nil {
		r.Close()
		return nil, fmt.Errorf("join run %s: %w", name, err)
	}
	return r, nil
}

func (r *Run) joinRun(ctx context.Context, name string) error {
	if r.cfg.Bus.URL == "" {
		return fmt.Errorf("%w: bus.url: found nothing, expected the server that the run is on", configs.ErrInvalid)
	}
	r.identity.Name = name
	if err := r.connect(ctx); err != nil {
		return err
	}
	if err := r.patiently(ctx, func(ctx context.Context) error { return r.takeRun(ctx, name) }); err != nil {
		return err
	}
	if err := r.settle(); err != nil {
		return err
	}
	if err := r.openStores(); err != nil {
		return err
	}
	r.event("started", "role", r.opt.Role, "run", r.identity.Name, "id", r.id(), "build", r.opt.Build)
	return nil
}

// takeRun learns from the server what the run is.
func (r *Run) takeRun(ctx context.Context, name string) error {
	record, err := r.awaitRun(ctx, name)
	if err != nil {
		return err
	}
	if err := r.takeIdentity(record); err != nil {
		return err
	}
	if r.bus == nil {
		if err := r.join(ctx, bus.JoinOptions{Begun: true}); err != nil { // the sizes are not in this machine's settings
			return err
		}
	}
	return r.takeConfig(ctx)
}

// awaitRun returns the record of the run once there is one.
func (r *Run) awaitRun(ctx context.Context, name string) (bus.RunRecord, error) {
	for said := false; ; said = true {
		record, err := r.conn.FindRun(ctx, name)
		if !errors.Is(err, bus.ErrNoRun) {
			return record, err
		}
		if !said {
			r.log.Info("waiting for the run: no trainer and no loop has begun it on this server", "run", name)
		}
		if !pause.For(ctx, r.wait(joinRetry)) {
			return record, fmt.Errorf("%w, and it did not begin until this was interrupted", err)
		}
	}
}

// takeIdentity makes the directory one of the run.
func (r *Run) takeIdentity(record bus.RunRecord) error {
	var err error
	if r.public, err = publicKey(record.PublicKey); err != nil {
		return fmt.Errorf("record of run %s: %w", record.Name, err)
	}
	id, found, err := readIdentity(r.dir)
	if err != nil {
		return err
	}
	if found && id.ID != record.ID {
		return fmt.Errorf("%s belongs to run %s with id %s, and the run called %s on the server has id %s: give another directory", r.dir, id.Name, id.ID, record.Name, record.ID)
	}
	if found && id.PublicKey != "" && id.PublicKey != record.PublicKey {
		return fmt.Errorf("run %s on the server takes nets signed by key %s, expected key %s, with which %s was begun: somebody has replaced the run's record", record.Name, record.PublicKey, id.PublicKey, r.dir)
	}
	if found && id.Schema == identitySchema && id.protocol() != record.Protocol {
		return fmt.Errorf("the roles of run %s on the server speak protocol %d, expected %d, with which %s was begun: somebody has replaced the run's record", record.Name, record.Protocol, id.protocol(), r.dir)
	}
	if found && id.Schema == identitySchema {
		r.identity = id
		return nil
	}
	r.identity = identity{Schema: identitySchema, Name: record.Name, ID: record.ID, PublicKey: record.PublicKey, Instance: randomID(instanceLength), Build: r.opt.Build, Protocol: record.Protocol}
	if err := durable.MkdirAll(r.dir, 0o755); err != nil {
		return err
	}
	return r.identity.write(r.dir)
}

// ErrSettings says that a role ended because the run's settings have changed: to go on
// with the new ones, join again.
var ErrSettings = errors.New("the run's settings have changed")

// whileSettingsStay returns a context that ends with ctx, or with ErrSettings as its
// cause when the run's settings are no longer those that r joined with.
func (r *Run) whileSettingsStay(ctx context.Context) (context.Context, error) {
	changes, err := r.bus.WatchPointer(ctx, configKey)
	if err != nil {
		return ctx, unlessInterrupted(ctx, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		defer cancel(nil) // the channel is closed when ctx ends
		for p := range changes {
			if p.Value != r.shared {
				r.event("the run's settings have changed, starting again with them", "role", r.opt.Role)
				cancel(ErrSettings)
			}
		}
	}()
	return ctx, nil
}

// unlessInterrupted drops an error that says no more than that ctx has ended. A role
// that is interrupted while it starts ends in order, as it does later.
func unlessInterrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

// because adds ErrSettings to the error of a role that ended by it.
func because(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrSettings) {
		return errors.Join(ErrSettings, err)
	}
	return err
}

// takeConfig lays the run's settings over the machine's own.
func (r *Run) takeConfig(ctx context.Context) error {
	p, err := r.bus.Pointer(ctx, configKey)
	for ; errors.Is(err, bus.ErrNoPointer); p, err = r.bus.Pointer(ctx, configKey) { // the run is just being begun
		if !pause.For(ctx, r.wait(joinRetry)) {
			return err
		}
	}
	if err != nil {
		return err
	}
	r.shared = p.Value
	if r.cfg, err = configs.WithShared(r.cfg, []byte(p.Value), "settings of run "+r.identity.Name); err != nil {
		return err
	}
	if !r.cfg.Gate.Enabled {
		// Fresh nets need a gate. When to train one is the trainer's own setting, and
		// this machine's default for it must not stand in the way.
		r.cfg.Train.RenewGrowth = 0
	}
	return Check(r.cfg)
}
