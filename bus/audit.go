package bus

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	// AuditSchema is the version of AuditEntry.
	AuditSchema = 1

	auditPrefix = "audit." // of keys among the pointers
	maxAudit    = 512      // entries that stay, the newest
	maxAuditRaw = 4 << 10  // bytes of one
	maxAuditBy  = 256      // bytes of By, Action and What
	maxAuditWhy = 1 << 10
)

// ErrDenied says that the user with which this process connects lacks a right.
var ErrDenied = errors.New("the user lacks a right")

// denial is something that the server did not permit.
type denial struct {
	said string
	at   time.Time
}

// orDenied returns the error of a question that began at a time. The server answers one that
// it does not permit with silence, and says why beside it: then the error wraps ErrDenied.
func (c *Conn) orDenied(began time.Time, err error) error {
	d, _ := c.denied.Load().(denial)
	if !errors.Is(err, context.DeadlineExceeded) || d.at.Before(began) {
		return err
	}
	return fmt.Errorf("%w: %s: use the credentials of who runs the run, such as operator.creds of selfplay init cluster", ErrDenied, d.said)
}

// AuditEntry says who did what to a run, and why. Texts are UTF-8.
type AuditEntry struct {
	Schema int       `json:"schema"` // AuditSchema
	Time   time.Time `json:"time"`   // by the clock of who did it
	By     string    `json:"by"`     // user@host or role@host
	Action string    `json:"action"` // such as quarantine
	What   string    `json:"what"`   // it was done to, such as an actor
	Why    string    `json:"why"`
}

// cut shortens a text to at most n bytes of UTF-8.
func cut(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// Audit writes an entry, whose schema and time it sets if they are not and whose texts it
// shortens. The newest 512 are kept. The error wraps ErrDenied if the user may not write
// entries: rights of before there was an audit do not have it.
func (b *Bus) Audit(ctx context.Context, e AuditEntry) error {
	e.Schema = AuditSchema
	if e.Time.IsZero() {
		e.Time = time.Now().UTC()
	}
	e.By, e.Action, e.What, e.Why = cut(e.By, maxAuditBy), cut(e.Action, maxAuditBy), cut(e.What, maxAuditBy), cut(e.Why, maxAuditWhy)
	value, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	key := fmt.Sprintf("%s%020d-%s", auditPrefix, e.Time.UnixNano(), rand.Text()[:8])
	if _, err := b.ctl.Create(ctx, key, value); err != nil {
		// An earlier denial will do: package nats tells of each once.
		if d, _ := b.conn.denied.Load().(denial); strings.Contains(d.said, "."+auditPrefix) {
			return fmt.Errorf("audit: %w, to write entries of the audit: run selfplay init cluster DIR again, which writes the rights that this version needs, bring the new credentials to this machine and start the role again", ErrDenied)
		}
		return fmt.Errorf("audit: %w", mapUnavailable(err))
	}
	if err := b.pruneAudit(ctx); err != nil {
		b.warn("old entries of the audit were not removed", "error", err)
	}
	return nil
}

func (b *Bus) pruneAudit(ctx context.Context) error {
	keys, err := b.ctl.ListKeysFiltered(ctx, auditPrefix+">")
	if err != nil {
		return err
	}
	var all []string
	for key := range keys.Keys() {
		all = append(all, key)
	}
	slices.Sort(all)
	for _, key := range all[:max(0, len(all)-maxAudit)] {
		if err := b.ctl.Purge(ctx, key); err != nil {
			return err
		}
	}
	return nil
}

// AuditLog returns the entries that are kept, oldest first. Those that cannot be read are
// left out and logged.
func (b *Bus) AuditLog(ctx context.Context) ([]AuditEntry, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	w, err := b.ctl.Watch(ctx, auditPrefix+">", jetstream.IgnoreDeletes())
	if err != nil {
		return nil, fmt.Errorf("audit: %w", mapUnavailable(err))
	}
	entries, err := drainWatch(ctx, w)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", mapUnavailable(err))
	}
	var all []AuditEntry
	for _, e := range entries {
		a, err := parseAudit(e.Value())
		if err != nil {
			b.warn("an entry of the audit is left out", "key", e.Key(), "error", err)
			continue
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(x, y AuditEntry) int { return cmp.Compare(x.Time.UnixNano(), y.Time.UnixNano()) })
	return all, nil
}

func parseAudit(data []byte) (e AuditEntry, err error) {
	if len(data) > maxAuditRaw {
		return e, fmt.Errorf("%w: audit: found %d bytes, expected at most %d", ErrRecord, len(data), maxAuditRaw)
	}
	if err := json.Unmarshal(data, &e); err != nil {
		return e, fmt.Errorf("%w: audit: %w", ErrRecord, err)
	}
	if e.Schema < 1 {
		return e, fmt.Errorf("%w: audit: found schema %d, expected 1 or more", ErrRecord, e.Schema)
	}
	return e, nil
}

// drainWatch returns the values there are when a watch begins, and ends it.
func drainWatch(ctx context.Context, w jetstream.KeyWatcher) (entries []jetstream.KeyValueEntry, err error) {
	defer w.Stop()
	for {
		select {
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return nil, errors.New("the connection was lost while values were read")
			case e == nil: // the end of the values there are
				return entries, nil
			}
			entries = append(entries, e)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
