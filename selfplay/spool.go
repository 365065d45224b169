package selfplay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const spoolExt = ".game"

// Spool keeps finished games on disk until the bus has acknowledged them: one
// file a game, in the order in which they were added. It is safe for
// concurrent use.
type Spool struct {
	dir string

	mu      sync.Mutex
	waiting []string // ids, oldest first
	added   chan struct{}
}

// OpenSpool opens the spool in dir, creating it if needed; games left there by
// an earlier process come first, in the order of their ids.
func OpenSpool(dir string) (*Spool, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	if err := durable.RemoveTemps(dir); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &Spool{dir: dir, added: make(chan struct{}, 1)}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), spoolExt); ok {
			s.waiting = append(s.waiting, id)
		}
	}
	slices.Sort(s.waiting)
	return s, nil
}

func (s *Spool) path(id string) string { return filepath.Join(s.dir, id+spoolExt) }

// Add stores a game durably. The id must be usable as a file name.
func (s *Spool) Add(id string, data []byte) error {
	if id == "" || id == "." || id == ".." || id != filepath.Base(id) {
		return fmt.Errorf("spool: game id: found %q, expected a plain file name", id)
	}
	if err := durable.WriteFile(s.path(id), data); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.mu.Lock()
	s.waiting = append(s.waiting, id)
	s.mu.Unlock()
	select {
	case s.added <- struct{}{}:
	default:
	}
	return nil
}

// Len returns the number of games waiting.
func (s *Spool) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Added signals after a game has been added to the spool.
func (s *Spool) Added() <-chan struct{} { return s.added }

// Oldest returns the game that has waited longest; ok is false when none waits.
func (s *Spool) Oldest() (id string, data []byte, ok bool, err error) {
	s.mu.Lock()
	if len(s.waiting) > 0 {
		id = s.waiting[0]
	}
	s.mu.Unlock()
	if id == "" {
		return "", nil, false, nil
	}
	data, err = os.ReadFile(s.path(id))
	if err != nil {
		return id, nil, false, fmt.Errorf("spool: %w", err)
	}
	return id, data, true, nil
}

// Remove forgets a game that has been acknowledged.
func (s *Spool) Remove(id string) error {
	s.mu.Lock()
	if i := slices.Index(s.waiting, id); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
	s.mu.Unlock()
	if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}
