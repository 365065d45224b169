package selfplay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	spoolExt = ".game"
	asideExt = ".refused"
)

// gameID is what ids of this program's games look like; other files in the
// spool are not its business.
var gameID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

// spool keeps finished games on disk until the bus has acknowledged them: one
// file a game, in the order in which they were added. It is safe for
// concurrent use.
type spool struct {
	dir string

	mu      sync.Mutex
	waiting []string // ids, oldest first
	added   chan struct{}
}

// openSpool opens the spool in dir, creating it if needed; games left there by
// an earlier process come first, in the order of their ids.
func openSpool(dir string) (*spool, error) {
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
	s := &spool{dir: dir, added: make(chan struct{}, 1)}
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), spoolExt); ok && e.Type().IsRegular() && gameID.MatchString(id) {
			s.waiting = append(s.waiting, id)
		}
	}
	slices.Sort(s.waiting)
	return s, nil
}

func (s *spool) path(id string) string { return filepath.Join(s.dir, id+spoolExt) }

// add stores a game durably.
func (s *spool) add(id string, data []byte) error {
	if !gameID.MatchString(id) {
		return fmt.Errorf("spool: game id: found %q, expected letters, digits, - and _", id)
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

// size returns the number of games waiting.
func (s *spool) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// news signals after a game has been added to the spool.
func (s *spool) news() <-chan struct{} { return s.added }

// oldest returns the game that has waited longest; ok is false when none waits.
func (s *spool) oldest() (id string, data []byte, ok bool, err error) {
	s.mu.Lock()
	if len(s.waiting) > 0 {
		id = s.waiting[0]
	}
	s.mu.Unlock()
	if id == "" {
		return "", nil, false, nil
	}
	data, err = os.ReadFile(s.path(id))
	if errors.Is(err, os.ErrNotExist) { // somebody removed it; the next one may be there
		if err := s.remove(id); err != nil {
			return id, nil, false, err
		}
		return s.oldest()
	}
	if err != nil {
		return id, nil, false, fmt.Errorf("spool: %w", err)
	}
	return id, data, true, nil
}

// forget takes a game off the list.
func (s *spool) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := slices.Index(s.waiting, id); i >= 0 {
		s.waiting = slices.Delete(s.waiting, i, i+1)
	}
}

// setAside keeps the file of a game that the bus will never take, under a name
// that is no spooled game's.
func (s *spool) setAside(id string) error {
	s.forget(id)
	if err := os.Rename(s.path(id), s.path(id)+asideExt); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// remove forgets a game that has been acknowledged and deletes its file.
func (s *spool) remove(id string) error {
	s.forget(id)
	if err := os.Remove(s.path(id)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}
