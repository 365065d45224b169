package nets

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	// maxNetBytes bounds the file of a net. The largest architecture in use,
	// HalfKAv2 with 512 neurons, has 57.5 MB.
	maxNetBytes = 1 << 30

	manifestExt = ".json"

	// staleTemp is the age at which a temporary file cannot belong to a write
	// still going on.
	staleTemp = 24 * time.Hour
)

// netExts are the endings of nets' files, by kind.
var netExts = [...]struct{ kind, ext string }{{KindNNUE, ".nnue"}, {KindPlanes, ".onnx"}}

// Store is a content-addressed directory of nets. Its methods may be called
// from many goroutines, and several processes may share a directory: files are
// never changed once they have their name.
type Store struct {
	dir string

	mu       sync.Mutex
	verified map[string]stamp // nets whose hash this Store has checked
}

// stamp distinguishes a checked file from one that was replaced since.
type stamp struct {
	size    int64
	modTime time.Time
}

// Open opens the store at dir, creating the directory if need be, and removes
// what crashed writers left there long ago.
func Open(dir string) (*Store, error) {
	if err := durable.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("open net store: %w", err)
	}
	temps, err := durable.Glob(dir, durable.TempPattern)
	if err != nil {
		return nil, fmt.Errorf("open net store: %w", err)
	}
	for _, t := range temps {
		if info, err := os.Stat(t); err == nil && time.Since(info.ModTime()) > staleTemp {
			os.Remove(t) // what cannot be removed now is met again at the next Open
		}
	}
	return &Store{dir: dir, verified: map[string]stamp{}}, nil
}

// Dir returns the directory of the store.
func (s *Store) Dir() string { return s.dir }

// Path returns where the net id lies, or would lie if it is an NNUE net.
func (s *Store) Path(id string) string {
	for _, e := range netExts {
		if info, err := os.Stat(filepath.Join(s.dir, id+e.ext)); err == nil && info.Mode().IsRegular() {
			return filepath.Join(s.dir, id+e.ext)
		}
	}
	return filepath.Join(s.dir, id+netExts[0].ext)
}

// KindOf returns the kind of the net in a file, by the file's name: KindNNUE unless
// the ending is that of another kind.
func KindOf(path string) string {
	for _, e := range netExts {
		if filepath.Ext(path) == e.ext {
			return e.kind
		}
	}
	return KindNNUE
}

// extOf returns the ending of a net's file.
func extOf(kind string) (string, error) {
	for _, e := range netExts {
		if e.kind == kind {
			return e.ext, nil
		}
	}
	return "", fmt.Errorf("%w: kind %q, expected %s or %s", ErrManifest, kind, KindNNUE, KindPlanes)
}

func (s *Store) manifestPath(id string) string { return filepath.Join(s.dir, id+manifestExt) }

// Has reports whether a file for the net id is there. Only Get says whether
// the file is sound.
func (s *Store) Has(id string) bool {
	if checkID(id) != nil {
		return false
	}
	info, err := os.Stat(s.Path(id))
	return err == nil && info.Mode().IsRegular()
}

// Put stores the bytes of r, at most 1 GiB, as a net of the given kind and
// returns their id and path. Putting a net that is there already is no error.
func (s *Store) Put(r io.Reader, kind string) (id, path string, err error) {
	return s.put(r, kind, "")
}

// PutAs stores the bytes of r like Put, but only if they are the net id:
// otherwise nothing is stored and the error wraps ErrCorrupt. It is for nets
// that come from elsewhere.
func (s *Store) PutAs(id string, r io.Reader, kind string) (path string, err error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	_, path, err = s.put(r, kind, id)
	return path, err
}

func (s *Store) put(r io.Reader, kind, want string) (id, path string, err error) {
	ext, err := extOf(kind)
	if err != nil {
		return "", "", fmt.Errorf("put net: %w", err)
	}
	f, err := durable.CreateTemp(s.dir)
	if err != nil {
		return "", "", fmt.Errorf("put net: %w", err)
	}
	defer os.Remove(f.Name()) // fails after the rename, as it should
	id, err = copyHashed(f, r)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", "", fmt.Errorf("put net: %w", err)
	}
	if want != "" && id != want {
		return "", "", fmt.Errorf("%w: bytes received hash to %s, expected %s", ErrCorrupt, id, want)
	}
	// An existing file is replaced too: it may have rotted, this one has not.
	path = filepath.Join(s.dir, id+ext)
	if err := os.Rename(f.Name(), path); err != nil {
		return "", "", fmt.Errorf("put net: %w", err)
	}
	if err := durable.SyncDir(s.dir); err != nil {
		return "", "", fmt.Errorf("put net: %w", err)
	}
	if info, err := os.Stat(path); err == nil {
		s.setVerified(id, info)
	}
	return id, path, nil
}

// Get returns the path of the net id. The first Get of a net, and any Get after
// its file was exchanged, hashes the file; one that does not hash to its
// id is removed, so that it can be fetched anew, and the error wraps
// ErrCorrupt. A net that is not there is ErrNotFound.
func (s *Store) Get(id string) (path string, err error) {
	if err := checkID(id); err != nil {
		return "", err
	}
	path = s.Path(id)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: net %s in %s", ErrNotFound, id, s.dir)
	}
	if err != nil {
		return "", fmt.Errorf("get net: %w", err)
	}
	if s.isVerified(id, info) {
		return path, nil
	}
	found, err := HashFile(path)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		return "", fmt.Errorf("get net %s: %w", id, err)
	}
	if found != id {
		if err != nil {
			found = err.Error()
		}
		corrupt := fmt.Errorf("%w: %s removed: found hash %s of %d bytes, expected %s", ErrCorrupt, path, found, info.Size(), id)
		return "", errors.Join(corrupt, os.Remove(path))
	}
	s.setVerified(id, info)
	return path, nil
}

func (s *Store) isVerified(id string, info fs.FileInfo) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, ok := s.verified[id]
	return ok && at.size == info.Size() && at.modTime.Equal(info.ModTime())
}

func (s *Store) setVerified(id string, info fs.FileInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.verified[id] = stamp{info.Size(), info.ModTime()}
}

// PutManifest stores m beside its net, which need not be there yet. It
// replaces an earlier manifest of the same net.
func (s *Store) PutManifest(m Manifest) error {
	b, err := m.Encode()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(s.manifestPath(m.ID), b); err != nil {
		return fmt.Errorf("put manifest: %w", err)
	}
	return nil
}

// Manifest returns the manifest of the net id, or ErrNotFound. It does not
// check the signature.
func (s *Store) Manifest(id string) (Manifest, error) {
	if err := checkID(id); err != nil {
		return Manifest{}, err
	}
	f, err := os.Open(s.manifestPath(id))
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf("%w: manifest of net %s in %s", ErrNotFound, id, s.dir)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxManifestBytes+1))
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	m, err := ParseManifest(b)
	if err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if m.ID != id {
		return Manifest{}, fmt.Errorf("%w: %s describes net %s", ErrManifest, f.Name(), m.ID)
	}
	return m, nil
}

// List returns the manifests of the store by rising generation, then step,
// then id. Manifests that cannot be read are left out of the list and named in
// the error, which comes with the others.
func (s *Store) List() ([]Manifest, error) {
	ids, err := s.ids(manifestExt)
	if err != nil {
		return nil, err
	}
	var list []Manifest
	var errs []error
	for _, id := range ids {
		m, err := s.Manifest(id)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Manifest) int {
		return cmp.Or(cmp.Compare(a.Generation, b.Generation), cmp.Compare(a.Step, b.Step), cmp.Compare(a.ID, b.ID))
	})
	return list, errors.Join(errs...)
}

// ids returns the ids that have a file with extension ext, in order of id.
func (s *Store) ids(ext string) ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, fmt.Errorf("list nets: %w", err)
	}
	var ids []string
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ext); ok && checkID(id) == nil {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Prune removes every net and manifest whose id is not among keep, and returns
// the ids removed, in order. A net whose manifest cannot be read stays: nobody knows
// what it is.
func (s *Store) Prune(keep ...string) (removed []string, err error) {
	var errs []error
	for _, ext := range []string{netExts[0].ext, netExts[1].ext, manifestExt} {
		ids, err := s.ids(ext)
		if err != nil {
			return removed, err
		}
		for _, id := range ids {
			if slices.Contains(keep, id) || s.unreadable(id) {
				continue
			}
			if err := os.Remove(filepath.Join(s.dir, id+ext)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, fmt.Errorf("prune: %w", err))
				continue
			}
			removed = append(removed, id)
		}
	}
	slices.Sort(removed)
	return slices.Compact(removed), errors.Join(append(errs, durable.SyncDir(s.dir))...)
}

// unreadable reports whether the net id has a manifest that cannot be read.
func (s *Store) unreadable(id string) bool {
	_, err := s.Manifest(id)
	return err != nil && !errors.Is(err, ErrNotFound)
}

// HashFile returns the id of the net in the file at path, which must not be
// larger than 1 GiB.
func HashFile(path string) (id string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return copyHashed(io.Discard, f)
}

// Hash returns the id of a net held in memory.
func Hash(net []byte) string {
	sum := sha256.Sum256(net)
	return hex.EncodeToString(sum[:])
}

// copyHashed copies r to w and returns the hash of what it copied, or
// ErrTooLarge beyond maxNetBytes.
func copyHashed(w io.Writer, r io.Reader) (id string, err error) {
	h := sha256.New()
	n, err := io.Copy(io.MultiWriter(w, h), io.LimitReader(r, maxNetBytes+1))
	if err != nil {
		return "", err
	}
	if n > maxNetBytes {
		return "", fmt.Errorf("%w: net of more than %d bytes", ErrTooLarge, int64(maxNetBytes))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// checkID refuses what is not a SHA-256 in lower-case hex. Ids become file
// names, so nothing else may pass.
func checkID(id string) error {
	if !isLowerHex(id, sha256.Size) {
		return fmt.Errorf("%w: %.80q, expected %d lower-case hex digits", ErrID, id, 2*sha256.Size)
	}
	return nil
}
