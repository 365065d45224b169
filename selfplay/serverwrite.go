package selfplay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/trainer"
)

// ServerWriter gives servers what a ServerReader has read.
type ServerWriter struct {
	run   *Run
	state ServerState
}

// WriteServers opens the servers that cfg names, or if it names none the one inside the
// process whose files are in dir, for a run that they do not have. The error wraps
// bus.ErrRunExists if they have it or another of its name, and nothing is changed there. Nets
// are taken from dir.
func WriteServers(ctx context.Context, dir string, cfg configs.Config, state ServerState, o Options) (*ServerWriter, error) {
	if state.Schema != ServerStateSchema {
		return nil, fmt.Errorf("state of servers: found schema %d, expected %d", state.Schema, ServerStateSchema)
	}
	o.Role = "restore"
	cfg.Bus.Listen = ""
	r := newRun(dir, cfg, o)
	r.identity.Name, r.identity.ID, r.identity.Protocol = state.Run.Name, state.Run.ID, state.Run.Protocol
	w := &ServerWriter{r, state}
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return w, nil
}

func (w *ServerWriter) open(ctx context.Context) (err error) {
	r := w.run
	if r.store, err = nets.Open(r.path(netsDir)); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	err = r.forAWhile(ctx, func(ctx context.Context) error {
		if _, err := w.registered(ctx); err != nil {
			return err
		}
		err := w.missing(ctx, bus.JoinOptions{Look: true})
		if errors.Is(err, bus.ErrMissing) || errors.Is(err, bus.ErrNoPointer) {
			err = w.missing(ctx, bus.JoinOptions{MaxBytes: r.cfg.Bus.MaxBytes, Replicas: r.cfg.Bus.Replicas})
		}
		return err
	})
	if errors.Is(err, bus.ErrNoPointer) {
		return nil
	}
	return err
}

// registered reports whether the servers' registry has the run. Another one of its name is
// bus.ErrRunExists.
func (w *ServerWriter) registered(ctx context.Context) (bool, error) {
	record := w.state.Run
	found, err := w.run.conn.FindRun(ctx, record.Name)
	if errors.Is(err, bus.ErrNoRun) {
		return false, nil
	}
	if err == nil && found.ID != record.ID {
		err = fmt.Errorf("%w: run %s on the servers has id %s, begun at %s by build %s, expected id %s: give servers without a run of that name",
			bus.ErrRunExists, found.Name, found.ID, found.Created.Format(time.DateTime), found.Build, record.ID)
	}
	return err == nil, err
}

// missing joins the run. The error is bus.ErrNoPointer if it has no settings there, which are
// the last that it is given, and bus.ErrRunExists if it has.
func (w *ServerWriter) missing(ctx context.Context, o bus.JoinOptions) error {
	if err := w.run.join(ctx, o); err != nil {
		if o.Replicas > 1 {
			err = fmt.Errorf("%d copies of everything (--replicas says how many): %w", o.Replicas, err)
		}
		return err
	}
	if _, err := w.run.bus.Pointer(ctx, configKey); err != nil {
		return err
	}
	return fmt.Errorf("%w: the servers have run %s with id %s: nothing was changed there; without --nats the directory alone is restored", bus.ErrRunExists, w.state.Run.Name, w.state.Run.ID)
}

// Close gives the connection back.
func (w *ServerWriter) Close() error { return w.run.Close() }

// Nets gives the servers the nets that they had. It returns how many, and those that the
// directory does not have.
func (w *ServerWriter) Nets(ctx context.Context) (given int, missing []string, err error) {
	ids := w.state.Nets
	if ids == nil { // the state is a directory's
		all, err := w.run.store.List()
		if err != nil {
			return 0, nil, err
		}
		for _, m := range all {
			ids = append(ids, m.ID)
		}
	}
	for _, id := range ids {
		switch err := w.run.forAWhile(ctx, func(ctx context.Context) error { return w.run.putNet(ctx, id) }); {
		case errors.Is(err, nets.ErrNotFound):
			missing = append(missing, id)
		case err != nil:
			return given, missing, err
		default:
			given++
		}
	}
	return given, missing, nil
}

// Book gives the servers the opening book of the run's settings.
func (w *ServerWriter) Book(ctx context.Context, id string, size int64, r io.Reader) error {
	return w.run.bus.PutFile(ctx, id, size, r)
}

// Game gives the servers a game.
func (w *ServerWriter) Game(ctx context.Context, m bus.PendingMessage) error {
	return w.run.forAWhile(ctx, func(ctx context.Context) error { return w.run.bus.PublishPending(ctx, m) })
}

// Reject gives the servers a quarantined game.
func (w *ServerWriter) Reject(ctx context.Context, g bus.Rejected) error {
	return w.run.bus.Reject(ctx, g.Reason, g.Data)
}

// Finish gives the servers the pointers and enters the run into their registry. The
// settings come last: as long as they are missing, all can be done again.
func (w *ServerWriter) Finish(ctx context.Context) error { return w.run.forAWhile(ctx, w.finish) }

func (w *ServerWriter) finish(ctx context.Context) error {
	record := w.state.Run
	record.Buffer = "" // the games may come from the backup too, into a buffer with another id
	there, err := w.registered(ctx)
	if err == nil && !there {
		err = w.run.conn.CreateRun(ctx, record)
	}
	if err != nil {
		return err
	}
	rest := maps.Clone(w.state.Pointers)
	delete(rest, configKey)
	if err := w.run.givePointers(ctx, rest); err != nil {
		return err
	}
	return w.run.givePointers(ctx, map[string][]string{configKey: w.state.Pointers[configKey]})
}

// DirectoryFacts are what VerifyDirectory found.
type DirectoryFacts struct {
	Checkpoint string // name of the newest file; empty: the directory has none
	Step       uint64 // of the optimiser, in it
	Generation int    // nets offered by then
	Buffer     replay.Stats
	Damage     []replay.Damage
}

// VerifyDirectory opens the replay buffer and the newest checkpoint of a directory of a
// run, as its roles do. The directory is not to be used otherwise meanwhile. A checkpoint
// that cannot be loaded is an error; damage of the buffer is told.
func VerifyDirectory(dir string, cfg configs.Config, run bus.RunRecord) (f DirectoryFacts, err error) {
	cfg.Variant, cfg.Net.Kind = run.Variant, run.Kind
	r := newRun(dir, cfg, Options{Build: "verify"})
	r.identity.ID = run.ID
	defer func() { err = errors.Join(err, r.Close()) }()
	if err := errors.Join(r.settle(), r.openStores()); err != nil {
		return f, err
	}
	buffer, err := openBuffer(r)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, buffer.Close()) }()
	f.Buffer, f.Damage = buffer.Stats(), buffer.Damage()
	paths, err := durable.Glob(r.path(trainDir), "step-*")
	if err != nil || len(paths) == 0 {
		return f, err
	}
	l, err := newLearner(r, buffer, nil)
	if l != nil && l.trainer != nil {
		defer l.trainer.Close()
	}
	if err != nil {
		return f, fmt.Errorf("checkpoint: %w", err)
	}
	f.Step, f.Generation = l.trainer.Steps(), l.state.Generation
	f.Checkpoint = trainer.CheckpointName(f.Step)
	if newest := filepath.Base(slices.Max(paths)); newest != f.Checkpoint {
		return f, fmt.Errorf("checkpoint: found %s damaged, %s is the newest that can be loaded", newest, f.Checkpoint)
	}
	return f, nil
}
