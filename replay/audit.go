package replay

import (
	"fmt"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/sample"
)

// AuditReport is a recount of a buffer.
type AuditReport struct {
	Segments   int    `json:"segments"`
	Bytes      int64  `json:"bytes"`
	Games      uint64 `json:"games"`      // whole records, duplicates and invalid ones among them
	UniqueIDs  uint64 `json:"unique_ids"` // different game ids
	Duplicates uint64 `json:"duplicates"` // records whose id came before
	Invalid    uint64 `json:"invalid"`    // whole records that are no legal game of the segment's variant
	Plies      uint64 `json:"plies"`      // of the legal games
	Trainable  uint64 `json:"trainable"`  // of Plies, those that may be trained on
	HeldOut    uint64 `json:"held_out"`   // legal games kept from training
	Corrupt    int    `json:"corrupt"`    // damaged places, without the torn tail
	TornBytes  int64  `json:"torn_bytes"` // after the last whole record of the newest segment
	RetiredIDs int    `json:"retired_ids"`
	Retired    uint64 `json:"retired"`  // games in deleted segments, by the manifest
	Missing    int    `json:"missing"`  // places where files are not there or lack games that the manifest counts
	Lost       uint64 `json:"lost"`     // games lost by all damage, at least
	Excluded   int    `json:"excluded"` // actors whose games are not trained on

	Damage []Damage `json:"damage,omitempty"` // every place, the torn tail and invalid games too
}

// String prints one figure a line, then the damage.
func (r AuditReport) String() string {
	var s strings.Builder
	for _, line := range []struct {
		name  string
		value any
	}{
		{"segments", r.Segments}, {"bytes", r.Bytes}, {"games", r.Games}, {"unique ids", r.UniqueIDs},
		{"duplicates", r.Duplicates}, {"invalid games", r.Invalid}, {"plies", r.Plies}, {"trainable plies", r.Trainable},
		{"held-out games", r.HeldOut}, {"corrupt places", r.Corrupt}, {"torn bytes", r.TornBytes},
		{"retired games", r.Retired}, {"retired ids", r.RetiredIDs},
		{"missing places", r.Missing}, {"lost games", r.Lost}, {"excluded actors", r.Excluded},
	} {
		fmt.Fprintf(&s, "%-16s %d\n", line.name, line.value)
	}
	for _, d := range r.Damage {
		fmt.Fprintln(&s, d)
	}
	return strings.TrimSuffix(s.String(), "\n")
}

// Audit reads every record of the buffer in dir and replays every game,
// trusting neither index nor counters. It changes nothing and needs no lock;
// while the buffer is in use a game just being written shows as torn bytes, and a
// segment just begun as damage that is not counted.
func Audit(dir string) (AuditReport, error) {
	l, err := look(dir)
	if err != nil {
		return AuditReport{}, fmt.Errorf("audit: %w", err)
	}
	a := auditor{ids: make(map[uint64]struct{})}
	a.RetiredIDs, a.Retired, a.Excluded = l.retired, l.manifest.Retired.Games, len(l.manifest.Excluded)
	a.Damage, a.Missing = l.damage, len(l.damage)
	for _, n := range l.numbers {
		data, there, err := l.read(n)
		if err != nil {
			return AuditReport{}, fmt.Errorf("audit: %w", err)
		}
		if there {
			a.segment(l.manifest.listed(n), data, l.newest(n))
		}
	}
	a.UniqueIDs = uint64(len(a.ids))
	a.Lost = lostGames(a.Damage)
	return a.AuditReport, nil
}

// Wrong reports whether something is lost, damaged or there twice. A record being
// written at the end of the newest segment is none of it.
func (r *AuditReport) Wrong() bool {
	return r.Duplicates > 0 || r.Corrupt > 0 || r.Invalid > 0 || r.Missing > 0
}

type auditor struct {
	AuditReport
	ids   map[uint64]struct{}
	found []Damage // in the present segment
}

func (a *auditor) segment(was listed, data []byte, newest bool) {
	name, before := segmentName(was.Number), a.Games
	a.Segments++
	a.Bytes += int64(len(data))
	a.found = nil
	v, err := segmentVariant(data)
	if err != nil {
		a.damaged(name, 0, min(headerBytes, int64(len(data))), err.Error())
		if !newest || was.Bytes > 0 || len(data) >= headerBytes { // else it may be just begun
			a.Corrupt++
		}
	}
	end := scan(data, func(r record) { a.record(name, v, r) }, func(offset, bytes int64) {
		a.damaged(name, offset, bytes, noRecord)
		a.Corrupt++
	})
	if rest := int64(len(data)) - end; rest > 0 {
		a.damaged(name, end, rest, noRecordEnd)
		if newest {
			a.TornBytes = rest
		} else {
			a.Corrupt++
		}
	}
	if a.Games-before < was.Games {
		a.Missing++
	}
	a.Damage = append(a.Damage, was.shortage(a.found, a.Games-before, int64(len(data)))...)
}

func (a *auditor) record(name string, v *chess.Variant, r record) {
	a.Games++
	g, err := game.Decode(r.game)
	if err == nil && v != nil && g.Variant != v {
		err = fmt.Errorf("%w: found %s, expected %s", ErrVariant, g.Variant.Name, v.Name)
	}
	if err == nil && trainable(g) != r.trainable {
		err = fmt.Errorf("%d trainable plies, the record says %d", trainable(g), r.trainable)
	}
	if err != nil {
		a.Invalid++
		a.damaged(name, r.offset, r.end()-r.offset, err.Error())
		a.found[len(a.found)-1].Games = 1
		return
	}
	id := idHash(g.ID)
	if _, twice := a.ids[id]; twice {
		a.Duplicates++
	}
	a.ids[id] = struct{}{}
	a.Plies += uint64(len(g.Plies))
	a.Trainable += uint64(r.trainable)
	if sample.HeldOut(g.ID) {
		a.HeldOut++
	}
}

func (a *auditor) damaged(segment string, offset, bytes int64, reason string) {
	a.found = append(a.found, Damage{Segment: segment, Offset: offset, Bytes: bytes, Reason: reason})
}
