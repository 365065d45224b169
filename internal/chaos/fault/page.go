//go:build linux

package fault

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Mode says which changes of files fail.
type Mode uint64

// Modes may be combined.
const (
	Full     Mode = 1 << iota // no space: neither content nor new files
	ReadOnly                  // nothing changes
	NoSync                    // no sync succeeds, and what it was to sync stays unsynced
)

const (
	pageBytes   = 4096
	controlFile = "control"
	journalFile = "journal"
	trashDir    = "trash"
)

// Device is the disk and the clock of a process, which may be started many times.
type Device struct {
	dir, root string
	page      []byte
}

// Open prepares the device of a process whose files lie in root, an absolute path. What the
// device writes down lies in dir, on the same file system.
func Open(dir, root string) (*Device, error) {
	if err := os.MkdirAll(filepath.Join(dir, trashDir), 0o755); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(root, 0o755); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, controlFile), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(pageBytes); err != nil {
		return nil, err
	}
	page, err := syscall.Mmap(int(f.Fd()), 0, pageBytes, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", f.Name(), err)
	}
	return &Device{dir: dir, root: root, page: page}, nil
}

// Close gives the device's memory back.
func (d *Device) Close() error { return syscall.Munmap(d.page) }

// Env is what the environment of the process has to have.
func (d *Device) Env() []string {
	return []string{"CHAOSRUN_FAULTS=" + d.dir, "CHAOSRUN_FAULTS_ROOT=" + d.root}
}

// Clock sets how far the wall clock of the process is off.
func (d *Device) Clock(off time.Duration) {
	atomic.StoreInt64((*int64)(unsafe.Pointer(&d.page[0])), int64(off))
}

func (d *Device) mode() *uint64 { return (*uint64)(unsafe.Pointer(&d.page[8])) }

// Begin has changes fail in a further way.
func (d *Device) Begin(m Mode) { atomic.OrUint64(d.mode(), uint64(m)) }

// End has them succeed again.
func (d *Device) End(m Mode) { atomic.AndUint64(d.mode(), ^uint64(m)) }

// Forget removes the journal, as if all had been synced. The process does not run.
func (d *Device) Forget() error {
	return errors.Join(os.RemoveAll(filepath.Join(d.dir, journalFile)), os.RemoveAll(filepath.Join(d.dir, trashDir)), os.MkdirAll(filepath.Join(d.dir, trashDir), 0o755))
}

// DieAt has the process kill itself in place of its change of the given number, counted from
// 1 at its start; 0: never.
func (d *Device) DieAt(change uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&d.page[16])), change)
}

// Compact removes from the journal what cannot be taken back any more. The process does not
// run.
func (d *Device) Compact() error {
	j, err := ReadJournal(d.dir)
	if err != nil || len(j.Entries) == 0 {
		return err
	}
	return j.compact()
}

// CutPower takes back everything that the process, which does not run any more, changed
// without syncing it, and forgets the journal. It returns what became of the files.
func (d *Device) CutPower() (Undone, error) {
	j, err := ReadJournal(d.dir)
	if err != nil {
		return Undone{}, err
	}
	u, err := j.Cut(d.root)
	return u, errors.Join(err, d.Forget())
}
