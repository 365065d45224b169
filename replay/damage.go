package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// Damage is a stretch of a segment that holds no whole record, or a file of the
// buffer that is not there.
type Damage struct {
	Segment string `json:"segment"` // file name
	Offset  int64  `json:"offset"`  // first byte
	Bytes   int64  `json:"bytes"`   // 0 if not known
	Games   uint64 `json:"games"`   // games lost, at least; 0 if not known
	Reason  string `json:"reason"`
}

// String names the place, the reason and the loss.
func (d Damage) String() string {
	s := d.Segment + ": "
	if d.Bytes > 0 {
		s += fmt.Sprintf("%d bytes at offset %d: ", d.Bytes, d.Offset)
	}
	s += d.Reason
	if d.Games > 0 {
		s += fmt.Sprintf("; games lost: %d", d.Games)
	}
	return s
}

// lostGames returns the games lost by all damage, as far as they are known.
func lostGames(damage []Damage) (n uint64) {
	for _, d := range damage {
		n += d.Games
	}
	return n
}

const (
	noRecord    = "no whole record"
	noRecordEnd = "no whole record at the end"
)

// shortage returns the damage of a segment with whole records where it lacks games
// that the manifest says it has. Damage found in it, which is given, then says how
// many; a segment that was cut between two records gets damage of its own.
func (l listed) shortage(found []Damage, records uint64, size int64) []Damage {
	if records >= l.Games {
		return found
	}
	for i := range found {
		if found[i].Games == 0 {
			found[i].Games = l.Games - records
			return found
		}
	}
	d := Damage{Segment: segmentName(l.Number), Offset: size, Bytes: max(0, l.Bytes-size), Games: l.Games - records, Reason: "games are missing"}
	return append(found, d)
}

// missingSegments returns the damage of segments that are not there: those that the
// manifest lists and those whose numbers are left out. Present are the numbers of
// the files, in order, none of them below m.FirstSegment.
func (m *manifest) missingSegments(present []uint64) (damage []Damage) {
	numbers := slices.Clone(present)
	known := make(map[uint64]listed)
	for _, l := range m.Segments {
		known[l.Number] = l
		numbers = append(numbers, l.Number)
	}
	slices.Sort(numbers)
	next := m.FirstSegment
	for _, n := range slices.Compact(numbers) {
		if n > next {
			d := Damage{Segment: segmentName(next), Reason: "missing; it is not known how many games it had"}
			if last := n - 1; last > next {
				d.Reason = fmt.Sprintf("missing with all up to %s; it is not known how many games they had", segmentName(last))
			}
			damage = append(damage, d)
		}
		next = n + 1
		if _, there := slices.BinarySearch(present, n); !there {
			d := Damage{Segment: segmentName(n), Bytes: known[n].Bytes, Games: known[n].Games, Reason: "missing"}
			if d.Games == 0 {
				d.Reason = "missing; it is not known how many games it had"
			}
			damage = append(damage, d)
		}
	}
	return damage
}

// lost returns what is to be said of a manifest that is not there though there are
// traces of deleted segments: the ids of their games, or the number of the first
// segment left. Without a trace it reports false: the buffer may have been made by
// a version that wrote the manifest late.
func lostManifest(retiredIDs int, present []uint64) (Damage, bool) {
	d := Damage{Segment: manifestFile, Reason: "missing; it is not known how many games were deleted, nor which segments there were"}
	switch {
	case retiredIDs > 0:
		d.Reason += fmt.Sprintf("; %s has the ids of %d", retiredFile, retiredIDs)
	case len(present) > 0 && present[0] > 1:
		d.Reason += "; the first segment is " + segmentName(present[0])
	default:
		return Damage{}, false
	}
	return d, true
}

// survey is what a reader without the lock knows of a buffer that may be in use.
type survey struct {
	dir      string
	manifest manifest
	numbers  []uint64 // of the segments that count, in order
	retired  int      // ids in the file of retired ones
	damage   []Damage
}

// look reads the manifest, lists the segments of dir and says which are missing.
// The manifest comes first: a segment that begins after it is news, none that it
// lists may be missing, unless it was deleted meanwhile, which a second look shows.
func look(dir string) (survey, error) {
	s := survey{dir: dir}
	for second := false; ; second = true {
		m, err := readManifest(dir)
		lost := errors.Is(err, fs.ErrNotExist)
		if err != nil && !lost {
			return s, err
		}
		s.manifest = m
		if s.numbers, err = listSegments(dir); err != nil {
			return s, err
		}
		ids, err := readIDs(filepath.Join(dir, retiredFile))
		if err != nil {
			return s, err
		}
		s.retired, s.damage = len(ids.ids), ids.damage()
		if lost {
			s.manifest.Retired.Games = uint64(s.retired) // at least
			if len(s.numbers) > 0 {
				s.manifest.FirstSegment = s.numbers[0]
			}
			if d, is := lostManifest(s.retired, s.numbers); is {
				s.damage = append(s.damage, d)
			}
		}
		s.numbers = slices.DeleteFunc(s.numbers, func(n uint64) bool { return n < s.manifest.FirstSegment })
		s.damage = append(s.damage, s.manifest.missingSegments(s.numbers)...)
		if len(s.damage) == 0 || second {
			return s, nil
		}
	}
}

// newest reports whether n is the newest segment, which may be in the writing.
func (s *survey) newest(n uint64) bool { return n == s.numbers[len(s.numbers)-1] }

// read returns the content of segment n, or false if the buffer has deleted it
// since it was listed.
func (s *survey) read(n uint64) (data []byte, there bool, err error) {
	data, err = readSegment(s.dir, n)
	if !errors.Is(err, os.ErrNotExist) {
		return data, err == nil, err
	}
	m, again := readManifest(s.dir)
	if again == nil && m.FirstSegment > n {
		return nil, false, nil
	}
	return nil, false, err
}
