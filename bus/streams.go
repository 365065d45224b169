package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
)

// schemaVersion stands in the metadata of the game stream. A stream of
// another version is refused.
const schemaVersion = "1"

const schemaKey = "selfplay-schema"

func (b *Bus) gamesName() string               { return b.id + "-games" }
func (b *Bus) rejectsName() string             { return b.id + "-rejects" }
func (b *Bus) netsName() string                { return b.id + "-nets" }
func (b *Bus) ctlName() string                 { return b.id + "-ctl" }
func (b *Bus) rolesName() string               { return b.id + "-roles" }
func (b *Bus) gameSubject(actor string) string { return b.id + ".game." + actor }
func (b *Bus) rejectSubject() string           { return b.id + ".reject" }

// objects are what a run owns on the server. They go by name, so they stay good
// when the server loses and gets back what they stand for.
type objects struct {
	games     jetstream.Stream
	rejects   jetstream.Stream
	nets      jetstream.ObjectStore
	ctl       jetstream.KeyValue
	ctlStream jetstream.Stream // of ctl
	roles     jetstream.KeyValue
}

// Ensure makes the run's objects again where they are missing, as on a server
// whose directory was lost. That happens by itself when a lost connection is
// back. With Look nothing is made, and the error wraps ErrMissing if one is missing.
func (b *Bus) Ensure(ctx context.Context) error {
	if _, err := b.makeObjects(ctx); err != nil {
		return fmt.Errorf("ensure run %q: %w", b.id, mapUnavailable(err))
	}
	return nil
}

// createAttempts is how often objects are made that others are making, too.
const createAttempts = 5

// makeObjects creates what is missing and looks at what is there. Where another role
// creates the same at that moment with other settings, it looks again.
func (b *Bus) makeObjects(ctx context.Context) (o objects, err error) {
	if b.opt.Look {
		return b.findObjects(ctx)
	}
	for range createAttempts {
		if o, err = b.tryObjects(ctx); !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
			break
		}
	}
	return o, err
}

// findObjects looks at what is there.
func (b *Bus) findObjects(ctx context.Context) (o objects, err error) {
	if o.games, err = b.js.Stream(ctx, b.gamesName()); err == nil {
		err = checkSchema(o.games)
	}
	if err != nil {
		return o, fmt.Errorf("stream %s: %w", b.gamesName(), orMissing(err))
	}
	if o.rejects, err = b.js.Stream(ctx, b.rejectsName()); err != nil {
		return o, fmt.Errorf("stream %s: %w", b.rejectsName(), orMissing(err))
	}
	if o.nets, err = b.js.ObjectStore(ctx, b.netsName()); err != nil {
		return o, fmt.Errorf("object store %s: %w", b.netsName(), orMissing(err))
	}
	if o.ctl, err = b.js.KeyValue(ctx, b.ctlName()); err == nil {
		o.ctlStream, err = b.js.Stream(ctx, "KV_"+b.ctlName())
	}
	if err != nil {
		return o, fmt.Errorf("bucket %s: %w", b.ctlName(), orMissing(err))
	}
	if o.roles, err = b.js.KeyValue(ctx, b.rolesName()); err != nil {
		return o, fmt.Errorf("bucket %s: %w", b.rolesName(), orMissing(err))
	}
	return o, nil
}

// orMissing returns ErrMissing for an error that says that there is no such object.
func orMissing(err error) error {
	if errors.Is(err, jetstream.ErrStreamNotFound) || errors.Is(err, jetstream.ErrBucketNotFound) {
		return fmt.Errorf("%w: start the trainer or the replay role of the run, or its loop, which make it", ErrMissing)
	}
	return err
}

func (b *Bus) tryObjects(ctx context.Context) (o objects, err error) {
	if o.games, err = b.makeGames(ctx); err != nil {
		return o, fmt.Errorf("stream %s: %w", b.gamesName(), err)
	}
	// Who does not ask for a number of copies has the number that there is.
	replicas := o.games.CachedInfo().Config.Replicas
	rejects := jetstream.StreamConfig{
		Name:        b.rejectsName(),
		Description: "games that failed validation",
		Subjects:    []string{b.rejectSubject()},
		Discard:     jetstream.DiscardOld,
		MaxAge:      rejectMaxAge,
		MaxBytes:    rejectMaxSize,
		Replicas:    replicas,
	}
	if o.rejects, err = b.standing(ctx, rejects); o.rejects == nil && err == nil {
		o.rejects, err = b.js.CreateOrUpdateStream(ctx, rejects)
	}
	if err != nil {
		return o, fmt.Errorf("stream %s: %w", b.rejectsName(), err)
	}
	if o.nets, err = b.makeNets(ctx, replicas); err != nil {
		return o, fmt.Errorf("object store %s: %w", b.netsName(), err)
	}
	o.ctl, err = b.makeBucket(ctx, jetstream.KeyValueConfig{
		Bucket:      b.ctlName(),
		Description: "pointers",
		History:     pointerHistory,
		Replicas:    replicas,
	})
	if err != nil {
		return o, fmt.Errorf("bucket %s: %w", b.ctlName(), err)
	}
	if o.ctlStream, err = b.js.Stream(ctx, "KV_"+b.ctlName()); err != nil {
		return o, fmt.Errorf("bucket %s: %w", b.ctlName(), err)
	}
	// On disk, though it holds nothing for long: copies in memory find no leader any
	// more when all servers of a cluster were killed at about the same time.
	o.roles, err = b.makeBucket(ctx, jetstream.KeyValueConfig{
		Bucket:      b.rolesName(),
		Description: "processes that are there",
		History:     1,
		TTL:         memberTTL,
		MaxBytes:    maxMembersBytes,
		Replicas:    replicas,
	})
	if err != nil {
		return o, fmt.Errorf("bucket %s: %w", b.rolesName(), err)
	}
	return o, nil
}

// standing returns the stream of that name if it has the settings wanted, and else
// nil. The server writes and syncs every change of a stream, also one to what it has
// already: that would add up where a thousand actors join, or all come back after
// the server was away.
func (b *Bus) standing(ctx context.Context, want jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := b.js.Stream(ctx, want.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return nil, nil
	}
	if err != nil || !sameSettings(s.CachedInfo().Config, want) {
		return nil, err
	}
	return s, nil
}

// sameSettings compares what builds or users may want otherwise.
func sameSettings(have, want jetstream.StreamConfig) bool {
	return have.MaxBytes == cmp.Or(want.MaxBytes, -1) &&
		have.MaxMsgsPerSubject == cmp.Or(want.MaxMsgsPerSubject, -1) &&
		have.MaxAge == want.MaxAge &&
		have.Replicas == want.Replicas &&
		have.Description == want.Description
}

func (b *Bus) makeBucket(ctx context.Context, cfg jetstream.KeyValueConfig) (jetstream.KeyValue, error) {
	s, err := b.standing(ctx, jetstream.StreamConfig{
		Name: "KV_" + cfg.Bucket, Description: cfg.Description, MaxBytes: cfg.MaxBytes,
		MaxMsgsPerSubject: int64(cfg.History), MaxAge: cfg.TTL, Replicas: cfg.Replicas,
	})
	if err != nil {
		return nil, err
	}
	if s != nil {
		return b.js.KeyValue(ctx, cfg.Bucket)
	}
	return b.js.CreateOrUpdateKeyValue(ctx, cfg)
}

func (b *Bus) makeNets(ctx context.Context, replicas int) (jetstream.ObjectStore, error) {
	room, err := b.netsBytes(ctx)
	if err != nil {
		return nil, err
	}
	cfg := jetstream.ObjectStoreConfig{
		Bucket:      b.netsName(),
		Description: "nets, named by the SHA-256 of their content",
		MaxBytes:    room,
		Replicas:    replicas,
	}
	s, err := b.standing(ctx, jetstream.StreamConfig{
		Name: "OBJ_" + cfg.Bucket, Description: cfg.Description, MaxBytes: cfg.MaxBytes, Replicas: cfg.Replicas,
	})
	if err != nil {
		return nil, err
	}
	if s != nil {
		return b.js.ObjectStore(ctx, cfg.Bucket)
	}
	return b.js.CreateOrUpdateObjectStore(ctx, cfg)
}

// netsBytes is the room that the store of nets is to have.
func (b *Bus) netsBytes(ctx context.Context) (int64, error) {
	if b.opt.NetsBytes > 0 {
		return b.opt.NetsBytes, nil
	}
	old, err := b.js.Stream(ctx, "OBJ_"+b.netsName())
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return 0, err
	}
	if err == nil && old.CachedInfo().Config.MaxBytes > 0 {
		return old.CachedInfo().Config.MaxBytes, nil
	}
	return DefaultNetsBytes, nil
}

// makeGames creates the game stream. One that exists keeps its size and
// duplicate window unless JoinOptions ask for others: roles on other machines
// need not know how large the stream is. One that the server lost is made as it
// was.
func (b *Bus) makeGames(ctx context.Context) (jetstream.Stream, error) {
	cfg := jetstream.StreamConfig{
		Name:        b.gamesName(),
		Description: "finished games on their way to the replay buffer",
		Subjects:    []string{b.gameSubject("*")},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		DenyDelete:  true,
		MaxMsgSize:  1 << 20,
		MaxBytes:    cmp.Or(b.opt.MaxBytes, b.joined.MaxBytes, DefaultMaxBytes),
		Duplicates:  cmp.Or(b.opt.DuplicateWindow, b.joined.Duplicates, DefaultDuplicateWindow),
		Replicas:    cmp.Or(b.opt.Replicas, b.joined.Replicas, 1),
		Metadata:    map[string]string{schemaKey: schemaVersion},
	}
	old, err := b.js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return b.js.CreateOrUpdateStream(ctx, cfg) // two roles may start at once
	}
	if err != nil {
		return nil, err
	}
	if err := checkSchema(old); err != nil {
		return nil, err
	}
	have := old.CachedInfo().Config
	cfg.MaxBytes = cmp.Or(b.opt.MaxBytes, have.MaxBytes)
	cfg.Duplicates = cmp.Or(b.opt.DuplicateWindow, have.Duplicates)
	cfg.Replicas = cmp.Or(b.opt.Replicas, have.Replicas)
	if sameSettings(have, cfg) && have.Duplicates == cfg.Duplicates {
		return old, nil
	}
	return b.js.UpdateStream(ctx, cfg)
}

// checkSchema refuses a game stream of another version.
func checkSchema(games jetstream.Stream) error {
	if v := games.CachedInfo().Config.Metadata[schemaKey]; v != schemaVersion {
		return fmt.Errorf("%w: schema version %q, want %q", ErrConfig, v, schemaVersion)
	}
	return nil
}
