package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
)

const (
	manifestFile     = "manifest.json"
	manifestSchema   = 1
	maxManifestBytes = 1 << 20
)

// counts are sums over games.
type counts struct {
	Games   uint64 `json:"games"`
	HeldOut uint64 `json:"held_out"` // of Games
	Rows    uint64 `json:"rows"`     // trainable positions of the games not held out
}

func (c *counts) add(f facts) {
	c.Games++
	if f.heldOut {
		c.HeldOut++
	} else {
		c.Rows += uint64(f.trainable)
	}
}

func (c *counts) merge(o counts) {
	c.Games += o.Games
	c.HeldOut += o.HeldOut
	c.Rows += o.Rows
}

// manifest holds what cannot be recounted from the segments that are there.
type manifest struct {
	Schema       int    `json:"schema"`
	Variant      string `json:"variant"`
	FirstSegment uint64 `json:"first_segment"` // segments with lower numbers are deleted, or about to be
	Retired      counts `json:"retired"`       // what was in them
	Duplicates   uint64 `json:"duplicates"`
	Quarantined  uint64 `json:"quarantined"`
}

// openManifest returns the manifest in dir, or a fresh one if there is none.
func openManifest(dir string, v *chess.Variant) (manifest, error) {
	m, err := readManifest(dir)
	if errors.Is(err, os.ErrNotExist) {
		return manifest{Schema: manifestSchema, Variant: v.Name, FirstSegment: 1}, nil
	}
	if err == nil && m.Variant != v.Name {
		err = fmt.Errorf("%w: %s: found %q, expected %q", ErrVariant, manifestFile, m.Variant, v.Name)
	}
	return m, err
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
	damaged := func(err error) error {
		return fmt.Errorf("%w: %s: %w (without the file, deleted games are no longer counted)", ErrManifest, path, err)
	}
	// The schema comes first: a later one may have keys unknown here.
	var head struct {
		Schema int `json:"schema"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return manifest{}, damaged(err)
	}
	if head.Schema != manifestSchema {
		return manifest{}, fmt.Errorf("%w: %s: found schema %d, expected %d", ErrVersion, path, head.Schema, manifestSchema)
	}
	var m manifest
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&m); err != nil {
		return manifest{}, damaged(err)
	}
	return m, nil
}

func (m *manifest) write(dir string) error {
	data, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(filepath.Join(dir, manifestFile), append(data, '\n'))
}
