//go:build linux

package fault

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Entry is a change of a file, or a sync.
type Entry struct {
	Op     byte   // W write, T truncate, C create, R rename, U remove, M mkdir, S sync of a file, D of a directory, F a sync that failed
	Inode  uint64 // of the file
	Offset int64  // of a write; the new size of a truncation
	Bytes  int64  // of a write
	Size   int64  // before it
	Kept   int    // name in the trash of what a rename replaced or a removal removed, 0: nothing
	Path   string
	Other  string // new name of a rename
	Old    []byte // content that was overwritten or cut off
}

// Journal are all changes of a process, in order.
type Journal struct {
	Entries []Entry
	dir     string
}

// ReadJournal reads the journal of the device in dir. An entry that a killed process left
// unfinished is left out: its change was not made.
func ReadJournal(dir string) (*Journal, error) {
	j := &Journal{dir: dir}
	data, err := os.ReadFile(filepath.Join(dir, journalFile))
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err != nil {
		return nil, err
	}
	for len(data) > 0 {
		e, rest, ok := parseEntry(data)
		if !ok {
			break
		}
		j.Entries, data = append(j.Entries, e), rest
	}
	return j, nil
}

func parseEntry(data []byte) (e Entry, rest []byte, ok bool) {
	const numbers = 1 + 5*8
	if len(data) < numbers {
		return e, nil, false
	}
	number := func(i int) uint64 { return binary.LittleEndian.Uint64(data[1+8*i:]) }
	e = Entry{Op: data[0], Inode: number(0), Offset: int64(number(1)), Bytes: int64(number(2)), Size: int64(number(3)), Kept: int(number(4))}
	rest = data[numbers:]
	var texts [3][]byte
	for i := range texts {
		if len(rest) < 4 {
			return e, nil, false
		}
		n := int(binary.LittleEndian.Uint32(rest))
		if len(rest) < 4+n {
			return e, nil, false
		}
		texts[i], rest = rest[4:4+n], rest[4+n:]
	}
	e.Path, e.Other, e.Old = string(texts[0]), string(texts[1]), texts[2]
	return e, rest, true
}

// unsynced returns which of the changes a power cut takes back. The sync of a file covers
// its content and, as on the usual file systems, the name that it was created under; that
// of a directory covers all names in it.
func (j *Journal) unsynced() []bool {
	lost := make([]bool, len(j.Entries))
	content, names, failed := map[uint64][]int{}, map[string][]int{}, map[int]bool{}
	created := map[uint64]int{}
	for i := range j.Entries {
		e := &j.Entries[i]
		switch e.Op {
		case 'S':
			var still []int
			for _, k := range content[e.Inode] {
				if failed[k] {
					still = append(still, k)
				} else {
					lost[k] = false
				}
			}
			content[e.Inode] = still
			if k, ok := created[e.Inode]; ok {
				lost[k] = false
			}
		case 'F':
			for _, k := range content[e.Inode] {
				failed[k] = true // what a failed sync was to write, no later one writes
			}
		case 'D':
			for _, k := range names[filepath.Clean(e.Path)] {
				lost[k] = false
			}
			delete(names, filepath.Clean(e.Path))
		default:
			lost[i] = true
			switch e.Op {
			case 'W', 'T':
				content[e.Inode] = append(content[e.Inode], i)
				continue
			case 'C':
				for _, k := range content[e.Inode] {
					lost[k] = false // of a file that is gone, whose inode this one has
				}
				delete(content, e.Inode)
				created[e.Inode] = i
			}
			dir := filepath.Dir(cmp.Or(e.Other, e.Path))
			names[dir] = append(names[dir], i)
		}
	}
	return lost
}

// compact removes the entries that a power cut cannot take back any more.
func (j *Journal) compact() error {
	lost := j.unsynced()
	open, kept := map[uint64]bool{}, map[string]bool{}
	for i, e := range j.Entries {
		if lost[i] {
			open[e.Inode] = true
			kept[fmt.Sprint(e.Kept)] = true
		}
	}
	var out []byte
	for i, e := range j.Entries {
		if lost[i] || e.Op == 'F' && open[e.Inode] {
			out = e.append(out)
		}
	}
	names, err := os.ReadDir(filepath.Join(j.dir, trashDir))
	if err != nil {
		return err
	}
	for _, n := range names {
		if !kept[n.Name()] {
			if err := os.Remove(filepath.Join(j.dir, trashDir, n.Name())); err != nil {
				return err
			}
		}
	}
	return os.WriteFile(filepath.Join(j.dir, journalFile), out, 0o644)
}

// append appends the entry as a process writes it.
func (e *Entry) append(b []byte) []byte {
	b = append(b, e.Op)
	for _, v := range []uint64{e.Inode, uint64(e.Offset), uint64(e.Bytes), uint64(e.Size), uint64(e.Kept)} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, t := range []string{e.Path, e.Other, string(e.Old)} {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(t))), t...)
	}
	return b
}

// Undone says what a power cut has taken back.
type Undone struct {
	Changes int
	Names   []string // files that have lost a name which they had got
}

// Cut makes the files in root what a power cut leaves, when they are now what all changes
// have made of them. The journal stays.
func (j *Journal) Cut(root string) (Undone, error) {
	lost := j.unsynced()
	d := disk{journal: j, root: root, inodes: map[uint64]string{}}
	if err := d.find(); err != nil {
		return Undone{}, err
	}
	var u Undone
	content := map[uint64][]int{}
	for k := range j.Entries {
		if e := &j.Entries[k]; !lost[k] && (e.Op == 'W' || e.Op == 'T') {
			content[e.Inode] = append(content[e.Inode], k)
		}
	}
	for i := len(j.Entries) - 1; i >= 0; i-- {
		e := &j.Entries[i]
		if !lost[i] {
			continue
		}
		u.Changes++
		if e.Op == 'C' || e.Op == 'R' {
			u.Names = append(u.Names, cmp.Or(e.Other, e.Path))
		}
		var later []Entry // that stay
		for _, k := range content[e.Inode] {
			if k > i {
				later = append(later, j.Entries[k])
			}
		}
		if err := d.undo(e, later); err != nil {
			return u, fmt.Errorf("undo change %d of %s: %w", i, e.Path, err)
		}
	}
	return u, nil
}

// disk is what files lie where.
type disk struct {
	journal *Journal
	root    string
	inodes  map[uint64]string
}

func (d *disk) find() error {
	return filepath.WalkDir(d.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		d.inodes[info.Sys().(*syscall.Stat_t).Ino] = path
		return nil
	})
}

func (d *disk) undo(e *Entry, later []Entry) error {
	switch e.Op {
	case 'W', 'T':
		path, there := d.inodes[e.Inode]
		if !there {
			return nil // removed since, for good
		}
		return undoContent(path, e, later)
	case 'C':
		delete(d.inodes, e.Inode)
		return gone(os.Remove(e.Path))
	case 'M':
		return os.RemoveAll(e.Path)
	case 'R':
		if d.inodes[e.Inode] != e.Other {
			return nil // renamed or removed since, for good
		}
		if err := gone(os.Rename(e.Other, e.Path)); err != nil {
			return err
		}
		d.inodes[e.Inode] = e.Path
		return d.bringBack(e.Kept, e.Other)
	case 'U':
		return d.bringBack(e.Kept, e.Path)
	}
	return nil
}

// bringBack gives a file of the trash its name again.
func (d *disk) bringBack(kept int, path string) error {
	if kept == 0 {
		return nil
	}
	from := filepath.Join(d.journal.dir, trashDir, fmt.Sprint(kept))
	var st syscall.Stat_t
	if err := syscall.Stat(from, &st); err != nil {
		return err
	}
	if err := os.Link(from, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return gone(err)
	}
	d.inodes[st.Ino] = path
	return nil
}

func gone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// undoContent gives a stretch of a file its old content again, but for what later changes
// have made of it.
func undoContent(path string, e *Entry, later []Entry) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return gone(err)
	}
	defer f.Close()
	if len(later) == 0 {
		if _, err := f.WriteAt(e.Old, e.Offset); err != nil {
			return err
		}
		return f.Truncate(e.Size)
	}
	end := e.Offset + e.Bytes
	if e.Op == 'T' {
		return nil // something was written after it
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	old := append(slices.Clone(e.Old), make([]byte, int(e.Bytes)-len(e.Old))...)
	for at := e.Offset; at < min(end, info.Size()); at++ {
		if !slices.ContainsFunc(later, func(l Entry) bool { return l.Op == 'W' && at >= l.Offset && at < l.Offset+l.Bytes }) {
			if _, err := f.WriteAt(old[at-e.Offset:][:1], at); err != nil {
				return err
			}
		}
	}
	return nil
}
