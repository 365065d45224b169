package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Paths of what is of no directory.
const (
	ofServers   = ".servers/" // begins all of them
	statePath   = ofServers + "state.json"
	gamesPath   = ofServers + "games.jsonl"
	rejectsPath = ofServers + "rejects.jsonl"
	booksPath   = ofServers + "books/" // the id follows
)

const (
	attempts   = 50 // to read a group of files that changes while it is read
	retryAfter = 100 * time.Millisecond
)

// Options of Create.
type Options struct {
	Build    string
	Keys     bool                      // the keys of the directory, too
	Keep     int                       // snapshots of the same directory that stay; 0: all
	Progress func(read, written int64) // called after each file with the bytes so far; may be nil
}

// Summary says what Create did.
type Summary struct {
	Label   string   `json:"snapshot"`
	Files   int      `json:"files"`
	Bytes   int64    `json:"bytes"`
	Parts   int      `json:"parts"`
	New     int      `json:"new_parts"`
	Written int64    `json:"new_bytes"` // of new parts
	Games   uint64   `json:"games"`     // records in the replay buffer
	Pending int      `json:"pending"`   // games on their way to it, as messages
	Nets    int      `json:"nets"`
	Keys    []string `json:"keys"`
	Notes   []string `json:"notes"`
	Pruned  int      `json:"pruned"` // older snapshots removed
}

// creation is a snapshot in the making.
type creation struct {
	repo     *Repository
	dir      string // of the run; empty: none
	servers  *selfplay.ServerReader
	opt      Options
	snapshot Snapshot
	written  written
	digest   hash.Hash
	pending  int
}

// Create makes a snapshot of the run in dir, which may be running, and of what its servers
// know. With an empty dir it is of the servers alone, with the games that the replay role
// serves.
func (r *Repository) Create(ctx context.Context, dir string, servers *selfplay.ServerReader, o Options) (sum Summary, err error) {
	c := &creation{repo: r, dir: dir, servers: servers, opt: o, digest: sha256.New()}
	if err := c.all(ctx); err != nil {
		return sum, fmt.Errorf("backup: %w", err)
	}
	if err := r.write(&c.snapshot); err != nil {
		return sum, fmt.Errorf("backup: %w", err)
	}
	sum = c.summary()
	if o.Keep > 0 {
		if sum.Pruned, _, err = r.Prune(&c.snapshot, o.Keep); err != nil {
			return sum, fmt.Errorf("backup: it is whole, but older ones were not removed: %w", err)
		}
	}
	last, err := r.later(&c.snapshot)
	if err != nil {
		return sum, fmt.Errorf("backup: %w", err)
	}
	if last != nil {
		sum.Notes = append(sum.Notes, fmt.Sprintf("clock: %s is dated later than this backup: restore and drill take the one with the latest date unless --at names another", last.Label()))
	}
	return sum, nil
}

func (c *creation) summary() Summary {
	s := &c.snapshot
	sum := Summary{
		Label: s.Label(), Files: len(s.Files), Bytes: s.Bytes(), Parts: c.written.parts, New: c.written.new, Written: c.written.fresh,
		Games: s.Games, Pending: c.pending, Keys: s.Keys, Notes: s.Notes,
	}
	for _, f := range s.Files {
		if path.Dir(f.Path) == "nets" && path.Ext(f.Path) != ".json" {
			sum.Nets++
		}
	}
	return sum
}

// all reads everything in the order in which it may change: pointers before the nets that
// they name, and games along the way that they go.
func (c *creation) all(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		c.snapshot = Snapshot{Created: time.Now().UTC(), Build: c.opt.Build, From: c.servers.From}
		c.digest.Reset()
		c.pending = 0
		state, err := c.servers.State(ctx)
		if err != nil {
			return err
		}
		c.snapshot.Name, c.snapshot.ID = state.Run.Name, state.Run.ID
		if err := c.onTheirWay(ctx); err != nil {
			return err
		}
		if err := c.directory(ctx, state); err != nil {
			return err
		}
		if err := c.fetch(ctx, &state); err != nil {
			return err
		}
		if missing := c.missing(state); len(missing) > 0 {
			if attempt < attempts && pause.For(ctx, retryAfter) {
				continue // the run went on meanwhile
			}
			c.note("nets: those that the run's pointers name are nowhere: " + strings.Join(missing, ", "))
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		return c.putJSON(statePath, state)
	}
}

func (c *creation) put(name string, content io.Reader) error {
	f, err := c.repo.putFile(name, content, &c.written)
	if err != nil {
		return err
	}
	c.snapshot.Files = append(c.snapshot.Files, f)
	if c.opt.Progress != nil {
		c.opt.Progress(c.written.bytes, c.written.fresh)
	}
	return nil
}

func (c *creation) putJSON(name string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return c.put(name, bytes.NewReader(append(text, '\n')))
}

// message is a line of games.jsonl.
type message struct {
	Actor string `json:"actor"`
	ID    string `json:"id"`
	Data  []byte `json:"data"`
}

// rejected is a line of rejects.jsonl.
type rejected struct {
	Reason string `json:"reason"`
	Data   []byte `json:"data"`
}

// onTheirWay keeps the games that are not in the replay buffer yet, and the refused ones
// that the servers keep.
func (c *creation) onTheirWay(ctx context.Context) error {
	err := c.putLines(gamesPath, func(line func(any) error) error {
		return c.servers.Games(ctx, func(m bus.PendingMessage) error {
			c.pending++
			return line(message{m.Actor, m.ID, m.Data})
		})
	})
	if err != nil {
		return err
	}
	rejects, err := c.servers.Rejects(ctx)
	if err != nil {
		return err
	}
	return c.putLines(rejectsPath, func(line func(any) error) error {
		for _, g := range rejects {
			if err := line(rejected{g.Reason, g.Data}); err != nil {
				return err
			}
		}
		return nil
	})
}

// putLines keeps what write gives to line, as JSON.
func (c *creation) putLines(name string, write func(line func(any) error) error) error {
	r, w := io.Pipe()
	go func() { w.CloseWithError(write(json.NewEncoder(w).Encode)) }()
	err := c.put(name, r)
	r.CloseWithError(errors.New("the backup has ended")) // lets the writer end
	return err
}

// directory keeps the files of the run's directory, or the games of its replay role.
func (c *creation) directory(ctx context.Context, state selfplay.ServerState) error {
	dir := c.dir
	if dir == "" {
		dir = filepath.Join(c.repo.dir, mirrorsDir, state.Run.ID)
		err := c.servers.MirrorGames(ctx, filepath.Join(dir, "replay"))
		if errors.Is(err, bus.ErrNobody) || errors.Is(err, bus.ErrNoPointer) {
			c.note("games: no replay role answers, so that they are not in this backup")
		} else if err != nil {
			return err
		}
		c.note("checkpoints, settings and older games: the backup is of the servers alone; selfplay backup DIR keeps those of a role's directory")
	}
	output, err := os.Stat(c.repo.dir)
	if err != nil {
		return err
	}
	for _, g := range selfplay.FileGroups(dir, output) {
		if err := c.group(ctx, dir, g); err != nil {
			return err
		}
	}
	if c.snapshot.Digest = hex.EncodeToString(c.digest.Sum(nil)); c.dir == "" {
		return nil
	}
	return c.keys()
}

func (c *creation) note(text string) { c.snapshot.Notes = append(c.snapshot.Notes, text) }

// keys keeps the keys if that is asked for, and says where they are if not.
func (c *creation) keys() error {
	names, err := selfplay.Keys(c.dir)
	if err != nil || len(names) == 0 {
		return err
	}
	if !c.opt.Keys {
		c.note(fmt.Sprintf("keys: %s are not in this backup: keep copies of them elsewhere, or back up with --keys", strings.Join(names, " and ")))
		return nil
	}
	for _, name := range names {
		if _, err := c.file(c.dir, name); err != nil {
			return err
		}
	}
	c.snapshot.Keys = names
	return nil
}

// group keeps a group of files.
func (c *creation) group(ctx context.Context, dir string, g selfplay.FileGroup) error {
	before, games := len(c.snapshot.Files), c.snapshot.Games
	for attempt := 1; ; attempt++ {
		names, err := g.List()
		if err != nil && (c.dir != "" || !errors.Is(err, fs.ErrNotExist)) { // no replay role has given games
			return err
		}
		c.snapshot.Files, c.snapshot.Games = c.snapshot.Files[:before], games
		whole := true
		for _, name := range names {
			if err := ctx.Err(); err != nil {
				return err
			}
			there, err := c.file(dir, name)
			if err != nil {
				return err
			}
			whole = whole && there
		}
		if whole || !g.Together {
			return nil
		}
		if attempt == attempts {
			return fmt.Errorf("%s: files were removed each of the %d times that they were read", g.Name, attempts)
		}
		c.digest.Reset()
	}
}

// file keeps a file of the directory, and reports whether it was still there.
func (c *creation) file(dir, name string) (there bool, err error) {
	p := filepath.Join(dir, filepath.FromSlash(name))
	if replay.IsSegment(name) && path.Base(path.Dir(name)) == "replay" {
		data, err := os.ReadFile(p)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		replay.VisitRecords(data, func(encoded []byte) {
			c.snapshot.Games++
			sum := sha256.Sum256(encoded)
			c.digest.Write(sum[:])
		})
		return true, c.put(name, bytes.NewReader(data))
	}
	f, err := os.Open(p)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer f.Close()
	return true, c.put(name, f)
}

// fetch keeps the nets and the book that only the servers have. Nets that were removed
// meanwhile are taken from the state.
func (c *creation) fetch(ctx context.Context, state *selfplay.ServerState) error {
	if !c.servers.Connected() {
		return nil
	}
	kept := []string{}
	for _, id := range state.Nets {
		err := c.fetchNet(ctx, id)
		if errors.Is(err, bus.ErrNoNet) {
			continue
		}
		if err != nil {
			return err
		}
		kept = append(kept, id)
	}
	state.Nets = kept
	book := state.BookOf()
	if book == "" {
		return nil
	}
	r, w := io.Pipe()
	go func() { w.CloseWithError(c.servers.Book(ctx, book, w)) }()
	err := c.put(booksPath+book, r)
	r.CloseWithError(errors.New("the backup has ended")) // lets the writer end
	if errors.Is(err, bus.ErrNoFile) {                   // the trainer puts it there when it starts
		return nil
	}
	return err
}

func (c *creation) has(name string) bool {
	return slices.ContainsFunc(c.snapshot.Files, func(f File) bool { return f.Path == name })
}

// hasContent reports whether the file of a net is kept.
func (c *creation) hasContent(id string) bool {
	return c.has("nets/"+id+".nnue") || c.has("nets/"+id+".onnx")
}

// fetchNet keeps a net and its manifest, unless the directory had them.
func (c *creation) fetchNet(ctx context.Context, id string) error {
	name := "nets/" + id + ".json"
	if c.has(name) && c.hasContent(id) {
		return nil
	}
	var content bytes.Buffer
	m, err := c.servers.Net(ctx, id, &content)
	if err != nil {
		return err
	}
	manifest, err := m.Encode()
	if err == nil && !c.has(name) {
		err = c.put(name, bytes.NewReader(manifest))
	}
	if err != nil || c.hasContent(id) {
		return err
	}
	if m.Kind == nets.KindPlanes {
		return c.put("nets/"+id+".onnx", &content)
	}
	return c.put("nets/"+id+".nnue", &content)
}

// missing returns the nets that the newest values of the pointers name and that are not
// kept.
func (c *creation) missing(state selfplay.ServerState) (ids []string) {
	for key, values := range state.Pointers {
		if !strings.HasPrefix(key, "current.") && !strings.HasPrefix(key, "candidate.") || len(values) == 0 {
			continue
		}
		record, err := nets.ParseRecord(values[len(values)-1])
		if err == nil && record.Net != "" && !c.hasContent(record.Net) {
			ids = append(ids, record.Net)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
