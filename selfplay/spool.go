package selfplay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	spoolExt   = ".game"
	refusedDir = "refused" // in a spool: files that are no games of this run

	keptRefused  = 10_000 // files there, the newest; an actor in quarantine plays on
	pruneRefused = 1_000  // files set aside until older ones are removed again

	keptSpares = 2_000 // files to write later games over, a block of the disk each
)

// gameID is what ids of this program's games look like; other files in the
// spool are not its business.
var gameID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,128}$`)

var errGameID = errors.New("game id")

// spool keeps finished games on disk, one file a game, until the replay buffer has
// them on disk: what happens to the bus in between loses none. It knows of every
// game whether it has been published, and is safe for concurrent use.
type spool struct {
	dir   string
	lock  *dirlock.Lock
	files *durable.Recycler

	mu     sync.Mutex
	games  []*spooled // oldest first
	left   uint64     // games that are not there any more, since it was opened
	asides int        // files set aside by this process
	added  chan struct{}
}

// spooled is a game in the spool.
type spooled struct {
	id      string
	since   time.Time // when it was finished
	attempt int       // messages it was published in, before the present process not counted
	sent    published // where the last of them is; zero: none, or it was lost
}

// published is the place of a message in the stream of games.
type published struct {
	stream   int64 // which stream: its creation time, in nanoseconds since 1970
	sequence uint64
}

// openSpool opens the spool in dir, creating it if needed, for this process alone.
// Games left there by an earlier process come first, in the order of their ids.
func openSpool(dir string) (*spool, error) {
	lock, err := dirlock.Acquire(dir)
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	s := &spool{dir: dir, lock: lock, files: durable.NewRecycler(dir, keptSpares), added: make(chan struct{}, 1)}
	if err := s.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("spool: %w", err), s.close())
	}
	return s, nil
}

func (s *spool) load() error {
	if err := durable.RemoveTemps(s.dir); err != nil {
		return err
	}
	return eachSpooled(s.dir, func(id string, e fs.DirEntry) error {
		g := &spooled{id: id, since: time.Now()}
		if info, err := e.Info(); err == nil {
			g.since = info.ModTime()
		}
		s.games = append(s.games, g)
		return nil
	})
}

// eachSpooled calls visit with the games of a spool's folder, in the order of their ids,
// until it returns an error. A folder that is not there has none.
func eachSpooled(dir string, visit func(id string, e fs.DirEntry) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), spoolExt)
		if !ok || !e.Type().IsRegular() || !gameID.MatchString(id) {
			continue
		}
		if err := visit(id, e); err != nil {
			return err
		}
	}
	return nil
}

// close gives the directory back.
func (s *spool) close() error {
	_ = durable.RemoveTemps(s.dir) // the next start removes what is left
	return s.lock.Release()
}

func (s *spool) path(id string) string { return filepath.Join(s.dir, id+spoolExt) }

// encodedGame is a finished game.
type encodedGame struct {
	id    string
	data  []byte
	plies int
}

// add stores games durably, all with the same syncs. After an error any of them may be in
// the spool's directory, but none is published.
func (s *spool) add(games ...encodedGame) error {
	files := make([]durable.File, len(games))
	for i, g := range games {
		if !gameID.MatchString(g.id) {
			return fmt.Errorf("spool: %w: found %q, expected letters, digits, - and _", errGameID, g.id)
		}
		files[i] = durable.File{Name: g.id + spoolExt, Data: g.data}
	}
	if err := s.files.Write(files...); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range games {
		s.games = append(s.games, &spooled{id: g.id, since: time.Now()})
	}
	s.announce()
	return nil
}

func (s *spool) announce() {
	select {
	case s.added <- struct{}{}:
	default:
	}
}

// size returns the number of games waiting.
func (s *spool) size() int {
	size, _ := s.passage()
	return size
}

// passage returns the number of games waiting, and of those that have waited.
func (s *spool) passage() (waiting int, left uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.games), s.left
}

// oldest returns when the oldest game was finished, the zero time if there is none.
func (s *spool) oldest() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.games) == 0 {
		return time.Time{}
	}
	return s.games[0].since
}

// waited returns the sum of the times since games were finished.
func (s *spool) waited(ids []string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sum time.Duration
	for _, id := range ids {
		if i := s.index(id); i >= 0 {
			sum += time.Since(s.games[i].since)
		}
	}
	return sum
}

// news signals after a game has been added, or is to be published again.
func (s *spool) news() <-chan struct{} { return s.added }

// unsent returns the ids of at most n games that are not on the bus, oldest first, and
// the largest number of attempts that was made with any of them.
func (s *spool) unsent(n int) (ids []string, attempt int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.games {
		if len(ids) == n {
			break
		}
		if g.sent == (published{}) {
			ids, attempt = append(ids, g.id), max(attempt, g.attempt)
		}
	}
	return ids, attempt
}

// waiting returns the published games and where they are, at most n, oldest first.
func (s *spool) waiting(n int) (ids []string, at []published) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.games {
		if len(ids) == n {
			break
		}
		if g.sent != (published{}) {
			ids, at = append(ids, g.id), append(at, g.sent)
		}
	}
	return ids, at
}

// index returns the place of a game, −1 if it is not there. The mutex is held.
func (s *spool) index(id string) int {
	return slices.IndexFunc(s.games, func(g *spooled) bool { return g.id == id })
}

// read returns the bytes of a game. The error wraps fs.ErrNotExist if its file is gone.
func (s *spool) read(id string) ([]byte, error) {
	data, err := os.ReadFile(s.path(id))
	if err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	return data, nil
}

// mark records that games have been published; the zero place says that they have
// to be published again.
func (s *spool) mark(ids []string, at published) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		if i := s.index(id); i >= 0 {
			s.games[i].sent = at
			if at != (published{}) {
				s.games[i].attempt++
			}
		}
	}
	if at == (published{}) {
		s.announce()
	}
}

// remove deletes games that the replay buffer has on disk, or that somebody deleted.
func (s *spool) remove(ids ...string) error {
	var errs []error
	for _, id := range ids {
		if err := s.files.Remove(id + spoolExt); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("spool: %w", err))
			continue
		}
		s.forget(id)
	}
	return errors.Join(errs...)
}

// setAside moves a file that can never be published where a person finds it.
func (s *spool) setAside(id string) error {
	dir := filepath.Join(s.dir, refusedDir)
	if err := durable.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	// Somebody may have deleted it.
	if err := os.Rename(s.path(id), filepath.Join(dir, id+spoolExt)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("spool: %w", err)
	}
	s.forget(id)
	s.mu.Lock()
	s.asides++
	due := s.asides%pruneRefused == 1
	s.mu.Unlock()
	if due {
		return pruneFiles(dir, spoolExt, keptRefused)
	}
	return nil
}

func (s *spool) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.index(id); i >= 0 {
		s.games = slices.Delete(s.games, i, i+1)
		s.left++
	}
}
