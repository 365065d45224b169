package replay

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/game"
)

// maxReason bounds the bytes of a reason to exclude an actor.
const maxReason = 1 << 10

// ActorOf returns the actor that the id of a game of a run names, as
// <run>-<actor>-<epoch>-<worker>-<counter> does and <run>-<epoch>-<worker>-<counter>
// of older games, which are game.LocalActor's. Of another id it returns "".
func ActorOf(gameID, runID string) string {
	if id, err := game.ParseID(runID, gameID); err == nil {
		return id.Actor
	}
	rest, ok := strings.CutPrefix(gameID, runID+"-")
	if ok && runID != "" && strings.Count(rest, "-") == 2 {
		return game.LocalActor
	}
	return ""
}

// Exclusion is an actor whose games are not trained on.
type Exclusion struct {
	Actor string `json:"actor"`
	Why   string `json:"why"`
}

func exclusions(list []Exclusion) map[string]string {
	m := make(map[string]string, len(list))
	for _, x := range list {
		m[x.Actor] = x.Why
	}
	return m
}

// Excluded returns the excluded actors by name.
func (b *Buffer) Excluded() []Exclusion {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return slices.Clone(b.manifest.Excluded)
}

// Exclude takes the games of an actor from the window and from the held-out games, and
// has new ones refused with the reason, which is cut at 1 KiB. The games stay on disk,
// and stay counted as those of deleted segments are: as if they had come before all
// others. All segments are read again, which draws do not wait for. The
// error wraps ErrConfig if Options do not name the run, by which actors are known.
func (b *Buffer) Exclude(actor, why string) error {
	if b.opt.Run == "" || actor == "" {
		return fmt.Errorf("%w: exclude actor %q of run %q, expected names", ErrConfig, actor, b.opt.Run)
	}
	why = strings.ToValidUTF8(why[:min(len(why), maxReason)], "")
	return b.changeExcluded(func(excluded map[string]string) { excluded[actor] = why })
}

// Include undoes Exclude: the games of the actor that are still on disk count again.
func (b *Buffer) Include(actor string) error {
	return b.changeExcluded(func(excluded map[string]string) { delete(excluded, actor) })
}

func (b *Buffer) changeExcluded(change func(map[string]string)) error {
	b.appendMu.Lock()
	defer b.appendMu.Unlock()
	if b.failed != nil {
		return b.failed
	}
	excluded := maps.Clone(b.banned)
	change(excluded)
	if maps.Equal(excluded, b.banned) {
		return nil
	}
	m := b.manifest
	m.Changes++
	m.Excluded = nil
	for actor, why := range excluded {
		m.Excluded = append(m.Excluded, Exclusion{actor, why})
	}
	slices.SortFunc(m.Excluded, func(x, y Exclusion) int { return cmp.Compare(x.Actor, y.Actor) })
	before := b.banned
	b.setExcluded(excluded)
	fresh, err := b.reread()
	if err == nil {
		err = b.writeManifest(m)
	}
	if err != nil {
		b.setExcluded(before)
		return fmt.Errorf("exclude games: %w", err)
	}
	b.mu.Lock()
	b.contents = fresh
	b.mu.Unlock()
	return nil
}

func (b *Buffer) setExcluded(excluded map[string]string) {
	b.mu.Lock()
	b.banned = excluded
	b.mu.Unlock()
}

// reread returns the contents as Open would find them.
func (b *Buffer) reread() (contents, error) {
	c := contents{seen: make(map[uint64]struct{}, len(b.seen))}
	var list []stored
	for _, old := range b.segments {
		s := &segment{number: old.number, size: old.size, records: old.records, lost: old.lost}
		c.segments = append(c.segments, s)
		data, err := readSegment(b.dir, s.number)
		if err != nil && !errors.Is(err, os.ErrNotExist) { // draws report a file that is gone
			return contents{}, err
		}
		scan(data[:min(int64(len(data)), s.size)], func(r record) {
			f, err := b.factsOf(r.game)
			if _, twice := c.seen[f.id]; twice || err != nil { // reported by Open
				return
			}
			f.trainable = r.trainable
			c.count(s, f)
			list = append(list, stored{&entry{segment: s.number, offset: r.offset, size: len(r.game), trainable: r.trainable}, f})
		}, func(_, _ int64) {})
	}
	for _, id := range b.retired.ids {
		c.seen[id] = struct{}{}
	}
	c.index.init(b.opt.Window, b.manifest.Retired.Rows+c.excluded().Rows)
	for _, g := range list {
		if !g.excluded {
			c.index.add(g.entry, g.heldOut)
		}
	}
	return c, nil
}

// stored is a game found in a segment.
type stored struct {
	*entry
	facts
}

// excludedError says why the actor of an encoded game is excluded.
func (b *Buffer) excludedError(encoded []byte) error {
	h, err := game.DecodeHeader(encoded)
	if err != nil {
		return err
	}
	actor := ActorOf(h.ID, b.opt.Run)
	return fmt.Errorf("%w: %s: %s", ErrExcluded, actor, b.banned[actor])
}
