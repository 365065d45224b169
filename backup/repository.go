package backup

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Errors of this package. They come wrapped; test with errors.Is.
var (
	ErrDamaged  = errors.New("the backup is damaged")
	ErrNotFound = errors.New("no such backup")
	ErrSeveral  = errors.New("the backups are of several directories")
)

const (
	schema       = 1
	partBytes    = 1 << 20
	maxSnapshot  = 256 << 20 // bytes of a snapshot's file
	partsDir     = "parts"
	snapshotsDir = "snapshots"
	mirrorsDir   = "games"
	timeLayout   = "20060102T150405.000Z"
	hashDigits   = 16 // of a snapshot's hash in its name
)

// File is one file of a snapshot.
type File struct {
	Path   string   `json:"path"` // from the run's directory, with slashes
	Size   int64    `json:"size"`
	SHA256 string   `json:"sha256"`
	Parts  []string `json:"parts"` // SHA-256 of each, in order
}

// Snapshot is one backup.
type Snapshot struct {
	Schema  int       `json:"schema"`
	Created time.Time `json:"created"`
	Build   string    `json:"build"`
	Name    string    `json:"name"` // of the run
	ID      string    `json:"id"`
	From    string    `json:"from"`
	Keys    []string  `json:"keys,omitempty"`
	Files   []File    `json:"files"` // by path
	Games   uint64    `json:"games"`
	Digest  string    `json:"digest"`
	Notes   []string  `json:"notes,omitempty"`

	file string // its name
}

// Label names the snapshot in its repository.
func (s *Snapshot) Label() string { return strings.TrimSuffix(s.file, ".json") }

// Bytes is the size of all files together.
func (s *Snapshot) Bytes() (n int64) {
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// find returns the file of that path.
func (s *Snapshot) find(path string) (File, bool) {
	i, found := slices.BinarySearchFunc(s.Files, path, func(f File, path string) int { return cmp.Compare(f.Path, path) })
	if !found {
		return File{}, false
	}
	return s.Files[i], true
}

// sameDirectory reports whether both are of one directory of a run, by its run.json, or of
// the servers of a run alone.
func (s *Snapshot) sameDirectory(t *Snapshot) bool {
	of, _ := s.find(selfplay.IdentityFile)
	other, _ := t.find(selfplay.IdentityFile)
	return s.ID == t.ID && of.SHA256 == other.SHA256
}

// Repository is a directory of snapshots.
type Repository struct {
	dir  string
	lock *dirlock.Lock // nil: for reading
}

// OpenToWrite opens or creates the repository in dir for this process alone. The error
// wraps dirlock.ErrHeld if another one writes there.
func OpenToWrite(dir string) (*Repository, error) {
	if err := durable.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	r := &Repository{dir, lock}
	if err := r.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("backup: %w", err), r.Close())
	}
	return r, nil
}

// prepare makes the folders and removes what a killed process left half written.
func (r *Repository) prepare() error {
	for _, name := range []string{snapshotsDir, partsDir} {
		if err := durable.MkdirAll(filepath.Join(r.dir, name), 0o700); err != nil {
			return err
		}
	}
	folders, err := os.ReadDir(filepath.Join(r.dir, partsDir))
	if err != nil {
		return err
	}
	for _, f := range folders {
		if err := durable.RemoveTemps(filepath.Join(r.dir, partsDir, f.Name())); err != nil {
			return err
		}
	}
	return durable.RemoveTemps(filepath.Join(r.dir, snapshotsDir))
}

// Open opens the repository in dir for reading. The error wraps ErrNotFound if there is
// none.
func Open(dir string) (*Repository, error) {
	if info, err := os.Stat(filepath.Join(dir, snapshotsDir)); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("%w: %s has no folder %s: expected the --output of selfplay backup", ErrNotFound, dir, snapshotsDir)
	}
	return &Repository{dir: dir}, nil
}

// Close gives the directory back.
func (r *Repository) Close() error {
	if r.lock == nil {
		return nil
	}
	return r.lock.Release()
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (r *Repository) partPath(id string) string { return filepath.Join(r.dir, partsDir, id[:2], id) }

// putPart stores a part, and reports whether it was new. One that is there is compared,
// so that a damaged one is made good.
func (r *Repository) putPart(data []byte) (id string, fresh bool, err error) {
	id = hashOf(data)
	path := r.partPath(id)
	if there, err := os.ReadFile(path); err == nil && bytes.Equal(there, data) {
		return id, false, nil
	}
	if err := durable.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return id, false, err
	}
	if err := durable.WritePrivate(path, data); err != nil {
		return id, false, err
	}
	return id, true, nil
}

// part returns a part, whose content is checked.
func (r *Repository) part(id string) ([]byte, error) {
	if !isHash.MatchString(id) {
		return nil, fmt.Errorf("%w: part %.80q: expected a SHA-256", ErrDamaged, id)
	}
	f, err := os.Open(r.partPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s is missing", ErrDamaged, r.partPath(id))
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, partBytes+1))
	if err != nil {
		return nil, err
	}
	if found := hashOf(data); found != id {
		return nil, fmt.Errorf("%w: %s: found content with SHA-256 %s: remove the file, and the next backup writes it anew if the run still has it", ErrDamaged, r.partPath(id), found)
	}
	return data, nil
}

var isHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// written counts what a snapshot took.
type written struct {
	bytes, fresh int64
	parts, new   int
}

// putFile stores the content of a file.
func (r *Repository) putFile(path string, content io.Reader, w *written) (File, error) {
	f, all := File{Path: path, Parts: []string{}}, sha256.New()
	buf := make([]byte, partBytes)
	for {
		n, err := io.ReadFull(content, buf)
		if n > 0 {
			id, fresh, err := r.putPart(buf[:n])
			if err != nil {
				return f, fmt.Errorf("%s: %w", path, err)
			}
			all.Write(buf[:n])
			f.Size += int64(n)
			f.Parts = append(f.Parts, id)
			w.bytes += int64(n)
			w.parts++
			if fresh {
				w.fresh += int64(n)
				w.new++
			}
		}
		switch {
		case err == io.EOF, err == io.ErrUnexpectedEOF:
			f.SHA256 = hex.EncodeToString(all.Sum(nil))
			return f, nil
		case err != nil:
			return f, fmt.Errorf("%s: %w", path, err)
		}
	}
}

// copyFile writes the content of a file to w. Errors name the file.
func (r *Repository) copyFile(f File, w io.Writer) error {
	all, size := sha256.New(), int64(0)
	for _, id := range f.Parts {
		data, err := r.part(id)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		all.Write(data)
		size += int64(len(data))
		if _, err := w.Write(data); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	if found := hex.EncodeToString(all.Sum(nil)); found != f.SHA256 || size != f.Size {
		return fmt.Errorf("%w: %s: found %d bytes with SHA-256 %s, expected %d with %s", ErrDamaged, f.Path, size, found, f.Size, f.SHA256)
	}
	return nil
}

// write puts a snapshot into its place: from now on it is one.
func (r *Repository) write(s *Snapshot) error {
	s.Schema = schema
	slices.SortFunc(s.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	if len(text) > maxSnapshot {
		return fmt.Errorf("the list of files has %d bytes, expected at most %d", len(text), maxSnapshot)
	}
	s.file = s.Created.Format(timeLayout) + "-" + hashOf(text)[:hashDigits] + ".json"
	return durable.WritePrivate(filepath.Join(r.dir, snapshotsDir, s.file), text)
}

var snapshotName = regexp.MustCompile(`^[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{16}\.json$`)

// labels returns the names of the snapshots' files, oldest first.
func (r *Repository) labels() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, snapshotsDir))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries { // in the order of their names
		if snapshotName.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// Snapshot returns the snapshot whose label begins with prefix, the newest of several. The
// error wraps ErrNotFound or ErrDamaged, or ErrSeveral if they are of several directories.
func (r *Repository) Snapshot(prefix string) (*Snapshot, error) {
	names, err := r.labels()
	if err != nil {
		return nil, err
	}
	var newest []*Snapshot // of each directory
	for _, name := range slices.Backward(names) {
		if !strings.HasPrefix(name, prefix) {
			continue
		}
		s, err := r.read(name)
		if err != nil && len(newest) == 0 {
			return nil, err
		}
		if err == nil && !slices.ContainsFunc(newest, s.sameDirectory) { // one that cannot be read is no choice
			newest = append(newest, s)
		}
	}
	folder := filepath.Join(r.dir, snapshotsDir)
	switch len(newest) {
	case 0:
		return nil, fmt.Errorf("%w: %s has %d, none whose name begins with %q", ErrNotFound, folder, len(names), prefix)
	case 1:
		return newest[0], nil
	}
	var each []string
	for _, s := range newest {
		each = append(each, fmt.Sprintf("%s (run %s, %d games, %d files)", s.Label(), s.Name, s.Games, len(s.Files)))
	}
	return nil, fmt.Errorf("%w: found those of %d in %s, expected one: choose by --at; the newest of each are %s", ErrSeveral, len(newest), folder, strings.Join(each, ", "))
}

func (r *Repository) read(name string) (*Snapshot, error) {
	path := filepath.Join(r.dir, snapshotsDir, name)
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSnapshot+1))
	if err != nil {
		return nil, err
	}
	_, want, _ := strings.Cut(strings.TrimSuffix(name, ".json"), "-")
	if found := hashOf(text)[:hashDigits]; found != want {
		return nil, fmt.Errorf("%w: %s: found content with SHA-256 %s…, expected %s…", ErrDamaged, path, found, want)
	}
	s := &Snapshot{file: name}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrDamaged, path, err)
	}
	if s.Schema != schema {
		return nil, fmt.Errorf("%s: found schema %d, expected %d: use a newer build of selfplay", path, s.Schema, schema)
	}
	for _, f := range s.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
			return nil, fmt.Errorf("%w: %s: file %.200q lies outside the run's directory", ErrDamaged, path, f.Path)
		}
	}
	return s, nil
}

// later returns the snapshot of made's directory with the latest date, nil if that is made.
func (r *Repository) later(made *Snapshot) (*Snapshot, error) {
	names, err := r.labels()
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Backward(names) {
		if name <= made.file {
			break
		}
		if s, err := r.read(name); err == nil && s.sameDirectory(made) { // one that cannot be read is no choice
			return s, nil
		}
	}
	return nil, nil
}

// Prune keeps made, which was written last, and the newest others of its directory, keep in
// all. It removes the rest of them, and the parts that no snapshot needs any more, and
// returns how many of each. What cannot be read ends it before a part is removed.
func (r *Repository) Prune(made *Snapshot, keep int) (snapshots, parts int, err error) {
	names, err := r.labels()
	if err != nil {
		return 0, 0, err
	}
	slices.Reverse(names)
	// Those of a later date than the last were made earlier, by a clock that was ahead.
	later := max(slices.Index(names, made.file), 0)
	needed, kept := map[string]bool{}, 0
	for _, name := range slices.Concat(names[later:], names[:later]) {
		s, err := r.read(name)
		if err != nil {
			return snapshots, 0, err
		}
		if s.sameDirectory(made) {
			if kept++; kept > keep {
				if err := os.Remove(filepath.Join(r.dir, snapshotsDir, name)); err != nil {
					return snapshots, 0, err
				}
				snapshots++
				continue
			}
		}
		for _, f := range s.Files {
			for _, p := range f.Parts {
				needed[p] = true
			}
		}
	}
	if err := durable.SyncDir(filepath.Join(r.dir, snapshotsDir)); err != nil {
		return snapshots, 0, err
	}
	parts, err = r.removeParts(needed)
	return snapshots, parts, err
}

// removeParts removes all parts but those needed.
func (r *Repository) removeParts(needed map[string]bool) (removed int, err error) {
	err = filepath.WalkDir(filepath.Join(r.dir, partsDir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || needed[e.Name()] || !isHash.MatchString(e.Name()) {
			return err
		}
		removed++
		return os.Remove(path)
	})
	return removed, err
}
