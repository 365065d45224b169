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
func (b *Bus) gameSubject(actor string) string { return b.id + ".game." + actor }
func (b *Bus) rejectSubject() string           { return b.id + ".reject" }

// ensureObjects creates what is missing and looks at what is there.
func (b *Bus) ensureObjects(ctx context.Context) error {
	if err := b.ensureGames(ctx); err != nil {
		return fmt.Errorf("stream %s: %w", b.gamesName(), err)
	}
	// Who does not ask for a number of copies has the number that there is.
	replicas := b.games.CachedInfo().Config.Replicas
	var err error
	b.rejects, err = b.js.CreateOrUpdateStream(ctx, jetstream.StreamConfig{
		Name:        b.rejectsName(),
		Description: "games that failed validation",
		Subjects:    []string{b.rejectSubject()},
		Discard:     jetstream.DiscardOld,
		MaxAge:      rejectMaxAge,
		MaxBytes:    rejectMaxSize,
		Replicas:    replicas,
	})
	if err != nil {
		return fmt.Errorf("stream %s: %w", b.rejectsName(), err)
	}
	b.nets, err = b.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket:      b.netsName(),
		Description: "nets, named by the SHA-256 of their content",
		Replicas:    replicas,
	})
	if err != nil {
		return fmt.Errorf("object store %s: %w", b.netsName(), err)
	}
	b.ctl, err = b.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket:      b.ctlName(),
		Description: "pointers",
		History:     pointerHistory,
		Replicas:    replicas,
	})
	if err != nil {
		return fmt.Errorf("bucket %s: %w", b.ctlName(), err)
	}
	return nil
}

// ensureGames creates the game stream. One that exists keeps its size and
// duplicate window unless JoinOptions ask for others: roles on other machines
// need not know how large the stream is.
func (b *Bus) ensureGames(ctx context.Context) error {
	cfg := jetstream.StreamConfig{
		Name:        b.gamesName(),
		Description: "finished games on their way to the replay buffer",
		Subjects:    []string{b.gameSubject("*")},
		Retention:   jetstream.LimitsPolicy,
		Storage:     jetstream.FileStorage,
		Discard:     jetstream.DiscardNew,
		DenyDelete:  true,
		MaxMsgSize:  1 << 20,
		MaxBytes:    cmp.Or(b.opt.MaxBytes, DefaultMaxBytes),
		Duplicates:  cmp.Or(b.opt.DuplicateWindow, DefaultDuplicateWindow),
		Replicas:    cmp.Or(b.opt.Replicas, 1),
		Metadata:    map[string]string{schemaKey: schemaVersion},
	}
	old, err := b.js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		b.games, err = b.js.CreateOrUpdateStream(ctx, cfg) // two roles may start at once
		return err
	}
	if err != nil {
		return err
	}
	have := old.CachedInfo().Config
	if v := have.Metadata[schemaKey]; v != schemaVersion {
		return fmt.Errorf("%w: schema version %q, want %q", ErrConfig, v, schemaVersion)
	}
	cfg.MaxBytes = cmp.Or(b.opt.MaxBytes, have.MaxBytes)
	cfg.Duplicates = cmp.Or(b.opt.DuplicateWindow, have.Duplicates)
	cfg.Replicas = cmp.Or(b.opt.Replicas, have.Replicas)
	b.games, err = b.js.UpdateStream(ctx, cfg)
	return err
}
