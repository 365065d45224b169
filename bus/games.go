package bus

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	// MaxUnacked is how many games may be fetched and not yet acknowledged;
	// at the limit Games returns nothing.
	MaxUnacked = 2048

	maxFetchBytes = 16 << 20              // of one Games call; well above one message
	fetchLinger   = 20 * time.Millisecond // for more games once there is one
	maxReasonLen  = 512

	reasonHeader = "Selfplay-Reason"
)

// storeFull is the reason inside JetStream's error 10077, "storing failed",
// that means the stream's size limit. The others with which a server refuses
// for want of room have codes of their own.
const storeFull = "maximum bytes exceeded"

const (
	codeStoreFailed          jetstream.ErrorCode = 10077
	codeAccountResources     jetstream.ErrorCode = 10002
	codeInsufficientResource jetstream.ErrorCode = 10023
	codeStorageResources     jetstream.ErrorCode = 10047
)

// PubResult says what the server did with a game.
type PubResult struct {
	Duplicate bool   // the id was there already; nothing was stored
	Sequence  uint64 // place in the stream, of the first copy if Duplicate
}

// PublishGame stores one encoded game under its id and returns once it is on
// disk. actor is the part of the subject that says who played it. A game of
// an id seen within the duplicate window is not stored again, which makes
// publishing after a lost answer safe. The error wraps ErrFull if the stream
// has no room, ErrTooLarge above MaxPayload, ErrName for an actor or id that
// cannot be a name.
func (b *Bus) PublishGame(ctx context.Context, actor, id string, data []byte) (PubResult, error) {
	if err := checkName("actor", actor); err != nil {
		return PubResult{}, err
	}
	if err := checkName("game id", id); err != nil {
		return PubResult{}, err
	}
	if len(data) > MaxPayload {
		return PubResult{}, fmt.Errorf("publish game %s: %w: %d bytes, at most %d", id, ErrTooLarge, len(data), MaxPayload)
	}
	ctx, cancel := bound(ctx)
	defer cancel()
	ack, err := b.js.Publish(ctx, b.gameSubject(actor), data,
		jetstream.WithMsgID(id), jetstream.WithExpectStream(b.gamesName()), jetstream.WithRetryAttempts(0))
	if err != nil {
		return PubResult{}, fmt.Errorf("publish game %s: %w", id, mapFull(err))
	}
	return PubResult{Duplicate: ack.Duplicate, Sequence: ack.Sequence}, nil
}

// checkName accepts what is one token of a subject and safe in a header.
func checkName(what, s string) error {
	if len(s) == 0 || len(s) > 128 {
		return fmt.Errorf("%w: %s %.140q: want 1 to 128 characters", ErrName, what, s)
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c >= 0x7f || strings.IndexByte(`.*>/\`, c) >= 0 {
			return fmt.Errorf(`%w: %s %q: want printable ASCII without space . * > / \`, ErrName, what, s)
		}
	}
	return nil
}

// mapFull adds ErrFull to the errors of a server without room.
func mapFull(err error) error {
	var api *jetstream.APIError
	if !errors.As(err, &api) {
		return err
	}
	switch api.ErrorCode {
	case codeStoreFailed:
		if !strings.Contains(api.Description, storeFull) {
			return err
		}
	case codeAccountResources, codeInsufficientResource, codeStorageResources:
	default:
		return err
	}
	return fmt.Errorf("%w: %w", ErrFull, err)
}

// Msg is one fetched game.
type Msg struct {
	Data     []byte
	Sequence uint64 // place in the stream

	msg jetstream.Msg
}

// Games waits up to wait for a game and returns the oldest ones that are not
// acknowledged, without a gap, at most max of them and about 16 MiB. It
// returns none, without an error, if none came. Games that were returned and
// not acknowledged come again with the next call. One ingester per run calls
// it.
//
// Since an acknowledgement covers everything before it, a delivery that went
// missing would be acknowledged unseen with the next one: what lies after a
// gap in the sequence is therefore not returned but asked for again.
func (b *Bus) Games(ctx context.Context, max int, wait time.Duration) ([]Msg, error) {
	if max <= 0 {
		return nil, nil
	}
	max = min(max, MaxUnacked)
	b.consumer.mu.Lock()
	defer b.consumer.mu.Unlock()
	if b.consumer.returned > b.consumer.acked {
		b.consumer.unbind() // binding again asks for everything not acknowledged
	}
	for deadline := time.Now().Add(wait); ; {
		c, err := b.bindConsumer(ctx)
		if err != nil {
			return nil, err
		}
		// A fetch ends when it is full or its time is over, so the first game
		// is waited for alone.
		games, err := b.fetch(ctx, c, nil, 1, wait)
		if err == nil && len(games) == 1 && max > 1 {
			games, err = b.fetch(ctx, c, games, max-1, fetchLinger)
		}
		if err != nil {
			b.consumer.unbind()
			return nil, fmt.Errorf("fetch games: %w", err)
		}
		whole := contiguous(games, b.consumer.acked+1)
		if whole < len(games) {
			b.consumer.unbind()
		}
		if whole > 0 {
			b.consumer.returned = games[whole-1].Sequence
		}
		if whole > 0 || len(games) == 0 {
			return games[:whole], nil
		}
		if wait = time.Until(deadline); wait <= 0 {
			return nil, nil
		}
	}
}

// contiguous returns how many of the games have the sequences that count up
// from first.
func contiguous(games []Msg, first uint64) int {
	for i := range games {
		if games[i].Sequence != first+uint64(i) {
			return i
		}
	}
	return len(games)
}

// fetch appends up to n games that come within wait.
func (b *Bus) fetch(ctx context.Context, c jetstream.Consumer, dst []Msg, n int, wait time.Duration) ([]Msg, error) {
	fetchCtx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	batch, err := c.Fetch(n, jetstream.FetchContext(fetchCtx), jetstream.FetchMaxBytes(maxFetchBytes))
	if err != nil {
		if ctx.Err() == nil && fetchCtx.Err() != nil {
			err = nil // a busy machine: the time was over before the request was sent
		}
		return dst, err
	}
	for m := range batch.Messages() {
		meta, err := m.Metadata()
		if err != nil {
			return dst, err
		}
		dst = append(dst, Msg{Data: m.Data(), Sequence: meta.Sequence.Stream, msg: m})
	}
	err = batch.Error()
	if ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		err = nil // nothing more came in time
	}
	return dst, err
}

// AckGames acknowledges last and every game before it, and returns once the
// server knows.
func (b *Bus) AckGames(ctx context.Context, last Msg) error {
	if last.msg == nil {
		return errors.New("acknowledge games: message was not fetched")
	}
	ctx, cancel := bound(ctx)
	defer cancel()
	b.consumer.mu.Lock()
	defer b.consumer.mu.Unlock()
	if err := last.msg.DoubleAck(ctx); err != nil {
		b.consumer.unbind() // it may have arrived all the same
		return fmt.Errorf("acknowledge games up to sequence %d: %w", last.Sequence, err)
	}
	b.consumer.acked = max(b.consumer.acked, last.Sequence)
	return nil
}

// Purge removes the games up to the last acknowledged one, and says how many
// bytes the stream holds afterwards.
func (b *Bus) Purge(ctx context.Context) (left uint64, err error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	if left, err = b.purge(ctx); err != nil {
		return 0, fmt.Errorf("purge games: %w", err)
	}
	return left, nil
}

func (b *Bus) purge(ctx context.Context) (left uint64, err error) {
	info, err := b.games.Info(ctx)
	if err != nil {
		return 0, err
	}
	floor, err := b.ackFloor(ctx)
	if err != nil {
		return 0, err
	}
	// A consumer ahead of its stream has not seen what is there now; Games
	// puts that right.
	if floor < info.State.FirstSeq || floor > info.State.LastSeq {
		return info.State.Bytes, nil
	}
	// The server removes what lies before the sequence, not the sequence.
	if err := b.games.Purge(ctx, jetstream.WithPurgeSequence(floor+1)); err != nil {
		return 0, fmt.Errorf("up to sequence %d: %w", floor, err)
	}
	if info, err = b.games.Info(ctx); err != nil {
		return 0, err
	}
	return info.State.Bytes, nil
}

// ackFloor is the sequence up to which all games are acknowledged, 0 before
// the consumer exists.
func (b *Bus) ackFloor(ctx context.Context) (uint64, error) {
	c, err := b.games.Consumer(ctx, consumerName)
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return c.CachedInfo().AckFloor.Stream, nil
}

// Reject keeps a game that failed validation for a week, with the reason as
// free text, so that it can be looked at. Old ones give way to new ones.
func (b *Bus) Reject(ctx context.Context, reason string, data []byte) error {
	if len(data) > MaxPayload {
		return fmt.Errorf("reject game: %w: %d bytes, at most %d", ErrTooLarge, len(data), MaxPayload)
	}
	m := nats.NewMsg(b.rejectSubject())
	m.Header.Set(reasonHeader, headerText(reason))
	m.Data = data
	ctx, cancel := bound(ctx)
	defer cancel()
	if _, err := b.js.PublishMsg(ctx, m, jetstream.WithExpectStream(b.rejectsName()), jetstream.WithRetryAttempts(0)); err != nil {
		return fmt.Errorf("reject game: %w", mapFull(err))
	}
	return nil
}

// headerText makes s one short line.
func headerText(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > maxReasonLen {
		s = strings.ToValidUTF8(s[:maxReasonLen], "")
	}
	return s
}
