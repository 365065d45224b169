package nets

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Names in directories that hold nets.
const (
	storeDir  = "nets"       // of a run: its store
	learnNet  = "net"        // of a run of learn: its net, whatever the ending
	sweepFile = "table.json" // of a sweep of learn: what came of its runs
)

// Found is the file that a path stands for.
type Found struct {
	Path string // of the net's file
	// Name is short and meant for results: that of the file without its ending
	// and at most 32 bytes long, or what identifies the net of a directory.
	Name string
	// Origin says in a line which net of a directory it is; empty for a file.
	Origin string
}

// Find returns the file of the net at path. A directory stands for its net: that of a
// run for the newest one published, that of learn for the one of its newest
// checkpoint. The error wraps ErrNotFound if a directory has none.
func Find(path string) (Found, error) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		name := strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))
		return Found{Path: path, Name: short(name)}, nil // reading the file reports what is wrong with it
	}
	base := filepath.Base(filepath.Clean(path))
	for _, e := range netExts {
		file := filepath.Join(path, learnNet+e.ext)
		if _, err := os.Stat(file); err == nil {
			return Found{Path: file, Name: base, Origin: fmt.Sprintf("%s: the net of a run of learn, %s", path, file)}, nil
		}
	}
	if _, err := os.Stat(filepath.Join(path, sweepFile)); err == nil {
		return Found{}, fmt.Errorf("%w: %s: found a sweep, expected one of the directories in it", ErrNotFound, path)
	}
	if info, err := os.Stat(filepath.Join(path, storeDir)); err != nil || !info.IsDir() {
		return Found{}, fmt.Errorf("%w: %s: found a directory without nets, expected that of a run or of learn, or a net file", ErrNotFound, path)
	}
	s, err := Open(filepath.Join(path, storeDir))
	if err != nil {
		return Found{}, err
	}
	m, published, err := s.newest()
	if err != nil {
		return Found{}, err
	}
	file, err := s.Get(m.ID)
	if err != nil {
		return Found{}, err
	}
	kind := "the newest net published"
	if !published {
		kind = "the newest net offered, as none is known to be published"
	}
	return Found{
		Path: file, Name: fmt.Sprintf("generation %d of %s", m.Generation, base),
		Origin: fmt.Sprintf("%s: %s, generation %d, %s", path, kind, m.Generation, file),
	}, nil
}

// short returns the beginning of a name, at most 32 bytes, that ends between characters.
func short(name string) string {
	end := min(len(name), 32)
	for end > 0 && end < len(name) && !utf8.RuneStart(name[end]) {
		end--
	}
	return name[:end]
}

// newest returns the current net, or where none is known, in a directory of an
// earlier build or before the first gate, the one of the highest generation.
func (s *Store) newest() (m Manifest, published bool, err error) {
	id, err := s.Current()
	if err == nil {
		if m, err = s.Manifest(id); err != nil {
			err = fmt.Errorf("the net that %s names: %w", filepath.Join(s.dir, currentFile), err)
		}
		return m, true, err
	}
	if !errors.Is(err, ErrNotFound) {
		return m, false, err
	}
	all, err := s.List()
	if err != nil {
		return m, false, err
	}
	if len(all) == 0 {
		return m, false, fmt.Errorf("%w: %s: found no nets", ErrNotFound, s.dir)
	}
	return all[len(all)-1], false, nil
}

// currentFile names the current net in a store.
const currentFile = "current"

// SetCurrent records that the net id, which the store has, is the one published
// last.
func (s *Store) SetCurrent(id string) error {
	if err := checkID(id); err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(s.dir, currentFile), []byte(id+"\n"))
}

// Current returns the id of the net published last, or ErrNotFound.
func (s *Store) Current() (string, error) {
	path := filepath.Join(s.dir, currentFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w: %s", ErrNotFound, path)
	}
	if err != nil {
		return "", err
	}
	id := strings.TrimSpace(string(text))
	if err := checkID(id); err != nil {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	return id, nil
}
