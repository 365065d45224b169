package bus

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	filePrefix = "file-" // of the names of what is no net

	// Chunks without an object this long after the last of them are what a
	// broken transfer left: a transfer in progress is never as slow.
	leftoverAge = time.Hour
)

var contentID = regexp.MustCompile(`^[0-9a-f]{64}$`)

// PutFile stores the size bytes that r yields under their SHA-256 in hex. What
// is there already is left as it is. The error wraps ErrName for another id,
// ErrCorrupt, and nothing is stored, if the content is not what id and size
// say, ErrFull if there is no room, and ErrUnavailable if the server does not answer
// now.
func (b *Bus) PutFile(ctx context.Context, id string, size int64, r io.Reader) error {
	if !contentID.MatchString(id) {
		return fmt.Errorf("put file: %w: id %.80q: want 64 hexadecimal digits", ErrName, id)
	}
	if err := b.put(ctx, jetstream.ObjectMeta{Name: filePrefix + id}, id, size, r); err != nil {
		return fmt.Errorf("put file %s: %w", id, mapUnavailable(err))
	}
	return nil
}

// GetFile writes the file to w. Only a nil error says that what was written is
// the file. The error wraps ErrNoFile, ErrCorrupt or ErrUnavailable.
func (b *Bus) GetFile(ctx context.Context, id string, w io.Writer) error {
	err := func() error {
		infoCtx, cancel := b.bound(ctx)
		defer cancel()
		info, err := b.nets.GetInfo(infoCtx, filePrefix+id)
		if err != nil {
			return err
		}
		return b.get(ctx, info.Name, id, int64(info.Size), w)
	}()
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		err = ErrNoFile
	}
	if err != nil {
		return fmt.Errorf("get file %.80q: %w", id, mapUnavailable(err))
	}
	return nil
}

// put stores an object under a name that stands for its content, which has the
// given SHA-256 and size.
func (b *Bus) put(ctx context.Context, meta jetstream.ObjectMeta, id string, size int64, r io.Reader) error {
	ctx, cancel := b.transferContext(ctx, size)
	defer cancel()
	b.netsMu.Lock()
	defer b.netsMu.Unlock()
	there, err := b.whole(ctx, meta.Name)
	if err != nil || there {
		return err
	}
	if err := b.sweepObjects(ctx, leftoverAge); err != nil {
		b.warn("leftovers of broken transfers not removed", "error", err)
	}
	if err := b.checkObjectRoom(ctx, size); err != nil {
		return err
	}
	if _, err := b.nets.Put(ctx, meta, newVerifier(r, id, size)); err != nil {
		// What describes the object may have been stored although a part of it
		// was refused.
		if _, err := b.whole(context.WithoutCancel(ctx), meta.Name); err != nil {
			b.warn("broken transfer not removed", "object", meta.Name, "error", err)
		}
		return mapFull(err, "the store of nets holds all the bytes it may; delete old nets")
	}
	return nil
}

// get writes an object of the given SHA-256 and size to w.
func (b *Bus) get(ctx context.Context, name, id string, size int64, w io.Writer) error {
	ctx, cancel := b.transferContext(ctx, size)
	defer cancel()
	obj, err := b.nets.Get(ctx, name)
	if err != nil {
		return err
	}
	defer obj.Close()
	if _, err := io.Copy(w, newVerifier(obj, id, size)); err != nil {
		if errors.Is(err, jetstream.ErrDigestMismatch) {
			err = fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		return err
	}
	return nil
}

// whole reports whether the object is stored with all its parts. One that lacks some is
// deleted, and so is one whose description was stored damaged.
func (b *Bus) whole(ctx context.Context, name string) (bool, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	info, err := b.nets.GetInfo(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return false, nil
	}
	if errors.Is(err, jetstream.ErrBadObjectMeta) {
		return false, b.forgetObject(ctx, name)
	}
	if err != nil {
		return false, err
	}
	stream, err := b.js.Stream(ctx, "OBJ_"+b.netsName())
	if err != nil {
		return false, err
	}
	chunks := b.chunkSubject(info.NUID)
	state, err := stream.Info(ctx, jetstream.WithSubjectFilter(chunks))
	if err != nil {
		return false, err
	}
	if state.State.Subjects[chunks] == uint64(info.Chunks) {
		return true, nil
	}
	return false, b.deleteObject(ctx, name)
}

// deleteObject removes an object that may be gone.
func (b *Bus) deleteObject(ctx context.Context, name string) error {
	if err := b.nets.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return err
	}
	if err := b.forgetObject(ctx, name); err != nil {
		b.warn("what described a deleted object stays until the next one is stored", "object", name, "error", err)
	}
	return nil
}

// forgetObject removes the mark that a deleted object leaves in place of its description,
// and a description that cannot be read. The server would keep the mark for ever, in a file of its own if the object
// was large, and read those of all objects that ever were for every list. An object
// stored again meanwhile stays.
func (b *Bus) forgetObject(ctx context.Context, name string) error {
	stream, err := b.js.Stream(ctx, "OBJ_"+b.netsName())
	if err != nil {
		return err
	}
	subject := "$O." + b.netsName() + ".M." + base64.URLEncoding.EncodeToString([]byte(name))
	last, err := stream.GetLastMsgForSubject(ctx, subject)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	var info jetstream.ObjectInfo
	if err := json.Unmarshal(last.Data, &info); err == nil && !info.Deleted {
		return nil
	} else if err != nil {
		b.warn("what describes an object in the store of nets is damaged and is removed", "object", name, "error", err)
	}
	return stream.Purge(ctx, jetstream.WithPurgeSubject(subject), jetstream.WithPurgeSequence(last.Sequence+1))
}

func (b *Bus) chunkSubject(nuid string) string { return "$O." + b.netsName() + ".C." + nuid }

// checkObjectRoom refuses what cannot fit before anything is sent.
func (b *Bus) checkObjectRoom(ctx context.Context, size int64) error {
	if err := b.checkRoom(size); err != nil {
		return err
	}
	ctx, cancel := b.bound(ctx)
	defer cancel()
	stream, err := b.js.Stream(ctx, "OBJ_"+b.netsName())
	if err != nil {
		return err
	}
	info := stream.CachedInfo()
	if most := info.Config.MaxBytes; most > 0 && int64(info.State.Bytes)+size > most {
		return fmt.Errorf("%w: the store of nets may hold %s and holds %s, %s more do not fit; delete old nets",
			ErrFull, mebibytes(uint64(most)), mebibytes(info.State.Bytes), mebibytes(uint64(size)))
	}
	return nil
}

// sweepObjects removes the chunks that belong to no object and are at least as
// old as given: a process was killed while it stored a net. It also removes the marks
// of deleted objects, which earlier builds left.
func (b *Bus) sweepObjects(ctx context.Context, age time.Duration) error {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	stream, err := b.js.Stream(ctx, "OBJ_"+b.netsName())
	if err != nil {
		return err
	}
	// The chunks are looked at first: an object that is complete by then is
	// described by the time its description is looked for.
	info, err := stream.Info(ctx, jetstream.WithSubjectFilter(b.chunkSubject(">")))
	if err != nil || len(info.State.Subjects) == 0 {
		return err
	}
	objects, err := b.nets.List(ctx, jetstream.ListObjectsShowDeleted())
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return err
	}
	for _, o := range objects {
		if o.Deleted {
			if err := b.forgetObject(ctx, o.Name); err != nil {
				return err
			}
			continue
		}
		delete(info.State.Subjects, b.chunkSubject(o.NUID))
	}
	for subject := range info.State.Subjects {
		last, err := stream.GetLastMsgForSubject(ctx, subject)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return err
		}
		if info.TimeStamp.Sub(last.Time) < age { // both by the server's clock
			continue
		}
		b.warn("removing what a broken transfer left in the store of nets", "object", subject)
		if err := stream.Purge(ctx, jetstream.WithPurgeSubject(subject)); err != nil {
			return err
		}
	}
	return nil
}

// ListNets returns the ids of all nets on the server, sorted.
func (b *Bus) ListNets(ctx context.Context) ([]string, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	objects, err := b.nets.List(ctx)
	if err != nil && !errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, fmt.Errorf("list nets: %w", err)
	}
	var ids []string
	for _, o := range objects {
		if !strings.HasPrefix(o.Name, filePrefix) {
			ids = append(ids, o.Name)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
