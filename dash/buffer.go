package dash

import (
	"errors"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/sample"
)

const (
	mostBufferBytes = 256 << 20 // of games stored before, read once
	keptGames       = 500       // the newest, which can be replayed
	keptSpans       = 4096
	keptIDs         = 100_000 // of games that are published, and as many before them
)

// span is games by the same net that were stored one after another.
type span struct {
	net   string // of White
	games uint64
	rows  uint64 // positions that may be trained on
}

// stored is an encoded game of the replay buffer.
type stored struct {
	header game.Header
	record []byte
}

// buffer follows the replay buffer of a run.
type buffer struct {
	dir      string
	follower *replay.Follower
	games    uint64                 // that were published
	ids      [2]map[string]struct{} // of these, the newer ones first
	spans    []span                 // the newest last
	latest   []stored               // at least the newest keptGames, the newest last
	last     time.Time              // when a game was seen that was not there before; zero: none was
	version  int                    // changes when games were read
	seldom   int                    // follows version, but for the first game at most once a minute
	seldomAt time.Time              // when it did

	run    string // its id
	begun  bool   // what was stored before has been read
	actors map[string]*actorGames
}

func newBuffer(dir string) buffer {
	return buffer{dir: dir, follower: replay.NewFollower(dir, mostBufferBytes), actors: map[string]*actorGames{}}
}

// read reads the games that are new of the run with an id.
func (b *buffer) read(now time.Time, run string) error {
	b.run = run
	more := false
	err := b.follower.Next(func(encoded []byte, trainable int) {
		more = true
		b.take(encoded, trainable, now)
	})
	if errors.Is(err, replay.ErrReplaced) { // what was counted may not be there any more
		fresh := newBuffer(b.dir)
		fresh.version, fresh.seldom, fresh.seldomAt = b.version+1, b.seldom, b.seldomAt
		*b = fresh
		return b.read(now, run)
	}
	b.meter(now)
	if more {
		b.version++
		if b.begun {
			b.last = now
		}
	}
	if b.version != b.seldom && (b.seldom == 0 || now.Sub(b.seldomAt) >= time.Minute) {
		b.seldom, b.seldomAt = b.version, now
	}
	b.begun = b.begun || err == nil
	return err
}

// take counts and keeps an encoded game.
func (b *buffer) take(encoded []byte, trainable int, now time.Time) {
	h, err := game.DecodeHeader(encoded)
	if err != nil {
		return
	}
	rows := uint64(trainable)
	if sample.HeldOut(h.ID) {
		rows = 0
	}
	b.count(h.Nets[0], rows)
	s := stored{h, slices.Clone(encoded)}
	b.keep(s)
	b.countActor(s, now)
}

// meter measures how fast the actors' games come.
func (b *buffer) meter(now time.Time) {
	for _, a := range b.actors {
		a.rate.add(now, a.games)
	}
}

// published takes a game that an actor publishes, unless it does so again.
func (b *buffer) published(encoded []byte, now time.Time) {
	record, _, err := game.Unseal(encoded)
	if err != nil {
		return
	}
	h, err := game.DecodeHeader(record)
	if err != nil || !b.isNew(h.ID) {
		return
	}
	b.take(record, 0, now)
	b.games++
	b.version++
	b.last = now
}

// isNew reports whether a game is published for the first time, as far as ids are kept. An
// actor publishes a game again as long as the bus refuses it.
func (b *buffer) isNew(id string) bool {
	for _, ids := range b.ids {
		if _, known := ids[id]; known {
			return false
		}
	}
	if b.ids[0] == nil || len(b.ids[0]) == keptIDs {
		b.ids[0], b.ids[1] = map[string]struct{}{}, b.ids[0]
	}
	b.ids[0][id] = struct{}{}
	return true
}

// keep keeps a game. Older ones are let go many at a time, as a long run has a million
// of them.
func (b *buffer) keep(s stored) {
	if len(b.latest) == 2*keptGames {
		b.latest = slices.Clone(b.newest())
	}
	b.latest = append(b.latest, s)
}

// newest returns the newest games, at most keptGames, the newest last.
func (b *buffer) newest() []stored { return b.latest[max(0, len(b.latest)-keptGames):] }

// count adds a game to the spans.
func (b *buffer) count(net string, rows uint64) {
	if n := len(b.spans); n == 0 || b.spans[n-1].net != net {
		if n == keptSpans {
			b.spans = append(b.spans[:0], b.spans[n/2:]...)
		}
		b.spans = append(b.spans, span{net: net})
	}
	s := &b.spans[len(b.spans)-1]
	s.games++
	s.rows += rows
}

// total returns the games ever stored, and the positions that may be trained on, if
// known.
func (b *buffer) total() (games, rows uint64, known bool) {
	stored, whole := b.follower.Total()
	return stored.Games + b.games, stored.Rows, whole
}

// window returns the games and positions of the newest rows by the net that played them,
// in the order in which the nets came. It is false if the spans do not reach that far.
func (b *buffer) window(rows uint64) (by []span, whole bool) {
	index := map[string]int{}
	for i := len(b.spans) - 1; i >= 0 && rows > 0; i-- {
		s := b.spans[i]
		if s.rows > rows { // the window begins in this span
			s.games = max(1, s.games*rows/s.rows)
			s.rows = rows
		}
		rows -= s.rows
		at, there := index[s.net]
		if !there {
			at = len(by)
			index[s.net] = at
			by = append(by, span{net: s.net})
		}
		by[at].games += s.games
		by[at].rows += s.rows
	}
	slices.Reverse(by)
	return by, rows == 0
}
