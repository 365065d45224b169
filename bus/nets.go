package bus

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/nets"
)

const (
	manifestKey = "manifest" // in the object's metadata, nets.Manifest as JSON

	// A transfer whose caller set no deadline gets a fixed time and what a
	// slow line needs.
	transferWait = 30 * time.Second
	transferRate = 1 << 20 // bytes per second
)

// PutNet stores the net that r yields under m.ID, with m beside it. A net
// that is there already is left as it is. The error wraps ErrCorrupt, and
// nothing is stored, if the content's SHA-256 or size is not what m says, and
// ErrFull if the store of nets or the disk has no room for it. Parts of nets
// whose transfer broke off long ago are removed.
func (b *Bus) PutNet(ctx context.Context, m nets.Manifest, r io.Reader) error {
	if err := m.Validate(); err != nil {
		return fmt.Errorf("put net: %w", err)
	}
	manifest, err := m.Encode()
	if err != nil {
		return fmt.Errorf("put net: %w", err)
	}
	meta := jetstream.ObjectMeta{Name: m.ID, Metadata: map[string]string{manifestKey: string(manifest)}}
	if err := b.put(ctx, meta, m.ID, m.Size, r); err != nil {
		return fmt.Errorf("put net %s: %w", m.ID, mapUnavailable(err))
	}
	return nil
}

// GetNet writes the net to w. Only a nil error says that what was written is
// the net: the hash is known after the last byte, so w should be a file that
// is renamed afterwards. The error wraps ErrNoNet or ErrCorrupt.
func (b *Bus) GetNet(ctx context.Context, id string, w io.Writer) error {
	m, err := b.NetManifest(ctx, id)
	if err != nil {
		return err
	}
	if err := b.get(ctx, id, id, m.Size, w); err != nil {
		return fmt.Errorf("get net %s: %w", id, mapUnavailable(mapNoNet(err)))
	}
	return nil
}

// NetManifest returns the manifest stored with a net. The error wraps
// ErrNoNet or nets.ErrManifest.
func (b *Bus) NetManifest(ctx context.Context, id string) (nets.Manifest, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	info, err := b.nets.GetInfo(ctx, id)
	if err != nil {
		return nets.Manifest{}, fmt.Errorf("manifest of net %q: %w", id, mapUnavailable(mapNoNet(err)))
	}
	m, err := nets.ParseManifest([]byte(info.Metadata[manifestKey]))
	if err != nil {
		return nets.Manifest{}, fmt.Errorf("manifest of net %q: %w", id, err)
	}
	if m.ID != id {
		return nets.Manifest{}, fmt.Errorf("manifest of net %q: %w: it is for %s", id, nets.ErrManifest, m.ID)
	}
	return m, nil
}

// DeleteNet removes a net and frees its room. The error wraps ErrNoNet.
func (b *Bus) DeleteNet(ctx context.Context, id string) error {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	if _, err := b.nets.GetInfo(ctx, id); err != nil {
		return fmt.Errorf("delete net %q: %w", id, mapNoNet(err))
	}
	if err := b.deleteObject(ctx, id); err != nil {
		return fmt.Errorf("delete net %q: %w", id, mapNoNet(err))
	}
	return nil
}

func mapNoNet(err error) error {
	// An empty name is refused before it is looked for.
	if errors.Is(err, jetstream.ErrObjectNotFound) || errors.Is(err, jetstream.ErrNameRequired) {
		return ErrNoNet
	}
	return err
}

// transferContext bounds the transfer of size bytes unless ctx is bounded.
func (b *Bus) transferContext(ctx context.Context, size int64) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, max(transferWait, b.conn.answerWait())+time.Duration(size/transferRate)*time.Second)
}

// verifier passes r on and turns its end into ErrCorrupt if the bytes so far
// are not size bytes of the given hash. It fills the buffers it is given, as
// the object store makes one message of each.
type verifier struct {
	r    io.Reader
	h    hash.Hash
	id   string
	n    int64
	size int64
	err  error // of the end, once reached
}

func newVerifier(r io.Reader, id string, size int64) *verifier {
	return &verifier{r: r, h: sha256.New(), id: id, size: size}
}

// Read is io.Reader's.
func (v *verifier) Read(p []byte) (int, error) {
	if v.err != nil {
		return 0, v.err
	}
	n, err := io.ReadFull(v.r, p)
	v.h.Write(p[:n])
	v.n += int64(n)
	switch {
	case err == io.EOF || err == io.ErrUnexpectedEOF:
		v.err = v.end()
	case v.n > v.size:
		v.err = fmt.Errorf("%w: more than the %d bytes its manifest names", ErrCorrupt, v.size)
	default:
		v.err = err
	}
	return n, v.err
}

func (v *verifier) end() error {
	if sum := hex.EncodeToString(v.h.Sum(nil)); v.n != v.size || sum != v.id {
		return fmt.Errorf("%w: %d bytes with SHA-256 %s, want %d with %s", ErrCorrupt, v.n, sum, v.size, v.id)
	}
	return io.EOF
}
