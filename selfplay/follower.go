package selfplay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/player"
)

// fetchRetry is the pause after a net could not be fetched.
const fetchRetry = 2 * time.Second

// net is a loaded net of the run's kind, or what plays before there is one. Game
// records name it by its ID.
type net struct {
	*player.Net
	generation int    // 0: what plays before there is a net
	games      uint64 // stored when it was offered
}

// firstNet returns what plays before there is a net.
func (r *Run) firstNet() *net { return &net{Net: player.NoNet(r.style.spec().Search)} }

func (r *Run) currentKey() string   { return "current." + r.cfg.Variant + "." + r.cfg.Net.Kind }
func (r *Run) candidateKey() string { return "candidate." + r.cfg.Variant + "." + r.cfg.Net.Kind }
func (r *Run) judgedKey() string    { return "judged." + r.cfg.Variant + "." + r.cfg.Net.Kind }

// follower keeps the net that the current pointer names loaded. Players go on
// with the net they have while a new one is fetched.
type follower struct {
	run    *Run
	loaded atomic.Pointer[net]
}

func newFollower(r *Run) *follower {
	f := &follower{run: r}
	f.loaded.Store(r.firstNet())
	return f
}

// current is the net to begin the next game with.
func (f *follower) current() *net { return f.loaded.Load() }

// sync loads what the pointer names now; without a pointer it keeps what plays
// without a net. A net that cannot be loaded does not hold up a start: the newest one
// before it that can be is played with.
func (f *follower) sync(ctx context.Context) error {
	p, err := f.run.bus.Pointer(ctx, f.run.currentKey())
	if errors.Is(err, bus.ErrNoPointer) {
		return nil
	}
	if err != nil {
		return err
	}
	if err = f.load(ctx, p); err == nil || ctx.Err() != nil {
		return err
	}
	f.failed(p, err)
	history, err := f.run.bus.PointerHistory(ctx, f.run.currentKey())
	if err != nil {
		f.run.log.Warn("the history of the current net cannot be read", "error", err)
	}
	for _, earlier := range slices.Backward(history) {
		if earlier.Value == p.Value {
			continue
		}
		if err := f.load(ctx, earlier); err == nil {
			f.run.event("playing with an earlier net", "net", f.current().ID, "generation", f.current().generation)
			break
		}
	}
	return nil
}

// load loads the net of a pointer, unless it is loaded.
func (f *follower) load(ctx context.Context, p bus.Pointer) error {
	record, err := nets.ParseRecord(p.Value)
	if err != nil {
		return err
	}
	now := f.current()
	if record.Net == now.ID {
		f.show() // the pointer is back from a net that could not be loaded
		return nil
	}
	if record.Net == "" { // back to the time before the first net
		f.loaded.Store(f.run.firstNet())
		f.show()
		return nil
	}
	n, err := f.run.loadNet(ctx, record.Net)
	if err != nil {
		return err
	}
	// People choose from nets that this process may not have seen: a promotion may follow a rollback.
	if n.generation < now.generation && record.Action == nets.Publish && !f.run.identity.bare() { // a bare id does not say what was done
		return unfit(fmt.Errorf("net %s: found generation %d published after %d, expected a newer one, or the record of a promotion, a rollback or a withdrawal", short(n.ID), n.generation, now.generation))
	}
	// A command that is given this directory finds the net by it.
	if err := f.run.store.SetCurrent(n.ID); err != nil {
		return err
	}
	f.loaded.Store(n)
	f.show()
	return nil
}

// show puts the loaded net into the status.
func (f *follower) show() {
	n := f.current()
	f.run.status.update(func(s *Status) {
		s.Net, s.Generation = n.ID, n.generation
		s.FailedNet, s.FailedWhy, s.FailedHere = "", "", false
	})
}

// unfitError says that the net itself is at fault: no process can load it. All other errors
// are those of one machine, or of its connection to the servers.
type unfitError struct{ error }

func (e unfitError) Unwrap() error { return e.error }

// unfit makes what was found wrong with a net an unfitError, unless the system says that it
// is the disk.
func unfit(err error) error {
	if err == nil || ofSystem(err) {
		return err
	}
	return unfitError{err}
}

// ofSystem reports whether an error is what the system says, of a disk for one.
func ofSystem(err error) bool {
	_, is := errors.AsType[syscall.Errno](err)
	return is
}

// unfitThere is unfit of the errors of a fetch that everyone gets: the servers do not have the
// net, or what they have under its name is not it. All others say that it could not be fetched.
func unfitThere(err error) error {
	for _, there := range []error{bus.ErrNoNet, bus.ErrCorrupt, nets.ErrManifest, nets.ErrTooLarge} {
		if errors.Is(err, there) {
			return unfit(err)
		}
	}
	return err
}

// isUnfit reports whether an error says that the net itself cannot be played with.
func isUnfit(err error) bool {
	_, is := errors.AsType[unfitError](err)
	return is
}

// failed says that the net of a pointer could not be loaded, here and to the referee.
func (f *follower) failed(p bus.Pointer, why error) {
	id := p.Value
	if record, err := nets.ParseRecord(p.Value); err == nil {
		id = record.Net
	}
	f.run.event("net could not be loaded, playing on with the old one", "net", id, "error", why.Error())
	f.run.status.update(func(s *Status) { s.FailedNet, s.FailedWhy, s.FailedHere = id, why.Error(), !isUnfit(why) })
}

// follow keeps the net that the pointer names loaded until ctx ends.
func (f *follower) follow(ctx context.Context) error {
	changes, err := f.run.bus.WatchPointer(ctx, f.run.currentKey())
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	f.loadEach(ctx, changes)
	return nil
}

// loadEach loads the net of every change until there are no more or ctx ends. A
// net that cannot be had is tried again, until a newer one takes its place.
func (f *follower) loadEach(ctx context.Context, changes <-chan bus.Pointer) {
	for p := range changes {
		failed, found := "", false         // the pointer whose failure was reported, and that its net is unfit
		turn := time.Now().Add(f.delay(p)) // to load it
		for ctx.Err() == nil {
			if wait := time.Until(turn); wait > 0 {
				select {
				case <-ctx.Done():
					return
				case <-time.After(wait):
				case newer, open := <-changes:
					if !open {
						return
					}
					// Nets that come faster than they are fetched do not put the turn off.
					if next := time.Now().Add(f.delay(newer)); failed == p.Value || next.Before(turn) {
						turn = next
					}
					p = newer
					continue
				}
			}
			err := f.load(ctx, p)
			if err == nil {
				break
			}
			if (failed != p.Value || !found && isUnfit(err)) && ctx.Err() == nil {
				failed, found = p.Value, isUnfit(err)
				f.failed(p, err)
			}
			turn = time.Now().Add(pause.Spread(f.run.wait(fetchRetry)))
		}
	}
}

// delay is how long the net of a pointer is waited for, so that a run's actors do not all
// fetch it at once. A net that is in the directory is not fetched, and before its first net
// an actor waits for nothing.
func (f *follower) delay(p bus.Pointer) time.Duration {
	record, err := nets.ParseRecord(p.Value)
	if err != nil || !f.run.reachable() || f.current().generation == 0 || f.run.store.Has(record.Net) {
		return 0
	}
	return rand.N(time.Duration(record.Spread)*time.Second + 1)
}

// loadNet returns the net with this id: from the local store, or fetched from
// the bus, verified by its hash, signature, variant and architecture.
func (r *Run) loadNet(ctx context.Context, id string) (*net, error) {
	m, err := r.store.Manifest(id)
	if err == nil {
		err = r.checkManifest(m)
	}
	if err != nil || !r.store.Has(id) {
		if m, err = r.fetchNet(ctx, id); err != nil {
			return nil, fmt.Errorf("net %s: %w", short(id), err)
		}
		r.pruneFetched(id)
	}
	path, err := r.store.Get(id)
	if errors.Is(err, nets.ErrCorrupt) { // and removed: the bus has another copy
		if m, err = r.fetchNet(ctx, id); err == nil {
			path, err = r.store.Get(id)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("net %s: %w", short(id), err)
	}
	n, err := r.style.read(path)
	if err != nil {
		return nil, fmt.Errorf("net %s: %w", short(id), unfit(err))
	}
	return &net{n, m.Generation, m.Games}, nil
}

// fetchNet brings a net and its manifest from the bus into the local store.
func (r *Run) fetchNet(ctx context.Context, id string) (nets.Manifest, error) {
	return r.fetchInto(ctx, r.store, id)
}

func (r *Run) fetchInto(ctx context.Context, store *nets.Store, id string) (nets.Manifest, error) {
	m, err := r.bus.NetManifest(ctx, id)
	if err != nil {
		return m, unfitThere(err)
	}
	if err := r.checkManifest(m); err != nil {
		return m, unfit(err)
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(r.bus.GetNet(ctx, id, pw)) }()
	_, err = store.PutAs(id, pr, m.Kind)
	pr.CloseWithError(errors.New("store gave up")) // lets the writer end
	if err != nil {
		return m, unfitThere(err)
	}
	return m, store.PutManifest(m)
}

// FetchNet brings a net of the run from the bus into a directory, for somebody who has no
// directory of the run, unless it is there, and returns its file. Nets fetched before are
// removed.
func (r *Run) FetchNet(ctx context.Context, dir, id string) (path string, err error) {
	store, err := nets.Open(dir)
	if err != nil {
		return "", err
	}
	if !store.Has(id) {
		if _, err := r.fetchInto(ctx, store, id); err != nil {
			return "", fmt.Errorf("net %s: %w", short(id), err)
		}
		if _, err := store.Prune(id); err != nil {
			return "", err
		}
	}
	return store.Get(id)
}

// fetchedNets is how many nets a role without the trainer's directory keeps.
const fetchedNets = 16

// pruneFetched removes the oldest nets of a role that fetches what it needs. The
// trainer's own are left to the trainer.
func (r *Run) pruneFetched(newest string) {
	if _, err := os.Stat(r.path(keyFile)); err == nil {
		return
	}
	all, err := r.store.List() // with an error, of those that can be read
	keep := []string{newest}
	for _, m := range all[max(0, len(all)-fetchedNets):] {
		keep = append(keep, m.ID)
	}
	if err == nil {
		_, err = r.store.Prune(keep...)
	}
	if err != nil {
		r.log.Warn("old nets not removed", "error", err)
	}
}

// checkManifest accepts nets that this run's trainer signed, for this run and its
// variant. Manifests of earlier builds do not name the run.
func (r *Run) checkManifest(m nets.Manifest) error {
	if err := m.Verify(r.public); err != nil {
		return err
	}
	if m.Variant != r.cfg.Variant || m.Kind != r.cfg.Net.Kind {
		return fmt.Errorf("found a net of kind %s for %s, expected %s for %s", m.Kind, m.Variant, r.cfg.Net.Kind, r.cfg.Variant)
	}
	if m.Run != "" && m.Run != r.id() {
		return fmt.Errorf("found a net of run %s, expected one of %s", m.Run, r.id())
	}
	return nil
}

// firstNets is how many of a run's first nets are kept for comparison.
const firstNets = 3

// pruneNets removes old nets from the local store and the bus, except the
// first ones, the newest ones and those in use. The bus keeps those that the run played
// with of late even if the local store never had them, as that of a trainer which has
// taken over. What cannot be read stays and is part of the error.
func (r *Run) pruneNets(ctx context.Context) error {
	all, unread := r.store.List()
	if len(all) == 0 {
		return unread
	}
	inUse := map[string]bool{}
	if id := r.judging.Load(); id != nil {
		inUse[*id] = true
	}
	// Read after judging: a net that was judged in between is current now.
	for _, key := range []string{r.currentKey(), r.candidateKey()} {
		p, err := r.bus.Pointer(ctx, key)
		if err != nil && !errors.Is(err, bus.ErrNoPointer) {
			return err
		}
		if err == nil {
			record, err := nets.ParseRecord(p.Value)
			if err != nil {
				return err
			}
			inUse[record.Net], inUse[record.From] = true, true // the one before may be gone back to
		}
	}
	history, err := r.bus.PointerHistory(ctx, r.currentKey())
	if err != nil && !errors.Is(err, bus.ErrNoPointer) {
		return err
	}
	for _, p := range history {
		record, err := nets.ParseRecord(p.Value)
		if err == nil && record.Generation > all[len(all)-1].Generation-r.cfg.Bus.KeepNets {
			inUse[record.Net] = true
		}
	}
	keep := slices.Collect(maps.Keys(inUse))
	for i, m := range all {
		if m.Generation <= firstNets || i >= len(all)-r.cfg.Bus.KeepNets {
			keep = append(keep, m.ID)
		}
	}
	_, err = r.store.Prune(keep...)
	return errors.Join(unread, err, r.pruneBus(ctx, keep))
}

// pruneBus removes the nets from the bus that are neither among keep nor in the local
// store, where the last of them may have gone long ago.
func (r *Run) pruneBus(ctx context.Context, keep []string) error {
	ids, err := r.bus.ListNets(ctx)
	for _, id := range ids {
		_, known := r.store.Manifest(id)
		if slices.Contains(keep, id) || r.store.Has(id) || !errors.Is(known, nets.ErrNotFound) {
			continue
		}
		if e := r.bus.DeleteNet(ctx, id); !errors.Is(e, bus.ErrNoNet) {
			err = errors.Join(err, e)
		}
	}
	return err
}
