//go:build unix

package clustertest

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	spoolDir   = "spool"              // in an actor's directory
	spoolExt   = ".game"              // of a finished game's file there
	watchEvery = 5 * time.Millisecond // between looks at the spools
)

// SpoolWatch records the id of every game that ever lay in an actor's spool: each was
// finished, so each must be in the replay buffer in the end. The record is a file, so
// that a harness that is started again goes on with it.
type SpoolWatch struct {
	arrivals *arrivals

	mu   sync.Mutex
	seen map[string]bool
	file *os.File
	err  error

	stop chan struct{}
	done sync.WaitGroup
}

// WatchSpools begins to watch the spools of the actors in dirs. It makes those that the
// actors have not made yet, to watch them before the first game.
func WatchSpools(record string, dirs []string) (*SpoolWatch, error) {
	spools := make([]string, len(dirs))
	for i, dir := range dirs {
		spools[i] = filepath.Join(dir, spoolDir)
		if err := os.MkdirAll(spools[i], 0o755); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(record, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	w := &SpoolWatch{seen: map[string]bool{}, file: f, stop: make(chan struct{})}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		w.seen[lines.Text()] = true
	}
	if w.arrivals, err = watchArrivals(spools); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	for _, dir := range spools { // after the watch has begun
		w.note(list(dir))
	}
	w.done.Go(func() {
		for {
			w.Look()
			select {
			case <-w.stop:
				return
			case <-time.After(watchEvery):
			}
		}
	})
	return w, nil
}

// Look records what has come into the spools until now.
func (w *SpoolWatch) Look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(w.arrivals.names())
}

// note records the games among files that were found, and the first error. The mutex is held,
// or nobody else has w yet.
func (w *SpoolWatch) note(files []string, err error) {
	for _, id := range games(files) {
		if w.seen[id] {
			continue
		}
		w.seen[id] = true
		_, failed := fmt.Fprintln(w.file, id)
		err = cmp.Or(err, failed)
	}
	w.err = cmp.Or(w.err, err)
}

// spooled returns the ids of the games in an actor's spool.
func spooled(dir string) ([]string, error) {
	files, err := list(filepath.Join(dir, spoolDir))
	return games(files), err
}

// list returns the names of the files in a directory.
func list(dir string) ([]string, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Readdirnames(-1)
}

// games returns the ids of the games among files of a spool.
func games(files []string) (ids []string) {
	for _, name := range files {
		if id, ok := strings.CutSuffix(name, spoolExt); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// emptySpools starts actors again that have ended with games in their spools, as they
// may where the servers are slow: the next start hands them on.
func (c *Cluster) emptySpools(ctx context.Context) error {
	const starts = 5 // of an actor, which plays new games meanwhile
	for range starts {
		empty := true
		for _, p := range c.actors {
			left, err := spooled(c.dir(p))
			if err != nil {
				return err
			}
			if len(left) == 0 {
				continue
			}
			empty = false
			if err := p.Start(); err != nil {
				return err
			}
			err = c.await(ctx, fmt.Sprintf("%d games in the spool of %s to be handed on", len(left), p.Name), func() (bool, error) {
				now, err := spooled(c.dir(p))
				return !slices.ContainsFunc(left, func(id string) bool { return slices.Contains(now, id) }), err
			})
			if err != nil {
				return err
			}
			if err := p.End(endPatience); err != nil {
				return err
			}
		}
		if empty {
			return nil
		}
	}
	return nil // the verdict says what is left
}

// Games returns how many games have been seen so far.
func (w *SpoolWatch) Games() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.seen)
}

// Close ends the watch and returns the ids of all games seen. Calling it again returns
// the same.
func (w *SpoolWatch) Close() (map[string]bool, error) {
	select {
	case <-w.stop:
	default:
		close(w.stop)
		w.done.Wait()
		w.Look()
		w.err = errors.Join(w.err, w.arrivals.close(), w.file.Close())
	}
	return w.seen, w.err
}
