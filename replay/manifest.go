package replay

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	manifestFile     = "manifest.json"
	manifestSchema   = 3
	maxManifestBytes = 16 << 20 // about 150,000 segments

	idLength = 10 // of a buffer's id
)

// listed is what the manifest says of a segment. The file has that much or more: of
// the newest one the games counted are those at the time of writing.
type listed struct {
	Number uint64 `json:"number"`
	Games  uint64 `json:"games"` // records written to it, those that were lost since among them
	Bytes  int64  `json:"bytes"`
}

// manifest holds what cannot be recounted from the segments that are there, and
// which segments have to be there.
type manifest struct {
	Schema       int         `json:"schema"`
	ID           string      `json:"id"`            // of the buffer
	Run          string      `json:"run,omitempty"` // id of the run, if Options said so
	Variant      string      `json:"variant"`
	FirstSegment uint64      `json:"first_segment"` // segments with lower numbers are deleted, or about to be
	Segments     []listed    `json:"segments"`      // in order
	Retired      Counts      `json:"retired"`       // what was in the deleted segments
	Duplicates   uint64      `json:"duplicates"`
	Quarantined  uint64      `json:"quarantined"`
	Changes      uint64      `json:"changes,omitempty"`  // of Excluded, ever
	Excluded     []Exclusion `json:"excluded,omitempty"` // by actor
}

// listed returns what m says of segment n, or nothing but its number.
func (m *manifest) listed(n uint64) listed {
	i, found := slices.BinarySearchFunc(m.Segments, n, func(l listed, n uint64) int { return cmp.Compare(l.Number, n) })
	if found {
		return m.Segments[i]
	}
	return listed{Number: n}
}

// newBufferID returns a random id, of letters and the digits 2 to 7.
func newBufferID() string { return strings.ToLower(rand.Text()[:idLength]) }

// openManifest returns the manifest in dir, or a fresh one if there is none, which
// it reports as lost.
func openManifest(dir string, v *chess.Variant) (m manifest, lost bool, err error) {
	m, err = readManifest(dir)
	if errors.Is(err, os.ErrNotExist) {
		return manifest{Variant: v.Name, FirstSegment: 1}, true, nil
	}
	if err == nil && m.Variant != v.Name {
		err = fmt.Errorf("%w: %s: found %q, expected %q", ErrVariant, manifestFile, m.Variant, v.Name)
	}
	return m, false, err
}

func readManifest(dir string) (manifest, error) {
	path := filepath.Join(dir, manifestFile)
	f, err := os.Open(path)
	if err != nil {
		return manifest{}, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxManifestBytes))
	if err != nil {
		return manifest{}, err
	}
	const remedy = "put it back from a backup, or remove it: then deleted games are no longer counted"
	damaged := func(err error) error { return fmt.Errorf("%w: %s: %w: %s", ErrManifest, path, err, remedy) }
	if data, err = durable.Unsum(path, data, remedy); err != nil {
		return manifest{}, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	// The schema comes first: a later one may have keys unknown here.
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return manifest{}, damaged(err)
	}
	if head.Schema < 1 || head.Schema > manifestSchema {
		return manifest{}, fmt.Errorf("%w: %s: found schema %d, expected 1 to %d", ErrVersion, path, head.Schema, manifestSchema)
	}
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return manifest{}, damaged(err)
	}
	if !slices.IsSortedFunc(m.Segments, func(x, y listed) int { return cmp.Compare(x.Number, y.Number) }) {
		return manifest{}, damaged(errors.New("segments are not in order"))
	}
	return m, nil
}

func (m *manifest) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(filepath.Join(dir, manifestFile), append(data, '\n'))
}
