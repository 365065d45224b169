package bus

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// leaseBucket is a bucket with one lease, whose servers are away at times, or without a
// majority, and watch nothing.
type leaseBucket struct {
	jetstream.KeyValue // none: nothing else is called
	start              time.Time
	record             LeaseRecord
	away, readOnly     func(at time.Duration) bool
	behind             time.Duration   // of what is read
	written            []time.Duration // by others, after start
	renewals           []time.Duration // of the holder, after start
}

// leaseEntry is the record of a lease in a bucket.
type leaseEntry struct {
	jetstream.KeyValueEntry
	value    []byte
	revision uint64
}

func (e leaseEntry) Value() []byte    { return e.value }
func (e leaseEntry) Revision() uint64 { return e.revision }

func (b *leaseBucket) Watch(context.Context, string, ...jetstream.WatchOpt) (jetstream.KeyWatcher, error) {
	return nil, nats.ErrTimeout
}

func (b *leaseBucket) Get(context.Context, string) (jetstream.KeyValueEntry, error) {
	at := time.Since(b.start)
	if b.away(at) {
		return nil, nats.ErrDisconnected
	}
	e := leaseEntry{revision: b.revision(at, at-b.behind)}
	var err error
	e.value, err = b.record.encode()
	return e, err
}

// revision is that of the record at a time with what others had written by another.
func (b *leaseBucket) revision(at, others time.Duration) uint64 {
	n := uint64(1)
	for _, renewed := range b.renewals {
		if renewed <= at {
			n++
		}
	}
	for _, written := range b.written {
		if written <= others {
			n++
		}
	}
	return n
}

func (b *leaseBucket) Update(_ context.Context, _ string, _ []byte, revision uint64) (uint64, error) {
	at := time.Since(b.start)
	if b.away(at) || b.readOnly(at) {
		return 0, nats.ErrTimeout
	}
	if revision != b.revision(at, at) {
		return 0, jetstream.ErrKeyExists
	}
	b.written = append(b.written, at)
	return revision + 1, nil
}

// Time in which the server cannot be read counts for the holder, who cannot renew then.
func TestOutageTakesNoLease(t *testing.T) {
	const s = time.Second
	between := func(from, to time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return from <= at && at < to }
	}
	for name, c := range map[string]struct {
		away     func(at time.Duration) bool
		readOnly func(at time.Duration) bool
		behind   time.Duration
		renewals []time.Duration
		taken    time.Duration // after the beginning, by a lease of 10 s
	}{
		"none":                          {between(0, 0), between(0, 0), 0, []time.Duration{3 * s, 6 * s}, 16 * s},
		"longer than the lease":         {between(1*s, 60*s), between(0, 0), 0, []time.Duration{63 * s}, 73 * s},
		"shorter than the lease":        {between(1*s, 9*s), between(0, 0), 0, []time.Duration{12 * s}, 22 * s},
		"many, and the holder ended":    {func(at time.Duration) bool { return at < 57*s && at%(5*s) < s }, between(0, 0), 0, nil, 65 * s},
		"a copy is read that is behind": {between(0, 0), between(0, 0), s / 2, nil, 10 * s},
		"without a majority":            {between(0, 0), between(1*s, 60*s), 0, []time.Duration{63 * s}, 73 * s},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				conn := &Conn{}
				conn.ctx, conn.cancel = context.WithCancel(t.Context())
				defer conn.Close()
				b := &Bus{conn: conn, id: "test"}
				b.ctl = &leaseBucket{
					start: time.Now(), away: c.away, readOnly: c.readOnly, behind: c.behind, renewals: c.renewals,
					record: LeaseRecord{Schema: LeaseSchema, Role: "referee", Holder: holder("one"), Fence: 1},
				}
				start := time.Now()
				if _, err := b.Lease(t.Context(), "referee", holder("two"), nil); err != nil {
					t.Fatal(err)
				}
				if d := time.Since(start); d < c.taken || d > c.taken+s { // it looks every second
					t.Errorf("taken after %v, expected %v or a second more", d, c.taken)
				}
			})
		})
	}
}
