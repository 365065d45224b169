package selfplay

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	pointersFile = "pointers.json" // in a trainer's directory: the pointers as last seen
	restoreEvery = 5 * time.Second
)

// pointers are the values that a server which has lost everything is given back.
type pointers struct {
	Schema int               `json:"schema"`
	Values map[string]string `json:"values"`
}

// keepPointers remembers the run's pointers on disk, and puts the run onto a server
// that has lost it: its streams, its record, its settings, its nets and pointers. It
// works until ctx ends.
func (r *Run) keepPointers(ctx context.Context) error {
	kept, err := r.readPointers()
	if err != nil {
		return err
	}
	for pause.For(ctx, r.wait(restoreEvery)) {
		if err := r.keepOnce(ctx, kept); err != nil && ctx.Err() == nil {
			r.log.Warn("the run's pointers cannot be looked at, trying again", "error", err)
		}
	}
	return nil
}

func (r *Run) readPointers() (map[string]string, error) {
	text, err := os.ReadFile(r.path(pointersFile))
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]string{}, nil
	}
	var p pointers
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return nil, err
	}
	if p.Values == nil {
		p.Values = map[string]string{}
	}
	return p.Values, nil
}

// keepOnce looks at the pointers once.
func (r *Run) keepOnce(ctx context.Context, kept map[string]string) error {
	_, err := r.bus.Pointer(ctx, configKey)
	if errors.Is(err, bus.ErrNoPointer) {
		return r.restore(ctx, kept)
	}
	if err != nil {
		return err
	}
	changed := false
	for _, key := range []string{r.currentKey(), r.candidateKey(), r.judgedKey()} {
		p, err := r.bus.Pointer(ctx, key)
		if errors.Is(err, bus.ErrNoPointer) {
			continue
		}
		if err != nil {
			return err
		}
		changed = changed || kept[key] != p.Value
		kept[key] = p.Value
	}
	if !changed {
		return nil
	}
	text, err := json.MarshalIndent(pointers{Schema: 1, Values: kept}, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteFile(r.path(pointersFile), append(text, '\n'))
}

// restore puts the run onto a server that does not have it any more. The settings come
// last: as long as they are missing, it is done again.
func (r *Run) restore(ctx context.Context, kept map[string]string) error {
	r.event("the server has lost the run, giving it back", "run", r.identity.Name, "id", r.id())
	if err := r.bus.Ensure(ctx); err != nil {
		return err
	}
	if err := r.register(ctx); err != nil {
		return err
	}
	for key, value := range kept {
		record, err := nets.ParseRecord(value)
		if err != nil {
			return err
		}
		if err := r.putNet(ctx, record.Net); err != nil && !errors.Is(err, nets.ErrNotFound) {
			return err
		}
		if _, err := r.bus.SetPointer(ctx, key, value, 0); err != nil && !errors.Is(err, bus.ErrConflict) {
			return err
		}
	}
	return r.publishConfig(ctx)
}

// putNet gives the bus a net of the local store.
func (r *Run) putNet(ctx context.Context, id string) error {
	m, err := r.store.Manifest(id)
	if err != nil {
		return err
	}
	path, err := r.store.Get(id)
	if err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return r.bus.PutNet(ctx, m, f)
}
