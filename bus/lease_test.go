package bus

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crazyhouse-rl/selfplay/internal/golden"
	"github.com/crazyhouse-rl/selfplay/internal/pause"
)

func holder(instance string) Holder {
	return Holder{Instance: instance, Host: "host-" + instance, Build: "v1", PID: 7}
}

func lease(t testing.TB, b *Bus, instance string) *Lease {
	t.Helper()
	l, err := b.Lease(testContext(t), "referee", holder(instance), nil)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// One process at a time holds a lease, and each that does has a higher fence.
func TestLeaseIsExclusive(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	const many = 8
	var holders atomic.Int32
	var last atomic.Uint64
	var all sync.WaitGroup
	for i := range many {
		b := joinRun(t, c, "test", JoinOptions{})
		all.Go(func() {
			l, err := b.Lease(ctx, "referee", holder(fmt.Sprint(i)), nil)
			if err != nil {
				t.Error(err)
				return
			}
			if n := holders.Add(1); n != 1 || !l.Held() {
				t.Errorf("%d holders, held %v", n, l.Held())
			}
			if before := last.Swap(l.Fence()); before >= l.Fence() {
				t.Errorf("fence %d after %d", l.Fence(), before)
			}
			holders.Add(-1)
			if err := l.Release(ctx); err != nil || l.Held() {
				t.Errorf("released: held %v, %v", l.Held(), err)
			}
		})
	}
	all.Wait()
}

// A holder that stops is succeeded after the time to live, and learns of it.
func TestLeaseOfStoppedHolderIsTaken(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	o := JoinOptions{LeaseTTL: 400 * time.Millisecond}
	one, two := joinRun(t, c, "test", o), joinRun(t, c, "test", o)
	former := lease(t, one, "one")
	if err := former.Touch(ctx, "best"); err != nil {
		t.Fatal(err)
	}
	former.mu.Lock() // stops renewing
	var told []LeaseRecord
	start := time.Now()
	l, err := two.Lease(ctx, "referee", holder("two"), func(r LeaseRecord, waits bool) error {
		if waits {
			told = append(told, r)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d < o.LeaseTTL {
		t.Errorf("taken after %v", d)
	}
	if former.Held() || l.Fence() <= former.Fence() {
		t.Errorf("former holds: %v; fences %d, then %d", former.Held(), former.Fence(), l.Fence())
	}
	if len(told) != 1 || told[0].Instance != "one" || told[0].Host != "host-one" || told[0].PID != 7 || time.Since(told[0].Since).Abs() > time.Minute {
		t.Errorf("the waiter was told of %+v", told)
	}
	former.mu.Unlock()
	select {
	case <-former.Lost():
	case <-ctx.Done():
		t.Fatal("the former holder does not know")
	}
	if _, err := former.SetPointer(ctx, "best", "x", 0); !errors.Is(err, ErrFenced) {
		t.Errorf("former holder: got %v, want ErrFenced", err)
	}
	if err := former.Release(ctx); !errors.Is(err, ErrFenced) {
		t.Errorf("former holder releases: got %v, want ErrFenced", err)
	}
	if r, err := one.ReadLease(ctx, "referee"); err != nil || r.Fence != l.Fence() || r.Instance != "two" {
		t.Errorf("record %+v, %v", r, err)
	}
}

// A holder that renews keeps its lease for longer than the time to live, which is more than
// a busy machine keeps a process from renewing.
func TestLeaseIsRenewed(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	b := joinRun(t, openConn(t, Options{}), "test", JoinOptions{LeaseTTL: 8 * time.Second})
	l := lease(t, b, "one")
	waiting, enough := context.WithCancel(ctx)
	defer enough()
	second := make(chan error, 1)
	go func() {
		_, err := b.Lease(waiting, "referee", holder("two"), nil)
		second <- err
	}()
	const longer = 5 // each comes a quarter of the time to live after the one before, or later
	var r LeaseRecord
	for r.Renewals < longer && pause.For(ctx, 20*time.Millisecond) {
		var err error
		if r, err = b.ReadLease(ctx, "referee"); err != nil {
			t.Fatal(err)
		}
	}
	enough()
	if err := <-second; !errors.Is(err, context.Canceled) {
		t.Errorf("second holder: got %v, want %v", err, context.Canceled)
	}
	if r.Renewals < longer || r.Fence != l.Fence() || !l.Held() {
		t.Errorf("record %+v, held %v", r, l.Held())
	}
}

func TestLeaseChangesHandsAtOnce(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	b := joinRun(t, c, "test", JoinOptions{LeaseTTL: time.Hour})
	first := lease(t, b, "one")
	again := lease(t, b, "one") // the same process has lost track of it
	if again.Fence() <= first.Fence() {
		t.Errorf("fences %d, then %d", first.Fence(), again.Fence())
	}
	if err := first.Touch(ctx, "best"); !errors.Is(err, ErrFenced) {
		t.Errorf("the first one: got %v, want ErrFenced", err)
	}
	waits := make(chan struct{})
	next := make(chan *Lease)
	go func() {
		l, err := b.Lease(ctx, "referee", holder("two"), func(_ LeaseRecord, waiting bool) error {
			if waiting {
				close(waits)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		next <- l
	}()
	<-waits
	if err := again.Release(ctx); err != nil {
		t.Error(err)
	}
	if l := <-next; l != nil && l.Fence() <= again.Fence() {
		t.Errorf("fences %d, then %d", again.Fence(), l.Fence())
	}
}

// takeOver takes a lease as if its time to live were over.
func takeOver(t *testing.T, b *Bus, instance string) *Lease {
	t.Helper()
	ctx := testContext(t)
	for {
		r, revision, err := b.readLease(ctx, "referee")
		if err != nil {
			t.Fatal(err)
		}
		l, err := b.takeLease(ctx, "referee", holder(instance), r, revision)
		if err == nil {
			return l
		}
		if !errors.Is(err, ErrConflict) {
			t.Fatal(err)
		}
	}
}

// In every order of what a former holder does to set a pointer (renew, write) and
// of what its successor does (take the lease, touch, read), the successor has
// read what stands there for good: the former's write came before, or failed.
func TestFormerHolderWritesNothingAfterTouch(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	const key = "best"
	for _, existed := range []string{"", "old"} {
		for _, order := range orders("rw", "tup") {
			t.Run(fmt.Sprintf("%q-%s", existed, order), func(t *testing.T) {
				b := joinRun(t, c, fmt.Sprintf("run-%s-%s", existed, order), JoinOptions{LeaseTTL: time.Hour})
				if existed != "" {
					if _, err := b.SetPointer(ctx, key, existed, 0); err != nil {
						t.Fatal(err)
					}
				}
				former := lease(t, b, "former")
				if err := former.Touch(ctx, key); err != nil {
					t.Fatal(err)
				}
				known, err := b.Pointer(ctx, key)
				if err != nil && !errors.Is(err, ErrNoPointer) {
					t.Fatal(err)
				}
				atHook, goOn := make(chan struct{}), make(chan struct{})
				former.renewedHook = func() { close(atHook); <-goOn }
				result := make(chan error, 1)
				var successor *Lease
				var read Pointer
				wrote := "not tried"
				for _, step := range order {
					switch step {
					case 'r':
						go func() {
							_, err := former.SetPointer(ctx, key, "former", known.Revision)
							result <- err
						}()
						select {
						case <-atHook:
						case err := <-result:
							result <- err
						}
					case 'w':
						close(goOn)
						err := <-result
						wrote = fmt.Sprint(err)
						if err != nil && !errors.Is(err, ErrFenced) {
							t.Errorf("former holder: got %v, want ErrFenced", err)
						}
						if before := strings.Index(order, "w") < strings.Index(order, "t"); before != (err == nil) && before {
							t.Errorf("a holder could not write: %v", err)
						}
						if strings.Index(order, "w") > strings.Index(order, "u") && err == nil {
							t.Error("the former holder wrote after the touch")
						}
					case 't':
						successor = takeOver(t, b, "successor")
					case 'u':
						if err := successor.Touch(ctx, key); err != nil {
							t.Fatal(err)
						}
					case 'p':
						if read, err = b.Pointer(ctx, key); err != nil && !errors.Is(err, ErrNoPointer) {
							t.Fatal(err)
						}
					}
				}
				now, err := b.Pointer(ctx, key)
				if err != nil && !errors.Is(err, ErrNoPointer) {
					t.Fatal(err)
				}
				if now != read {
					t.Errorf("the successor read %+v, now there is %+v; former: %s", read, now, wrote)
				}
				if _, err := successor.SetPointer(ctx, key, "successor", read.Revision); err != nil {
					t.Errorf("the successor could not write: %v", err)
				}
				if _, err := former.SetPointer(ctx, key, "late", now.Revision); !errors.Is(err, ErrFenced) {
					t.Errorf("former holder, once more: got %v, want ErrFenced", err)
				}
			})
		}
	}
}

// orders returns all ways to interleave two sequences.
func orders(a, b string) []string {
	if a == "" || b == "" {
		return []string{a + b}
	}
	var all []string
	for _, rest := range orders(a[1:], b) {
		all = append(all, a[:1]+rest)
	}
	for _, rest := range orders(a, b[1:]) {
		all = append(all, b[:1]+rest)
	}
	return all
}

func TestLeaseSetsPointersByCompareAndSet(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	l := lease(t, b, "one")
	if _, err := l.SetPointer(ctx, "best", "x", 0); err == nil {
		t.Error("a pointer was set that was not touched")
	}
	if err := l.Touch(ctx, "best", "other"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Pointer(ctx, "best"); !errors.Is(err, ErrNoPointer) {
		t.Errorf("touched, never set: got %v, want ErrNoPointer", err)
	}
	rev, err := l.SetPointer(ctx, "best", "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.SetPointer(ctx, "best", "two", 0); !errors.Is(err, ErrConflict) || errors.Is(err, ErrFenced) {
		t.Errorf("set already: got %v, want ErrConflict", err)
	}
	if rev, err = b.SetPointer(ctx, "best", "by another", rev); err != nil { // such as an operator
		t.Fatal(err)
	}
	if _, err := l.SetPointer(ctx, "best", "two", rev-1); !errors.Is(err, ErrConflict) || errors.Is(err, ErrFenced) {
		t.Errorf("set by another: got %v, want ErrConflict", err)
	}
	if _, err := l.SetPointer(ctx, "best", "two", rev); err != nil {
		t.Error(err)
	}
	// A holder that ended in good order leaves nothing to guard against, and the
	// history of the pointer its length.
	if err := l.Release(ctx); err != nil {
		t.Fatal(err)
	}
	before, err := b.Pointer(ctx, "best")
	if err != nil {
		t.Fatal(err)
	}
	next := lease(t, b, "two")
	if err := next.Touch(ctx, "best", "other", "third"); err != nil {
		t.Fatal(err)
	}
	if p, err := b.Pointer(ctx, "best"); err != nil || p != before {
		t.Errorf("touch after release made %+v of %+v, %v", p, before, err)
	}
	if _, err := next.SetPointer(ctx, "best", "three", before.Revision); err != nil {
		t.Error(err)
	}
	for _, key := range []string{"other", "third"} {
		if _, err := next.SetPointer(ctx, key, "new", 0); err != nil {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestLeaseRefusesWhatItDoesNotUnderstand(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	if _, err := b.ReadLease(ctx, "referee"); !errors.Is(err, ErrNoLease) {
		t.Errorf("got %v, want ErrNoLease", err)
	}
	if _, err := b.ctl.Put(ctx, leaseKey("referee"), []byte(`{"schema":2,"role":"referee","fence":1,"instance":"x"}`)); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Lease(ctx, "referee", holder("one"), nil); !errors.Is(err, ErrRecord) || !strings.Contains(err.Error(), "schema 2") {
		t.Errorf("a newer build's record: got %v, want ErrRecord with its schema", err)
	}
	for _, role := range []string{"", "a.b", "a b"} {
		if _, err := b.Lease(ctx, role, holder("one"), nil); !errors.Is(err, ErrName) {
			t.Errorf("role %q: got %v, want ErrName", role, err)
		}
	}
	if _, err := b.Lease(ctx, "trainer", Holder{}, nil); !errors.Is(err, ErrConfig) {
		t.Errorf("no instance: got %v, want ErrConfig", err)
	}
}

// A lease outlives a server that starts again, and is lost with a server's
// directory; objects come back by themselves.
func TestLeaseAndServerThatStartsAgain(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	o := Options{Dir: dir, Listen: freeAddr(t)}
	host := openConn(t, o)
	remote := openConn(t, Options{URL: "nats://" + o.Listen})
	b := joinRun(t, remote, "test", JoinOptions{LeaseTTL: 2 * time.Second})
	l := lease(t, b, "one")
	if err := l.Touch(ctx, "best"); err != nil {
		t.Fatal(err)
	}
	restart := func() {
		again := remote.again.wait()
		if err := host.Close(); err != nil {
			t.Fatal(err)
		}
		if o.Dir != dir {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
		}
		host = openConn(t, o)
		select {
		case <-again:
		case <-ctx.Done():
			t.Fatal("not connected again")
		}
	}
	restart()
	rev, err := l.SetPointer(ctx, "best", "one", 0)
	if err != nil || !l.Held() {
		t.Fatalf("held %v, %v", l.Held(), err)
	}
	fence := l.Fence()

	o.Dir = t.TempDir()
	restart()
	select {
	case <-l.Lost():
	case <-ctx.Done():
		t.Fatal("the lease went with the directory, and its holder does not know")
	}
	if l = lease(t, b, "one"); l.Fence() < fence {
		t.Errorf("fence %d after %d", l.Fence(), fence)
	}
	if err := l.Touch(ctx, "best"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.SetPointer(ctx, "best", "one", rev); !errors.Is(err, ErrConflict) {
		t.Errorf("a pointer that went with the directory: got %v, want ErrConflict", err)
	}
	if _, err := l.SetPointer(ctx, "best", "one", 0); err != nil {
		t.Error(err)
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	publish(t, b, 1)
}

func TestCloseEndsLeasesAndWaiting(t *testing.T) {
	c := openConn(t, Options{})
	b := joinRun(t, c, "test", JoinOptions{})
	lease(t, b, "one")
	waits, done := make(chan struct{}), make(chan error)
	go func() {
		_, err := b.Lease(testContext(t), "referee", holder("two"), func(_ LeaseRecord, waiting bool) error {
			if waiting {
				close(waits)
			}
			return nil
		})
		done <- err
	}()
	<-waits
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := <-done; err == nil {
		t.Error("a lease on a closed connection")
	}
}

// A damaged record ends nobody for good: as long as it is renewed the lease is its holder's,
// then it is taken, with a fence above that of all holders before.
func TestLeaseOfDamagedRecordIsTaken(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	for i, value := range []string{
		"", "{", `{"schema":1,"role":"trainer","fence":1,"instance":"x"}`, `{"schema":0,"role":"referee","fence":1,"instance":"x"}`,
		`{"schema":1,"role":"referee","fence":0,"instance":"x"}`, `{"schema":3,"role":"referee","instance":"x","fence":4,"crc32c":"00000000"}`,
	} {
		b := joinRun(t, c, fmt.Sprintf("test%d", i), JoinOptions{LeaseTTL: 400 * time.Millisecond})
		before := lease(t, b, "before")
		fence := before.Fence() + 1000 // whatever clocks say
		before.mu.Lock()               // stops renewing
		before.record.Fence = fence
		if err := before.write(ctx, before.record); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ctl.Put(ctx, leaseKey("referee"), []byte(value)); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ReadLease(ctx, "referee"); !errors.Is(err, ErrRecord) {
			t.Errorf("%q: read with error %v, want ErrRecord", value, err)
		}
		var from string
		start := time.Now()
		l, err := b.Lease(ctx, "referee", holder("after"), func(r LeaseRecord, waits bool) error {
			from = r.Instance
			return nil
		})
		if err != nil {
			t.Fatalf("%q: %v", value, err)
		}
		if d := time.Since(start); d < b.leaseTTL() || from != "before" || l.Fence() <= fence+1 {
			t.Errorf("%q: taken after %v from %q with fence %d, expected to wait for %v, from before, with a fence above %d", value, d, from, l.Fence(), b.leaseTTL(), fence+1)
		}
		before.mu.Unlock()
		select {
		case <-before.Lost():
		case <-ctx.Done():
			t.Fatal("the former holder does not know")
		}
	}
}

func TestLeaseRecordGolden(t *testing.T) {
	want := LeaseRecord{
		Schema: LeaseSchema, Role: "replay", Fence: 1779850921, Renewals: 12, Since: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Released: true, Clean: true,
		Holder: Holder{Instance: "a1b2", Host: "host", Build: "v1", PID: 4321, Detail: "buffer"},
	}
	text, err := want.encode()
	if err != nil {
		t.Fatal(err)
	}
	if r, err := parseLease("replay", golden.Read(t, golden.Present(1, "lease.json"))); err != nil || r != want {
		t.Errorf("without a checksum, as earlier builds wrote it: got %+v, %v", r, err)
	}
	present := golden.Present(LeaseSchema, "lease-sum.json")
	if *update {
		golden.Write(t, present, text)
	}
	for _, path := range golden.Versions(t, present) {
		if r, err := parseLease("replay", golden.Read(t, path)); err != nil || r != want {
			t.Errorf("%s: got %+v, %v", path, r, err)
		}
	}
	if string(golden.Read(t, present)) != string(text) {
		t.Errorf("%s differs from what is written now: %s", present, text)
	}
}

func FuzzLeaseRecord(f *testing.F) {
	f.Add([]byte(`{"schema":1,"role":"replay","instance":"a","fence":1}`))
	f.Add([]byte(`{"schema":2,"role":"replay"}`))           // newer
	f.Add([]byte(`{"schema":1,"role":"replay","fence":0}`)) // nobody's
	f.Fuzz(func(t *testing.T, data []byte) {
		if r, err := parseLease("replay", data); err == nil && (r.Role != "replay" || r.Fence == 0) {
			t.Errorf("accepted %+v", r)
		} else if err != nil && !errors.Is(err, ErrRecord) {
			t.Errorf("got %v, want ErrRecord", err)
		}
	})
}

// Who shall not come after the former holder is not given the lease, whether that is held
// or given back.
func TestLeaseIsRefusedAfterSome(t *testing.T) {
	ctx := testContext(t)
	b := joinRun(t, openConn(t, Options{}), "test", JoinOptions{})
	first := lease(t, b, "one")
	no := errors.New("not after this one")
	for _, held := range []bool{true, false} {
		_, err := b.Lease(ctx, "referee", holder("two"), func(r LeaseRecord, waits bool) error {
			if r.Instance != "one" || waits != held {
				t.Errorf("found %+v, waits %v, expected one and %v", r, waits, held)
			}
			return no
		})
		if !errors.Is(err, no) {
			t.Errorf("held %v: found error %v, expected %v", held, err, no)
		}
		if held {
			if err := first.Release(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}
