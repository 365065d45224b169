package bus

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// seededNet is testNet with other bytes for each seed.
func seededNet(seed byte, size int) ([]byte, nets.Manifest) {
	data := make([]byte, size)
	rand.NewChaCha8([32]byte{seed}).Read(data)
	_, m := testNet(size)
	m.ID = nets.Hash(data)
	return data, m
}

func TestFiles(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(300 << 10)
	for range 2 {
		if err := b.PutFile(ctx, m.ID, m.Size, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	var got bytes.Buffer
	if err := b.GetFile(ctx, m.ID, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
		t.Errorf("%d bytes, %v", got.Len(), err)
	}
	if _, err := b.NetManifest(ctx, m.ID); !errors.Is(err, ErrNoNet) {
		t.Errorf("a file is a net: %v", err)
	}
	if ids, err := b.ListNets(ctx); err != nil || len(ids) != 0 {
		t.Errorf("a file is listed: %v, %v", ids, err)
	}
	if err := b.PutFile(ctx, nets.Hash(data[1:]), m.Size, bytes.NewReader(data)); !errors.Is(err, ErrCorrupt) {
		t.Errorf("other content: %v", err)
	}
	for _, bad := range []string{"", "x", strings.ToUpper(m.ID)} {
		if err := b.PutFile(ctx, bad, m.Size, bytes.NewReader(data)); !errors.Is(err, ErrName) {
			t.Errorf("id %q: %v", bad, err)
		}
		if err := b.GetFile(ctx, bad, io.Discard); !errors.Is(err, ErrNoFile) {
			t.Errorf("id %q: %v", bad, err)
		}
	}
}

// A file whose description was stored damaged is stored again.
func TestDamagedDescription(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(1000)
	put := func() {
		t.Helper()
		if err := b.PutFile(ctx, m.ID, m.Size, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
	}
	put()
	subject := "$O." + b.netsName() + ".M." + base64.URLEncoding.EncodeToString([]byte(filePrefix+m.ID))
	if _, err := b.js.Publish(ctx, subject, []byte(`{"name":`)); err != nil {
		t.Fatal(err)
	}
	if err := b.GetFile(ctx, m.ID, io.Discard); !errors.Is(err, ErrUnavailable) {
		t.Errorf("damaged: %v, expected ErrUnavailable", err)
	}
	put()
	var got bytes.Buffer
	if err := b.GetFile(ctx, m.ID, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
		t.Errorf("stored again: %d bytes, %v", got.Len(), err)
	}
}

func TestListNets(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	var want []string
	for seed := range byte(4) {
		data, m := seededNet(seed, 100)
		if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		want = append(want, m.ID)
	}
	if err := b.DeleteNet(ctx, want[0]); err != nil {
		t.Fatal(err)
	}
	want = want[1:]
	slices.Sort(want)
	if ids, err := b.ListNets(ctx); err != nil || !slices.Equal(ids, want) {
		t.Errorf("%v, %v; want %v", ids, err, want)
	}
}

// A full store of nets refuses one before it is sent, keeps what it has, and
// has room again when a net is deleted.
func TestFullNetStore(t *testing.T) {
	ctx := testContext(t)
	c := openConn(t, Options{})
	b := joinRun(t, c, "test", JoinOptions{NetsBytes: 1 << 20})
	if again := joinRun(t, c, "test", JoinOptions{}); again.opt.NetsBytes != 0 {
		t.Fatal("options changed")
	}
	first, m1 := seededNet(1, 600<<10)
	second, m2 := seededNet(2, 600<<10)
	if err := b.PutNet(ctx, m1, bytes.NewReader(first)); err != nil {
		t.Fatal(err)
	}
	err := b.PutNet(ctx, m2, unread{})
	if !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "may hold 1.0 MiB and holds 0.6 MiB, 0.6 MiB more do not fit") {
		t.Errorf("full: %v", err)
	}
	// The server itself refuses too: nothing is left of what it took.
	if _, err := b.nets.Put(ctx, jetstream.ObjectMeta{Name: m2.ID}, bytes.NewReader(second)); err == nil {
		t.Error("the server takes more than the limit")
	}
	if there, err := b.whole(ctx, m2.ID); there || err != nil {
		t.Errorf("a net that was refused is there: %v, %v", there, err)
	}
	if err := b.GetNet(ctx, m1.ID, io.Discard); err != nil {
		t.Error(err)
	}
	if err := b.DeleteNet(ctx, m1.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.PutNet(ctx, m2, bytes.NewReader(second)); err != nil {
		t.Error(err)
	}
}

type unread struct{}

func (unread) Read([]byte) (int, error) { return 0, errors.New("read although there is no room") }

// An object whose parts are gone counts as missing and is stored again.
func TestObjectWithoutItsParts(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(300 << 10)
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	info, err := b.nets.GetInfo(ctx, m.ID)
	if err != nil {
		t.Fatal(err)
	}
	purgeObjects(t, b, b.chunkSubject(info.NUID))
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := b.GetNet(ctx, m.ID, io.Discard); err != nil {
		t.Error(err)
	}
}

func purgeObjects(t *testing.T, b *Bus, subject string) {
	t.Helper()
	s, err := b.js.Stream(testContext(t), "OBJ_"+b.netsName())
	if err == nil {
		err = s.Purge(testContext(t), jetstream.WithPurgeSubject(subject))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// What a process that was killed left is removed, and nothing else.
func TestLeftoversOfBrokenTransfers(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(300 << 10)
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	size := func() uint64 {
		s, err := b.nets.Status(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return s.Size()
	}
	before := size()
	for range 2 {
		if _, err := b.js.PublishMsg(ctx, &nats.Msg{Subject: b.chunkSubject("LEFTOVER"), Data: data[:1000]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.sweepObjects(ctx, leftoverAge); err != nil || size() <= before {
		t.Errorf("a transfer in progress was removed: %v", err)
	}
	if err := b.sweepObjects(context.Background(), 0); err != nil || size() != before {
		t.Errorf("%d bytes after the sweep, %d before; %v", size(), before, err)
	}
	if err := b.GetNet(ctx, m.ID, io.Discard); err != nil {
		t.Error(err)
	}
}

// A deleted object leaves nothing, and what earlier builds left of theirs goes when the
// next one is stored.
func TestDeletedObjectsLeaveNothing(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	put := func(size int) string {
		data, m := testNet(size)
		if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
			t.Fatal(err)
		}
		return m.ID
	}
	messages := func() uint64 {
		s, err := b.js.Stream(ctx, "OBJ_"+b.netsName())
		if err != nil {
			t.Fatal(err)
		}
		return s.CachedInfo().State.Msgs
	}
	kept := put(300 << 10)
	want := messages()
	for i := range 3 {
		id := put(200<<10 + i)
		if err := b.DeleteNet(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	if got := messages(); got != want {
		t.Errorf("%d messages after three nets were stored and deleted, want %d", got, want)
	}

	if err := b.nets.Delete(ctx, put(100<<10)); err != nil {
		t.Fatal(err)
	}
	if got := messages(); got != want+1 {
		t.Fatalf("%d messages, want %d: the client leaves a mark", got, want+1)
	}
	if err := b.DeleteNet(ctx, put(120<<10)); err != nil {
		t.Fatal(err)
	}
	if got := messages(); got != want {
		t.Errorf("%d messages after the next net, want %d", got, want)
	}
	if err := b.GetNet(ctx, kept, io.Discard); err != nil {
		t.Error(err)
	}
}

// A description that is not of a deleted object is not taken for one.
func TestForgetKeepsAnObjectStoredAgain(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(100 << 10)
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := b.forgetObject(ctx, m.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.GetNet(ctx, m.ID, io.Discard); err != nil {
		t.Error(err)
	}
}
