package bus

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/durable"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

const (
	// LeaseSchema is the version of LeaseRecord.
	LeaseSchema = 1

	// DefaultLeaseTTL is how long a lease outlives its last renewal if
	// JoinOptions do not say.
	DefaultLeaseTTL = 10 * time.Second

	leasePrefix = "lease." // of keys among the pointers
)

// Holder says who wants a lease.
type Holder struct {
	Instance string `json:"instance"` // no two processes at a time have the same
	Host     string `json:"host"`
	Build    string `json:"build"`
	PID      int    `json:"pid"`
	Detail   string `json:"detail,omitempty"` // what the role wants a successor to know
}

// LeaseRecord is what the server knows of a lease.
type LeaseRecord struct {
	Schema int    `json:"schema"` // LeaseSchema
	Role   string `json:"role"`
	Holder
	Fence    uint64    `json:"fence"`    // higher than that of all holders before
	Renewals uint64    `json:"renewals"` // since the holder took it
	Since    time.Time `json:"since"`    // when the holder took it, by its clock
	Released bool      `json:"released"` // given back
	Clean    bool      `json:"clean"`    // given back, and nothing that the holder wrote can still be on its way

	Renewed time.Time `json:"renewed,omitzero"` // when the server got it, of a record that ReadLease returns; else zero
}

// errDamagedLease says of a record that nobody wrote it so, of any build.
var errDamagedLease = fmt.Errorf("%w: damaged lease", ErrRecord)

// encode writes the record with its checksum.
func (r *LeaseRecord) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return durable.Sum(text), nil
}

// parseLease reads a record, which has no checksum if an earlier build wrote it. The error
// wraps errDamagedLease, or else ErrRecord.
func parseLease(role string, data []byte) (LeaseRecord, error) {
	var r LeaseRecord
	if len(data) > maxRecordBytes {
		return r, fmt.Errorf("%w: found %d bytes, expected at most %d", errDamagedLease, len(data), maxRecordBytes)
	}
	data, err := durable.Unsum(leaseKey(role), data, "who wants the lease takes it if nobody renews it")
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	switch {
	case err != nil:
		return r, fmt.Errorf("%w: %w", errDamagedLease, err)
	case r.Schema > LeaseSchema:
		return r, fmt.Errorf("%w: lease: found schema %d, expected %d: use a build of selfplay that knows it", ErrRecord, r.Schema, LeaseSchema)
	case r.Schema != LeaseSchema || r.Role != role || r.Fence == 0 || r.Instance == "":
		return r, fmt.Errorf("%w: found schema %d, role %.80q, fence %d and instance %.80q, expected schema %d, role %.80q and one of each of the others",
			errDamagedLease, r.Schema, r.Role, r.Fence, r.Instance, LeaseSchema, role)
	}
	return r, nil
}

// Lease is the sole right to a role of a run, from Bus.Lease until Release or
// until another process takes it because it was not renewed in time.
//
// No clock is trusted for what is written under it. A holder that was stopped
// for long may still have a write on its way. SetPointer therefore renews the
// lease by compare-and-set before it sets the pointer by compare-and-set, and a
// successor, having taken the lease, gives the pointers new revisions by Touch
// before it reads them: after that, the former holder's renewal fails, or its
// write does.
type Lease struct {
	bus    *Bus
	cancel context.CancelFunc
	done   chan struct{} // renewing has ended
	lost   chan struct{}
	clean  bool // the holder before has nothing on its way
	role   string
	fence  uint64

	mu       sync.Mutex // held during a renewal and what belongs to it
	record   LeaseRecord
	revision uint64            // of the record
	absent   map[string]uint64 // of the touched pointers: revision of those that had no value
	doubt    bool              // the answer to a write was lost

	renewedHook func() // of tests: between the renewal and the write of SetPointer

	stateMu sync.Mutex
	renewed time.Time // when the last renewal that succeeded was asked for
	ended   bool      // lost or released
}

func leaseKey(role string) string { return leasePrefix + role }

func (b *Bus) leaseTTL() time.Duration { return cmp.Or(b.opt.LeaseTTL, DefaultLeaseTTL) }

// Lease takes the lease of a role, and waits while another process holds it:
// until that releases it, or has not renewed it for the time to live, measured
// by the clock of this process. That begins again whenever the servers do not answer, or do
// not take what is written, as the holder cannot renew then. A lease that h.Instance holds is taken at once.
// former, unless nil, is called with each holder that is waited for, and with the one
// that the lease is to be taken from; waits tells them apart. Its error ends the call.
// The lease is renewed until Release, or until the Conn closes. One whose record is damaged
// is taken like any other that nobody renews, from the last holder that is known. The error
// wraps ErrRecord if the record is a newer build's, ErrName for a bad role.
func (b *Bus) Lease(ctx context.Context, role string, h Holder, former func(r LeaseRecord, waits bool) error) (*Lease, error) {
	l, err := b.lease(ctx, role, h, former)
	if err != nil {
		return nil, fmt.Errorf("lease of %.80q: %w", role, err)
	}
	return l, nil
}

func (b *Bus) lease(ctx context.Context, role string, h Holder, former func(r LeaseRecord, waits bool) error) (*Lease, error) {
	if err := checkName("role", role); err != nil {
		return nil, err
	}
	if h.Instance == "" {
		return nil, fmt.Errorf("%w: holder without an instance", ErrConfig)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes, err := b.WatchPointer(ctx, leaseKey(role)) // wakes; what is decided on is read
	if err != nil {
		return nil, err
	}
	var seen, told uint64 // revision and fence
	var unchanged time.Time
	tried := false // whether the servers have taken a write since then
	for {
		r, revision, err := b.readLease(ctx, role)
		damaged := errors.Is(err, errDamagedLease)
		if damaged {
			if revision != seen {
				b.warn("the record of a lease is damaged, it is taken if nobody renews it", "role", role, "error", err)
			}
			r, err = b.formerLease(ctx, role)
		}
		now := time.Now()
		switch {
		case errors.Is(err, ErrRecord), ctx.Err() != nil:
			return nil, cmp.Or(ctx.Err(), err)
		case err != nil: // the holder cannot reach the server either, for all that is known
			unchanged, tried = now, false
		case tried && revision < seen: // a copy that is behind what this process wrote
		case revision != seen:
			seen, unchanged, tried = revision, now, false
		}
		ttl := b.leaseTTL()
		// Servers without a majority are read, and not written.
		if err == nil && !damaged && !tried && revision != 0 && !r.Released && now.Sub(unchanged) >= ttl*2/3 {
			wrote, err := b.rewriteLease(ctx, r, revision)
			switch {
			case err == nil:
				seen, tried = wrote, true
				if least := time.Now().Add(-ttl * 2 / 3); unchanged.Before(least) {
					unchanged = least // the holder has a third of its time from here on
				}
			case errors.Is(err, ErrConflict) || errors.Is(err, ErrUnavailable):
				unchanged = time.Now()
			default:
				return nil, err
			}
			continue
		}
		free := err == nil && (revision == 0 || !damaged && (r.Released || r.Instance == h.Instance) || now.Sub(unchanged) >= ttl)
		if err == nil && r.Instance != "" && former != nil && (free || r.Fence != told) {
			if !free {
				told = r.Fence
			}
			if err := former(r, !free); err != nil {
				return nil, err
			}
		}
		if free {
			l, err := b.takeLease(ctx, role, h, r, revision)
			if !errors.Is(err, ErrConflict) {
				return l, err
			}
			// Another was faster, or a copy of the bucket is behind.
			pause.For(ctx, min(ttl/10, 100*time.Millisecond))
			continue
		}
		left := ttl - now.Sub(unchanged)
		if !tried && !damaged {
			left = max(0, ttl*2/3-now.Sub(unchanged))
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case _, ok := <-changes:
			if !ok && ctx.Err() == nil {
				return nil, errors.New("bus is closed")
			}
		case <-time.After(min(ttl/10, left)): // so often that no outage goes unseen
		}
	}
}

// rewriteLease writes the record of a lease once more, as it is, and returns its new
// revision. Its holder, if there is one, goes on from there.
func (b *Bus) rewriteLease(ctx context.Context, r LeaseRecord, revision uint64) (uint64, error) {
	l := Lease{bus: b, revision: revision}
	err := l.write(ctx, r)
	return l.revision, err
}

// readLease returns the record of a lease and its revision, 0 if there is none.
func (b *Bus) readLease(ctx context.Context, role string) (LeaseRecord, uint64, error) {
	r, e, err := b.leaseEntry(ctx, role)
	if e == nil {
		return r, 0, err
	}
	return r, e.Revision(), err
}

// leaseEntry returns a lease's record and its entry in the bucket, nil if there is none.
func (b *Bus) leaseEntry(ctx context.Context, role string) (LeaseRecord, jetstream.KeyValueEntry, error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	e, err := b.ctl.Get(ctx, leaseKey(role))
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return LeaseRecord{}, nil, nil
	}
	if err != nil {
		return LeaseRecord{}, nil, mapUnavailable(err)
	}
	r, err := parseLease(role, e.Value())
	return r, e, err
}

// formerLease returns the newest record of a lease that can be read, with a fence that is not
// below that of any record after it: each of those may be another holder's.
func (b *Bus) formerLease(ctx context.Context, role string) (former LeaseRecord, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	entries, err := b.ctl.History(ctx, leaseKey(role))
	if err != nil {
		return former, mapUnavailable(err)
	}
	for _, e := range entries {
		r, err := parseLease(role, e.Value())
		switch {
		case err == nil:
			former = r
		case errors.Is(err, errDamagedLease):
			former.Fence++
			former.Clean = false
		default:
			return former, err
		}
	}
	return former, nil
}

// ReadLease returns the record of a role's lease, which may be released or out of
// date. The error wraps ErrNoLease or ErrRecord.
func (b *Bus) ReadLease(ctx context.Context, role string) (LeaseRecord, error) {
	if err := checkName("role", role); err != nil {
		return LeaseRecord{}, err
	}
	r, e, err := b.leaseEntry(ctx, role)
	if err == nil && e == nil {
		err = ErrNoLease
	}
	if err != nil {
		return LeaseRecord{}, fmt.Errorf("lease of %q: %w", role, err)
	}
	r.Renewed = e.Created()
	return r, nil
}

// takeLease takes a lease that is free. The error wraps ErrConflict if its record
// was changed since.
func (b *Bus) takeLease(ctx context.Context, role string, h Holder, former LeaseRecord, revision uint64) (*Lease, error) {
	start := time.Now()
	l := &Lease{
		bus: b, done: make(chan struct{}), lost: make(chan struct{}),
		clean:  former.Clean || revision == 0,
		absent: map[string]uint64{},
		record: LeaseRecord{
			Schema: LeaseSchema, Role: role, Holder: h, Since: start.UTC(),
			// A server that lost everything shall not begin at 1 again: others
			// may have seen more.
			Fence: max(former.Fence+1, uint64(start.Unix())),
		},
		revision: revision,
	}
	l.role, l.fence = role, l.record.Fence
	if err := l.write(ctx, l.record); err != nil {
		return nil, err
	}
	l.renewed = start
	renewCtx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	if !b.conn.start(renewCtx, l.keep) {
		cancel()
		return nil, errors.New("bus is closed")
	}
	return l, nil
}

// write replaces the record by compare-and-set. The caller has l.mu or l alone.
func (l *Lease) write(ctx context.Context, r LeaseRecord) error {
	value, err := r.encode()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, requestWait)
	defer cancel()
	revision, err := l.bus.ctl.Update(ctx, leaseKey(r.Role), value, l.revision)
	if err != nil {
		return leaseError(err)
	}
	l.record, l.revision = r, revision
	return nil
}

func leaseError(err error) error {
	if errors.Is(err, jetstream.ErrKeyExists) || errors.Is(err, jetstream.ErrKeyRevisionMismatch) {
		return ErrConflict
	}
	return mapUnavailable(err)
}

// keep renews the lease until it ends.
func (l *Lease) keep(ctx context.Context) {
	defer close(l.done)
	third := l.bus.leaseTTL() / 3
	for {
		select {
		case <-ctx.Done():
			return
		case <-l.lost:
			return
		case <-time.After(third*3/4 + rand.N(third/4+1)):
		}
		l.mu.Lock()
		err := l.renew(ctx)
		l.mu.Unlock()
		if err != nil && ctx.Err() == nil {
			l.bus.warn("lease was not renewed", "role", l.role, "error", err)
		}
	}
}

// renew writes the record again. It fails with ErrFenced if another process took
// the lease, and any other error leaves the lease as it was. l.mu is held.
func (l *Lease) renew(ctx context.Context) error {
	if l.hasEnded() {
		return ErrFenced
	}
	for {
		start := time.Now()
		r := l.record
		r.Renewals++
		err := l.write(ctx, r)
		if err == nil {
			l.stateMu.Lock()
			l.renewed = start
			l.stateMu.Unlock()
			return nil
		}
		if !errors.Is(err, ErrConflict) {
			return err
		}
		// It may be our own write whose answer was lost.
		now, revision, err := l.bus.readLease(ctx, r.Role)
		switch {
		case err != nil && !errors.Is(err, ErrRecord):
			return err
		case err == nil && revision > l.revision && now.Fence == r.Fence && now.Instance == r.Instance && !now.Released:
			l.record, l.revision = now, revision
		case err == nil && (revision == l.revision || revision < l.revision && l.Held()): // with a conflict the same one is of before
			return fmt.Errorf("%w: a copy of the lease's record is behind", ErrUnavailable)
		default:
			l.end(true)
			return ErrFenced
		}
	}
}

func (l *Lease) hasEnded() bool {
	l.stateMu.Lock()
	defer l.stateMu.Unlock()
	return l.ended
}

func (l *Lease) end(lost bool) {
	l.stateMu.Lock()
	defer l.stateMu.Unlock()
	if lost && !l.ended {
		close(l.lost)
	}
	l.ended = true
}

// Fence is a number higher than that of all who held the lease before.
func (l *Lease) Fence() uint64 { return l.fence }

// Role is what the lease is of.
func (l *Lease) Role() string { return l.role }

// Lost is closed when it is known that another process has taken the lease.
func (l *Lease) Lost() <-chan struct{} { return l.lost }

// Held reports whether the lease was renewed less than its time to live ago, so
// that nobody else can have it, as far as clocks tell.
func (l *Lease) Held() bool {
	l.stateMu.Lock()
	defer l.stateMu.Unlock()
	return !l.ended && time.Since(l.renewed) < l.bus.leaseTTL()
}

// Release gives the lease back, so that another process can take it at once.
// Nothing can be written under it any more. The error wraps ErrFenced if it was
// lost before.
func (l *Lease) Release(ctx context.Context) error {
	l.cancel()
	<-l.done
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.renew(ctx) // finds out whether it is ours still
	if err == nil {
		r := l.record
		r.Released, r.Clean = true, !l.doubt
		err = l.write(ctx, r)
	}
	l.end(false)
	if err != nil {
		return fmt.Errorf("release lease of %q: %w", l.role, err)
	}
	return nil
}
