package replay

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/game"
)

// VisitIDs calls visit with the id of every whole record of the buffer in dir,
// in the order stored, duplicates included. Like Audit it changes nothing and
// needs no lock. Records whose header cannot be read are left out; Audit
// reports them.
func VisitIDs(dir string, visit func(id string)) error {
	l, err := look(dir)
	if err != nil {
		return fmt.Errorf("list game ids: %w", err)
	}
	for _, n := range l.numbers {
		data, _, err := l.read(n)
		if err != nil {
			return fmt.Errorf("list game ids: %w", err)
		}
		scan(data, func(r record) {
			if h, err := game.DecodeHeader(r.game); err == nil {
				visit(h.ID)
			}
		}, func(_, _ int64) {})
	}
	return nil
}
