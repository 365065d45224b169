package selfplay

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/nets"
)

// ErrNoChoice says that a net cannot be chosen for a run.
var ErrNoChoice = errors.New("the net cannot be chosen")

// NetChoice is what a person needs to see and change which net a run plays with. The
// run need not be running; if it is, those who play follow.
type NetChoice struct {
	run *Run // its store is nil without a directory
}

// NetChange is one entry of the history of the net that a run plays with.
type NetChange struct {
	Time time.Time `json:"time"`
	nets.Record
	Revision uint64 `json:"revision"`
	Error    string `json:"error,omitempty"` // why the value of the pointer could not be read
}

// ChooseNet opens the choice of the net of the run in dir, which no process may have
// open unless it is on a server; or with an empty dir, of the run that cfg names on
// cfg's server. Of cfg, which is SavedConfig's of dir, only what leads to the server
// and names the run matters.
func ChooseNet(ctx context.Context, dir string, cfg configs.Config, o Options) (*NetChoice, error) {
	o.Role = "net"
	cfg.Bus.Listen = ""
	r := newRun(dir, cfg, o)
	var err error
	if dir != "" {
		err = r.openForChoice(ctx)
	} else {
		_, err = r.look(ctx)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return &NetChoice{r}, nil
}

// openForChoice opens of the run in the directory what a choice of its net needs.
func (r *Run) openForChoice(ctx context.Context) error {
	id, found, err := readIdentity(r.dir)
	if err == nil && !found {
		err = fmt.Errorf("%s: found no run, expected the directory of one", r.dir)
	}
	if err != nil {
		return err
	}
	if r.cfg.Bus.URL != "" && r.cfg.Run.Name != "" && r.cfg.Run.Name != id.Name {
		return fmt.Errorf("%s: found the directory of run %s, expected that of %s: leave out the directory or --run", r.dir, id.Name, r.cfg.Run.Name)
	}
	if r.identity = id; id.PublicKey != "" {
		r.public, err = publicKey(id.PublicKey)
	} else if r.key, err = nets.LoadKey(r.path(keyFile)); err == nil {
		r.public = r.key.Public().(ed25519.PublicKey)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.dir, err)
	}
	if r.cfg.Bus.URL == "" {
		if r.owner, err = dirlock.Acquire(r.dir); errors.Is(err, dirlock.ErrHeld) {
			return fmt.Errorf("%w; or let it listen (--listen) and give its address and name in place of the directory (--nats, --run)", err)
		}
		if err != nil {
			return err
		}
		if _, err := os.Stat(r.path(busDir)); err != nil {
			return fmt.Errorf("the run has neither a server nor the files of one: %w", err)
		}
	}
	if r.store, err = nets.Open(r.path(netsDir)); err != nil {
		return err
	}
	if err := r.connect(ctx); err != nil {
		return err
	}
	return r.join(ctx, bus.JoinOptions{})
}

// Choice returns the choice of the net of a run that is open, which is closed by closing
// the run.
func (r *Run) Choice() *NetChoice { return &NetChoice{r} }

// Close gives the connection and the directory back.
func (c *NetChoice) Close() error { return c.run.Close() }

// History returns what the run has played with, oldest first, as far as the server
// remembers.
func (c *NetChoice) History(ctx context.Context) ([]NetChange, error) {
	pointers, err := c.run.bus.PointerHistory(ctx, c.run.currentKey())
	if err != nil {
		return nil, err
	}
	changes := make([]NetChange, len(pointers))
	for i, p := range pointers {
		record, err := nets.ParseRecord(p.Value)
		changes[i] = NetChange{Time: p.Time, Record: record, Revision: p.Revision}
		if err != nil {
			changes[i].Error = err.Error()
		} else if record.Schema == 0 { // an earlier build's, which says no generation
			if m, err := c.manifest(ctx, record.Net); err == nil {
				changes[i].Generation = m.Generation
			}
		}
	}
	return changes, nil
}

// manifest returns the manifest of a net of the run that it may play with: there, as
// the directory or the server has it, and signed by the run's key.
func (c *NetChoice) manifest(ctx context.Context, id string) (m nets.Manifest, err error) {
	err = nets.ErrNotFound
	if c.run.store != nil && c.run.store.Has(id) {
		m, err = c.run.store.Manifest(id)
	}
	if err != nil {
		m, err = c.run.bus.NetManifest(ctx, id)
	}
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrNoChoice, err)
	}
	if err := m.Verify(c.run.public); err != nil {
		return m, fmt.Errorf("%w: %w", ErrNoChoice, err)
	}
	if m.Variant != c.run.cfg.Variant || m.Kind != c.run.cfg.Net.Kind || m.Run != "" && m.Run != c.run.id() {
		return m, fmt.Errorf("%w: found a net of kind %s for %s, run %q, expected %s for %s, run %q", ErrNoChoice, m.Kind, m.Variant, m.Run, c.run.cfg.Net.Kind, c.run.cfg.Variant, c.run.id())
	}
	return m, nil
}

// Nets returns the manifests of the run's nets that there are, by rising generation.
// What cannot be read or is no net of the run is left out.
func (c *NetChoice) Nets(ctx context.Context) ([]nets.Manifest, error) {
	ids, err := c.run.bus.ListNets(ctx)
	if err != nil {
		return nil, err
	}
	if c.run.store != nil {
		stored, _ := c.run.store.List()
		for _, m := range stored {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	var list []nets.Manifest
	for _, id := range slices.Compact(ids) {
		if m, err := c.manifest(ctx, id); err == nil {
			list = append(list, m)
		} else if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	slices.SortStableFunc(list, func(a, b nets.Manifest) int { return a.Generation - b.Generation })
	return list, nil
}

// now returns the pointer and what it says; both are zero if there is none yet.
func (c *NetChoice) now(ctx context.Context) (bus.Pointer, NetChange, error) {
	p, err := c.run.bus.Pointer(ctx, c.run.currentKey())
	if errors.Is(err, bus.ErrNoPointer) {
		return p, NetChange{}, nil
	}
	if err != nil {
		return p, NetChange{}, err
	}
	history, err := c.History(ctx)
	if err != nil {
		return p, NetChange{}, err
	}
	for _, change := range slices.Backward(history) {
		if change.Revision == p.Revision {
			return p, change, nil
		}
	}
	return p, NetChange{}, fmt.Errorf("%w: %w", ErrNoChoice, bus.ErrConflict)
}

// Promote makes the run play with the net whose id begins with prefix, at least 8
// digits, which must not be older than the present one. By says who wants that, why
// the reason. The error wraps ErrNoChoice if that net cannot be chosen, and
// bus.ErrConflict if another was chosen at the same time.
func (c *NetChoice) Promote(ctx context.Context, prefix, by, why string) (was, is nets.Record, err error) {
	if len(prefix) < 8 {
		return was, is, fmt.Errorf("%w: found %q, expected at least 8 digits of the net's id", ErrNoChoice, prefix)
	}
	all, err := c.Nets(ctx)
	if err != nil {
		return was, is, err
	}
	all = slices.DeleteFunc(all, func(m nets.Manifest) bool { return !strings.HasPrefix(m.ID, prefix) })
	if len(all) != 1 {
		return was, is, fmt.Errorf("%w: found %d nets of the run that begin with %.64s, expected one", ErrNoChoice, len(all), prefix)
	}
	p, now, err := c.now(ctx)
	if err != nil {
		return was, is, err
	}
	if m := all[0]; m.Generation < now.Generation {
		return was, is, fmt.Errorf("%w: found generation %d, which is older than %d of the present one: go back by a rollback to it", ErrNoChoice, m.Generation, now.Generation)
	}
	is = nets.Record{Net: all[0].ID, Generation: all[0].Generation, Action: nets.Promote, By: by, Why: why}
	is, err = c.set(ctx, p, now, is)
	return now.Record, is, err
}

// Previous asks Rollback for the net that the run played with before.
const Previous = -1

// Rollback makes the run play with an older net again: that of a generation, of 0 with
// none as before the first net, or of Previous. The rest is as of Promote.
func (c *NetChoice) Rollback(ctx context.Context, generation int, by, why string) (was, is nets.Record, err error) {
	p, now, err := c.now(ctx)
	if err != nil {
		return was, is, err
	}
	if p.Revision == 0 {
		return was, is, fmt.Errorf("%w: the run has had no net yet, so there is none to go back to", ErrNoChoice)
	}
	is = nets.Record{Action: nets.Rollback, By: by, Why: why}
	if generation == Previous {
		is.Net, is.Generation, err = c.before(ctx, now)
	} else if generation > 0 {
		is.Net, is.Generation, err = c.ofGeneration(ctx, generation, now)
	}
	if err != nil {
		return was, is, err
	}
	is, err = c.set(ctx, p, now, is)
	return now.Record, is, err
}

// before returns the net played with before now that is still there.
func (c *NetChoice) before(ctx context.Context, now NetChange) (id string, generation int, err error) {
	history, err := c.History(ctx)
	if err != nil {
		return "", 0, err
	}
	for _, change := range slices.Backward(history) {
		if change.Net == "" || change.Error != "" || change.Revision >= now.Revision || now.Error == "" && change.Generation >= now.Generation {
			continue
		}
		if _, err := c.manifest(ctx, change.Net); err == nil {
			return change.Net, change.Generation, nil
		}
	}
	return "", 0, fmt.Errorf("%w: of the nets played with before generation %d none is there any more: name a generation that is, or 0 for none", ErrNoChoice, now.Generation)
}

// ofGeneration returns the net of a generation, older than now.
func (c *NetChoice) ofGeneration(ctx context.Context, generation int, now NetChange) (string, int, error) {
	if now.Error == "" && generation >= now.Generation {
		return "", 0, fmt.Errorf("%w: found generation %d, expected one before %d, the present one", ErrNoChoice, generation, now.Generation)
	}
	all, err := c.Nets(ctx)
	if err != nil {
		return "", 0, err
	}
	var there []string
	for _, m := range all {
		if m.Generation == generation {
			return m.ID, generation, nil
		}
		if m.Generation < now.Generation {
			there = append(there, fmt.Sprint(m.Generation))
		}
	}
	return "", 0, fmt.Errorf("%w: found no net of generation %d, expected one of %s", ErrNoChoice, generation, strings.Join(there, ", "))
}

// set moves the pointer from p to a record, after the net is on the server.
func (c *NetChoice) set(ctx context.Context, p bus.Pointer, now NetChange, is nets.Record) (nets.Record, error) {
	is.Schema, is.From = nets.RecordSchema, now.Net
	if err := is.Validate(); err != nil {
		return is, err
	}
	if is.Net == "" && c.run.identity.bare() {
		return is, fmt.Errorf("%w: a run of protocol %d cannot say that it plays without a net", ErrNoChoice, c.run.identity.protocol())
	}
	if is.Net == now.Net && p.Revision != 0 && now.Error == "" {
		return is, fmt.Errorf("%w: the run plays with it", ErrNoChoice)
	}
	if is.Net != "" {
		m, err := c.offer(ctx, is.Net)
		if err != nil {
			return is, err
		}
		is.Spread = c.run.spread(ctx, m.Size)
	}
	if _, err := c.run.bus.SetPointer(ctx, c.run.currentKey(), c.run.pointerText(is), p.Revision); err != nil {
		return is, err
	}
	if e := netEntry(is); c.run.bus.Audit(ctx, e) != nil {
		c.run.log.Warn("not written into the audit; it is in the history of the net", "action", e.Action, "what", e.What)
	}
	if c.run.store != nil && c.run.store.Has(is.Net) {
		if err := c.run.store.SetCurrent(is.Net); err != nil {
			return is, err
		}
	}
	if c.run.owner == nil {
		return is, nil
	}
	kept, err := c.run.readPointers() // which readers of the directory go by
	if err != nil {
		return is, err
	}
	return is, c.run.lookAtPointers(ctx, kept, true)
}

// offer makes sure that the server has the net, and returns its manifest.
func (c *NetChoice) offer(ctx context.Context, id string) (nets.Manifest, error) {
	m, err := c.manifest(ctx, id)
	if err != nil || c.run.store == nil || !c.run.store.Has(id) {
		return m, err // the server had its manifest
	}
	path, err := c.run.store.Get(id)
	if err != nil {
		return m, err
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return m, err
	}
	defer f.Close()
	return m, c.run.bus.PutNet(ctx, m, f)
}
