package replay

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	Retired    uint64 `json:"retired"` // games in deleted segments, by the manifest

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
// while the buffer is in use a game just being written shows as torn bytes.
func Audit(dir string) (AuditReport, error) {
	numbers, err := listSegments(dir)
	if err != nil {
		return AuditReport{}, fmt.Errorf("audit: %w", err)
	}
	retired, err := readIDs(filepath.Join(dir, retiredFile))
	if err != nil {
		return AuditReport{}, fmt.Errorf("audit: %w", err)
	}
	m, err := readManifest(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return AuditReport{}, fmt.Errorf("audit: %w", err)
	}
	a := auditor{ids: make(map[uint64]struct{})}
	a.RetiredIDs, a.Retired = len(retired), m.Retired.Games
	for i, n := range numbers {
		if n < m.FirstSegment { // about to be deleted, counted as retired
			continue
		}
		data, err := readSegment(dir, n)
		if err != nil {
			return AuditReport{}, fmt.Errorf("audit: %w", err)
		}
		a.segment(segmentName(n), data, i == len(numbers)-1)
	}
	a.UniqueIDs = uint64(len(a.ids))
	return a.AuditReport, nil
}

type auditor struct {
	AuditReport
	ids map[uint64]struct{}
}

func (a *auditor) segment(name string, data []byte, newest bool) {
	a.Segments++
	a.Bytes += int64(len(data))
	v, err := segmentVariant(data)
	if err != nil {
		a.damaged(name, 0, min(headerBytes, int64(len(data))), err.Error())
		a.Corrupt++
	}
	end := scan(data, func(r record) { a.record(name, v, r) }, func(offset, bytes int64) {
		a.damaged(name, offset, bytes, "no whole record")
		a.Corrupt++
	})
	rest := int64(len(data)) - end
	if rest == 0 {
		return
	}
	a.damaged(name, end, rest, "no whole record at the end")
	if newest {
		a.TornBytes = rest
	} else {
		a.Corrupt++
	}
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
	a.Damage = append(a.Damage, Damage{Segment: segment, Offset: offset, Bytes: bytes, Reason: reason})
}
