package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/game"
)

// Cursor is a place between two stored games. The zero Cursor is where a reader
// begins who has nothing yet.
type Cursor struct {
	Segment uint64 `json:"segment"` // number
	Offset  int64  `json:"offset"`  // in the file
}

// MinChunk is the least room for a chunk: that of one game of any length.
const MinChunk = 128 << 10

// maxRead is how many bytes are read for a chunk, about: who asks for it does not wait
// until a long stretch of games that are left out is passed.
var maxRead = int64(64 << 20)

// ReadFrom returns stored games from a cursor on, in the order stored, as a chunk of
// at most maxBytes when encoded, at least MinChunk. Those of excluded actors are left
// out. From the zero cursor, and from one whose place is no longer in the buffer,
// the games begin with the oldest segment that the window or the held-out games need,
// and the chunk says so. If there are none yet it is empty; it may be empty, too, where
// many games are left out, and then says that there are more.
func (b *Buffer) ReadFrom(c Cursor, maxBytes int) (Chunk, error) {
	if maxBytes < MinChunk {
		return Chunk{}, fmt.Errorf("%w: chunk of %d bytes, expected at least %d", ErrConfig, maxBytes, MinChunk)
	}
	r := b.reader(c)
	room := maxBytes - chunkFixed - len(r.chunk.Buffer)
	for len(r.ends) > 0 {
		more, err := r.segment(&room)
		switch {
		case errors.Is(err, os.ErrNotExist) && r.deleted(b):
			return b.ReadFrom(c, maxBytes)
		case errors.Is(err, os.ErrNotExist): // lost, as draws report
		case err != nil:
			return Chunk{}, fmt.Errorf("read stored games: %w", err)
		case more:
			return r.chunk, nil
		}
		if len(r.ends) == 1 {
			break
		}
		r.ends = r.ends[1:]
		r.chunk.Next = Cursor{Segment: r.ends[0].Segment, Offset: headerBytes}
	}
	r.chunk.End = true
	return r.chunk, nil
}

// reader reads what a buffer had at one moment.
type reader struct {
	dir   string
	ends  []Cursor // of the segments not read yet
	skip  func(encoded []byte) bool
	left  int64 // bytes that may be read yet
	chunk Chunk
}

// reader returns a reader from a cursor on.
func (b *Buffer) reader(c Cursor) *reader {
	b.mu.RLock()
	defer b.mu.RUnlock()
	r := &reader{dir: b.dir, skip: b.skipped(), left: maxRead}
	r.chunk = Chunk{Buffer: b.manifest.ID, Changes: b.manifest.Changes, Next: c, Total: b.manifest.Retired}
	r.chunk.Total.merge(b.contents.excluded())
	for _, s := range b.segments {
		r.ends = append(r.ends, Cursor{Segment: s.number, Offset: s.size})
		r.chunk.Total.merge(s.counts)
	}
	if !b.holds(c) {
		r.chunk.Begin, r.chunk.Before = true, b.manifest.Retired
		r.chunk.Before.merge(b.contents.excluded())
		r.chunk.Next = Cursor{}
		oldest := b.index.oldestNeeded()
		for len(r.ends) > 0 && r.ends[0].Segment < oldest && len(r.ends) > 1 {
			r.chunk.Before.merge(b.segments[len(b.segments)-len(r.ends)].counts)
			r.ends = r.ends[1:]
		}
		if len(r.ends) > 0 {
			r.chunk.Next = Cursor{Segment: r.ends[0].Segment, Offset: headerBytes}
		}
		return r
	}
	for r.ends[0].Segment < c.Segment {
		r.ends = r.ends[1:]
	}
	if r.ends[0].Segment > c.Segment { // its segment is lost
		r.chunk.Next = Cursor{Segment: r.ends[0].Segment, Offset: headerBytes}
	}
	return r
}

// skipped returns what says whether a stored game is left out.
func (b *Buffer) skipped() func(encoded []byte) bool {
	if len(b.banned) == 0 {
		return func([]byte) bool { return false }
	}
	excluded, run := b.banned, b.opt.Run
	return func(encoded []byte) bool {
		h, err := game.DecodeHeader(encoded)
		_, is := excluded[ActorOf(h.ID, run)]
		return err != nil || is
	}
}

// holds reports whether a cursor is of the present segments.
func (b *Buffer) holds(c Cursor) bool {
	if len(b.segments) == 0 || c.Segment < b.segments[0].number || c.Segment > b.newest().number || c.Offset < headerBytes {
		return false
	}
	i := slices.IndexFunc(b.segments, func(s *segment) bool { return s.number == c.Segment })
	return i < 0 || c.Offset <= b.segments[i].size
}

// deleted reports whether the buffer has deleted the segment being read since.
func (r *reader) deleted(b *Buffer) bool {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return r.ends[0].Segment < b.manifest.FirstSegment
}

// segment reads games of one segment into the chunk, as long as there is room and it may
// read. It reports whether there are more.
func (r *reader) segment(room *int) (more bool, err error) {
	const longest = frameBytes + maxRecord
	end := r.ends[0]
	f, err := os.Open(filepath.Join(r.dir, segmentName(end.Segment)))
	if err != nil {
		return false, err
	}
	defer f.Close()
	for r.chunk.Next.Offset < end.Offset {
		if r.left <= 0 {
			return true, nil
		}
		from := r.chunk.Next.Offset
		data := make([]byte, min(end.Offset-from, int64(*room)+longest))
		n, err := f.ReadAt(data, from)
		r.left -= int64(n)
		if n == 0 { // cut short since Open
			r.chunk.Next.Offset = end.Offset
			return false, nil
		}
		if err != nil && n < len(data) {
			data, end.Offset = data[:n], from+int64(n)
		}
		full := false
		got := scanFrom(data, 0, func(g record) {
			if full || r.skip(g.game) {
				return
			}
			if need := chunkPerGame + len(g.game); need > *room {
				full = true
				r.chunk.Next.Offset = from + g.offset
			} else {
				*room -= need
				r.chunk.Games = append(r.chunk.Games, g.game)
			}
		}, func(_, _ int64) {})
		switch {
		case full:
			return true, nil
		case from+int64(len(data)) >= end.Offset: // what is after the last whole record is damaged
			got = int64(len(data))
		case int64(len(data))-got >= longest: // a long stretch without a record
			got = int64(len(data)) - longest + 1
		}
		r.chunk.Next.Offset = from + got
	}
	return false, nil
}
