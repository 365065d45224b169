package selfplay

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/internal/secret"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/trainer/run"
)

// Open opens the run in dir, or begins one there, with the effective
// configuration cfg, which is written into the directory first. On a server it enters
// the run into the server's registry. The error wraps dirlock.ErrHeld if another
// process has the run, bus.ErrRunExists if another run on the server has its name,
// ErrLost if a part of the run is not there any more.
func Open(ctx context.Context, dir string, cfg configs.Config, o Options) (*Run, error) {
	if err := Check(cfg); err != nil {
		return nil, err
	}
	r := newRun(dir, cfg, o)
	if err := r.open(ctx); err != nil {
		r.Close()
		return nil, fmt.Errorf("open run %s: %w", dir, err)
	}
	return r, nil
}

func newRun(dir string, cfg configs.Config, o Options) *Run {
	r := &Run{cfg: cfg, dir: dir, opt: o, status: newSharedStatus(), log: o.Log}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	return r
}

func (r *Run) open(ctx context.Context) (err error) {
	if err := r.settle(); err != nil {
		return err
	}
	if err := run.CheckInit(r.cfg.Train.Init, r.path(trainDir)); err != nil {
		return fmt.Errorf("train.%w", err)
	}
	if err := r.checkBookFile(); err != nil {
		return err
	}
	if r.owner, err = dirlock.Acquire(r.dir); err != nil {
		return err
	}
	if err := r.tidy(); err != nil {
		return err
	}
	found, err := r.openIdentity()
	if err != nil {
		return err
	}
	saved, resumed, err := r.checkConfig()
	if err != nil {
		return err
	}
	if err := r.openStores(); err != nil {
		return err
	}
	if err := r.storeLeft(ctx, saved.Bus); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	if err := r.patiently(ctx, r.register); err != nil {
		if !found {
			err = errors.Join(err, os.Remove(r.path(stateFile))) // another name may be chosen
		}
		return err
	}
	if err := r.patiently(ctx, r.joinFirst); err != nil {
		return err
	}
	if _, err := r.openingBook(ctx, r.cfg.Actor.Book); err != nil {
		return err
	}
	if !resumed {
		if err := r.beginSettings(); err != nil {
			return err
		}
	}
	// Only settings that work replace those that did.
	if err := durable.WriteFile(r.path(configFile), r.cfg.YAML()); err != nil {
		return err
	}
	other, err := r.leadIfFree(ctx)
	if err != nil {
		return err
	}
	r.status.update(func(s *Status) { s.Run = r.identity.Name })
	r.event("started", "run", r.identity.Name, "id", r.id(), "build", r.opt.Build)
	unsaid := []string(nil) // changes that do nothing yet
	if other != nil {
		r.event("another process is the trainer, its settings hold until this one takes over", "host", other.Host, "pid", other.PID)
		unsaid = configs.SharedDifferences(saved, r.cfg)
	}
	if resumed {
		for _, d := range configs.Differences(saved, r.cfg) {
			if slices.Contains(unsaid, d) {
				continue
			}
			r.event("setting changed", "setting", d)
		}
	}
	return nil
}

// settle derives from the configuration what every process needs.
func (r *Run) settle() (err error) {
	if r.variant, err = chess.ParseVariant(r.cfg.Variant); err != nil {
		return err
	}
	if r.style, err = newStyle(r); err != nil {
		return err
	}
	r.status.update(func(s *Status) { s.Net = r.firstNet().ID })
	return nil
}

// openIdentity reads run.json and the key of the trainer, or makes both for a new
// run. It reports whether run.json was there.
func (r *Run) openIdentity() (found bool, err error) {
	id, found, err := readIdentity(r.dir)
	if err != nil {
		return false, err
	}
	before := id
	switch {
	case !found:
		id, err = newIdentity(r.dir, r.cfg, r.opt.Build)
	case id.Schema == 1:
		err = id.upgrade(r.dir, r.cfg, r.opt.Build)
	}
	if err == nil && found {
		err = id.agree(r.dir, r.cfg)
	}
	if err != nil {
		return found, err
	}
	if r.key, err = id.trainerKey(r.dir); err != nil {
		return found, err
	}
	r.public = r.key.Public().(ed25519.PublicKey)
	if r.identity = id; id == before {
		return found, nil
	}
	r.begun = true
	return found, id.write(r.dir)
}

func (r *Run) openStores() (err error) {
	if r.events, err = openEvents(r.path(eventsFile)); err != nil {
		return err
	}
	r.curve.events.Path = r.path(eventsFile)
	c, err := r.readCurve()
	if err != nil {
		return err
	}
	if c.Damaged > 0 {
		r.log.Warn("lines of the run's events are damaged and left out", "file", r.path(eventsFile), "lines", c.Damaged, "first", c.damage)
	}
	r.store, err = nets.Open(r.path(netsDir))
	return err
}

// connect reaches the server, or starts the one inside the process.
func (r *Run) connect(ctx context.Context) (err error) {
	c := r.cfg.Bus
	o := bus.Options{URL: c.URL, TokenFile: c.TokenFile, Creds: c.Creds, TLSCA: c.TLSCA, Patience: r.opt.Patience, Name: r.identity.Name + " " + r.opt.Role, Log: r.log}
	if o.URL == "" {
		o.Dir, o.Listen = r.path(busDir), c.Listen
	} else {
		r.log.Info("connecting", "nats", secret.Redact(o.URL))
	}
	r.conn, err = bus.Open(ctx, o)
	return err
}

// storeLeft stores the games that are on the embedded server, by the rules that held when
// they were published, where the server was closed to others and is not any more, or the
// other way round: games of a closed one have no signature.
func (r *Run) storeLeft(ctx context.Context, before configs.Bus) error {
	if _, err := os.Stat(r.path(busDir)); r.cfg.Bus.URL != "" || (before.Listen == "") == (r.cfg.Bus.Listen == "") || err != nil {
		return nil
	}
	closed := newRun(r.dir, r.cfg, r.opt)
	closed.cfg.Bus.Listen, closed.listened = "", before.Listen != ""
	closed.identity, closed.variant, closed.events = r.identity, r.variant, r.events
	if err := closed.connect(ctx); err != nil {
		return err
	}
	err := closed.join(ctx, bus.JoinOptions{})
	if err == nil {
		err = closed.storeAll(ctx)
	}
	return errors.Join(err, closed.conn.Close())
}

// storeAll stores every game that is on the bus.
func (r *Run) storeAll(ctx context.Context) error {
	st, err := r.bus.Stats(ctx)
	if err != nil || st.Stored() {
		return err
	}
	in, err := openIngester(r)
	if err != nil {
		return err
	}
	return errors.Join(in.drain(ctx), in.close())
}

// reachable reports whether other machines may be, or may have been, on the bus.
func (r *Run) reachable() bool { return r.cfg.Bus.URL != "" || r.cfg.Bus.Listen != "" || r.listened }

// register enters the run into the server's registry, unless it is there.
func (r *Run) register(ctx context.Context) error {
	mine := bus.RunRecord{
		Schema: bus.RunSchema, Name: r.identity.Name, ID: r.id(), Variant: r.cfg.Variant, Kind: r.cfg.Net.Kind,
		PublicKey: r.identity.PublicKey, Build: r.opt.Build, Protocol: r.identity.protocol(), Created: time.Now().UTC(),
	}
	found, err := r.conn.FindRun(ctx, mine.Name)
	if errors.Is(err, bus.ErrNoRun) {
		kept, e := r.readPointers()
		if e != nil {
			return e
		}
		mine.Buffer = kept.Buffer
		if err = r.conn.CreateRun(ctx, mine); err == nil {
			return nil
		}
		if errors.Is(err, bus.ErrRunExists) { // made by another at the same moment
			found, err = r.conn.FindRun(ctx, mine.Name)
		}
	}
	if err != nil {
		return err
	}
	switch {
	case found.ID != mine.ID:
		return fmt.Errorf("%w: run %s on the server has id %s, begun at %s by build %s, and %s holds run %s: give this one another name with --run, "+
			"or start a single role (actor, replay, gate) to join the run that is there", bus.ErrRunExists, found.Name, found.ID, found.Created.Format(time.DateTime), found.Build, r.dir, mine.ID)
	case found.PublicKey != mine.PublicKey:
		return fmt.Errorf("run %s on the server takes nets signed by key %s, found key %s in %s: put the run's key there", found.Name, found.PublicKey, mine.PublicKey, r.path(keyFile))
	case found.Protocol != mine.Protocol && found.Protocol <= bus.Protocol: // not written by this run; join refuses others
		found.Protocol = mine.Protocol
		return r.conn.UpdateRun(ctx, found)
	}
	return nil
}

// join makes sure that the run's streams are there, with the sizes if any are given.
func (r *Run) join(ctx context.Context, sizes bus.JoinOptions) (err error) {
	r.bus, err = r.conn.Join(ctx, r.id(), sizes)
	return err
}

// joinFirst joins the run as a process that has its settings. They say how large it is, but
// not while another process is the trainer.
func (r *Run) joinFirst(ctx context.Context) error {
	var other *bus.LeaseRecord
	err := r.join(ctx, bus.JoinOptions{Look: true})
	if err == nil {
		other, err = r.otherTrainer(ctx)
	}
	if err != nil && !errors.Is(err, bus.ErrMissing) {
		return err
	}
	if other == nil {
		if err := r.size(ctx); err != nil {
			return err
		}
	}
	return r.join(ctx, bus.JoinOptions{}) // without sizes: another may be the trainer when a lost connection is back
}

// size makes sure that the servers have what the run needs, as large as its settings say.
func (r *Run) size(ctx context.Context) error {
	return r.conn.Make(ctx, r.id(), bus.JoinOptions{MaxBytes: r.cfg.Bus.MaxBytes, Replicas: r.cfg.Bus.Replicas})
}

// leadIfFree is lead, unless another process is the trainer, which does that: then it returns
// the record of its lease.
func (r *Run) leadIfFree(ctx context.Context) (other *bus.LeaseRecord, err error) {
	err = r.agree(ctx, func(ctx context.Context) (err error) {
		if other, err = r.otherTrainer(ctx); err != nil || other != nil {
			return err
		}
		return r.lead(ctx, r.bus.SetPointer)
	})
	return other, err
}

// otherTrainer returns the record of the trainer's lease, nil if nobody has it, or a process
// of this directory that has ended. One that was killed elsewhere has it until it is asked for.
func (r *Run) otherTrainer(ctx context.Context) (*bus.LeaseRecord, error) {
	l, err := r.bus.ReadLease(ctx, trainerLease)
	switch {
	case errors.Is(err, bus.ErrNoLease):
		return nil, nil
	case errors.Is(err, bus.ErrRecord): // who asks for the lease says so
		return &bus.LeaseRecord{}, nil
	case err != nil || l.Released || l.Instance == r.holder("").Instance:
		return nil, err
	}
	return &l, nil
}

// placeWait is how long a start waits for servers to find a place for all copies: those that
// were just started do not know yet what room there is on each, but too few never find one.
const placeWait = time.Minute

// patiently does what a start needs of the server, again as long as the server cannot
// do it now: a cluster that is choosing its leaders can a few seconds later.
func (r *Run) patiently(ctx context.Context, do func(context.Context) error) error {
	for began := time.Now(); ; {
		err := do(ctx)
		if !errors.Is(err, bus.ErrUnavailable) && !(errors.Is(err, bus.ErrNoPlace) && time.Since(began) < r.wait(placeWait)) {
			return err
		}
		r.log.Warn("the server cannot give what the run needs now, trying again", "error", err)
		if !pause.For(ctx, r.wait(joinRetry)) {
			return err
		}
	}
}

const conflictRetry = 50 * time.Millisecond // of two who write the same

// agree is patiently for what another process may be writing, too: then it looks again.
func (r *Run) agree(ctx context.Context, do func(context.Context) error) error {
	return r.patiently(ctx, func(ctx context.Context) error {
		for {
			err := do(ctx)
			if !errors.Is(err, bus.ErrConflict) {
				return err
			}
			if !pause.For(ctx, pause.Spread(conflictRetry)) {
				return fmt.Errorf("%w: %w", ctx.Err(), err)
			}
		}
	})
}

// forAWhile is patiently for who waits at a terminal: no longer than for a first connection.
func (r *Run) forAWhile(ctx context.Context, do func(context.Context) error) error {
	while, cancel := context.WithTimeout(ctx, cmp.Or(r.opt.Patience, bus.DefaultPatience))
	defer cancel()
	return r.patiently(while, func(context.Context) error { return do(ctx) })
}

// configKey is the pointer whose value is the settings that all roles share, as YAML.
const configKey = "config"

// publishConfig tells the other roles the settings that are theirs too.
func (r *Run) publishConfig(ctx context.Context, set setPointer) error {
	text, err := r.listConfig(ctx, set)
	if err != nil {
		return err
	}
	before, err := r.bus.Pointer(ctx, configKey)
	if err != nil && !errors.Is(err, bus.ErrNoPointer) || before.Value == text {
		return err
	}
	if _, err := set(ctx, configKey, text, before.Revision); err != nil {
		return err
	}
	if before.Value != "" {
		r.auditChange(ctx, before.Value, text)
	}
	return nil
}

// listConfig enters the settings that the roles share into the list of those that the run has
// had, and returns them. The others have the book before that: the settings name it by its
// content.
func (r *Run) listConfig(ctx context.Context, set setPointer) (string, error) {
	cfg := r.cfg
	var err error
	if cfg.Actor.Book, err = r.publishBook(ctx); err != nil {
		return "", err
	}
	text := string(configs.Shared(cfg))
	past, err := r.pastSettings(ctx)
	if err != nil {
		return "", err
	}
	past.add(text)
	list, err := r.keepSettings(past)
	if err == nil {
		err = r.say(ctx, set, settingsKey, list)
	}
	return text, err
}

// say gives a pointer a value, unless it has it.
func (r *Run) say(ctx context.Context, set setPointer, key, value string) error {
	p, err := r.bus.Pointer(ctx, key)
	if err != nil && !errors.Is(err, bus.ErrNoPointer) || p.Value == value {
		return err
	}
	_, err = set(ctx, key, value, p.Revision)
	return err
}
