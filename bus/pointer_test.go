package bus

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

func TestPointerCompareAndSet(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	if _, err := b.Pointer(ctx, "best.crazyhouse.nnue"); !errors.Is(err, ErrNoPointer) {
		t.Fatalf("got %v, want ErrNoPointer", err)
	}
	set := func(value string, rev uint64) uint64 {
		t.Helper()
		rev, err := b.SetPointer(ctx, "best.crazyhouse.nnue", value, rev)
		if err != nil {
			t.Fatal(err)
		}
		return rev
	}
	r1 := set("one", 0)
	if _, err := b.SetPointer(ctx, "other", "x", 0); err != nil {
		t.Fatal(err)
	}
	r2 := set("two", r1)
	for _, stale := range []uint64{0, r1, r2 + 1} {
		if _, err := b.SetPointer(ctx, "best.crazyhouse.nnue", "stale", stale); !errors.Is(err, ErrConflict) {
			t.Errorf("revision %d: got %v, want ErrConflict", stale, err)
		}
	}
	set("one", r2) // rolled back
	p, err := b.Pointer(ctx, "best.crazyhouse.nnue")
	if err != nil || p.Value != "one" || p.Revision <= r2 || time.Since(p.Time).Abs() > time.Minute {
		t.Errorf("pointer %+v, %v", p, err)
	}
	h, err := b.PointerHistory(ctx, "best.crazyhouse.nnue")
	if err != nil || len(h) != 3 || h[0].Value != "one" || h[1].Value != "two" || h[2].Value != p.Value || h[2].Revision != p.Revision {
		t.Errorf("history %+v, %v", h, err)
	}
	if _, err := b.Pointer(ctx, "no such key!"); !errors.Is(err, ErrName) {
		t.Errorf("bad key: got %v, want ErrName", err)
	}
}

// What was written again stands in the history once; what never was has none.
func TestPointerHistoryNamesChanges(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	if h, err := b.PointerHistory(ctx, "best"); err != nil || len(h) != 0 {
		t.Errorf("no pointer: %+v, %v", h, err)
	}
	var rev uint64
	for _, v := range []string{"one", "one", "two", "two", "two", "one"} {
		var err error
		if rev, err = b.SetPointer(ctx, "best", v, rev); err != nil {
			t.Fatal(err)
		}
	}
	h, err := b.PointerHistory(ctx, "best")
	if err != nil || len(h) != 3 || h[0].Value != "one" || h[0].Revision != 2 || h[1].Value != "two" || h[1].Revision != 5 || h[2].Revision != rev {
		t.Errorf("history %+v, %v", h, err)
	}
}

func TestPointerHistoryIsBounded(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	var rev uint64
	for i := range pointerHistory + 6 {
		var err error
		if rev, err = b.SetPointer(ctx, "best", fmt.Sprint(i), rev); err != nil {
			t.Fatal(err)
		}
	}
	h, err := b.PointerHistory(ctx, "best")
	if err != nil || len(h) != pointerHistory || h[0].Value != "6" {
		t.Errorf("%d entries from %+v, %v", len(h), h[0], err)
	}
}

func next(t *testing.T, c <-chan Pointer) Pointer {
	t.Helper()
	select {
	case p, ok := <-c:
		if !ok {
			t.Fatal("channel is closed")
		}
		return p
	case <-time.After(4 * time.Minute):
		t.Fatal("nothing came")
	}
	panic("unreachable")
}

func TestWatchPointer(t *testing.T) {
	ctx, cancel := context.WithCancel(testContext(t))
	b := openBus(t, Options{})
	rev, err := b.SetPointer(ctx, "best", "one", 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := b.WatchPointer(ctx, "best")
	if err != nil {
		t.Fatal(err)
	}
	if p := next(t, c); p.Value != "one" {
		t.Errorf("first value %+v", p)
	}
	for i := range 20 {
		if rev, err = b.SetPointer(ctx, "best", fmt.Sprint(i), rev); err != nil {
			t.Fatal(err)
		}
	}
	for p := next(t, c); p.Value != "19"; p = next(t, c) {
	}
	cancel()
	for range c { // closed at the end
	}
}

// A watch may begin while the server cannot give it: here what it watches is gone.
func TestWatchBeginsBeforeTheServerCan(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	if err := b.js.DeleteStream(ctx, "KV_"+b.ctl.Bucket()); err != nil {
		t.Fatal(err)
	}
	c, err := b.WatchPointer(ctx, "best")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Ensure(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := b.SetPointer(ctx, "best", "one", 0); err != nil {
		t.Fatal(err)
	}
	if p := next(t, c); p.Value != "one" {
		t.Errorf("found %+v, expected the value", p)
	}
	if _, err := b.WatchPointer(ctx, "no name"); err == nil {
		t.Error("found a watch of a bad name")
	}
}

func TestCloseEndsWatches(t *testing.T) {
	b := openBus(t, Options{})
	c, err := b.WatchPointer(testContext(t), "best")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if p, ok := <-c; ok {
		t.Errorf("closed bus sent %+v", p)
	}
}

// A watch hands on what is new, once, and believes a poll that goes back.
func TestWatchOrder(t *testing.T) {
	w := &watch{out: make(chan Pointer, 1)}
	for _, c := range []struct {
		p      Pointer
		polled bool
		sent   bool
	}{
		{Pointer{Value: "a", Revision: 3}, false, true},
		{Pointer{Value: "a", Revision: 3}, true, false},
		{Pointer{Value: "b", Revision: 2}, false, false},
		{Pointer{Value: "b", Revision: 2}, true, true},
		{Pointer{Value: "c", Revision: 2}, true, true},
		{Pointer{Value: "d", Revision: 9}, false, true},
	} {
		w.send(c.p, c.polled)
		select {
		case p := <-w.out:
			if !c.sent || p != c.p {
				t.Errorf("%+v: sent %+v", c, p)
			}
		default:
			if c.sent {
				t.Errorf("%+v: not sent", c)
			}
		}
	}
}

// A watch whose channel the client closes is opened again.
func TestWatchReopens(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	kw, err := b.ctl.Watch(ctx, "best")
	if err != nil {
		t.Fatal(err)
	}
	if err := kw.Stop(); err != nil {
		t.Fatal(err)
	}
	w := &watch{bus: b, key: "best", out: make(chan Pointer, 1)}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		w.run(ctx, kw)
		close(done)
	}()
	if _, err := b.SetPointer(ctx, "best", "one", 0); err != nil {
		t.Fatal(err)
	}
	if p := next(t, w.out); p.Value != "one" {
		t.Errorf("got %+v", p)
	}
	cancel()
	<-done
}
