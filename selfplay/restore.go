package selfplay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	pointersFile = "pointers.json" // in a trainer's directory: the pointers as last seen
	restoreEvery = 5 * time.Second
	lastLook     = 2 * time.Second // how long a run that ends looks at them once more
	historyEvery = 12              // looks at the pointers to one at all that they have been
)

// pointers are the values that a server which has lost everything is given back.
type pointers struct {
	Schema int               `json:"schema"`
	Values map[string]string `json:"values"` // of the pointers to nets, by key
	// History has the values of all pointers but the settings, which have files of their
	// own, oldest first; nil in files of earlier builds.
	History map[string][]string `json:"history,omitempty"`
	Buffer  string              `json:"buffer,omitempty"` // id of the run's replay buffer, as its lease says
}

// keepPointers remembers the run's pointers on disk. If this process is the trainer, it
// puts the run onto a server that has lost it: its streams, its record, its settings, its
// nets and pointers. It works until ctx ends.
func (r *Run) keepPointers(ctx context.Context) error {
	kept, err := r.readPointers()
	if err != nil {
		return err
	}
	for looks := 0; pause.For(ctx, r.wait(restoreEvery)); looks++ {
		if err := r.keepOnce(ctx, kept, looks%historyEvery == 0); err != nil && ctx.Err() == nil {
			r.log.Warn("the run's pointers cannot be looked at, trying again", "error", err)
		}
	}
	// What moved since the last look: the directory of a run that has ended says which net it
	// played with. A server that has gone keeps nobody waiting.
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastLook)
	defer cancel()
	if err := r.lookOnce(last, kept, true); err != nil {
		r.log.Debug("the run's pointers were not looked at when it ended", "error", err)
	}
	return nil
}

func (r *Run) readPointers() (*pointers, error) {
	p := &pointers{Schema: 1, Values: map[string]string{}}
	err := durable.ReadObject(r.path(pointersFile), "remove it if the servers have the run, they know its content; else put it back from a backup", p)
	if errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	if err != nil {
		return nil, err
	}
	if p.Values == nil {
		p.Values = map[string]string{}
	}
	return p, nil
}

// lead makes sure that the servers have the run, and tells the others its settings. Only the
// holder of the trainer's lease does so, or who finds no other one as it starts. The error
// wraps bus.ErrConflict if another does it at the same moment.
func (r *Run) lead(ctx context.Context, set setPointer) error {
	r.leading.Lock()
	defer r.leading.Unlock()
	kept, err := r.readPointers()
	if err != nil {
		return err
	}
	if err := r.lookOnce(ctx, kept, false); errors.Is(err, bus.ErrNoPointer) { // lost, or being begun
		return r.restore(ctx, kept, set)
	} else if err != nil {
		return err
	}
	return r.publishConfig(ctx, set)
}

// keepOnce looks at the pointers once; with all, at their history even if no net has
// changed. If this process is the trainer, it puts the run onto a server that has lost it.
func (r *Run) keepOnce(ctx context.Context, kept *pointers, all bool) error {
	r.leading.Lock()
	defer r.leading.Unlock()
	err := r.lookOnce(ctx, kept, all)
	if errors.Is(err, bus.ErrNoPointer) && slices.Contains(r.Status().Figures.Leases, trainerLease) {
		return r.restore(ctx, kept, r.bus.SetPointer)
	}
	return err
}

// lookOnce is lookAtPointers, but the error wraps bus.ErrNoPointer if the server has lost the
// run: then it has no pointers to keep.
func (r *Run) lookOnce(ctx context.Context, kept *pointers, all bool) error {
	_, err := r.bus.Pointer(ctx, configKey)
	if err == nil {
		err = r.lookAtPointers(ctx, kept, all)
	}
	return err
}

// lookAtPointers writes the pointers into the directory if they are others than kept. With
// all it looks at their history even if nothing else has changed.
func (r *Run) lookAtPointers(ctx context.Context, kept *pointers, all bool) error {
	changed := false
	for _, key := range []string{r.currentKey(), r.candidateKey(), r.judgedKey()} {
		p, err := r.bus.Pointer(ctx, key)
		if errors.Is(err, bus.ErrNoPointer) {
			continue
		}
		if err != nil {
			return err
		}
		changed = changed || kept.Values[key] != p.Value
		kept.Values[key] = p.Value
	}
	// A lease that is not there or cannot be read leaves what is known.
	if l, err := r.bus.ReadLease(ctx, replayLease); err == nil && l.Detail != "" && l.Detail != kept.Buffer {
		kept.Buffer, changed = l.Detail, true
	}
	if !changed && !all {
		return nil
	}
	history, err := r.bus.PointerHistories(ctx)
	if err != nil {
		return err
	}
	values := valuesOf(history)
	delete(values, configKey)
	delete(values, settingsKey)
	if !changed && maps.EqualFunc(values, kept.History, slices.Equal) {
		return nil
	}
	kept.History = values
	return kept.write(r.path(pointersFile))
}

func (p *pointers) write(path string) error {
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return durable.WriteSummed(path, append(text, '\n'))
}

// valuesOf are the values of pointers without their revisions and times.
func valuesOf(histories map[string][]bus.Pointer) map[string][]string {
	all := make(map[string][]string, len(histories))
	for key, ps := range histories {
		for _, p := range ps {
			all[key] = append(all[key], p.Value)
		}
	}
	return all
}

// histories returns the values of the pointers to nets and whatever else is known, oldest
// first.
func (p *pointers) histories() map[string][]string {
	all := maps.Clone(p.History)
	if all == nil {
		all = map[string][]string{}
	}
	for key, value := range p.Values {
		if h := all[key]; len(h) == 0 || h[len(h)-1] != value {
			all[key] = append(h[:len(h):len(h)], value)
		}
	}
	return all
}

// restore puts the run onto a server that does not have it any more. The settings come
// last: as long as they are missing, it is done again.
func (r *Run) restore(ctx context.Context, kept *pointers, set setPointer) error {
	if len(kept.Values) > 0 { // else the run may be being begun
		r.event("the server has lost the run, giving it back", "run", r.identity.Name, "id", r.id())
	}
	if err := r.size(ctx); err != nil {
		return err
	}
	if err := r.register(ctx); err != nil {
		return err
	}
	for _, value := range kept.Values {
		record, err := nets.ParseRecord(value)
		if err != nil {
			return err
		}
		if record.Net == "" { // back to the time before the first net
			continue
		}
		if err := r.putNet(ctx, record.Net); err != nil && !errors.Is(err, nets.ErrNotFound) {
			return err
		}
	}
	if err := r.givePointers(ctx, kept.histories()); err != nil && !errors.Is(err, bus.ErrConflict) {
		return err
	}
	return r.publishConfig(ctx, set)
}

// givePointers gives the server the values of pointers, oldest first. What it has of them
// already is left; other values are bus.ErrConflict, after all others were given.
func (r *Run) givePointers(ctx context.Context, histories map[string][]string) error {
	var conflicts []error
	for _, key := range slices.Sorted(maps.Keys(histories)) {
		err := r.givePointer(ctx, key, histories[key])
		if errors.Is(err, bus.ErrConflict) {
			conflicts = append(conflicts, err)
		} else if err != nil {
			return err
		}
	}
	return errors.Join(conflicts...)
}

func (r *Run) givePointer(ctx context.Context, key string, values []string) error {
	there, err := r.bus.PointerHistory(ctx, key)
	if err != nil {
		return err
	}
	revision := uint64(0)
	for i, p := range there {
		if i >= len(values) || p.Value != values[i] {
			return fmt.Errorf("pointer %q: %w: the server has value %.80q", key, bus.ErrConflict, p.Value)
		}
		revision = p.Revision
	}
	for _, value := range values[len(there):] {
		if revision, err = r.bus.SetPointer(ctx, key, value, revision); err != nil {
			return err
		}
	}
	return nil
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
