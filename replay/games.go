package replay

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/game"
)

// VisitGames calls visit with every legal game of the buffer in dir, in the
// order stored, until visit returns false. Like Audit it changes nothing and
// needs no lock. Damaged records are left out; Audit reports them.
func VisitGames(dir string, visit func(*game.Game) bool) error {
	numbers, err := listSegments(dir)
	if err != nil {
		return fmt.Errorf("read games: %w", err)
	}
	more := true
	for _, n := range numbers {
		data, err := readSegment(dir, n)
		if err != nil {
			return fmt.Errorf("read games: %w", err)
		}
		scan(data, func(r record) {
			if !more {
				return
			}
			if g, err := game.Decode(r.game); err == nil {
				more = visit(g)
			}
		}, func(_, _ int64) {})
		if !more {
			return nil
		}
	}
	return nil
}
