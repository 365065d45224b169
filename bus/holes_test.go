package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ingest fetches and acknowledges until the given number of messages came and
// returns their sequences and the holes between them.
func ingest(t *testing.T, b *Bus, n int) (seqs []uint64, holes []Hole) {
	t.Helper()
	ctx := testContext(t)
	for len(seqs) < n {
		batch, err := b.Games(ctx, 1000, time.Second)
		if errors.Is(err, ErrUnavailable) && ctx.Err() == nil { // a cluster chooses who leads the consumer
			continue
		}
		if err != nil {
			t.Fatalf("after %d messages of %d and holes %v: %v", len(seqs), n, holes, err)
		}
		holes = append(holes, batch.Holes...)
		for _, m := range batch.Msgs {
			seqs = append(seqs, m.Sequence)
		}
		if n := len(batch.Msgs); n > 0 {
			if err := b.AckGames(ctx, batch.Msgs[n-1]); err != nil {
				t.Fatal(err)
			}
		}
	}
	return seqs, holes
}

// publishMany publishes n messages of about size bytes without waiting for
// each.
func publishMany(t *testing.T, b *Bus, n, size int) {
	t.Helper()
	data, err := EncodeBundle([][]byte{bytes.Repeat([]byte("g"), size)})
	if err != nil {
		t.Fatal(err)
	}
	var last jetstream.PubAckFuture
	for range n {
		if last, err = b.js.PublishAsync(b.gameSubject("a"), data); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case <-last.Ok():
	case err := <-last.Err():
		t.Fatal(err)
	}
	select {
	case <-b.js.PublishAsyncComplete():
	case <-testContext(t).Done():
		t.Fatal("publishing does not end")
	}
}

// deletable lets messages of the game stream be deleted, which a stream with
// DenyDelete never allows again: it is made anew without.
func deletable(t *testing.T, b *Bus) {
	t.Helper()
	ctx := testContext(t)
	if err := b.js.DeleteStream(ctx, b.gamesName()); err != nil {
		t.Fatal(err)
	}
	var err error
	b.games, err = b.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: b.gamesName(), Subjects: []string{b.gameSubject("*")}, Metadata: map[string]string{schemaKey: schemaVersion},
	})
	if err != nil {
		t.Fatal(err)
	}
	b.stream.doubt()
}

func deleteMsgs(t *testing.T, b *Bus, seqs ...uint64) {
	t.Helper()
	for _, s := range seqs {
		if err := b.games.DeleteMsg(testContext(t), s); err != nil {
			t.Fatal(err)
		}
	}
}

func TestHolesAreSkippedAndReportedOnce(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	deletable(t, b)
	if batch, err := b.Games(ctx, 1, 10*time.Millisecond); err != nil || len(batch.Msgs) != 0 { // the consumer begins at 1
		t.Fatalf("%+v, %v", batch, err)
	}
	for i := range 12 {
		publish(t, b, i)
	}
	// At the begin, in the middle twice, before the end.
	deleteMsgs(t, b, 1, 2, 5, 8, 9, 11)
	want := []Hole{{1, 2}, {5, 5}, {8, 9}, {11, 11}}
	var holes []Hole
	for range 3 { // nothing is acknowledged: the games come again, the holes do not
		var seqs []uint64
		for len(seqs) < 6 {
			batch, err := b.Games(ctx, 20, time.Second)
			if err != nil {
				t.Fatal(err)
			}
			holes = append(holes, batch.Holes...)
			seqs = seqs[:0]
			for _, m := range batch.Msgs {
				seqs = append(seqs, m.Sequence)
			}
		}
		if !slices.Equal(seqs, []uint64{3, 4, 6, 7, 10, 12}) {
			t.Errorf("sequences %v", seqs)
		}
	}
	if !slices.Equal(holes, want) {
		t.Errorf("holes %v, want %v", holes, want)
	}
	if s := stats(t, b); s.Holes != 4 || s.Lost != 6 || s.Missing != 4 {
		t.Errorf("%+v", s) // the first two are before FirstSeq
	}
	if seqs, again := ingest(t, b, 6); len(seqs) != 6 || len(again) != 0 {
		t.Errorf("%v with holes %v", seqs, again)
	}
	if f := b.Floor(); f.Sequence != 12 || f.Stream == 0 || f.Stream != stats(t, b).Stream {
		t.Errorf("floor %+v", f)
	}
}

// The last messages are missing, and no later one shows it.
func TestHoleAtTheEnd(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	deletable(t, b)
	for i := range 5 {
		publish(t, b, i)
	}
	deleteMsgs(t, b, 4, 5)
	if seqs, holes := ingest(t, b, 3); len(holes) != 0 || seqs[2] != 3 {
		t.Errorf("sequences %v, holes %v", seqs, holes)
	}
	batch, err := b.Games(ctx, 10, 100*time.Millisecond)
	if err != nil || len(batch.Msgs) != 0 || !slices.Equal(batch.Holes, []Hole{{4, 5}}) {
		t.Errorf("%+v, %v", batch, err)
	}
	if f := b.Floor(); f.Sequence != 5 {
		t.Errorf("floor %+v", f)
	}
	if batch, err := b.Games(ctx, 10, 10*time.Millisecond); err != nil || len(batch.Holes) != 0 {
		t.Errorf("again: %+v, %v", batch, err)
	}
	publish(t, b, 5)
	if seqs, holes := ingest(t, b, 1); len(holes) != 0 || seqs[0] != 6 {
		t.Errorf("then %v, holes %v", seqs, holes)
	}
}

// All that is pending is missing, from the first message on.
func TestHoleAtTheBegin(t *testing.T) {
	b := openBus(t, Options{})
	deletable(t, b)
	for i := range 6 {
		publish(t, b, i)
	}
	ingest(t, b, 2)
	for i := range 2 {
		publish(t, b, 6+i)
	}
	if seqs, _ := ingest(t, b, 2); len(seqs) == 0 {
		t.Fatal("nothing came")
	}
	n := int(stats(t, b).LastSeq)
	b.consumer.unbind()
	for i := range 4 {
		publish(t, b, 8+i)
	}
	deleteMsgs(t, b, uint64(n+1), uint64(n+2))
	seqs, holes := ingest(t, b, 2)
	if seqs[0] != uint64(n+3) || !slices.Equal(holes, []Hole{{uint64(n + 1), uint64(n + 2)}}) {
		t.Errorf("sequences %v, holes %v", seqs, holes)
	}
}

// A stream that was made again numbers from 1 on.
func TestStreamMadeAgain(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for i := range 5 {
		publish(t, b, i)
	}
	first := ingested(t, b, 5)
	if err := b.js.DeleteStream(ctx, b.gamesName()); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PublishGames(ctx, "a", "lost", [][]byte{{1}}); err == nil {
		t.Error("published to a stream that is not there")
	}
	// The ingester notices and makes it again.
	for {
		batch, err := b.Games(ctx, 10, 10*time.Millisecond)
		if len(batch.Holes) > 0 || len(batch.Msgs) > 0 {
			t.Fatalf("%+v", batch)
		}
		if err == nil {
			break
		}
		if ctx.Err() != nil {
			t.Fatal(err)
		}
	}
	r := publish(t, b, 5)
	if r.Sequence != 1 || r.Stream == first.Stream || r.Stream != stats(t, b).Stream {
		t.Errorf("%+v after %+v", r, first)
	}
	if again := ingested(t, b, 1); again.Sequence != 1 || again.Stream != r.Stream {
		t.Errorf("floor %+v", again)
	}
	if s := stats(t, b); s.MaxBytes != DefaultMaxBytes {
		t.Errorf("%+v", s)
	}
}

// ingested ingests n messages without a hole and returns the floor then.
func ingested(t *testing.T, b *Bus, n int) Floor {
	t.Helper()
	if seqs, holes := ingest(t, b, n); len(seqs) != n || len(holes) != 0 {
		t.Errorf("sequences %v, holes %v; want %d and none", seqs, holes, n)
	}
	return b.Floor()
}

// A consumer that does not deliver what the stream has is started over.
func TestConsumerThatDoesNotDeliver(t *testing.T) {
	b := openBus(t, Options{})
	for i := range 6 {
		publish(t, b, i)
	}
	ingested(t, b, 6)
	for i := range 4 {
		publish(t, b, 6+i)
	}
	b.consumer.misses = maxMisses
	b.consumer.unbind()
	seqs, holes := ingest(t, b, 4)
	if seqs[len(seqs)-1] > 10 || len(holes) != 0 || b.consumer.misses != 0 {
		t.Errorf("sequences %v, holes %v, %d misses", seqs, holes, b.consumer.misses)
	}
}

// A consumer that the servers have lost is made anew, and what was purged before is no hole:
// not for the ingester that purged it, nor for one that comes after it.
func TestLostConsumerIsNoHole(t *testing.T) {
	for _, copies := range []int{1, 3} {
		t.Run(fmt.Sprintf("copies=%d", copies), func(t *testing.T) {
			ctx := testContext(t)
			var o Options
			if copies > 1 {
				o.URL = clusterURL(t, startCluster(t, copies))
			}
			join := JoinOptions{Replicas: copies, MaxBytes: 1 << 20}
			b := joinRun(t, openConn(t, o), "test", join)
			for i := range 6 {
				publish(t, b, i)
			}
			ingested(t, b, 6)
			for round, next := range []*Bus{b, joinRun(t, b.conn, "test", join)} {
				if _, err := b.Purge(ctx); err != nil {
					t.Fatal(err)
				}
				first := uint64(7 + 2*round)
				if s := stats(t, b); s.FirstSeq != first {
					t.Fatalf("%+v, expected that the stream begins at %d", s, first)
				}
				if err := b.games.DeleteConsumer(ctx, consumerName); err != nil {
					t.Fatal(err)
				}
				b.consumer.unbind()
				publish(t, b, int(first))
				publish(t, b, int(first)+1)
				if f := ingested(t, next, 2); f.Sequence != first+1 {
					t.Errorf("floor %+v, expected %d", f, first+1)
				}
			}
		})
	}
}

// msgFiles returns the directory of the stream's blocks.
func msgFiles(dir string) string {
	return filepath.Join(dir, "jetstream", "$G", "streams", "test-games", "msgs")
}

// flipBit changes one bit in the middle of the stream's oldest block.
func flipBit(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(msgFiles(dir), "*.blk"))
	if err != nil || len(names) == 0 {
		t.Fatalf("blocks %v, %v", names, err)
	}
	data, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(names[0], data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// One flipped bit makes the server drop the rest of a block. What is left is
// ingested, the hole is reported, and later messages come.
func TestFlippedBitInTheStore(t *testing.T) {
	for _, index := range []bool{true, false} {
		t.Run(fmt.Sprintf("index=%v", index), func(t *testing.T) {
			const messages = 3000
			dir := t.TempDir()
			first := openBus(t, Options{Dir: dir})
			publishMany(t, first, messages, 4000)
			taken, _ := ingest(t, first, 1)
			if err := first.conn.Close(); err != nil {
				t.Fatal(err)
			}
			flipBit(t, dir)
			if !index { // as after a kill: all blocks are read at the start
				if err := os.Remove(filepath.Join(msgFiles(dir), "index.db")); err != nil {
					t.Fatal(err)
				}
			}
			b := openBus(t, Options{Dir: dir})
			publish(t, b, 1)
			last := stats(t, b).LastSeq
			next := taken[len(taken)-1] + 1
			var lost uint64
			for next <= last {
				batch, err := b.Games(testContext(t), 1000, time.Second)
				if err != nil {
					t.Fatalf("at sequence %d: %v", next, err)
				}
				holes := batch.Holes
				skip := func() {
					for len(holes) > 0 && holes[0].First == next {
						lost += holes[0].Len()
						next = holes[0].Last + 1
						holes = holes[1:]
					}
				}
				for _, m := range batch.Msgs {
					skip()
					if m.Sequence != next {
						t.Fatalf("sequence %d, want %d; holes %v", m.Sequence, next, batch.Holes)
					}
					next++
				}
				skip()
				if n := len(batch.Msgs); n > 0 {
					if err := b.AckGames(context.Background(), batch.Msgs[n-1]); err != nil {
						t.Fatal(err)
					}
				}
			}
			if s := stats(t, b); lost == 0 || s.Lost != lost || s.Holes == 0 {
				t.Errorf("%d lost, %+v", lost, s)
			}
			t.Logf("%d of %d messages lost", lost, messages)
		})
	}
}
