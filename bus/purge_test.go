package bus

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

// fill publishes until the stream is full and returns the number of messages.
func fill(t *testing.T, b *Bus, data []byte) int {
	t.Helper()
	for n := 0; ; n++ {
		_, err := b.PublishGames(testContext(t), "a", fmt.Sprint("fill-", stats(t, b).LastSeq), [][]byte{data})
		if errors.Is(err, ErrFull) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// A stream that is full of acknowledged games has room again, whatever came
// between, and without another game.
func TestAcknowledgedGamesNeverKeepTheStreamFull(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	data := make([]byte, 20<<10)
	open := func() *Bus {
		return joinRun(t, openConn(t, Options{Dir: dir}), "test", JoinOptions{MaxBytes: 256 << 10})
	}
	b := open()
	for range 3 {
		n := fill(t, b, data)
		ms := take(t, b, n)
		if err := b.AckGames(ctx, ms[n-1]); err != nil {
			t.Fatal(err)
		}
		publishOne(t, b, data)
		take1 := take(t, b, 1)
		if err := b.AckGames(ctx, take1[0]); err != nil {
			t.Fatal(err)
		}
	}
	// The process ends after the acknowledgement and before the purge.
	n := fill(t, b, data)
	ms := take(t, b, n)
	if err := ms[n-1].msg.DoubleAck(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PublishGames(ctx, "a", "refused", [][]byte{data}); !errors.Is(err, ErrFull) {
		t.Fatalf("after the acknowledgement alone: %v", err)
	}
	if err := b.conn.Close(); err != nil {
		t.Fatal(err)
	}
	b = open()
	if batch, err := b.Games(ctx, 10, 10*time.Millisecond); err != nil || len(batch.Msgs)+len(batch.Holes) != 0 {
		t.Fatalf("after the start: %+v, %v", batch, err)
	}
	publishOne(t, b, data)
}

// Games that waits frees a full stream first.
func TestGamesPurgesBeforeItWaits(t *testing.T) {
	ctx := testContext(t)
	b := joinRun(t, openConn(t, Options{Dir: t.TempDir()}), "test", JoinOptions{MaxBytes: 256 << 10})
	data := make([]byte, 20<<10)
	n := fill(t, b, data)
	last := take(t, b, n)[n-1]
	if err := last.msg.DoubleAck(ctx); err != nil { // AckGames, whose purge failed
		t.Fatal(err)
	}
	b.consumer.acked = last.Sequence
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	came := make(chan Batch, 1)
	go func() {
		batch, _ := b.Games(waiting, 1, time.Minute)
		came <- batch
	}()
	for {
		_, err := b.PublishGames(ctx, "a", "next", [][]byte{data})
		if err == nil {
			break
		}
		if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
	}
	if batch := <-came; batch.Games() != 1 {
		t.Errorf("%+v", batch)
	}
}

func publishOne(t *testing.T, b *Bus, data []byte) {
	t.Helper()
	if _, err := b.PublishGames(testContext(t), "a", fmt.Sprint("one-", stats(t, b).LastSeq), [][]byte{data}); err != nil {
		t.Fatal(err)
	}
}
