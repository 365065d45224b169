package selfplay

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
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
	run    Run         // of which there are the bus and the keys of its pointers
	id     string      // of the run
	store  *nets.Store // nil without a directory
	public ed25519.PublicKey
	lock   *dirlock.Lock
	wait   time.Duration // that a server is tried for
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
// and names the run matters. A server is tried for the time wait.
func ChooseNet(ctx context.Context, dir string, cfg configs.Config, wait time.Duration, o Options) (*NetChoice, error) {
	c := &NetChoice{run: Run{cfg: cfg, dir: dir, opt: o}, wait: wait}
	open := c.openServer
	if dir != "" {
		open = c.openDir
	}
	if err := open(ctx); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func (c *NetChoice) openDir(ctx context.Context) (err error) {
	r := &c.run
	var state struct {
		ID        string `json:"id"`
		PublicKey string `json:"public_key"` // "" in directories of earlier builds
	}
	text, err := os.ReadFile(r.path(stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: found no run, expected the directory of one", r.dir)
	}
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", r.path(stateFile), err)
	}
	c.id = state.ID
	if c.public, err = hex.DecodeString(state.PublicKey); err != nil {
		return fmt.Errorf("%s: public_key: %w", r.path(stateFile), err)
	}
	if len(c.public) == 0 {
		key, err := nets.LoadKey(r.path(keyFile))
		if err != nil {
			return err
		}
		c.public = key.Public().(ed25519.PublicKey)
	}
	if r.cfg.Bus.URL == "" {
		if c.lock, err = dirlock.Acquire(r.dir); errors.Is(err, dirlock.ErrHeld) {
			return fmt.Errorf("%w; or let it listen (--listen) and give its address and name in place of the directory (--nats, --run)", err)
		}
		if err != nil {
			return err
		}
	}
	if c.store, err = nets.Open(r.path(netsDir)); err != nil {
		return err
	}
	if err := c.connect(ctx); err != nil {
		return err
	}
	r.bus, err = r.conn.Join(ctx, c.id, bus.JoinOptions{})
	return err
}

func (c *NetChoice) openServer(ctx context.Context) error {
	r := &c.run
	if err := c.connect(ctx); err != nil {
		return err
	}
	record, err := r.conn.FindRun(ctx, r.cfg.Run.Name)
	if err != nil {
		return err
	}
	if c.public, err = hex.DecodeString(record.PublicKey); err != nil || len(c.public) == 0 {
		return fmt.Errorf("run %s: found public key %.80q in the registry, expected one", record.Name, record.PublicKey)
	}
	c.id, r.cfg.Variant, r.cfg.Net.Kind = record.ID, record.Variant, record.Kind
	r.bus, err = r.conn.Join(ctx, c.id, bus.JoinOptions{})
	return err
}

// connect connects to the server that the configuration names, or starts the one in
// the directory.
func (c *NetChoice) connect(ctx context.Context) (err error) {
	r := &c.run
	o := bus.Options{URL: r.cfg.Bus.URL, TokenFile: r.cfg.Bus.TokenFile, Creds: r.cfg.Bus.Creds, TLSCA: r.cfg.Bus.TLSCA,
		Name: "net", Log: r.opt.Log, Patience: c.wait}
	if o.URL == "" {
		o.Dir = r.path(busDir)
		if _, err := os.Stat(o.Dir); err != nil {
			return fmt.Errorf("the run has neither a server nor the files of one: %w", err)
		}
	}
	r.conn, err = bus.Open(ctx, o)
	return err
}

// Close gives the connection and the directory back.
func (c *NetChoice) Close() error {
	var errs []error
	if c.run.conn != nil {
		errs = append(errs, c.run.conn.Close())
	}
	if c.lock != nil {
		errs = append(errs, c.lock.Release())
	}
	return errors.Join(errs...)
}

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
	if c.store != nil && c.store.Has(id) {
		m, err = c.store.Manifest(id)
	}
	if err != nil {
		m, err = c.run.bus.NetManifest(ctx, id)
	}
	if err != nil {
		return m, fmt.Errorf("%w: %w", ErrNoChoice, err)
	}
	if err := m.Verify(c.public); err != nil {
		return m, fmt.Errorf("%w: %w", ErrNoChoice, err)
	}
	if m.Variant != c.run.cfg.Variant || m.Kind != c.run.cfg.Net.Kind || m.Run != "" && m.Run != c.id {
		return m, fmt.Errorf("%w: found a net of kind %s for %s, run %q, expected %s for %s, run %q", ErrNoChoice, m.Kind, m.Variant, m.Run, c.run.cfg.Net.Kind, c.run.cfg.Variant, c.id)
	}
	return m, nil
}

// all returns the manifests of the run's nets that there are, by rising generation.
// What cannot be read or is no net of the run is left out.
func (c *NetChoice) all(ctx context.Context) ([]nets.Manifest, error) {
	ids, err := c.run.bus.ListNets(ctx)
	if err != nil {
		return nil, err
	}
	if c.store != nil {
		stored, _ := c.store.List()
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
	all, err := c.all(ctx)
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
	all, err := c.all(ctx)
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
	if is.Net == now.Net && p.Revision != 0 && now.Error == "" {
		return is, fmt.Errorf("%w: the run plays with it", ErrNoChoice)
	}
	if is.Net != "" {
		if err := c.offer(ctx, is.Net); err != nil {
			return is, err
		}
	}
	if _, err := c.run.bus.SetPointer(ctx, c.run.currentKey(), is.String(), p.Revision); err != nil {
		return is, err
	}
	if c.store != nil && c.store.Has(is.Net) {
		return is, c.store.SetCurrent(is.Net)
	}
	return is, nil
}

// offer makes sure that the server has the net.
func (c *NetChoice) offer(ctx context.Context, id string) error {
	m, err := c.manifest(ctx, id)
	if err != nil {
		return err
	}
	if c.store == nil || !c.store.Has(id) {
		return nil // the server had its manifest
	}
	path, err := c.store.Get(id)
	if err != nil {
		return err
	}
	f, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	defer f.Close()
	return c.run.bus.PutNet(ctx, m, f)
}
