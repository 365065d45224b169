package replay

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
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
	before Counts // of the games stored before the segment that it began with
	whole  bool   // before has their rows
	shown  Counts // of the games since
	data   []byte
}

// ErrReplaced says that a buffer has become an earlier copy of itself.
var ErrReplaced = errors.New("the buffer ends before games that were read of it")

// NewFollower returns a follower of the buffer in dir, which need not be there yet. It
// begins so late that it reads at most that many bytes of games stored before, but with
// the newest segment at the latest. It begins again, in the same way, where games were
// deleted that it has not read.
func NewFollower(dir string, most int64) *Follower { return &Follower{dir: dir, most: most} }

// Total returns the sums over all games stored until the last call of Next, as far as it
// has shown them or the manifest counts them. Whole says that all games that it has not
// shown are deleted ones, whose rows the manifest counts too. Without it, only Games is
// that of all games.
func (f *Follower) Total() (counts Counts, whole bool) {
	counts = f.before
	counts.merge(f.shown)
	return counts, f.whole
}

// Next calls visit with every game stored since the call before, as it is encoded, in
// the order stored, and the number of its plies that may be trained on; the bytes are
// valid until visit returns. Damaged stretches are left
// out. A record at the end that is not whole may be in the writing; it is looked at
// again. After an error a further call goes on where this one ended. The error wraps
// ErrReplaced if the buffer has become an earlier copy without games that were shown; then
// a new follower is needed.
func (f *Follower) Next(visit func(encoded []byte, trainable int)) error {
	numbers, err := listSegments(f.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(numbers) == 0 {
		return nil
	}
	if err == nil && f.begun && f.isAhead(numbers) {
		err = ErrReplaced
	}
	if err == nil && (!f.begun || f.next.Segment < numbers[0]) {
		numbers, err = f.begin(numbers)
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
		if errors.Is(err, fs.ErrNotExist) {
			return nil // deleted since: the next call begins anew behind it
		}
		if err != nil {
			return fmt.Errorf("follow games: %w", err)
		}
	}
	return nil
}

// isAhead reports whether the segments end before the cursor. The one of the cursor may have
// no header yet.
func (f *Follower) isAhead(numbers []uint64) bool {
	if f.next.Segment > numbers[len(numbers)-1] {
		return true
	}
	info, err := os.Stat(filepath.Join(f.dir, segmentName(f.next.Segment)))
	return err == nil && max(info.Size(), headerBytes) < f.next.Offset
}

// begin chooses the segment to begin with, and returns those that were not deleted since
// they were listed: the manifest counts the games of the others.
func (f *Follower) begin(numbers []uint64) ([]uint64, error) {
	m, err := readManifest(f.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	deleted, _ := slices.BinarySearch(numbers, m.FirstSegment)
	if numbers = numbers[deleted:]; len(numbers) == 0 {
		return nil, nil
	}
	first, bytes := len(numbers), int64(0)
	for first > 0 {
		info, err := os.Stat(filepath.Join(f.dir, segmentName(numbers[first-1])))
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil // deleted since: the next call begins
		}
		if err != nil {
			return nil, err
		}
		if bytes += info.Size(); bytes > f.most && first < len(numbers) {
			break
		}
		first--
	}
	f.before, f.whole, f.shown = m.Retired, first == 0, Counts{}
	for _, n := range numbers[:first] {
		f.before.Games += m.listed(n).Games
	}
	f.next, f.begun = Cursor{Segment: numbers[first], Offset: headerBytes}, true
	return numbers, nil
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
		got := scanFrom(data[:n], 0, func(r record) {
			if h, err := game.DecodeHeader(r.game); err == nil {
				f.shown.add(facts{heldOut: sample.HeldOut(h.ID), trainable: r.trainable})
			}
			visit(r.game, r.trainable)
		}, func(_, _ int64) {})
		if int64(n)-got >= longest { // a long stretch without a record
			got = int64(n) - longest + 1
		}
		f.next.Offset += got
		if n < len(data) {
			return nil
		}
	}
}
