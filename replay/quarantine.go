package replay

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

const (
	quarantineFiles  = 512      // games kept, the newest
	quarantineBytes  = 64 << 20 // of all of them
	quarantineRecord = 1 << 20  // of one; the rest of a longer one is cut off
)

// quarantine keeps games that are not valid for a person to look at:
// <first 16 hex digits of their SHA-256>.game and .txt with the reason. It is
// not synced: losing it in a crash loses nothing the run needs.
type quarantine struct{ dir string }

func (q *quarantine) put(encoded []byte, reason error) error {
	if err := os.MkdirAll(q.dir, 0o755); err != nil {
		return err
	}
	sum := sha256.Sum256(encoded)
	stem := filepath.Join(q.dir, hex.EncodeToString(sum[:8]))
	if err := os.WriteFile(stem+".txt", []byte(reason.Error()+"\n"), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(stem+".game", encoded[:min(len(encoded), quarantineRecord)], 0o644); err != nil {
		return err
	}
	return q.bound()
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
