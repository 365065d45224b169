package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// Protocol is the newest protocol between the roles of a run that this
	// build speaks, and MinProtocol the oldest one that it understands.
	Protocol    = 2
	MinProtocol = 1

	// RunSchema is the version of RunRecord.
	RunSchema = 1

	registryName   = "selfplay-runs"
	registryKept   = 8        // revisions of each run
	registryCopies = 3        // in a cluster
	maxRecordBytes = 64 << 10 // of any record; they take some hundred
)

// RunRecord is what the registry of a server knows of a run.
type RunRecord struct {
	Schema    int       `json:"schema"` // RunSchema
	Name      string    `json:"name"`   // that people call it by: letters, digits, '-' and '_', at most 64
	ID        string    `json:"id"`     // in the names of its objects and games; the same characters
	Variant   string    `json:"variant"`
	Kind      string    `json:"kind"`       // of its nets
	PublicKey string    `json:"public_key"` // that signs its nets
	Build     string    `json:"build"`      // that began it
	Protocol  int       `json:"protocol"`   // that its roles speak
	Created   time.Time `json:"created"`
	// Buffer is the id of the replay buffer that has the run's games, if the record was
	// given back to servers that had lost it, and with it the lease that says so.
	Buffer string `json:"buffer,omitempty"`

	revision uint64 // in the registry; 0: not read from there
}

// validate reports the first thing in r that cannot be.
func (r *RunRecord) validate() error {
	if r.Schema != RunSchema {
		return fmt.Errorf("%w: record of run %.80q: found schema %d, expected %d: use a build of selfplay that knows it", ErrRecord, r.Name, r.Schema, RunSchema)
	}
	if r.Protocol < 1 {
		return fmt.Errorf("%w: record of run %.80q: found protocol %d, expected 1 or more", ErrRecord, r.Name, r.Protocol)
	}
	if err := checkRunName("run name", r.Name); err != nil {
		return err
	}
	return checkRunName("run id", r.ID)
}

// Runs returns the runs that the server's registry knows, by name.
func (c *Conn) Runs(ctx context.Context) ([]RunRecord, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	runs, err := c.runs(ctx)
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", mapUnavailable(err))
	}
	return runs, nil
}

func (c *Conn) runs(ctx context.Context) ([]RunRecord, error) {
	entries, err := c.registered(ctx)
	if err != nil {
		return nil, err
	}
	runs := make([]RunRecord, len(entries))
	for i, e := range entries {
		if runs[i], err = decodeRun(e); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(runs, func(a, b RunRecord) int { return cmp.Compare(a.Name, b.Name) })
	return runs, nil
}

// registered returns the registry's records, none if nobody has made a run.
func (c *Conn) registered(ctx context.Context) ([]jetstream.KeyValueEntry, error) {
	kv, err := c.js.KeyValue(ctx, registryName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return current(ctx, kv)
}

// FindRun returns the run of the given name. The error wraps ErrNoRun if the
// registry does not have it.
func (c *Conn) FindRun(ctx context.Context, name string) (RunRecord, error) {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	r, err := c.findRun(ctx, name)
	if err != nil {
		return RunRecord{}, fmt.Errorf("find run %.80q: %w", name, mapUnavailable(err))
	}
	return r, nil
}

func (c *Conn) findRun(ctx context.Context, name string) (RunRecord, error) {
	if err := checkRunName("run name", name); err != nil {
		return RunRecord{}, err
	}
	kv, err := c.js.KeyValue(ctx, registryName)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return RunRecord{}, ErrNoRun
	}
	if err != nil {
		return RunRecord{}, err
	}
	e, err := kv.Get(ctx, name)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return RunRecord{}, ErrNoRun
	}
	if err != nil {
		return RunRecord{}, err
	}
	return decodeRun(e)
}

func decodeRun(e jetstream.KeyValueEntry) (RunRecord, error) {
	r, err := parseRun(e.Value())
	if err != nil {
		return RunRecord{}, err
	}
	if r.Name != e.Key() {
		return RunRecord{}, fmt.Errorf("%w: record of run %.80q in the registry names run %q", ErrRecord, e.Key(), r.Name)
	}
	r.revision = e.Revision()
	return r, nil
}

// parseRun reads the JSON of a record.
func parseRun(data []byte) (RunRecord, error) {
	var r RunRecord
	if len(data) > maxRecordBytes {
		return r, fmt.Errorf("%w: record of a run: found %d bytes, expected at most %d", ErrRecord, len(data), maxRecordBytes)
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%w: record of a run: %w", ErrRecord, err)
	}
	return r, r.validate()
}

// CreateRun puts a new run into the registry. The error wraps ErrRunExists if
// the registry has its name.
func (c *Conn) CreateRun(ctx context.Context, r RunRecord) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	err := c.writeRun(ctx, r, func(kv jetstream.KeyValue, value []byte) error {
		_, err := kv.Create(ctx, r.Name, value)
		if errors.Is(err, jetstream.ErrKeyExists) {
			return ErrRunExists
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("create run %.80q: %w", r.Name, mapUnavailable(err))
	}
	return nil
}

// UpdateRun changes a record that FindRun or Runs returned. The error wraps
// ErrConflict if it was changed since.
func (c *Conn) UpdateRun(ctx context.Context, r RunRecord) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	err := c.writeRun(ctx, r, func(kv jetstream.KeyValue, value []byte) error {
		if r.revision == 0 {
			return fmt.Errorf("%w: the record was not read from this registry", ErrNoRun)
		}
		_, err := kv.Update(ctx, r.Name, value, r.revision)
		if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
			return ErrConflict
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("update run %.80q: %w", r.Name, mapUnavailable(err))
	}
	return nil
}

func (c *Conn) writeRun(ctx context.Context, r RunRecord, write func(jetstream.KeyValue, []byte) error) error {
	if err := r.validate(); err != nil {
		return err
	}
	value, err := json.Marshal(r)
	if err != nil {
		return err
	}
	kv, err := c.registry(ctx, 1)
	if err != nil {
		return err
	}
	return write(kv, value)
}

// registry returns the bucket of the runs and makes it if it is missing. It has
// as many copies as the run that asks for most, and in a cluster three from the
// start, if there are servers for them: a copy made later may not be complete
// when it is needed.
func (c *Conn) registry(ctx context.Context, replicas int) (jetstream.KeyValue, error) {
	cfg := jetstream.KeyValueConfig{
		Bucket:      registryName,
		Description: "runs by name",
		History:     registryKept,
		Replicas:    replicas,
	}
	kv, err := c.js.KeyValue(ctx, registryName)
	switch {
	case err == nil:
		s, err := kv.Status(ctx)
		if err != nil {
			return nil, err
		}
		if s.Config().Replicas >= replicas {
			return kv, nil
		}
	case !errors.Is(err, jetstream.ErrBucketNotFound):
		return nil, err
	case c.nc.ConnectedClusterName() != "":
		cfg.Replicas = max(replicas, registryCopies)
	}
	kv, err = c.js.CreateOrUpdateKeyValue(ctx, cfg) // two may start at once
	var api *jetstream.APIError
	if cfg.Replicas > replicas && errors.As(err, &api) && api.ErrorCode == codeNoPeers {
		cfg.Replicas = replicas
		kv, err = c.js.CreateOrUpdateKeyValue(ctx, cfg)
	}
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) { // with another number of copies
		return c.js.KeyValue(ctx, registryName)
	}
	return kv, err
}

// checkProtocol refuses a run whose roles speak what this build does not
// understand. A run that the registry does not have is of this build. Records of other runs
// that this build cannot read are left out.
func (c *Conn) checkProtocol(ctx context.Context, id string) error {
	ctx, cancel := c.bound(ctx)
	defer cancel()
	entries, err := c.registered(ctx)
	if err != nil {
		return fmt.Errorf("list runs: %w", mapUnavailable(err))
	}
	for _, e := range entries {
		r, err := decodeRun(e)
		if err != nil {
			var named struct {
				ID string `json:"id"`
			}
			if json.Unmarshal(e.Value(), &named) == nil && named.ID == id {
				return err
			}
			c.warn("a run of the registry cannot be read, it is left out", "run", e.Key(), "error", err)
			continue
		}
		if r.ID != id {
			continue
		}
		switch {
		case r.Protocol > Protocol:
			return fmt.Errorf("%w: the roles of run %q speak protocol %d, this build %d to %d: use a newer build of selfplay", ErrProtocol, r.Name, r.Protocol, MinProtocol, Protocol)
		case r.Protocol < MinProtocol:
			return fmt.Errorf("%w: the roles of run %q speak protocol %d, this build %d to %d: use an older build of selfplay", ErrProtocol, r.Name, r.Protocol, MinProtocol, Protocol)
		}
	}
	return nil
}
