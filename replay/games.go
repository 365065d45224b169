package replay

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/game"
)

// VisitGames calls visit with every legal game of the buffer in dir, in the
// order stored, until visit returns false. Like Audit it changes nothing and
// needs no lock. Damaged records are left out and passed to damaged, unless that is
// nil; but not what follows the last whole record, which may be in the writing.
func VisitGames(dir string, visit func(*game.Game) bool, damaged func(Damage)) error {
	numbers, err := listSegments(dir)
	if err != nil {
		return fmt.Errorf("read games: %w", err)
	}
	if damaged == nil {
		damaged = func(Damage) {}
	}
	more := true
	for i, n := range numbers {
		data, err := readSegment(dir, n)
		if err != nil {
			return fmt.Errorf("read games: %w", err)
		}
		report := func(offset, bytes int64, reason string) {
			if more {
				damaged(Damage{Segment: segmentName(n), Offset: offset, Bytes: bytes, Reason: reason})
			}
		}
		end := scan(data, func(r record) {
			if !more {
				return
			}
			if g, err := game.Decode(r.game); err == nil {
				more = visit(g)
			} else {
				report(r.offset, r.end()-r.offset, err.Error())
			}
		}, func(offset, bytes int64) { report(offset, bytes, "no whole record") })
		if rest := int64(len(data)) - end; rest > 0 && i < len(numbers)-1 {
			report(end, rest, "no whole record at the end")
		}
		if !more {
			return nil
		}
	}
	return nil
}
