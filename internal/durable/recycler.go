package durable

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// File is a file to be written by a [Recycler]: its name in the recycler's directory, and its
// content.
type File struct {
	Name string
	Data []byte
}

// Recycler writes and removes the files of a directory in which many come and go. It writes
// them over files that were removed before, which costs the system much less: ext4 does not
// use the inodes of files removed in the last seconds, and looks at each of them for every
// file created. It is safe for concurrent use, by one process.
type Recycler struct {
	dir  string
	keep int

	// Removed files, under temporary names. New ones are written over the spares; the others
	// become spares when their renaming is on disk, for until then a power cut can give
	// them their names back.
	mu              sync.Mutex
	spares, renamed []string
}

// NewRecycler returns one for the files in dir that keeps at most keep removed ones, about.
// [RemoveTemps] removes them, when nothing is written any more and after a crash.
func NewRecycler(dir string, keep int) *Recycler { return &Recycler{dir: dir, keep: keep} }

// Write replaces files, each as [WriteFile] does. All together they need few syncs more
// than one. After an error some may be replaced, and others not.
func (p *Recycler) Write(files ...File) error {
	p.mu.Lock()
	used := min(len(files), len(p.spares))
	spares := append([]string(nil), p.spares[len(p.spares)-used:]...)
	p.spares = p.spares[:len(p.spares)-used]
	renamed := p.renamed
	p.renamed = nil
	p.mu.Unlock()

	gone, err := p.write(files, spares)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		p.spares = append(p.spares, spares[min(gone, len(spares)):]...)
		p.renamed = append(p.renamed, renamed...) // the directory may not be synced
		return err
	}
	p.spares = append(p.spares, renamed...)
	return nil
}

// write replaces files, the first ones by way of the spares. After an error as many of these
// as it returns are gone.
func (p *Recycler) write(files []File, spares []string) (used int, err error) {
	open := make([]*os.File, 0, len(files))
	done := 0
	defer func() {
		for _, f := range open[done:] {
			f.Close()
			os.Remove(f.Name())
		}
	}()
	for i, file := range files {
		var f *os.File
		err := fs.ErrNotExist
		if i < len(spares) {
			f, err = os.OpenFile(spares[i], os.O_WRONLY, 0)
		}
		if errors.Is(err, fs.ErrNotExist) { // no spare, or somebody deleted it
			f, err = CreateTemp(p.dir)
		}
		if err != nil {
			if i < len(spares) {
				os.Remove(spares[i])
				i++
			}
			return i, err
		}
		open = append(open, f)
		if _, err := f.Write(file.Data); err != nil {
			return len(open), err
		}
		if err := f.Truncate(int64(len(file.Data))); err != nil {
			return len(open), err
		}
	}
	for _, f := range open { // the first sync brings most of the others to the disk, too
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return len(open), err
		}
	}
	for i, f := range open {
		if err := os.Rename(f.Name(), filepath.Join(p.dir, files[i].Name)); err != nil {
			return len(open), err
		}
		done++
	}
	return len(open), SyncDir(p.dir)
}

// Remove removes a file. The error wraps fs.ErrNotExist if there is none.
func (p *Recycler) Remove(name string) error {
	path := filepath.Join(p.dir, name)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.spares)+len(p.renamed) >= p.keep {
		return os.Remove(path)
	}
	spare := filepath.Join(p.dir, strings.Replace(TempPattern, "*", rand.Text(), 1))
	if err := os.Rename(path, spare); err != nil {
		return err
	}
	p.renamed = append(p.renamed, spare)
	return nil
}
