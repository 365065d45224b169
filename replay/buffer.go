package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/check"
	"github.com/crazyhouse-rl/selfplay/internal/dirlock"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

// Errors of this package. They come wrapped, with the file and the place in
// it; test with errors.Is. Open's error wraps dirlock.ErrHeld if another
// process has the directory.
var (
	ErrConfig    = errors.New("replay configuration")
	ErrSegment   = errors.New("not a replay segment")
	ErrVersion   = errors.New("unknown version of a replay file")
	ErrVariant   = errors.New("games of another variant")
	ErrManifest  = errors.New("unreadable replay manifest")
	ErrEmpty     = errors.New("no games to draw from")
	ErrNoSamples = errors.New("no position passes the filter")
	ErrDamaged   = errors.New("stored game is damaged")
	ErrBroken    = errors.New("replay buffer stopped after a failed write; open it again")
	ErrClosed    = errors.New("replay buffer is closed")
)

// Options of a Buffer. All are needed.
type Options struct {
	Variant      *chess.Variant // of every game
	MaxBytes     int64          // size of all segments above which old ones are deleted, at least two segments
	SegmentBytes int64          // size at which a new segment begins, 4 KiB to 512 MiB
	Window       WindowRule
}

// Validate reports all that is out of range, by the names of a configuration's
// settings. Errors wrap ErrConfig.
func (o *Options) Validate() error {
	wrong := check.Of(ErrConfig)
	wrong.That(o.Variant != nil && len(o.Variant.Name) <= nameBytes, "variant", o.Variant, fmt.Sprintf("one with a name of at most %d bytes", nameBytes))
	check.Within(wrong, "segment_bytes", o.SegmentBytes, 4<<10, maxSegment/2)
	wrong.That(o.MaxBytes >= 2*o.SegmentBytes, "max_bytes", o.MaxBytes, fmt.Sprintf("at least two segments of %d", o.SegmentBytes))
	wrong.Add(o.Window.validate())
	return wrong.Err()
}

// Buffer is an open replay directory. All methods may be called at the same
// time; Draw does not wait for the disk writes of Append.
type Buffer struct {
	dir   string
	opt   Options
	start chess.Position // of the variant

	lock       *dirlock.Lock
	quarantine quarantine

	appendMu sync.Mutex // one Append or Close at a time; guards what follows
	active   *os.File   // newest segment, nil until a game needs one
	pending  batch      // games not written yet
	failed   error      // why nothing more can be stored
	retired  retiredIDs

	mu       sync.RWMutex        // guards what follows, which only Append changes
	segments []*segment          // oldest first; the last is the active one
	seen     map[uint64]struct{} // id hashes of all games, stored and retired
	index    index
	manifest manifest
	damage   []Damage

	unreadable atomic.Uint64 // games found damaged when drawn
}

// segment is what is known of one segment file.
type segment struct {
	number uint64
	size   int64 // bytes up to the end of the last whole record
	counts counts
	ids    []uint64 // hashes, in order
}

// Open opens or creates the buffer in dir and reads all its segments. A record
// cut short at the end of the newest one is cut off; that and any damage is
// found in Damage.
func Open(dir string, o Options) (*Buffer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	b := &Buffer{dir: dir, opt: o, start: o.Variant.Start(), seen: make(map[uint64]struct{})}
	if err := b.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("open replay buffer %s: %w", dir, err), b.release())
	}
	return b, nil
}

func (b *Buffer) open() (err error) {
	if b.lock, err = dirlock.Acquire(b.dir); err != nil {
		return err
	}
	b.quarantine.dir = filepath.Join(b.dir, "quarantine")
	if err := errors.Join(durable.RemoveTemps(b.dir), durable.RemoveTemps(b.quarantine.dir)); err != nil {
		return err
	}
	if b.manifest, err = openManifest(b.dir, b.opt.Variant); err != nil {
		return err
	}
	b.index.init(b.opt.Window, b.manifest.Retired.Rows)
	numbers, err := listSegments(b.dir)
	if err != nil {
		return err
	}
	for i, n := range numbers {
		if n < b.manifest.FirstSegment { // counted as retired, but not deleted before a crash
			if err := os.Remove(filepath.Join(b.dir, segmentName(n))); err != nil {
				return err
			}
			continue
		}
		if err := b.load(n, i == len(numbers)-1); err != nil {
			return err
		}
	}
	return b.retired.load(filepath.Join(b.dir, retiredFile), b.seen)
}

// load reads segment n and indexes its games. The newest segment is cut
// after its last whole record and kept open, unless its header is damaged.
func (b *Buffer) load(n uint64, newest bool) error {
	data, err := readSegment(b.dir, n)
	if err != nil {
		return err
	}
	name := segmentName(n)
	v, err := segmentVariant(data)
	headerBad := errors.Is(err, errHeader)
	switch {
	case headerBad:
		b.damaged(name, 0, min(headerBytes, int64(len(data))), err.Error())
	case err != nil:
		return fmt.Errorf("segment %s: %w", name, err)
	case v != b.opt.Variant:
		return fmt.Errorf("segment %s: %w: found %s, expected %s", name, ErrVariant, v.Name, b.opt.Variant.Name)
	}
	s := &segment{number: n}
	s.size = scan(data, func(r record) { b.loadRecord(s, r) }, func(offset, bytes int64) {
		b.damaged(name, offset, bytes, "no whole record")
	})
	b.segments = append(b.segments, s)
	if rest := int64(len(data)) - s.size; rest > 0 {
		b.damaged(name, s.size, rest, "no whole record at the end")
	}
	switch {
	case newest && headerBad && len(s.ids) == 0: // a crash while it was made
		b.segments = b.segments[:len(b.segments)-1]
		return os.Remove(filepath.Join(b.dir, name))
	case newest && !headerBad:
		return b.reopen(s, int64(len(data)))
	}
	s.size = int64(len(data))
	return nil
}

// loadRecord indexes one game found in a segment.
func (b *Buffer) loadRecord(s *segment, r record) {
	facts, err := factsOf(r.game)
	if err != nil {
		b.damaged(segmentName(s.number), r.offset, r.end()-r.offset, err.Error())
		return
	}
	if _, twice := b.seen[facts.id]; twice {
		b.damaged(segmentName(s.number), r.offset, r.end()-r.offset, "id of an earlier game")
		return
	}
	facts.trainable = r.trainable
	b.enter(s, &entry{segment: s.number, offset: r.offset, size: len(r.game), trainable: r.trainable}, facts)
}

// enter adds a stored game to everything that counts it.
func (b *Buffer) enter(s *segment, e *entry, f facts) {
	b.seen[f.id] = struct{}{}
	s.ids = append(s.ids, f.id)
	s.counts.add(f)
	b.index.add(e, f.heldOut)
}

// reopen makes s, a file of the given size, the active segment.
func (b *Buffer) reopen(s *segment, size int64) error {
	f, err := os.OpenFile(filepath.Join(b.dir, segmentName(s.number)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b.active = f
	if s.size == size {
		return nil
	}
	if err := f.Truncate(s.size); err != nil {
		return err
	}
	return f.Sync()
}

func (b *Buffer) damaged(segment string, offset, bytes int64, reason string) {
	b.damage = append(b.damage, Damage{Segment: segment, Offset: offset, Bytes: bytes, Reason: reason})
}

// Damage lists what Open found that holds no whole game. What is at the end of
// the newest segment was cut off.
func (b *Buffer) Damage() []Damage { return b.damage }

// Close writes the counters and gives the directory back. A second call does
// nothing.
func (b *Buffer) Close() error {
	b.appendMu.Lock()
	defer b.appendMu.Unlock()
	if errors.Is(b.failed, ErrClosed) {
		return nil
	}
	b.failed = ErrClosed
	return errors.Join(b.manifest.write(b.dir), b.release())
}

// release closes what open opened.
func (b *Buffer) release() error {
	var errs []error
	if b.active != nil {
		errs = append(errs, b.active.Close())
	}
	if b.lock != nil {
		errs = append(errs, b.lock.Release())
	}
	return errors.Join(errs...)
}

// Stats are the figures of a buffer. A position counts if it may be trained
// on and its game is not held out.
type Stats struct {
	Games        uint64 // distinct games stored, ever
	Plies        uint64 // positions stored, ever
	HeldOutGames uint64 // of Games, never drawn for training

	WindowGames  uint64 // games Draw draws from
	WindowPlies  uint64 // their positions
	WindowTarget uint64 // what the window rule asks for

	Bytes      uint64 // of all segments
	Segments   uint64
	StoredNow  uint64 // games in the segments; the others' segments were deleted
	Unreadable uint64 // games found damaged when drawn, since Open

	Duplicates  uint64 // games refused because their id was known, ever
	Quarantined uint64 // games refused because they are not valid, ever
}

// Stats returns the present figures.
func (b *Buffer) Stats() Stats {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var stored counts
	st := Stats{
		WindowGames:  uint64(len(b.index.window)),
		WindowPlies:  b.index.windowRows(),
		WindowTarget: b.opt.Window.Size(b.index.rows),
		Segments:     uint64(len(b.segments)),
		Unreadable:   b.unreadable.Load(),
		Duplicates:   b.manifest.Duplicates,
		Quarantined:  b.manifest.Quarantined,
	}
	for _, s := range b.segments {
		stored.merge(s.counts)
		st.Bytes += uint64(s.size)
	}
	st.StoredNow = stored.Games
	stored.merge(b.manifest.Retired)
	st.Games, st.Plies, st.HeldOutGames = stored.Games, stored.Rows, stored.HeldOut
	return st
}
