package replay

import (
	"fmt"

	"github.com/crazyhouse-rl/selfplay/game"
)

// VisitGames calls visit with every legal game of the buffer in dir, in the
// order stored, until visit returns false. Like Audit it changes nothing and
// needs no lock. Damaged records are left out and passed to damaged, unless that is
// nil, as are missing segments, these first; but not what follows the last whole
// record, which may be in the writing, unless games are missing there. Games of
// excluded actors are left out, and counted.
func VisitGames(dir string, visit func(*game.Game) bool, damaged func(Damage)) (excludedGames uint64, err error) {
	l, err := look(dir)
	if err != nil {
		return 0, fmt.Errorf("read games: %w", err)
	}
	if damaged == nil {
		damaged = func(Damage) {}
	}
	for _, d := range l.damage {
		damaged(d)
	}
	excluded := exclusions(l.manifest.Excluded)
	included := func(g *game.Game) bool {
		if len(excluded) > 0 {
			if _, is := excluded[ActorOf(g.ID, l.manifest.Run)]; is {
				excludedGames++
				return true
			}
		}
		return visit(g)
	}
	for more, i := true, 0; more && i < len(l.numbers); i++ {
		data, there, err := l.read(l.numbers[i])
		if err != nil {
			return excludedGames, fmt.Errorf("read games: %w", err)
		}
		if there {
			more = visitSegment(data, l.manifest.listed(l.numbers[i]), l.newest(l.numbers[i]), included, damaged)
		}
	}
	return excludedGames, nil
}

// visitSegment is VisitGames for one segment. It reports whether visit wants more.
func visitSegment(data []byte, was listed, newest bool, visit func(*game.Game) bool, damaged func(Damage)) (more bool) {
	name, records := segmentName(was.Number), uint64(0)
	var holes []Damage
	if _, err := segmentVariant(data); err != nil && (!newest || was.Bytes > 0) {
		holes = append(holes, Damage{Segment: name, Bytes: min(headerBytes, int64(len(data))), Reason: err.Error()})
	}
	end := scan(data, func(record) { records++ }, func(offset, bytes int64) {
		holes = append(holes, Damage{Segment: name, Offset: offset, Bytes: bytes, Reason: noRecord})
	})
	if rest := int64(len(data)) - end; rest > 0 && (!newest || records < was.Games) {
		holes = append(holes, Damage{Segment: name, Offset: end, Bytes: rest, Reason: noRecordEnd})
	}
	holes = was.shortage(holes, records, int64(len(data)))
	more = true
	scan(data, func(r record) {
		for ; more && len(holes) > 0 && holes[0].Offset < r.offset; holes = holes[1:] {
			damaged(holes[0])
		}
		if !more {
			return
		}
		if g, err := game.Decode(r.game); err == nil {
			more = visit(g)
		} else {
			damaged(Damage{Segment: name, Offset: r.offset, Bytes: r.end() - r.offset, Games: 1, Reason: err.Error()})
		}
	}, func(_, _ int64) {})
	for ; more && len(holes) > 0; holes = holes[1:] {
		damaged(holes[0])
	}
	return more
}
