package replay

// State says what a buffer knows of a game.
type State uint8

// States of a game.
const (
	Unknown State = iota // it never came, or was refused so long ago that it is forgotten
	Stored               // it is on disk, or was until its segment was deleted for its age
	Refused              // it is in quarantine
)

// maxRefused bounds the ids remembered of refused games.
const maxRefused = 1 << 16

// refusals are the ids of games refused since Open, the newest ones.
type refusals struct {
	ids  map[uint64]struct{}
	ring []uint64 // the same, oldest from next on once it is full
	next int
}

func (r *refusals) add(id uint64) {
	if _, known := r.ids[id]; known {
		return
	}
	if len(r.ring) < maxRefused {
		r.ring = append(r.ring, id)
	} else {
		delete(r.ids, r.ring[r.next])
		r.ring[r.next] = id
		r.next = (r.next + 1) % maxRefused
	}
	if r.ids == nil {
		r.ids = make(map[uint64]struct{})
	}
	r.ids[id] = struct{}{}
}

// refuse remembers a game that was quarantined, unless its id, 0, could not be read.
func (b *Buffer) refuse(id uint64) {
	if id == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refused.add(id)
}

// Known returns the state of each game of ids. Stored games are synced to disk. A
// game refused before the buffer was opened is unknown: it comes again and is
// refused again.
func (b *Buffer) Known(ids []string) []State {
	states := make([]State, len(ids))
	b.mu.RLock()
	defer b.mu.RUnlock()
	for i, id := range ids {
		hash := idHash(id)
		if _, stored := b.seen[hash]; stored {
			states[i] = Stored
		} else if _, refused := b.refused.ids[hash]; refused {
			states[i] = Refused
		}
	}
	return states
}
