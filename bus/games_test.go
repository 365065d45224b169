package bus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go/jetstream"
)

func TestPublishFetchAckPurge(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for i := range 20 {
		if r := publish(t, b, i); r.Duplicate || r.Sequence != uint64(i+1) {
			t.Fatalf("game %d: %+v", i, r)
		}
	}
	if r := publish(t, b, 7); !r.Duplicate || r.Sequence != 8 {
		t.Errorf("second copy: %+v, want duplicate of sequence 8", r)
	}
	if s := stats(t, b); s.Messages != 20 || s.Pending != 20 || s.LastSeq != 20 {
		t.Errorf("before ingest: %+v", s)
	}
	ms := take(t, b, 20)
	for i, m := range ms {
		if m.Sequence != uint64(i+1) || !bytes.Equal(m.Games[0], gameData(i)) {
			t.Errorf("game %d: sequence %d, %q", i, m.Sequence, m.Games[0])
		}
	}
	if s := stats(t, b); s.Unacked != 20 || s.Pending != 0 || s.AckFloor != 0 {
		t.Errorf("fetched: %+v", s)
	}
	if _, err := b.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if s := stats(t, b); s.Messages != 20 {
		t.Errorf("purge took games that are not acknowledged: %+v", s)
	}
	if err := b.AckGames(ctx, ms[14]); err != nil {
		t.Fatal(err)
	}
	left, err := b.Purge(ctx)
	if err != nil {
		t.Fatal(err)
	}
	s := stats(t, b)
	if s.Messages != 5 || s.FirstSeq != 16 || s.AckFloor != 15 || s.Unacked != 5 || s.Bytes != left {
		t.Errorf("after ack of 15 and purge (%d left): %+v", left, s)
	}
	if !publish(t, b, 3).Duplicate {
		t.Error("the server forgot a purged game within the window")
	}
}

// fetchWaits returns true as soon as a fetch of games waits at the server, and
// false if that does not happen before ctx ends.
func fetchWaits(ctx context.Context, b *Bus) bool {
	for ctx.Err() == nil {
		c, err := b.games.Consumer(ctx, consumerName)
		if err == nil && c.CachedInfo().NumWaiting > 0 {
			return true
		}
	}
	return false
}

func TestGamesWaits(t *testing.T) {
	b := openBus(t, Options{})
	batch, err := b.Games(testContext(t), 10, 100*time.Millisecond)
	if err != nil || len(batch.Msgs) != 0 {
		t.Fatalf("empty stream: %d messages, %v", len(batch.Msgs), err)
	}
	waited := make(chan bool, 1)
	go func() {
		waited <- fetchWaits(testContext(t), b)
		b.PublishGames(testContext(t), "a", "late", [][]byte{[]byte("x")})
	}()
	// One game of many asked for comes at once: an hour is longer than the test may take.
	if batch, err = b.Games(testContext(t), 10, time.Hour); err != nil || len(batch.Msgs) != 1 || string(batch.Msgs[0].Games[0]) != "x" {
		t.Errorf("got %+v, error %v", batch, err)
	}
	if !<-waited {
		t.Error("the game was published without a fetch that waits")
	}
	ctx, cancel := context.WithCancel(testContext(t))
	cancel()
	if _, err := b.Games(ctx, 10, time.Second); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if batch, err := b.Games(testContext(t), 0, time.Second); batch.Msgs != nil || err != nil {
		t.Errorf("none asked for: %v, %v", batch, err)
	}
}

// A bus opened anew gets at once what its predecessor left unacknowledged.
func TestUnackedGamesComeAgain(t *testing.T) {
	host := openBus(t, Options{Listen: "127.0.0.1:0"})
	first := openBus(t, Options{URL: "nats://" + host.conn.Addr()})
	for i := range 3 {
		publish(t, host, i)
	}
	take(t, first, 3)
	first.conn.Close()
	second := openBus(t, Options{URL: "nats://" + host.conn.Addr()})
	if ms := take(t, second, 3); ms[0].Sequence != 1 {
		t.Errorf("first sequence %d", ms[0].Sequence)
	}
}

func TestFullStream(t *testing.T) {
	ctx := testContext(t)
	b := joinRun(t, openConn(t, Options{}), "test", JoinOptions{MaxBytes: 256 << 10})
	data := make([]byte, 20<<10)
	var n int
	var err error
	for n = 0; n < 100; n++ {
		if _, err = b.PublishGames(ctx, "a", gameID(n), [][]byte{data}); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrFull) || n < 8 {
		t.Fatalf("after %d games: %v, want ErrFull", n, err)
	}
	if !publish2(t, b, 0, data).Duplicate {
		t.Error("a duplicate is no duplicate on a full stream")
	}
	ms := take(t, b, n)
	if err := b.AckGames(ctx, ms[n-1]); err != nil {
		t.Fatal(err)
	}
	if left, err := b.Purge(ctx); err != nil || left != 0 {
		t.Fatalf("purge: %d left, %v", left, err)
	}
	if r := publish2(t, b, n, data); r.Sequence != uint64(n+1) {
		t.Errorf("after purge: %+v", r)
	}
	take(t, b, 1)
}

// A delivery that got lost on its way must come again: acknowledging what came
// after it would acknowledge it unseen.
func TestLostDeliveryComesAgain(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for i := range 10 {
		publish(t, b, i)
	}
	if err := b.AckGames(ctx, take(t, b, 3)[2]); err != nil {
		t.Fatal(err)
	}
	lost, err := b.consumer.bound.Fetch(2) // games 4 and 5, seen by nobody
	if err != nil {
		t.Fatal(err)
	}
	for range lost.Messages() {
	}
	next := uint64(4)
	for next <= 10 {
		batch, err := b.Games(ctx, 4, 5*time.Second)
		if err != nil || len(batch.Holes) > 0 {
			t.Fatalf("holes %v, error %v", batch.Holes, err)
		}
		ms := batch.Msgs
		for _, m := range ms {
			if m.Sequence != next {
				t.Fatalf("got sequence %d, want %d", m.Sequence, next)
			}
			next++
		}
		if len(ms) > 0 {
			if err := b.AckGames(ctx, ms[len(ms)-1]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Games that were returned but not acknowledged, because storing them failed,
// come again with the next call.
func TestUnacknowledgedGamesComeAgain(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for i := range 6 {
		publish(t, b, i)
	}
	for range 2 {
		batch, err := b.Games(ctx, 3, 5*time.Second)
		if err != nil || len(batch.Msgs) == 0 || batch.Msgs[0].Sequence != 1 {
			t.Fatalf("%d messages, error %v; want them from sequence 1", len(batch.Msgs), err)
		}
	}
}

func publish2(t *testing.T, b *Bus, i int, data []byte) PubResult {
	t.Helper()
	r, err := b.PublishGames(testContext(t), "a", gameID(i), [][]byte{data})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A refused game is not remembered as stored.
func TestRefusedGameIsNoDuplicate(t *testing.T) {
	ctx := testContext(t)
	b := joinRun(t, openConn(t, Options{}), "test", JoinOptions{MaxBytes: 64 << 10})
	data := make([]byte, 40<<10)
	publish2(t, b, 0, data)
	if _, err := b.PublishGames(ctx, "a", gameID(1), [][]byte{data}); !errors.Is(err, ErrFull) {
		t.Fatalf("got %v, want ErrFull", err)
	}
	if err := b.AckGames(ctx, take(t, b, 1)[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Purge(ctx); err != nil {
		t.Fatal(err)
	}
	if r := publish2(t, b, 1, data); r.Duplicate {
		t.Errorf("refused before, now %+v", r)
	}
}

// Bundles, messages of protocol 1 and what is neither come side by side.
func TestMessagesOfGames(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	games := [][]byte{[]byte("one"), []byte("two"), []byte("three")}
	if _, err := b.PublishGames(ctx, "a", "bundle", games); err != nil {
		t.Fatal(err)
	}
	for _, data := range []string{"ZHGM bare", "ZHGS sealed", "junk", ""} {
		if _, err := b.publish(ctx, "b", "id-"+data[:len(data)/2], []byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	var ms []Msg
	for len(ms) != 5 { // on a busy machine fewer come at a time, and then come again
		batch, err := b.Games(ctx, 5*len(games), 2*time.Second) // reckoned from the first message
		if err != nil {
			t.Fatal(err)
		}
		ms = batch.Msgs
	}
	if m := ms[0]; m.Actor != "a" || m.Err != nil || !slices.EqualFunc(m.Games, games, bytes.Equal) {
		t.Errorf("bundle: %+v", m)
	}
	for i, want := range []string{"ZHGM bare", "ZHGS sealed"} {
		if m := ms[1+i]; m.Actor != "b" || m.Err != nil || len(m.Games) != 1 || string(m.Games[0]) != want {
			t.Errorf("%s: %+v", want, m)
		}
	}
	for i, want := range []string{"junk", ""} {
		if m := ms[3+i]; !errors.Is(m.Err, ErrBundle) || len(m.Games) != 0 || string(m.Data) != want {
			t.Errorf("%q: %+v", want, m)
		}
	}
	if err := b.AckGames(ctx, ms[4]); err != nil {
		t.Fatal(err)
	}
	if s := stats(t, b); s.AckFloor != 5 || s.Pending != 0 {
		t.Errorf("%+v", s)
	}
}

// silentConsumer is a stream whose consumer does not answer until it is deleted.
type silentConsumer struct {
	jetstream.Stream
	asked   int
	deleted bool
}

func (s *silentConsumer) CreateOrUpdateConsumer(ctx context.Context, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	if s.asked++; !s.deleted {
		return nil, context.DeadlineExceeded
	}
	return s.Stream.CreateOrUpdateConsumer(ctx, cfg)
}

func (s *silentConsumer) DeleteConsumer(ctx context.Context, name string) error {
	s.deleted = true
	return s.Stream.DeleteConsumer(ctx, name)
}

// A consumer for which no server answers any more, though they answer for its stream, is made
// anew after a while: no game that was not acknowledged is missed.
func TestSilentConsumerIsStartedOver(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	publish(t, b, 1)
	s := &silentConsumer{Stream: b.games}
	b.games = s
	for n := range maxSilence - 1 {
		if _, err := b.Games(ctx, 1, time.Second); !errors.Is(err, context.DeadlineExceeded) || s.deleted {
			t.Fatalf("question %d: %v, deleted %v, expected a deadline and that the consumer stays", n+1, err, s.deleted)
		}
	}
	batch, err := b.Games(ctx, 1, time.Minute)
	if err != nil || batch.Games() != 1 || !s.deleted || s.asked != maxSilence+1 {
		t.Fatalf("found %d games, %v, deleted %v after %d questions, expected the game after %d", batch.Games(), err, s.deleted, s.asked, maxSilence+1)
	}
	if err := b.AckGames(ctx, batch.Msgs[0]); err != nil {
		t.Fatal(err)
	}
}

func TestPublishRefusesBadInput(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	big := make([]byte, MaxPayload+1)
	if _, err := b.PublishGames(ctx, "a", "id", [][]byte{big[:MaxGameBytes+1]}); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes: %v", MaxGameBytes+1, err)
	}
	games := slices.Repeat([][]byte{big[:MaxGameBytes]}, MaxPayload/MaxGameBytes)
	games = append(games, big[:MaxPayload-BundleBytes(games...)-recordOverhead+1])
	if _, err := b.PublishGames(ctx, "a", "id", games); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d bytes: %v", BundleBytes(games...), err)
	}
	games[0] = games[0][1:]
	if _, err := b.PublishGames(ctx, "a", "id", games); err != nil || BundleBytes(games...) != MaxPayload {
		t.Errorf("%d bytes: %v", BundleBytes(games...), err)
	}
	if _, err := b.PublishGames(ctx, "a", "id3", nil); !errors.Is(err, ErrBundle) {
		t.Errorf("no games: %v", err)
	}
	if err := b.Reject(ctx, "large", big); !errors.Is(err, ErrTooLarge) {
		t.Errorf("reject of %d bytes: %v", len(big), err)
	}
	for _, bad := range []string{"", "a.b", "*", "a>", "a b", "a\nb", "ü", strings.Repeat("x", 129)} {
		if _, err := b.PublishGames(ctx, bad, "id2", [][]byte{{1}}); !errors.Is(err, ErrName) {
			t.Errorf("actor %q: %v", bad, err)
		}
		if _, err := b.PublishGames(ctx, "a", bad, [][]byte{{1}}); !errors.Is(err, ErrName) {
			t.Errorf("id %q: %v", bad, err)
		}
	}
	if err := b.AckGames(ctx, Msg{}); err == nil {
		t.Error("acknowledged a message that was never fetched")
	}
}

func TestReject(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	reason := "ply 3: illegal\r\nNats-Msg-Id: x " + strings.Repeat("ü", 400)
	if err := b.Reject(ctx, reason, []byte("bytes")); err != nil {
		t.Fatal(err)
	}
	m, err := b.rejects.GetMsg(ctx, 1)
	if err != nil {
		t.Fatal(err)
	}
	got := m.Header.Get(reasonHeader)
	if string(m.Data) != "bytes" || !strings.HasPrefix(got, "ply 3: illegal Nats-Msg-Id: x ü") {
		t.Errorf("%q with reason %q", m.Data, got)
	}
	if len(m.Header) != 2 || len(got) > maxReasonLen || !utf8.ValidString(got) {
		t.Errorf("headers %v", m.Header) // the reason and the expected stream
	}
	if s := stats(t, b); s.Rejects != 1 {
		t.Errorf("%+v", s)
	}
}

// After a power cut the end of the stream may be gone while the consumer
// remembers having passed it.
func TestLostTail(t *testing.T) {
	ctx := testContext(t)
	dir := t.TempDir()
	reopen := func(b *Bus, edit func(msgs string)) *Bus {
		if err := b.conn.Close(); err != nil {
			t.Fatal(err)
		}
		edit(filepath.Join(dir, "jetstream", "$G", "streams", "test-games", "msgs"))
		return openBus(t, Options{Dir: dir})
	}
	saved := t.TempDir()
	b := openBus(t, Options{Dir: dir})
	for i := range 2 {
		publish(t, b, i)
	}
	b = reopen(b, func(msgs string) {
		if err := os.CopyFS(saved, os.DirFS(msgs)); err != nil {
			t.Fatal(err)
		}
	})
	for i := 2; i < 6; i++ {
		publish(t, b, i)
	}
	if err := b.AckGames(ctx, take(t, b, 6)[5]); err != nil {
		t.Fatal(err)
	}
	b = reopen(b, func(msgs string) {
		if err := os.RemoveAll(msgs); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(msgs, os.DirFS(saved)); err != nil {
			t.Fatal(err)
		}
	})
	if s := stats(t, b); s.LastSeq != 2 {
		t.Fatalf("the tail is not lost: %+v", s)
	} else if stream, last, err := b.End(ctx); stream != s.Stream || last != 2 || err != nil {
		t.Errorf("end at %d of stream %d, error %v, expected 2 of %d", last, stream, err, s.Stream)
	}
	publish(t, b, 7)
	// The server forgets an acknowledgement that came while it wrote the consumer's
	// state. The games before the new one then come again.
	for n := 1; ; n++ {
		got := string(take(t, b, n)[n-1].Games[0])
		if got == string(gameData(7)) {
			return
		}
		if n > 2 || got != string(gameData(n-1)) {
			t.Fatalf("message %d: got %q", n, got)
		}
	}
}

// The same on a server that does not notice.
func TestConsumerAheadOfStreamStartsOver(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for i := range 2 {
		publish(t, b, i)
	}
	if err := b.AckGames(ctx, take(t, b, 2)[1]); err != nil {
		t.Fatal(err)
	}
	if _, err := b.js.ResetConsumerToSequence(ctx, b.gamesName(), consumerName, 10); err != nil {
		t.Fatal(err)
	}
	if s := stats(t, b); s.AckFloor <= s.LastSeq {
		t.Fatalf("the consumer is not ahead: %+v", s)
	}
	publish(t, b, 7)
	if left, err := b.Purge(ctx); err != nil || left == 0 {
		t.Fatalf("purge took games that were never seen: %d left, %v", left, err)
	}
	b.consumer.unbind()
	var got []string
	for _, m := range take(t, b, 3) {
		got = append(got, string(m.Games[0]))
	}
	want := []string{string(gameData(0)), string(gameData(1)), string(gameData(7))}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func BenchmarkPublish(b *testing.B) {
	for _, size := range []int{300, 4 << 10} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			bus := openBus(b, Options{})
			data := make([]byte, size)
			b.SetBytes(int64(size))
			b.ResetTimer()
			for i := range b.N {
				if _, err := bus.PublishGames(context.Background(), "a", fmt.Sprint("g", i), [][]byte{data}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What is on the server comes in one batch, however long deliveries take.
func TestBacklogComesAtOnce(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for i := range 100 {
		publish(t, b, i)
	}
	for _, want := range []int{60, 40} {
		batch, err := b.Games(ctx, 60, 10*time.Second)
		if err != nil || len(batch.Msgs) != want {
			t.Fatalf("%d messages, error %v, want %d", len(batch.Msgs), err, want)
		}
		if err := b.AckGames(ctx, batch.Msgs[want-1]); err != nil {
			t.Fatal(err)
		}
	}
}
