package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// ErrNotEmpty says that what is to be restored would meet something else.
var ErrNotEmpty = errors.New("the directory is not empty")

// unfinished ends the name of a directory that is being restored.
const unfinished = ".restoring"

const maxState = 64 << 20 // bytes of the state of servers

// RestoreOptions say where a snapshot is brought back.
type RestoreOptions struct {
	Build string
	// Servers name the servers that get the state of the run's; nil: the run's own server
	// gets it, if it is inside the process of a run with a directory of its own.
	Servers *configs.Config
	// Replicas are the copies that Servers are to keep of everything; 0: as many as the
	// settings of the run say.
	Replicas int
	Progress func(read, written int64) // called after each file with the bytes so far; may be nil

	embed bool // a server's files in the directory, whatever the run's settings are
}

// Restored says what Restore did.
type Restored struct {
	Snapshot string   `json:"snapshot"`
	Dir      string   `json:"dir"`
	Files    int      `json:"files"`
	Bytes    int64    `json:"bytes"`
	Servers  bool     `json:"servers"` // servers were given the state of the run's
	Pending  int      `json:"pending"` // messages of games that they were given
	Nets     int      `json:"nets"`    // that they were given
	Notes    []string `json:"notes"`
}

// Restore brings a snapshot back into dir, which must not be there or be empty. Everything
// is checked and written beside it first; a restore that is interrupted leaves no dir, and
// is done again. The error wraps ErrDamaged and names what is damaged, ErrNotEmpty, or
// bus.ErrRunExists if the servers have the run.
func (r *Repository) Restore(ctx context.Context, s *Snapshot, dir string, o RestoreOptions) (Restored, error) {
	done := Restored{Snapshot: s.Label(), Dir: dir, Notes: s.Notes}
	if err := r.restore(ctx, s, dir, o, &done); err != nil {
		return done, fmt.Errorf("restore %s: %w", s.Label(), err)
	}
	return done, nil
}

func (r *Repository) restore(ctx context.Context, s *Snapshot, dir string, o RestoreOptions, done *Restored) (err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if here, err := os.Getwd(); err == nil && here == dir {
		return errors.New("found the current directory, which cannot be replaced: give a directory that is not there yet")
	}
	if dir, err = emptied(dir); err != nil {
		return err
	}
	partial := dir + unfinished
	lock, err := takePartial(partial)
	if err != nil {
		return err
	}
	defer func() {
		if lock != nil {
			err = errors.Join(err, lock.Release())
		}
	}()
	if err := r.files(ctx, s, partial, o, done); err != nil {
		return err
	}
	gaps, err := selfplay.RestoreDirectory(partial)
	if err != nil {
		return err
	}
	if err := r.servers(ctx, s, partial, o, done); err != nil {
		return err
	}
	if (gaps || done.Servers) && !o.embed { // what a drill restores does not go on
		done.Notes = append(done.Notes, "verify: the lists of nets and settings may have gaps from now on: games that differ from what their settings give are not forged, but not verifiable")
	}
	if err := lock.Release(); err != nil { // where a locked file cannot be renamed
		return err
	}
	lock = nil
	if err := os.Rename(partial, dir); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(dir))
}

// emptied removes dir, which must not be there or be empty, and returns where it is, or is to
// be: the end of a link. What cannot be removed, as a mount point, could not be replaced after
// all has been written either.
func emptied(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		link, e := os.Readlink(dir)
		if e != nil {
			return dir, nil
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(dir), link)
		}
		return emptied(link)
	}
	if err != nil {
		return "", err
	}
	if len(entries) > 0 {
		return "", fmt.Errorf("%w: %s holds %s and more: give a directory that is not there yet", ErrNotEmpty, dir, entries[0].Name())
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if err := os.Remove(dir); err != nil {
		return "", fmt.Errorf("found a directory that cannot be replaced: %w: give one inside of it", err)
	}
	return dir, nil
}

// takePartial makes the directory that becomes the restored one, for this process alone, and
// empties it of what a restore that was interrupted has left. What no restore has begun is
// an error that wraps ErrNotEmpty.
func takePartial(dir string) (*dirlock.Lock, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	ours := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == dirlock.FileName })
	if len(entries) > 0 && !ours {
		return nil, fmt.Errorf("%w: %s holds %s, which may not be a restore's: move it away, or delete it if an interrupted restore has left it", ErrNotEmpty, dir, entries[0].Name())
	}
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.Name() != dirlock.FileName {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err != nil {
		return nil, errors.Join(err, lock.Release())
	}
	return lock, nil
}

// files writes the files of the directory.
func (r *Repository) files(ctx context.Context, s *Snapshot, dir string, o RestoreOptions, done *Restored) error {
	if err := durable.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	folders := map[string]bool{}
	for _, f := range s.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if strings.HasPrefix(f.Path, ofServers) {
			continue
		}
		to := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := durable.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := r.writeTo(to, f, slices.Contains(s.Keys, f.Path)); err != nil {
			return err
		}
		folders[filepath.Dir(to)] = true
		done.Files++
		done.Bytes += f.Size
		if o.Progress != nil {
			o.Progress(done.Bytes, done.Bytes)
		}
	}
	for folder := range folders {
		if err := durable.SyncDir(folder); err != nil {
			return err
		}
	}
	return nil
}

// writeTo writes a file that is not there.
func (r *Repository) writeTo(to string, f File, private bool) error {
	mode := fs.FileMode(0o666)
	if private {
		mode = 0o600
	}
	w, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	return errors.Join(r.copyFile(f, w), w.Sync(), w.Close())
}

// state returns what the snapshot has of servers, as it is to be restored.
func (r *Repository) state(s *Snapshot) (state selfplay.ServerState, err error) {
	f, there := s.find(statePath)
	if !there {
		return state, fmt.Errorf("%w: %s is not among its files", ErrDamaged, statePath)
	}
	text, err := r.content(f, maxState)
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	state.Outdate()
	return state, err
}

// content returns the content of a file of at most that many bytes.
func (r *Repository) content(f File, most int64) ([]byte, error) {
	if f.Size > most {
		return nil, fmt.Errorf("%w: %s: found %d bytes, expected at most %d", ErrDamaged, f.Path, f.Size, most)
	}
	var all []byte
	err := r.copyFile(f, appender{&all})
	return all, err
}

// appender writes to a slice.
type appender struct{ to *[]byte }

func (a appender) Write(p []byte) (int, error) {
	*a.to = append(*a.to, p...)
	return len(p), nil
}

// lines calls visit with every line of a file of JSON lines.
func lines[T any](r *Repository, s *Snapshot, name string, visit func(T) error) error {
	f, there := s.find(name)
	if !there {
		return fmt.Errorf("%w: %s is not among its files", ErrDamaged, name)
	}
	pr, pw := io.Pipe()
	go func() { pw.CloseWithError(r.copyFile(f, pw)) }()
	defer pr.CloseWithError(errors.New("enough was read")) // lets the writer end
	for in := json.NewDecoder(pr); ; {
		var v T
		if err := in.Decode(&v); err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if err := visit(v); err != nil {
			return err
		}
	}
}

// servers gives servers what the run's knew, if there are some to give it to.
func (r *Repository) servers(ctx context.Context, s *Snapshot, dir string, o RestoreOptions, done *Restored) error {
	cfg, found, err := selfplay.SavedConfig(dir)
	if err == nil && !found {
		cfg, err = configs.Preset("laptop")
	}
	if err != nil {
		return err
	}
	switch {
	case o.embed:
		cfg = embedded(cfg)
	case o.Servers != nil:
		cfg.Bus = serversOf(cfg.Bus, found, o)
	case !found || cfg.Bus.URL != "":
		done.Notes = append(done.Notes, "servers: they were not given what the run's servers knew; restore with --nats URL does that, or the trainer when it starts, as far as it knows it")
		return nil
	}
	state, err := r.state(s)
	if err != nil {
		return err
	}
	w, err := selfplay.WriteServers(ctx, dir, cfg, state, selfplay.Options{Build: o.Build})
	if err != nil {
		return err
	}
	err = r.give(ctx, s, w, done)
	return errors.Join(err, w.Close())
}

// serversOf returns the settings of servers that are reached as o says, and are to keep as much
// as own, those of the run if saved, say.
func serversOf(own configs.Bus, saved bool, o RestoreOptions) configs.Bus {
	b := o.Servers.Bus
	if saved {
		b.MaxBytes, b.Replicas = own.MaxBytes, own.Replicas
	}
	b.Replicas = cmp.Or(o.Replicas, b.Replicas)
	return b
}

// embedded returns the settings of a run with the server inside the process, and nothing of how
// its servers elsewhere are reached.
func embedded(cfg configs.Config) configs.Config {
	cfg.Bus.URL, cfg.Bus.Listen, cfg.Bus.TokenFile, cfg.Bus.Creds, cfg.Bus.TLSCA, cfg.Bus.Replicas = "", "", "", "", "", 1
	return cfg
}

func (r *Repository) give(ctx context.Context, s *Snapshot, w *selfplay.ServerWriter, done *Restored) error {
	for _, f := range s.Files {
		if id, is := strings.CutPrefix(f.Path, booksPath); is {
			pr, pw := io.Pipe()
			go func() { pw.CloseWithError(r.copyFile(f, pw)) }()
			err := w.Book(ctx, id, f.Size, pr)
			pr.CloseWithError(errors.New("enough was read")) // lets the writer end
			if err != nil {
				return err
			}
		}
	}
	given, missing, err := w.Nets(ctx)
	if err != nil {
		return err
	}
	done.Servers, done.Nets = true, given
	for _, id := range missing {
		done.Notes = append(done.Notes, "nets: "+id+" is not in the backup")
	}
	err = lines(r, s, gamesPath, func(m message) error {
		done.Pending++
		return w.Game(ctx, bus.PendingMessage{Actor: m.Actor, ID: m.ID, Data: m.Data})
	})
	if err != nil {
		return err
	}
	err = lines(r, s, rejectsPath, func(g rejected) error {
		return w.Reject(ctx, bus.Rejected{Reason: g.Reason, Data: g.Data})
	})
	if err != nil {
		return err
	}
	return w.Finish(ctx)
}
