package bus

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/crazyhouse-rl/selfplay/internal/disk"
)

// storeFull is the reason inside JetStream's error 10077, "storing failed",
// that means the stream's size limit. The others with which a server refuses
// for want of room have codes of their own.
const storeFull = "maximum bytes exceeded"

const (
	// The embedded server needs startRoom on its disk to start: for its own
	// files, which it writes anew, and the first games. Publishing stops when
	// less than spareRoom would be left: a server that meets a full disk stops
	// its stream until it is started again, and an acknowledgement takes a few
	// bytes too.
	startRoom = 4 << 20
	spareRoom = 2 << 20
)

const (
	codeStoreFailed          jetstream.ErrorCode = 10077
	codeAccountResources     jetstream.ErrorCode = 10002
	codeInsufficientResource jetstream.ErrorCode = 10023
	codeStorageResources     jetstream.ErrorCode = 10047
)

// mapFull turns the errors of a server without room into ErrFull and a
// sentence. limit says what it means that a stream is full.
func mapFull(err error, limit string) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err
	}
	var why string
	switch api.ErrorCode {
	case codeStoreFailed:
		if !strings.Contains(api.Description, storeFull) {
			return err
		}
		why = limit
	case codeAccountResources:
		why = "the server's account may store no more; raise its limit"
	case codeStorageResources:
		why = "the server may store no more (its max_file_store); raise that, or take less room for games"
	case codeInsufficientResource:
		why = "the server's cluster has not enough servers with room for the copies asked for"
	default:
		return err
	}
	return fmt.Errorf("%w: %s: %w", ErrFull, why, err)
}

// room returns the free bytes on the disk of the embedded server's store.
func (c *Conn) room() (uint64, error) {
	free := disk.Free
	if c.opt.free != nil {
		free = c.opt.free
	}
	n, err := free(c.opt.Dir)
	if err != nil {
		return 0, fmt.Errorf("free room of the server's store: %w", err)
	}
	return n, nil
}

// checkStartRoom refuses a disk on which the embedded server cannot start.
func (c *Conn) checkStartRoom() error {
	free, err := c.room()
	if err != nil {
		return err
	}
	if free < startRoom {
		return fmt.Errorf("%w: the server's store in %s needs %s of free disk to start and has %s; free %s there",
			ErrFull, c.opt.Dir, mebibytes(startRoom), mebibytes(free), mebibytes(startRoom-free))
	}
	return nil
}

// checkRoom refuses to store n bytes more on a disk that is nearly full, if
// the server is the embedded one.
func (b *Bus) checkRoom(n int64) error {
	if b.conn.srv == nil {
		return nil
	}
	free, err := b.conn.room()
	if err != nil {
		return err
	}
	if need := uint64(n) + spareRoom; free < need {
		return fmt.Errorf("%w: %s more in the server's store in %s need %s of free disk, %s of them to spare, and it has %s",
			ErrFull, mebibytes(uint64(n)), b.conn.opt.Dir, mebibytes(need), mebibytes(spareRoom), mebibytes(free))
	}
	return nil
}

// warnOfSmallDisk tells that the disk will be full before the game stream is.
func (b *Bus) warnOfSmallDisk() {
	if b.conn.srv == nil {
		return
	}
	info := b.games.CachedInfo()
	free, err := b.conn.room()
	if most := max(info.Config.MaxBytes, 0); err == nil && free+info.State.Bytes < uint64(most) {
		b.warn("the disk has less room than games may take on their way to the replay buffer",
			"free", mebibytes(free), "may_take", mebibytes(uint64(most)), "dir", b.conn.opt.Dir)
	}
}

func mebibytes(n uint64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
