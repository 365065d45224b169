package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// followChunk is how much of a segment a Follower reads at once, in bytes.
const followChunk = 1 << 20

// Follower reads the games of a buffer as they are stored, by this process or another.
// Like Audit it changes nothing and needs no lock. Its methods must not be called at
// the same time.
type Follower struct {
	dir    string
	most   int64 // bytes read at the beginning
	begun  bool
	next   Cursor
	before Counts
	whole  bool
	data   []byte
}

// NewFollower returns a follower of the buffer in dir, which need not be there yet. It
// begins so late that it reads at most that many bytes of games stored before, but with
// the newest segment at the latest.
func NewFollower(dir string, most int64) *Follower { return &Follower{dir: dir, most: most} }

// Before returns the sums over the games stored before the first that Next shows, as
// far as the manifest knows them. Whole says that these are all but zero or deleted
// games: that Before has their rows too. Without it, Before has only games.
func (f *Follower) Before() (counts Counts, whole bool) { return f.before, f.whole }

// Next calls visit with every game stored since the call before, as it is encoded, in
// the order stored, and the number of its plies that may be trained on; the bytes are
// valid until visit returns. Damaged stretches are left
// out. A record at the end that is not whole may be in the writing; it is looked at
// again. After an error a further call goes on where this one ended.
func (f *Follower) Next(visit func(encoded []byte, trainable int)) error {
	numbers, err := listSegments(f.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(numbers) == 0 {
		return nil
	}
	if err == nil && !f.begun {
		err = f.begin(numbers)
	}
	if err != nil {
		return fmt.Errorf("follow games: %w", err)
	}
	for _, n := range numbers {
		if n < f.next.Segment {
			continue
		}
		if n > f.next.Segment {
			f.next = Cursor{Segment: n, Offset: headerBytes}
		}
		err := f.segment(visit)
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // deleted since
			return fmt.Errorf("follow games: %w", err)
		}
	}
	return nil
}

// begin chooses the segment to begin with.
func (f *Follower) begin(numbers []uint64) error {
	m, err := readManifest(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	first, bytes := len(numbers), int64(0)
	for first > 0 {
		info, err := os.Stat(filepath.Join(f.dir, segmentName(numbers[first-1])))
		if err != nil {
			return err
		}
		if bytes += info.Size(); bytes > f.most && first < len(numbers) {
			break
		}
		first--
	}
	f.before, f.whole = m.Retired, first == 0
	for _, n := range numbers[:first] {
		f.before.Games += m.listed(n).Games
	}
	f.next, f.begun = Cursor{Segment: numbers[first], Offset: headerBytes}, true
	return nil
}

// segment shows what is new in the segment of the cursor.
func (f *Follower) segment(visit func(encoded []byte, trainable int)) error {
	const longest = frameBytes + maxRecord
	file, err := os.Open(filepath.Join(f.dir, segmentName(f.next.Segment)))
	if err != nil {
		return err
	}
	defer file.Close()
	if f.data == nil {
		f.data = make([]byte, followChunk)
	}
	for data := f.data; ; {
		n, err := file.ReadAt(data, f.next.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		got := scanFrom(data[:n], 0, func(r record) { visit(r.game, r.trainable) }, func(_, _ int64) {})
		if int64(n)-got >= longest { // a long stretch without a record
			got = int64(n) - longest + 1
		}
		f.next.Offset += got
		if n < len(data) {
			return nil
		}
	}
}
