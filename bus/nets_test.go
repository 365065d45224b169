package bus

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/crazyhouse-rl/selfplay/nets"
)

// testNet returns size bytes that look like a net and their manifest.
func testNet(size int) ([]byte, nets.Manifest) {
	rng := rand.NewChaCha8([32]byte{1, 2, 3})
	data := make([]byte, size)
	rng.Read(data)
	return data, nets.Manifest{
		Schema: nets.ManifestSchema, ID: nets.Hash(data), Size: int64(size),
		Kind: nets.KindNNUE, Variant: "crazyhouse", Build: "test",
	}
}

func TestNetRoundTrip(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for _, size := range []int{0, 1, 128 << 10, 8<<20 + 5} {
		data, m := testNet(size)
		if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
			t.Fatalf("%d bytes: %v", size, err)
		}
		var got bytes.Buffer
		if err := b.GetNet(ctx, m.ID, &got); err != nil || !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%d bytes: %d came back, %v", size, got.Len(), err)
		}
		if back, err := b.NetManifest(ctx, m.ID); err != nil || back != m {
			t.Errorf("manifest %+v, %v", back, err)
		}
	}
}

// Small reads must not become small messages.
func TestPutNetFillsChunks(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(300 << 10)
	if err := b.PutNet(ctx, m, iotest.HalfReader(bytes.NewReader(data))); err != nil {
		t.Fatal(err)
	}
	if info, err := b.nets.GetInfo(ctx, m.ID); err != nil || info.Chunks != 3 {
		t.Errorf("%+v, %v, want 3 chunks", info, err)
	}
}

func TestPutNetNeverOverwrites(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(1000)
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	again := m
	again.Step = 99
	if err := b.PutNet(ctx, again, iotest.ErrReader(errors.New("must not be read"))); err != nil {
		t.Fatal(err)
	}
	if back, err := b.NetManifest(ctx, m.ID); err != nil || back.Step != m.Step {
		t.Errorf("manifest %+v, %v", back, err)
	}
}

func TestPutNetRefusesWrongContent(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	data, m := testNet(200 << 10)
	flipped := bytes.Clone(data)
	flipped[len(flipped)/2] ^= 1
	for name, r := range map[string]io.Reader{
		"flipped": bytes.NewReader(flipped),
		"short":   bytes.NewReader(data[1:]),
		"long":    bytes.NewReader(append(bytes.Clone(data), 0)),
		"endless": io.MultiReader(bytes.NewReader(data), strings.NewReader(strings.Repeat("x", 1<<20))),
	} {
		if err := b.PutNet(ctx, m, r); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want ErrCorrupt", name, err)
		}
	}
	broken := errors.New("broken")
	if err := b.PutNet(ctx, m, io.MultiReader(bytes.NewReader(data), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("reader that breaks: %v", err)
	}
	if _, err := b.NetManifest(ctx, m.ID); !errors.Is(err, ErrNoNet) {
		t.Errorf("after refusals: %v, want ErrNoNet", err)
	}
	if s, err := b.nets.Status(ctx); err != nil || s.Size() != 0 {
		t.Errorf("refused content takes %d bytes, %v", s.Size(), err)
	}
	if err := b.PutNet(ctx, nets.Manifest{}, bytes.NewReader(nil)); !errors.Is(err, nets.ErrManifest) {
		t.Errorf("empty manifest: %v", err)
	}
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Errorf("right content after wrong: %v", err)
	}
}

func TestGetNetVerifies(t *testing.T) {
	ctx := testContext(t)
	b := openBus(t, Options{})
	for _, id := range []string{"", "no such", strings.Repeat("0", 64)} {
		if err := b.GetNet(ctx, id, io.Discard); !errors.Is(err, ErrNoNet) {
			t.Errorf("id %q: got %v, want ErrNoNet", id, err)
		}
		if err := b.DeleteNet(ctx, id); !errors.Is(err, ErrNoNet) {
			t.Errorf("delete %q: got %v, want ErrNoNet", id, err)
		}
	}
	// A store that holds other bytes under the name, with a digest of its
	// own that fits them.
	data, m := testNet(1000)
	if err := b.PutNet(ctx, m, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	info, err := b.nets.GetInfo(ctx, m.ID)
	if err != nil {
		t.Fatal(err)
	}
	data[0] ^= 1
	if _, err := b.nets.Put(ctx, info.ObjectMeta, bytes.NewReader(data)); err != nil {
		t.Fatal(err)
	}
	if err := b.GetNet(ctx, m.ID, io.Discard); !errors.Is(err, ErrCorrupt) {
		t.Errorf("got %v, want ErrCorrupt", err)
	}
	if err := b.DeleteNet(ctx, m.ID); err != nil {
		t.Fatal(err)
	}
	if err := b.GetNet(ctx, m.ID, io.Discard); !errors.Is(err, ErrNoNet) {
		t.Errorf("deleted: got %v, want ErrNoNet", err)
	}
}
