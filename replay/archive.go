package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/crazyhouse-rl/selfplay/game"
)

// MaxPage is how many games [Archive.Before] returns at most.
const MaxPage = 500

const (
	longestRecord = frameBytes + maxRecord
	archiveChunk  = 1 << 20   // bytes of a segment read at once; more than longestRecord
	maxPageBytes  = 384 << 10 // of the games of a page
)

// Errors of an Archive; test with errors.Is.
var (
	ErrGone    = errors.New("segment is not there")
	ErrUnknown = errors.New("no such game is stored")
)

// Archive reads single games of the buffer in a directory, by their place, by their id, or
// back from the newest. Like Audit it changes nothing and needs no lock. It keeps nothing:
// memory is bounded by a MiB and what is returned. Games of excluded actors are there as
// long as their segments are. All methods may be called at the same time.
type Archive struct{ dir string }

// NewArchive returns the archive of the buffer in dir, which need not be there yet.
func NewArchive(dir string) *Archive { return &Archive{dir} }

// Placed is a stored game.
type Placed struct {
	At   Cursor `json:"at"`   // where its record begins
	Game []byte `json:"game"` // as it is stored, with or without a seal
}

// Page is stored games that lie before a place.
type Page struct {
	Games  []Placed `json:"games"`  // the newest first
	Older  Cursor   `json:"older"`  // before which the next page ends; zero: nothing older is stored
	First  uint64   `json:"first"`  // number of the oldest segment; 0: there is none
	Last   uint64   `json:"last"`   // of the newest
	Damage []Damage `json:"damage"` // that lies between the games, or in front of them
}

// Before returns the newest games stored before a place, at most n of them, 1 to MaxPage,
// and fewer if they are long. The zero Cursor is the end of the buffer, and an Offset of 0
// the end of its segment. It reads little more than the games. The error wraps ErrConfig for
// another n.
func (a *Archive) Before(ctx context.Context, end Cursor, n int) (p Page, err error) {
	if n < 1 || n > MaxPage {
		return p, fmt.Errorf("%w: page of %d games, expected 1 to %d", ErrConfig, n, MaxPage)
	}
	numbers, err := listSegments(a.dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(numbers) == 0 {
		return p, nil
	}
	if err != nil {
		return p, fmt.Errorf("read stored games: %w", err)
	}
	p.First, p.Last = numbers[0], numbers[len(numbers)-1]
	room := maxPageBytes
	next := p.Last + 1 // number of the segment read before
	if end.Segment > 0 {
		next = min(next, end.Segment+1)
	}
	for _, number := range slices.Backward(numbers) {
		if number >= next {
			continue
		}
		if number+1 < next {
			p.Damage = append(p.Damage, Damage{Segment: segmentName(next - 1), Reason: a.gone(next - 1)})
		}
		next = number
		offset := int64(0)
		if number == end.Segment {
			offset = end.Offset
		}
		full, err := p.back(ctx, a.dir, number, offset, n, &room)
		switch {
		case errors.Is(err, fs.ErrNotExist): // deleted meanwhile
			p.Damage = append(p.Damage, Damage{Segment: segmentName(number), Reason: a.gone(number)})
		case err != nil:
			return Page{}, fmt.Errorf("read stored games: %w", err)
		case full:
			last := p.Games[len(p.Games)-1].At
			if last.Segment != p.First || last.Offset > headerBytes {
				p.Older = last
			}
			return p, nil
		}
	}
	if lost := a.lost(p.First - 1); lost || end.Segment > 0 && end.Segment < p.First {
		number := p.First - 1
		if !lost {
			number = end.Segment
		}
		p.Damage = append(p.Damage, Damage{Segment: segmentName(number), Reason: a.gone(number)})
	}
	return p, nil
}

// back adds games of one segment, from an offset on backwards, 0 being its end. It reports
// whether the page is full.
func (p *Page) back(ctx context.Context, dir string, number uint64, offset int64, n int, room *int) (full bool, err error) {
	f, err := os.Open(filepath.Join(dir, segmentName(number)))
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	to := info.Size()
	if offset > 0 {
		to = min(to, offset)
	}
	newest := number == p.Last && offset == 0 // what is at its end may be in the writing
	for step := int64(archiveChunk / 4); to > headerBytes; step = archiveChunk {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		from := max(headerBytes, to-step)
		data := make([]byte, to-from)
		if _, err := f.ReadAt(data, from); err != nil {
			return false, err
		}
		var found []record
		var holes []Damage
		hole := func(at, bytes int64) {
			if at > 0 || from == headerBytes { // else it may be the rest of a record
				holes = append(holes, Damage{Segment: segmentName(number), Offset: from + at, Bytes: bytes, Reason: noRecord})
			}
		}
		whole := scanFrom(data, 0, func(r record) { found = append(found, r) }, hole)
		if rest := int64(len(data)) - whole; rest > 0 && !newest && (len(found) > 0 || from == headerBytes) {
			hole(whole, rest)
		}
		for _, r := range slices.Backward(found) {
			if len(p.Games) == n || len(p.Games) > 0 && len(r.game) > *room {
				return true, nil
			}
			for len(holes) > 0 && holes[len(holes)-1].Offset > from+r.offset {
				p.Damage, holes = append(p.Damage, holes[len(holes)-1]), holes[:len(holes)-1]
			}
			*room -= len(r.game)
			p.Games = append(p.Games, Placed{Cursor{number, from + r.offset}, slices.Clone(r.game)})
		}
		slices.Reverse(holes)
		p.Damage = append(p.Damage, holes...)
		switch {
		case from == headerBytes:
			to = from
		case len(found) > 0:
			to, newest = from+found[0].offset, false
		default: // a record may begin before from
			to = from + longestRecord
		}
	}
	return len(p.Games) == n, nil
}

// lost reports whether a segment that is not there was not deleted for its age.
func (a *Archive) lost(number uint64) bool {
	m, err := readManifest(a.dir)
	return number > 0 && (err != nil || number >= m.FirstSegment)
}

// gone says why a segment is not there.
func (a *Archive) gone(number uint64) string {
	if a.lost(number) {
		return "it is lost"
	}
	return "it was deleted for its age"
}

// At returns the game at a place. The error wraps ErrGone if the segment is not there, and
// ErrDamaged if there is no whole game at the place.
func (a *Archive) At(c Cursor) (Placed, error) {
	name := segmentName(c.Segment)
	f, err := os.Open(filepath.Join(a.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return Placed{}, fmt.Errorf("%w: %s: %s", ErrGone, name, a.gone(c.Segment))
	}
	if err != nil {
		return Placed{}, fmt.Errorf("read a stored game: %w", err)
	}
	defer f.Close()
	data := make([]byte, longestRecord)
	n, err := f.ReadAt(data, max(headerBytes, c.Offset))
	if err != nil && !errors.Is(err, io.EOF) {
		return Placed{}, fmt.Errorf("read a stored game: %w", err)
	}
	r, ok := parseFrame(data[:n])
	if !ok {
		return Placed{}, fmt.Errorf("%w: %s: found no whole game at offset %d", ErrDamaged, name, c.Offset)
	}
	return Placed{c, slices.Clone(r.game)}, nil
}

// Find returns the game with an id, which lay at a place before; the zero Cursor stands for
// a place that is not known. Only then, or if another game is there now, all segments are
// read, the newest first, which takes a second or two for a GiB. The error wraps ErrUnknown
// if there is none; it says so if the place is damaged or gone.
func (a *Archive) Find(ctx context.Context, id string, at Cursor) (Placed, error) {
	var why error
	if at.Segment > 0 {
		p, err := a.At(at)
		if h, bad := game.DecodeHeader(p.Game); err == nil && bad == nil && h.ID == id {
			return p, nil
		}
		why = err
	}
	found, err := a.search(ctx, id)
	if errors.Is(err, ErrUnknown) && why != nil {
		err = fmt.Errorf("%w; %w", err, why)
	}
	return found, err
}

// search looks for the game with an id in all segments.
func (a *Archive) search(ctx context.Context, id string) (Placed, error) {
	segment := uint64(0)
	for read := 1; ; read++ {
		p, older, err := a.FindIn(ctx, id, segment)
		if !errors.Is(err, ErrUnknown) {
			return p, err
		}
		if segment = older; older == 0 {
			return p, fmt.Errorf("%w; %d segments were read, and games stored first are deleted when there is no room for them", err, read)
		}
	}
}

// FindIn looks for the game with an id in one segment: that of a number or, if it is not
// there, the next older one; 0 stands for the newest. Where the game is not, the error wraps
// ErrUnknown, and older is the segment to look in next; 0: there is none.
func (a *Archive) FindIn(ctx context.Context, id string, segment uint64) (p Placed, older uint64, err error) {
	text, err := game.AppendText(nil, id, "")
	if err != nil || len(text) < 2 {
		return p, 0, fmt.Errorf("%w: found %.80q, expected the id of a game", ErrUnknown, id)
	}
	numbers, err := listSegments(a.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, 0, fmt.Errorf("find a stored game: %w", err)
	}
	if segment > 0 {
		numbers = slices.DeleteFunc(numbers, func(n uint64) bool { return n > segment })
	}
	if len(numbers) == 0 {
		return p, 0, fmt.Errorf("%w: found none with the id %s, and no segment", ErrUnknown, id)
	}
	if n := len(numbers); n > 1 {
		older = numbers[n-2]
	}
	number := numbers[len(numbers)-1]
	found, err := a.searchSegment(ctx, number, id, text[1:], make([]byte, archiveChunk))
	switch {
	case found != nil:
		return *found, 0, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist): // else it was deleted meanwhile
		return p, 0, fmt.Errorf("find a stored game: %w", err)
	}
	return p, older, fmt.Errorf("%w: found none with the id %s in segment %d", ErrUnknown, id, number)
}

// searchSegment looks for a game in one segment by the bytes of its id. Data is room to
// read into; a part that was read begins so far before its end that every record is whole
// in one of them.
func (a *Archive) searchSegment(ctx context.Context, number uint64, id string, text, data []byte) (*Placed, error) {
	f, err := os.Open(filepath.Join(a.dir, segmentName(number)))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for from := int64(headerBytes); ; from += int64(len(data)) - longestRecord {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		n, err := f.ReadAt(data, from)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		for at := 0; ; {
			i := bytes.Index(data[at:n], text)
			if i < 0 {
				break
			}
			r, ok := recordAround(data[:n], at, at+i)
			if at += i + 1; !ok {
				continue
			}
			if h, err := game.DecodeHeader(r.game); err == nil && h.ID == id {
				return &Placed{Cursor{number, from + r.offset}, slices.Clone(r.game)}, nil
			}
			at = int(r.end()) // not here
		}
		if n < len(data) {
			return nil, nil
		}
	}
}

// recordAround returns the record that holds data[at] and begins at from or later.
func recordAround(data []byte, from, at int) (r record, ok bool) {
	from = max(from, at-longestRecord)
	for begin := at; begin >= from; {
		i := bytes.LastIndex(data[from:begin], marker)
		if i < 0 {
			return r, false
		}
		begin = from + i
		if r, ok := parseFrame(data[begin:]); ok {
			r.offset = int64(begin)
			return r, int(r.end()) > at
		}
	}
	return r, false
}
