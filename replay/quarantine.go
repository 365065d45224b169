package replay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// QuarantineBatch is how many games that are not valid are kept of those given in one call.
// Each costs four syncs: thousands of somebody's garbage would hold up all others' games.
const QuarantineBatch = 16

const (
	quarantineFiles  = 512      // games kept, the newest
	quarantineBytes  = 64 << 20 // of all of them
	quarantineRecord = 1 << 20  // of one; the rest of a longer one is cut off
)

// quarantine keeps games that are not valid for a person to look at:
// <first 16 hex digits of their SHA-256>.game and, written before it, .txt with the
// reason.
type quarantine struct{ dir string }

// put writes a game and the reason and syncs both, unless it has them already, as
// it has those of a game that is delivered again.
func (q *quarantine) put(encoded []byte, reason error) error {
	sum := sha256.Sum256(encoded)
	stem := filepath.Join(q.dir, hex.EncodeToString(sum[:8]))
	if _, err := os.Stat(stem + ".game"); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := q.create(); err != nil {
		return err
	}
	if err := durable.WriteFile(stem+".txt", []byte(reason.Error()+"\n")); err != nil {
		return err
	}
	if err := durable.WriteFile(stem+".game", encoded[:min(len(encoded), quarantineRecord)]); err != nil {
		return err
	}
	return q.bound()
}

// create makes the directory, if there is none, and syncs its parent.
func (q *quarantine) create() error {
	switch err := os.Mkdir(q.dir, 0o755); {
	case errors.Is(err, fs.ErrExist):
		return nil
	case err != nil:
		return err
	}
	return durable.SyncDir(filepath.Dir(q.dir))
}

// bound removes the oldest games while there are too many.
func (q *quarantine) bound() error {
	entries, err := os.ReadDir(q.dir)
	if err != nil {
		return err
	}
	var games []fs.FileInfo
	var size int64
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".game" {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		games = append(games, info)
		size += info.Size()
	}
	slices.SortFunc(games, func(a, b fs.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for len(games) > quarantineFiles || size > quarantineBytes {
		name := filepath.Join(q.dir, games[0].Name())
		if err := os.Remove(name); err != nil {
			return err
		}
		if err := os.Remove(name[:len(name)-len(".game")] + ".txt"); err != nil {
			return err
		}
		size -= games[0].Size()
		games = games[1:]
	}
	return nil
}
