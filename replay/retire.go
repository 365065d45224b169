package replay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	retiredFile    = "retired.ids"
	retiredVersion = 2
	retiredMagic   = "ZHRI" + string(rune(retiredVersion)) + "\x00\x00\x00"
	retiredIDBytes = 8 + 4                  // an id and its checksum
	formerMagic    = "ZHRI\x01\x00\x00\x00" // of ids without checksums

	// maxRetired bounds the ids remembered of deleted games. A game
	// delivered again comes soon after it came first, if at all.
	maxRetired = 1 << 20
)

// retire deletes the oldest segments while all together are too large, as long
// as the window does not need them. It says whether it wrote the manifest.
//
// Ids first, then the manifest, then the file: a crash in between leaves
// either a segment whose ids are remembered twice, or one that the manifest
// counts as deleted and Open deletes.
func (b *Buffer) retire() (any bool, err error) {
	for b.bytes() > b.opt.MaxBytes && len(b.segments) > 1 && b.segments[0].number < b.index.oldestSegment() {
		if err := b.retireFirst(); err != nil {
			return any, err
		}
		any = true
	}
	return any, nil
}

func (b *Buffer) retireFirst() error {
	s := b.segments[0]
	before := b.retired.ids
	forgotten, err := b.retired.append(s.ids)
	if err != nil {
		return err
	}
	m := b.manifest
	m.FirstSegment = s.number + 1
	m.Retired.merge(s.counts)
	m.Retired.merge(s.excluded)
	if err := b.writeManifest(m); err != nil {
		b.retired.ids, b.retired.inFile = before, 0 // the next try has the same ids
		return err
	}
	b.missing = slices.DeleteFunc(b.missing, func(l listed) bool { return l.Number < m.FirstSegment })
	b.mu.Lock()
	b.segments[0] = nil
	b.segments = b.segments[1:]
	b.index.forget(m.FirstSegment)
	for _, id := range forgotten {
		delete(b.seen, id)
	}
	b.mu.Unlock()
	err = os.Remove(filepath.Join(b.dir, segmentName(s.number)))
	if errors.Is(err, os.ErrNotExist) { // lost since Open, and reported by draws
		err = nil
	}
	return err
}

// bytes is the size of all segments.
func (b *Buffer) bytes() int64 {
	var n int64
	for _, s := range b.segments {
		n += s.size
	}
	return n
}

// retiredIDs are the ids of deleted games, in memory and in a file.
type retiredIDs struct {
	path   string
	ids    []uint64 // oldest first, at most maxRetired
	inFile int      // ids in the file, old ones among them; 0: it is to be written anew
}

// load reads the file, if there is one, adds its ids to seen and returns its damage. An id
// that is in seen belongs to a segment that was about to be deleted when the process
// ended; that segment is still there. A file with damage, or of the former version, is
// written anew with the next ids.
func (r *retiredIDs) load(path string, seen map[uint64]struct{}) ([]Damage, error) {
	r.path = path
	f, err := readIDs(path)
	if err != nil {
		return nil, err
	}
	if !f.former && f.damaged == 0 {
		r.inFile = len(f.ids)
	}
	for _, id := range f.ids[max(0, len(f.ids)-maxRetired):] {
		if _, twice := seen[id]; !twice {
			seen[id] = struct{}{}
			r.ids = append(r.ids, id)
		}
	}
	return f.damage(), nil
}

// idFile is what a file of ids has.
type idFile struct {
	ids     []uint64
	damaged int  // ids left out, whose checksums are wrong
	former  bool // of version 1, without checksums
}

func (f *idFile) damage() []Damage {
	if f.damaged == 0 {
		return nil
	}
	return []Damage{{Segment: retiredFile, Reason: fmt.Sprintf("ids of deleted games are damaged, %d of %d; if such a game comes again it is stored again", f.damaged, f.damaged+len(f.ids))}}
}

// readIDs reads the file of ids at path; there are none if it is not there. An id cut
// short at the end is left out.
func readIDs(path string) (f idFile, err error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, int64(len(retiredMagic))+2*maxRetired*retiredIDBytes))
	if err != nil {
		return f, err
	}
	magic := data[:min(len(data), len(retiredMagic))]
	size := retiredIDBytes
	switch string(magic) {
	case retiredMagic:
	case formerMagic:
		f.former, size = true, 8
	default:
		return f, fmt.Errorf("%w: %s begins with %q, expected %q", ErrVersion, path, magic, retiredMagic)
	}
	data = data[len(magic):]
	f.ids = make([]uint64, 0, len(data)/size)
	for ; len(data) >= size; data = data[size:] {
		if !f.former && crc32.Checksum(data[:8], castagnoli) != binary.LittleEndian.Uint32(data[8:]) {
			f.damaged++
			continue
		}
		f.ids = append(f.ids, binary.LittleEndian.Uint64(data))
	}
	return f, nil
}

// append remembers more ids and returns those that had to be forgotten for
// them.
func (r *retiredIDs) append(ids []uint64) (forgotten []uint64, err error) {
	all := append(r.ids, ids...)
	if over := len(all) - maxRetired; over > 0 {
		forgotten, all = slices.Clone(all[:over]), all[over:]
	}
	if r.inFile == 0 || r.inFile+len(ids) > 2*maxRetired {
		err = r.rewrite(all)
	} else {
		err = r.extend(ids)
	}
	if err != nil {
		return nil, fmt.Errorf("retired ids: %w", err)
	}
	r.ids = all
	return forgotten, nil
}

func (r *retiredIDs) rewrite(ids []uint64) error {
	err := durable.WriteFile(r.path, appendIDs([]byte(retiredMagic), ids))
	if err == nil {
		r.inFile = len(ids)
	}
	return err
}

// extend writes ids after the last whole id of the file.
func (r *retiredIDs) extend(ids []uint64) error {
	f, err := os.OpenFile(r.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	at := int64(len(retiredMagic) + r.inFile*retiredIDBytes)
	_, err = f.WriteAt(appendIDs(nil, ids), at)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		r.inFile += len(ids)
	}
	return err
}

func appendIDs(dst []byte, ids []uint64) []byte {
	for _, id := range ids {
		n := len(dst)
		dst = binary.LittleEndian.AppendUint64(dst, id)
		dst = binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[n:], castagnoli))
	}
	return dst
}
