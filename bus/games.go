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
	maxReasonLen = 512
	reasonHeader = "Selfplay-Reason"
)

// PubResult says what the server did with a message of games.
type PubResult struct {
	Duplicate bool   // the id was there already; nothing was stored
	Sequence  uint64 // place in the stream, of the first copy if Duplicate
	Stream    int64  // which stream it is in; see [Stats]
}

// PublishGames stores encoded games as one message, a bundle, under its id and
// returns once it is on disk. actor is the part of the subject that says who
// played them. A message of an id seen within the duplicate window is not
// stored again, which makes publishing after a lost answer safe. The error
// wraps ErrFull if the server has no room, ErrTooLarge if a game is above
// MaxGameBytes or the bundle above MaxPayload, ErrBundle for no games, too many
// or an empty one, ErrName for an actor or id that cannot be a name. After
// ErrTooLarge, ErrBundle and ErrName no retry helps: what was to be published
// has to be set aside.
func (b *Bus) PublishGames(ctx context.Context, actor, id string, games [][]byte) (PubResult, error) {
	data, err := EncodeBundle(games)
	if err != nil {
		return PubResult{}, fmt.Errorf("publish games %s: %w", id, err)
	}
	return b.publishMessage(ctx, actor, id, data)
}

// PublishGame stores one encoded game as a message without a bundle, the form of
// protocol 1. All else is as of PublishGames.
func (b *Bus) PublishGame(ctx context.Context, actor, id string, data []byte) (PubResult, error) {
	if len(data) > MaxGameBytes {
		return PubResult{}, fmt.Errorf("publish game %s: %w: %d bytes, at most %d", id, ErrTooLarge, len(data), MaxGameBytes)
	}
	return b.publishMessage(ctx, actor, id, data)
}

func (b *Bus) publishMessage(ctx context.Context, actor, id string, data []byte) (PubResult, error) {
	if err := checkName("actor", actor); err != nil {
		return PubResult{}, err
	}
	if err := checkName("message id", id); err != nil {
		return PubResult{}, err
	}
	err := b.checkRoom(int64(len(data)))
	var r PubResult
	if err == nil {
		r, err = b.publish(ctx, actor, id, data)
	}
	if err != nil {
		return PubResult{}, fmt.Errorf("publish games %s: %w", id, err)
	}
	return r, nil
}

// publish stores one message in the game stream.
func (b *Bus) publish(ctx context.Context, actor, id string, data []byte) (PubResult, error) {
	ctx, cancel := b.bound(ctx)
	defer cancel()
	// The stream as it was known before: a message that is in a later one is
	// published again by an actor that asks for it, and dropped as known. The
	// other way round it could be missed.
	stream, err := b.stream.known(ctx, b.games)
	if err != nil {
		return PubResult{}, err
	}
	ack, err := b.js.Publish(ctx, b.gameSubject(actor), data,
		jetstream.WithMsgID(id), jetstream.WithExpectStream(b.gamesName()), jetstream.WithRetryAttempts(0))
	if err != nil {
		var api *jetstream.APIError
		if !errors.As(err, &api) {
			b.stream.doubt() // no answer, or no stream: it may be made anew
		}
		return PubResult{}, mapFull(err, "the stream holds all the bytes it may until the replay role has stored games")
	}
	b.stream.stored(ack)
	return PubResult{Duplicate: ack.Duplicate, Sequence: ack.Sequence, Stream: stream}, nil
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

// Reject keeps a game that failed validation for a week, with the reason as
// free text, so that it can be looked at. Old ones give way to new ones.
func (b *Bus) Reject(ctx context.Context, reason string, data []byte) error {
	if len(data) > MaxPayload {
		return fmt.Errorf("reject game: %w: %d bytes, at most %d", ErrTooLarge, len(data), MaxPayload)
	}
	m := nats.NewMsg(b.rejectSubject())
	m.Header.Set(reasonHeader, headerText(reason))
	m.Data = data
	ctx, cancel := b.bound(ctx)
	defer cancel()
	if _, err := b.js.PublishMsg(ctx, m, jetstream.WithExpectStream(b.rejectsName()), jetstream.WithRetryAttempts(0)); err != nil {
		return fmt.Errorf("reject game: %w", mapFull(err, "the reject stream"))
	}
	return nil
}

// Rejected is a game that failed validation.
type Rejected struct {
	Time   time.Time // when it was rejected
	Reason string
	Data   []byte // as it came
}

// Rejects returns the newest of the games that Reject keeps, at most n, newest first.
// The error wraps ErrDenied if the user may not read them.
func (b *Bus) Rejects(ctx context.Context, n int) ([]Rejected, error) {
	began := time.Now()
	list, err := b.newestRejects(ctx, n)
	if err != nil {
		return nil, fmt.Errorf("rejected games: %w", mapUnavailable(b.conn.orDenied(began, err)))
	}
	return list, nil
}

// newestRejects bounds each request and not all of them: there may be thousands.
func (b *Bus) newestRejects(ctx context.Context, n int) (list []Rejected, err error) {
	request, cancel := b.bound(ctx)
	defer cancel()
	info, err := b.rejects.Info(request)
	if err != nil {
		return nil, err
	}
	for seq := info.State.LastSeq; seq > 0 && seq >= info.State.FirstSeq && len(list) < n; seq-- {
		m, err := b.message(ctx, b.rejects, seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		if err != nil {
			return nil, err
		}
		list = append(list, Rejected{Time: m.Time, Reason: m.Header.Get(reasonHeader), Data: m.Data})
	}
	return list, nil
}

// headerText makes s one short line.
func headerText(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) > maxReasonLen {
		s = strings.ToValidUTF8(s[:maxReasonLen], "")
	}
	return s
}
