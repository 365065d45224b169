package replay

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	ErrExcluded  = errors.New("games of this actor are excluded")
	ErrBroken    = errors.New("replay buffer stopped after a failed write; open it again")
	ErrClosed    = errors.New("replay buffer is closed")
)

// Options of a Buffer. All are needed but Run.
type Options struct {
	Run          string         // id of the run, by which the actor of a game is found; for Exclude
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

	appendMu sync.Mutex // one Append, Exclude or Close at a time; guards what follows
	active   *os.File   // newest segment, nil until a game needs one
	next     uint64     // number of the segment after the newest
	pending  batch      // games not written yet
	failed   error      // why nothing more can be stored
	retired  retiredIDs
	missing  []listed // segments that the manifest has listed and that are not there

	mu sync.RWMutex // guards what follows, which changes only under appendMu too
	contents
	manifest manifest
	banned   map[string]string // why, by excluded actor; never changed in place
	refused  refusals

	damageMu   sync.Mutex // guards what follows
	damage     []Damage
	unreadable map[string]int // by segment: place in damage of what draws have found

	unread atomic.Uint64 // games found damaged when drawn
}

// contents are the segments and what is known of their games.
type contents struct {
	segments []*segment          // oldest first; the last is the active one
	seen     map[uint64]struct{} // id hashes of all games, stored and retired
	index    index
}

// segment is what is known of one segment file.
type segment struct {
	number   uint64
	size     int64    // bytes up to the end of the last whole record
	records  uint64   // whole ones
	lost     uint64   // records it had once, as far as the manifest has counted them
	excluded Counts   // of the games of excluded actors
	counts   Counts   // of the other games
	ids      []uint64 // hashes, in order
}

// Open opens or creates the buffer in dir and reads all its segments. A record
// cut short at the end of the newest one is cut off; that and any damage is
// found in Damage.
func Open(dir string, o Options) (*Buffer, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	b := &Buffer{dir: dir, opt: o, start: o.Variant.Start(), unreadable: make(map[string]int)}
	b.seen = make(map[uint64]struct{})
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
	m, lost, err := openManifest(b.dir, b.opt.Variant)
	if err != nil {
		return err
	}
	numbers, err := b.present(&m, lost)
	if err != nil {
		return err
	}
	b.manifest, b.banned = m, exclusions(m.Excluded)
	b.index.init(b.opt.Window, m.Retired.Rows)
	for i, n := range numbers {
		if err := b.load(n, i == len(numbers)-1); err != nil {
			return err
		}
	}
	found, err := b.retired.load(filepath.Join(b.dir, retiredFile), b.seen)
	if err != nil {
		return err
	}
	b.damage = append(b.damage, found...)
	if b.contents.excluded().Games > 0 { // the window is another one if they count from the beginning
		if b.contents, err = b.reread(); err != nil {
			return err
		}
	}
	return b.begin(lost, numbers)
}

// present returns the numbers of the segments in order and keeps what m says of
// those that are missing. Segments that m counts as retired, but that a crash kept
// from being deleted, are deleted.
func (b *Buffer) present(m *manifest, lost bool) ([]uint64, error) {
	numbers, err := listSegments(b.dir)
	if err != nil {
		return nil, err
	}
	if lost && len(numbers) > 0 {
		m.FirstSegment = numbers[0]
	}
	for len(numbers) > 0 && numbers[0] < m.FirstSegment {
		if err := os.Remove(filepath.Join(b.dir, segmentName(numbers[0]))); err != nil {
			return nil, err
		}
		numbers = numbers[1:]
	}
	b.damage = m.missingSegments(numbers)
	b.next = m.FirstSegment
	if len(numbers) > 0 {
		b.next = numbers[len(numbers)-1] + 1
	}
	for _, l := range m.Segments {
		if _, there := slices.BinarySearch(numbers, l.Number); !there {
			b.missing = append(b.missing, l)
		}
		b.next = max(b.next, l.Number+1)
	}
	return numbers, nil
}

// begin writes the manifest if it does not say yet what was found.
func (b *Buffer) begin(lost bool, numbers []uint64) error {
	m := b.manifest
	if d, is := lostManifest(len(b.retired.ids), numbers); lost && is {
		m.Retired.Games = uint64(len(b.retired.ids)) // at least
		b.damage = append(b.damage, d)
	}
	if m.Schema == manifestSchema && m.ID != "" && (b.opt.Run == "" || b.opt.Run == m.Run) && len(b.damage) == 0 {
		return nil
	}
	m.Schema = manifestSchema
	m.ID = cmp.Or(m.ID, newBufferID())
	m.Run = cmp.Or(b.opt.Run, m.Run)
	return b.writeManifest(m)
}

// writeManifest writes m with the present segments and makes it the manifest.
func (b *Buffer) writeManifest(m manifest) error {
	m.Segments = make([]listed, 0, len(b.missing)+len(b.segments))
	for _, l := range b.missing {
		if l.Number >= m.FirstSegment {
			m.Segments = append(m.Segments, l)
		}
	}
	for _, s := range b.segments {
		if s.number >= m.FirstSegment {
			m.Segments = append(m.Segments, listed{Number: s.number, Games: s.records + s.lost, Bytes: s.size})
		}
	}
	slices.SortFunc(m.Segments, func(x, y listed) int { return cmp.Compare(x.Number, y.Number) })
	if err := m.write(b.dir); err != nil {
		return err
	}
	b.mu.Lock()
	b.manifest = m
	b.mu.Unlock()
	return nil
}

// load reads segment n and indexes its games. The newest segment is cut
// after its last whole record and kept open, unless its header is damaged.
func (b *Buffer) load(n uint64, newest bool) error {
	data, err := readSegment(b.dir, n)
	if err != nil {
		return err
	}
	name, was := segmentName(n), b.manifest.listed(n)
	var damage []Damage
	damaged := func(offset, bytes int64, reason string, games uint64) {
		damage = append(damage, Damage{Segment: name, Offset: offset, Bytes: bytes, Reason: reason, Games: games})
	}
	v, err := segmentVariant(data)
	headerBad := errors.Is(err, errHeader)
	switch {
	case headerBad:
		damaged(0, min(headerBytes, int64(len(data))), err.Error(), 0)
	case err != nil:
		return fmt.Errorf("segment %s: %w", name, err)
	case v != b.opt.Variant:
		return fmt.Errorf("segment %s: %w: found %s, expected %s", name, ErrVariant, v.Name, b.opt.Variant.Name)
	}
	s := &segment{number: n}
	s.size = scan(data, func(r record) { b.loadRecord(s, r, damaged) }, func(offset, bytes int64) {
		damaged(offset, bytes, noRecord, 0)
	})
	if rest := int64(len(data)) - s.size; rest > 0 {
		damaged(s.size, rest, noRecordEnd, 0)
	}
	b.damage = append(b.damage, was.shortage(damage, s.records, int64(len(data)))...)
	s.lost = max(was.Games, s.records) - s.records
	if newest && headerBad && s.records == 0 && s.lost == 0 { // a crash while it was made
		b.next = n
		return os.Remove(filepath.Join(b.dir, name))
	}
	b.segments = append(b.segments, s)
	if newest && !headerBad {
		return b.reopen(s, data)
	}
	s.size = int64(len(data))
	return nil
}

// loadRecord indexes one game found in a segment.
func (b *Buffer) loadRecord(s *segment, r record, damaged func(offset, bytes int64, reason string, games uint64)) {
	s.records++
	facts, err := b.factsOf(r.game)
	if err != nil {
		damaged(r.offset, r.end()-r.offset, err.Error(), 1)
		return
	}
	if _, twice := b.seen[facts.id]; twice {
		damaged(r.offset, r.end()-r.offset, "id of an earlier game", 0)
		return
	}
	facts.trainable = r.trainable
	b.enter(s, &entry{segment: s.number, offset: r.offset, size: len(r.game), trainable: r.trainable}, facts)
}

// excluded returns the sums over the games of excluded actors in the segments.
func (c *contents) excluded() (sum Counts) {
	for _, s := range c.segments {
		sum.merge(s.excluded)
	}
	return sum
}

// enter adds a stored game to everything that counts it.
func (c *contents) enter(s *segment, e *entry, f facts) {
	c.count(s, f)
	if !f.excluded {
		c.index.add(e, f.heldOut)
	}
}

// count adds a stored game to everything but the index.
func (c *contents) count(s *segment, f facts) {
	c.seen[f.id] = struct{}{}
	s.ids = append(s.ids, f.id)
	if f.excluded {
		s.excluded.add(f)
	} else {
		s.counts.add(f)
	}
}

// reopen makes s, a file with the given content, the active segment. What a killed process
// wrote may not be on disk yet, and what a failed sync was to put there no later one does:
// before anybody relies on the games they are written again, and synced with the file's name.
func (b *Buffer) reopen(s *segment, data []byte) error {
	f, err := os.OpenFile(filepath.Join(b.dir, segmentName(s.number)), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b.active = f
	if _, err := f.WriteAt(data[:s.size], 0); err != nil {
		return err
	}
	if err := f.Truncate(s.size); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return durable.SyncDir(b.dir)
}

// ID returns what the buffer is called: ten letters and digits, chosen at random
// when it was begun.
func (b *Buffer) ID() string {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.manifest.ID
}

// Damage lists what was found lost: by Open, which has cut off what stood at the
// end of the newest segment, and by draws since. What Open found it finds again
// until the segment is deleted for its age.
func (b *Buffer) Damage() []Damage {
	b.damageMu.Lock()
	defer b.damageMu.Unlock()
	return slices.Clone(b.damage)
}

// Close writes the counters and gives the directory back. A second call does
// nothing.
func (b *Buffer) Close() error {
	b.appendMu.Lock()
	defer b.appendMu.Unlock()
	if errors.Is(b.failed, ErrClosed) {
		return nil
	}
	b.failed = ErrClosed
	return errors.Join(b.writeManifest(b.manifest), b.release())
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
	Lost       uint64 // games lost by all of Damage, at least
	Excluded   uint64 // games in the segments of excluded actors, counted as if they were deleted

	Duplicates  uint64 // games refused because their id was known, ever
	Quarantined uint64 // games refused because they are not valid, ever
}

// Stats returns the present figures.
func (b *Buffer) Stats() Stats {
	b.mu.RLock()
	defer b.mu.RUnlock()
	var stored Counts
	st := Stats{
		WindowGames:  uint64(len(b.index.window)),
		WindowPlies:  b.index.windowRows(),
		WindowTarget: b.opt.Window.Size(b.index.rows),
		Segments:     uint64(len(b.segments)),
		Unreadable:   b.unread.Load(),
		Lost:         lostGames(b.Damage()),
		Duplicates:   b.manifest.Duplicates,
		Quarantined:  b.manifest.Quarantined,
	}
	for _, s := range b.segments {
		stored.merge(s.counts)
		st.Bytes += uint64(s.size)
	}
	gone := b.contents.excluded()
	st.StoredNow, st.Excluded = stored.Games, gone.Games
	stored.merge(b.manifest.Retired)
	stored.merge(gone)
	st.Games, st.Plies, st.HeldOutGames = stored.Games, stored.Rows, stored.HeldOut
	return st
}
