package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	mirrorFile   = "mirror.json"
	mirrorSchema = 2
	maxMirror    = 1 << 16 // bytes of the file
)

// Source returns the games of a buffer after a cursor, as Buffer.ReadFrom does.
type Source func(ctx context.Context, after Cursor) (Chunk, error)

// Mirror is a buffer that holds what another one, its source, needs for its window.
// When it has all of it, both count the same positions, have the same window, and
// draw the same samples from the same random numbers, if their window rules are the
// same. It begins anew where it cannot go on: if it fell behind what the source
// still has, if the source is another buffer, if it counts other games than the
// source, as it does when actors were excluded or segments lost, and if it has fewer than
// its window wants and the source has more, as when window rules have changed. While it does so
// its window is smaller than the source's. Step, Whole, Total and Less must not be called at the
// same time; draws may go on meanwhile.
type Mirror struct {
	*Buffer
	source Source
	at     mirrorState
	total  Counts // of the source, when it was asked last
	calm   int    // steps without games until the source is asked whether it has older ones
}

// askOlder is the number of such steps, while the window is short.
var askOlder = 60

// mirrorState is how far a mirror is.
type mirrorState struct {
	Schema  int    `json:"schema"`
	Source  string `json:"source"`  // id of the source's buffer; empty to begin anew
	Changes uint64 `json:"changes"` // of the actors that the source excludes
	Next    Cursor `json:"next"`

	// Less is by how much the mirror has fewer games and positions than its source
	// though it began anew: the source counts games that cannot be read.
	Less Counts `json:"less"`
	// Fresh says that the mirror has not caught up since it began anew.
	Fresh bool `json:"fresh"`
}

// NewMirror returns a mirror in b, which nothing else may append to. What b has of
// an earlier mirror is kept; other games are removed.
func NewMirror(b *Buffer, source Source) (*Mirror, error) {
	m := &Mirror{Buffer: b, source: source}
	if err := m.at.read(b.dir); err != nil {
		return nil, fmt.Errorf("mirror %s: %w", b.dir, err)
	}
	return m, nil
}

// Step asks for games once and stores them. It reports whether the mirror then had
// all that its source had. After an error a further call is safe, except after one
// that wraps ErrBroken.
func (m *Mirror) Step(ctx context.Context) (caughtUp bool, err error) {
	c, err := m.source(ctx, m.at.Next)
	if err != nil {
		return false, fmt.Errorf("mirror: %w", err)
	}
	m.total = c.Total
	if m.at.Source != "" && (c.Begin || c.Buffer != m.at.Source || c.Changes != m.at.Changes) {
		return false, m.forget()
	}
	if c.Begin && c.End && len(c.Games) == 0 && m.counts() == c.Total && m.Stats().StoredNow == 0 {
		return true, nil // both are empty
	}
	if err := m.store(&c); err != nil {
		return false, fmt.Errorf("mirror: %w", err)
	}
	if !c.End {
		return false, nil
	}
	less := c.Total.minus(m.counts())
	switch {
	case less == m.at.Less && !m.at.Fresh:
		return m.lookForOlder(ctx)
	case m.at.Fresh: // nothing better can be had
		m.at.Less, m.at.Fresh = less, false
		return true, m.at.write(m.dir)
	}
	return false, m.forget()
}

// lookForOlder begins anew if the window is short and the source would begin with older games
// than the mirror has: either may have got a larger window since the mirror began. Otherwise it
// reports true.
func (m *Mirror) lookForOlder(ctx context.Context) (bool, error) {
	m.mu.RLock()
	without := m.manifest.Retired
	m.mu.RUnlock()
	s := m.Stats()
	if without.Rows == 0 || s.WindowPlies >= s.WindowTarget {
		return true, nil
	}
	if m.calm--; m.calm > 0 {
		return true, nil
	}
	c, err := m.source(ctx, Cursor{})
	if err != nil {
		return true, nil // it is asked again with the next step
	}
	m.calm = askOlder
	if c.Before.Rows < without.Rows {
		return false, m.forget()
	}
	return true, nil
}

// Whole reports whether the mirror has caught up with its source since it began anew.
// Otherwise its window is a part of the source's. It is not whole before the step in
// which it removes its games.
func (m *Mirror) Whole() bool { return m.at.Source != "" && !m.at.Fresh }

// Total returns the sums over all games that the source had when it was asked last.
func (m *Mirror) Total() Counts { return m.total }

// Less returns by how much the mirror has fewer games and positions than its source
// had when it caught up last, which cannot be read there. They should be 0.
func (m *Mirror) Less() Counts { return m.at.Less }

// forget has the next step begin anew.
func (m *Mirror) forget() error {
	m.at = mirrorState{Schema: mirrorSchema}
	if err := m.at.write(m.dir); err != nil {
		return fmt.Errorf("mirror: %w", err)
	}
	return nil
}

// store appends the games of a chunk and then says so in the file: a crash in between
// makes them come again, and they are known.
func (m *Mirror) store(c *Chunk) error {
	if c.Begin {
		if err := m.forget(); err != nil {
			return err
		}
		if err := m.restart(c.Before); err != nil {
			return err
		}
		m.at.Fresh = true
	} else if m.at.Source == "" {
		return fmt.Errorf("%w: games after segment %d, offset %d, expected all", ErrChunk, c.Next.Segment, c.Next.Offset)
	}
	if len(c.Games) > 0 {
		if _, err := m.Append(c.Games); err != nil {
			return err
		}
	}
	was := m.at
	m.at.Source, m.at.Changes, m.at.Next = c.Buffer, c.Changes, c.Next
	if m.at == was {
		return nil
	}
	return m.at.write(m.dir)
}

// restart empties the buffer, which then counts only games stored before.
func (b *Buffer) restart(before Counts) error {
	b.appendMu.Lock()
	defer b.appendMu.Unlock()
	if b.failed != nil {
		return b.failed
	}
	if b.active != nil {
		if err := b.active.Close(); err != nil {
			return b.broken(err)
		}
		b.active = nil
	}
	// Without the file a crash leaves games that are not known, but the mirror is to
	// begin anew then.
	if err := os.Remove(b.retired.path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	b.retired = retiredIDs{path: b.retired.path}
	m := b.manifest
	m.FirstSegment, m.Retired = b.next, before
	if err := b.writeManifest(m); err != nil {
		return b.broken(err)
	}
	b.missing = nil
	old := b.segments
	b.mu.Lock()
	b.contents = contents{seen: make(map[uint64]struct{})}
	b.index.init(b.opt.Window, before.Rows)
	b.mu.Unlock()
	for _, s := range old {
		if err := os.Remove(filepath.Join(b.dir, segmentName(s.number))); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}

// counts returns the sums over all games ever stored.
func (b *Buffer) counts() Counts {
	st := b.Stats()
	return Counts{Games: st.Games, HeldOut: st.HeldOutGames, Rows: st.Plies}
}

// read reads the file in dir; without one the mirror begins anew.
func (s *mirrorState) read(dir string) error {
	path := filepath.Join(dir, mirrorFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		*s = mirrorState{Schema: mirrorSchema}
		return nil
	}
	if err != nil {
		return err
	}
	if len(data) > maxMirror {
		return fmt.Errorf("%w: %s: found %d bytes, expected at most %d", ErrManifest, path, len(data), maxMirror)
	}
	const remedy = "remove it, and the mirror begins anew"
	if data, err = durable.Unsum(path, data, remedy); err != nil {
		return fmt.Errorf("%w: %w", ErrManifest, err)
	}
	// The schema comes first: a later one may have keys unknown here.
	if err := json.Unmarshal(data, s); err != nil {
		return fmt.Errorf("%w: %s: %w: %s", ErrManifest, path, err, remedy)
	}
	if s.Schema < 1 || s.Schema > mirrorSchema {
		return fmt.Errorf("%w: %s: found schema %d, expected 1 to %d", ErrVersion, path, s.Schema, mirrorSchema)
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(s); err != nil {
		return fmt.Errorf("%w: %s: %w: %s", ErrManifest, path, err, remedy)
	}
	s.Schema = mirrorSchema
	return nil
}

func (s *mirrorState) write(dir string) error {
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(filepath.Join(dir, mirrorFile), append(data, '\n'))
}
