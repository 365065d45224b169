package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/parallel"
)

// Report says what became of the games given to Append.
type Report struct {
	Stored    int         // new games, on disk now
	HeldOut   int         // of Stored, never drawn for training
	Plies     uint64      // positions of the others that may be trained on
	Duplicate int         // games whose id was known
	Rejected  []Rejection // games that are not valid; at most QuarantineBatch of them are in quarantine
}

// Rejection is a game that is not valid.
type Rejection struct {
	Index int // in the slice given to Append
	Err   error
	Kept  bool // in quarantine
}

// Append replays every encoded game by the rules, puts those that are not
// valid into quarantine, of a call at most QuarantineBatch and none of an excluded actor,
// drops those whose id it has, and stores the others.
// When it returns without an error all of them are dealt with for good: the
// stored ones are synced to disk. After an error some may be; giving all of
// them again is safe. After an error that wraps ErrBroken the buffer has to be
// opened again.
func (b *Buffer) Append(games [][]byte) (Report, error) { return b.AppendExcept(games, nil) }

// AppendExcept is Append, but puts the games for which refused has a reason, by their
// index, into quarantine. Those are not Refused for [Buffer.Known]: they may be
// forgeries of games that are yet to come.
func (b *Buffer) AppendExcept(games [][]byte, refused map[int]error) (Report, error) {
	b.appendMu.Lock()
	defer b.appendMu.Unlock()
	if b.failed != nil {
		return Report{}, b.failed
	}
	var rep Report
	err := b.appendChecked(games, refused, &rep)
	if err == nil {
		err = b.flush(&rep)
	}
	b.pending.reset() // after an error, what was not written
	if err != nil {
		return rep, fmt.Errorf("append games: %w", err)
	}
	if err := b.bookkeeping(&rep); err != nil {
		return rep, fmt.Errorf("append games: %w", err)
	}
	return rep, nil
}

// appendChecked checks the games and appends those to be stored to b.pending, which
// it writes whenever a segment is full.
func (b *Buffer) appendChecked(games [][]byte, refused map[int]error, rep *Report) error {
	batchIDs := make(map[uint64]struct{})
	kept := 0
	for i, c := range b.checkAll(games, refused) {
		if c.err != nil {
			bad := Rejection{Index: i, Err: c.err, Kept: keeps(c.err) && kept < QuarantineBatch}
			if bad.Kept {
				kept++
				if err := b.quarantine.put(games[i], c.err); err != nil {
					return err
				}
			}
			if refused[i] == nil {
				b.refuse(c.facts.id)
			}
			rep.Rejected = append(rep.Rejected, bad)
			continue
		}
		if _, twice := batchIDs[c.facts.id]; twice || c.known {
			rep.Duplicate++
			continue
		}
		batchIDs[c.facts.id] = struct{}{}
		if err := b.add(games[i], c, rep); err != nil {
			return err
		}
	}
	return nil
}

// keeps reports whether a game that is not valid for that reason is put into quarantine.
// One of an excluded actor is not: there is nothing to look at in it, it would push out
// games of other actors and cost a few syncs, and its actor sets it aside.
func keeps(reason error) bool { return !errors.Is(reason, ErrExcluded) }

// checked is the verdict on one game.
type checked struct {
	facts  facts // zero if the header cannot be read
	known  bool  // its id is; it was not replayed
	replay *packed
	err    error // why it is not valid
}

// checkAll checks the games that are not refused on all processors. It reads b.seen,
// which does not change meanwhile.
func (b *Buffer) checkAll(games [][]byte, refused map[int]error) []checked {
	out := make([]checked, len(games))
	parallel.Do(runtime.GOMAXPROCS(0), len(games), func(_, i int) {
		if err := refused[i]; err != nil {
			out[i] = checked{err: err}
		} else {
			out[i] = b.check(games[i])
		}
	})
	return out
}

func (b *Buffer) check(encoded []byte) checked {
	f, err := b.factsOf(encoded)
	if err != nil {
		return checked{err: err}
	}
	if _, known := b.seen[f.id]; known {
		return checked{facts: f, known: true}
	}
	if f.excluded {
		return checked{facts: f, err: b.excludedError(encoded)}
	}
	if len(encoded) > maxRecord {
		return checked{facts: f, err: fmt.Errorf("%w: found %d bytes, expected at most %d", game.ErrTooLarge, len(encoded), maxRecord)}
	}
	g, err := game.Decode(encoded)
	if err != nil {
		return checked{facts: f, err: err}
	}
	if g.Variant != b.opt.Variant {
		return checked{facts: f, err: fmt.Errorf("%w: found %s, expected %s", ErrVariant, g.Variant.Name, b.opt.Variant.Name)}
	}
	f.trainable = trainable(g)
	return checked{facts: f, replay: pack(g, &b.start)}
}

// batch is what goes to the active segment with the next write.
type batch struct {
	data    []byte
	entries []*entry
	facts   []facts
}

func (p *batch) reset() { *p = batch{data: p.data[:0]} }

// add appends a game to the batch, in a new segment if the active one is full.
func (b *Buffer) add(encoded []byte, c checked, rep *Report) error {
	need := int64(frameBytes + len(encoded))
	if b.active == nil || b.tail()+need > b.opt.SegmentBytes && b.tail() > headerBytes {
		if err := b.flush(rep); err != nil {
			return err
		}
		if err := b.roll(); err != nil {
			return err
		}
	}
	e := &entry{segment: b.newest().number, offset: b.tail(), size: len(encoded), trainable: c.facts.trainable}
	e.replay.Store(c.replay)
	b.pending.data = appendFrame(b.pending.data, encoded, c.facts.trainable)
	b.pending.entries = append(b.pending.entries, e)
	b.pending.facts = append(b.pending.facts, c.facts)
	return nil
}

// newest returns the active segment.
func (b *Buffer) newest() *segment { return b.segments[len(b.segments)-1] }

// tail is where the next game of the batch goes.
func (b *Buffer) tail() int64 { return b.newest().size + int64(len(b.pending.data)) }

// flush writes and syncs the batch and only then makes its games known.
func (b *Buffer) flush(rep *Report) error {
	if len(b.pending.entries) == 0 {
		return nil
	}
	s := b.newest()
	if _, err := b.active.WriteAt(b.pending.data, s.size); err != nil {
		// Usually a full disk. Without the half-written games the segment
		// is as it was, and the caller may try again.
		if e := b.active.Truncate(s.size); e != nil {
			return b.broken(e)
		}
		return fmt.Errorf("segment %s, offset %d: %w", segmentName(s.number), s.size, err)
	}
	if err := b.active.Sync(); err != nil {
		// What is on disk after a failed sync cannot be known.
		return b.broken(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.size += int64(len(b.pending.data))
	for i, e := range b.pending.entries {
		f := b.pending.facts[i]
		s.records++
		b.enter(s, e, f)
		rep.Stored++
		if f.heldOut {
			rep.HeldOut++
		} else {
			rep.Plies += uint64(f.trainable)
		}
	}
	b.pending.reset()
	return nil
}

// broken ends all storing.
func (b *Buffer) broken(err error) error {
	b.failed = fmt.Errorf("%w: %w", ErrBroken, err)
	if len(b.segments) > 0 { // else it is a mirror that has just begun
		b.failed = fmt.Errorf("%w: segment %s: %w", ErrBroken, segmentName(b.newest().number), err)
	}
	return b.failed
}

// roll begins a new segment and lists it in the manifest, with the one before as
// it stays. The file comes first: what the manifest lists has to be there.
func (b *Buffer) roll() error {
	number := b.next
	f, err := os.OpenFile(filepath.Join(b.dir, segmentName(number)), os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	if err := writeHeader(f, appendSegmentHeader(nil, b.opt.Variant), b.dir); err != nil {
		return fmt.Errorf("segment %s: %w", segmentName(number), errors.Join(err, f.Close()))
	}
	full := b.active
	b.active = f
	b.next++
	b.mu.Lock()
	b.segments = append(b.segments, &segment{number: number, size: headerBytes})
	b.mu.Unlock()
	err = b.writeManifest(b.manifest)
	if full == nil {
		return err
	}
	return errors.Join(err, full.Close())
}

func writeHeader(f *os.File, header []byte, dir string) error {
	if _, err := f.Write(header); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return durable.SyncDir(dir)
}

// bookkeeping counts the refused games and deletes segments that are too many.
func (b *Buffer) bookkeeping(rep *Report) error {
	b.mu.Lock()
	b.manifest.Duplicates += uint64(rep.Duplicate)
	b.manifest.Quarantined += uint64(len(rep.Rejected))
	b.mu.Unlock()
	retired, err := b.retire()
	if err != nil {
		return err
	}
	if retired || rep.Duplicate == 0 && len(rep.Rejected) == 0 {
		return nil // written, or nothing to write
	}
	return b.writeManifest(b.manifest)
}
