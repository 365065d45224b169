package selfplay

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
)

// The services by which the replay role shows the games that it has stored: a page of them,
// and one.
const (
	storedService = "replay.stored"
	gameService   = "replay.game"
)

// MaxStored is how many games a StoredPage has at most.
const MaxStored = 200

const (
	maxStoredID     = 250             // bytes, as of every text of a game
	maxStoredDamage = 50              // in an answer; more is counted
	storedWait      = 2 * time.Second // for the question before
	storedWithin    = 2 * time.Second // of an answer; bus.Ask waits five seconds
	storedRest      = time.Second     // after an answer, at most
)

// errStoredBusy says that others ask too.
var errStoredBusy = errors.New("the replay role answers others who look at stored games; try again")

// StoredGame describes a game that is stored.
type StoredGame struct {
	At     replay.Cursor `json:"at"` // where its record begins
	ID     string        `json:"id"`
	Nets   [2]string     `json:"nets"`   // ids, of White and Black
	Result string        `json:"result"` // "1-0", "0-1" or "1/2-1/2"
	Reason string        `json:"reason"`
	Plies  int           `json:"plies"`
	Book   bool          `json:"book"` // it began with a position of the book
}

// StoredPage is stored games that lie before a place, as replay.Page has them.
type StoredPage struct {
	Games  []StoredGame  `json:"games"`  // the newest first
	Older  replay.Cursor `json:"older"`  // before which the next page ends; zero: nothing older is stored
	First  uint64        `json:"first"`  // number of the oldest segment; 0: there is none
	Last   uint64        `json:"last"`   // of the newest
	Damage []string      `json:"damage"` // what cannot be read between the games or in front of them
}

// DescribeGame describes the game with a header, wherever it is.
func DescribeGame(h *game.Header) StoredGame {
	return StoredGame{ID: h.ID, Nets: h.Nets, Result: h.Outcome.String(), Reason: game.ReasonText(h.Reason), Plies: h.Plies, Book: h.StartFEN != ""}
}

// ReadStored returns the newest games of an archive that lie before a place, at most n of
// them, 1 to MaxStored. The zero Cursor is the end of the archive.
func ReadStored(ctx context.Context, a *replay.Archive, before replay.Cursor, n int) (StoredPage, error) {
	p, err := a.Before(ctx, before, min(n, MaxStored))
	if err != nil {
		return StoredPage{}, err
	}
	out := StoredPage{Games: []StoredGame{}, Older: p.Older, First: p.First, Last: p.Last, Damage: []string{}}
	for _, d := range p.Damage {
		out.Damage = append(out.Damage, d.String())
	}
	for _, g := range p.Games {
		h, err := game.DecodeHeader(g.Game)
		if err != nil {
			out.Damage = append(out.Damage, fmt.Sprintf("the game at %d.%d: %v", g.At.Segment, g.At.Offset, err))
			continue
		}
		d := DescribeGame(&h)
		d.At = g.At
		out.Games = append(out.Games, d)
	}
	if more := len(out.Damage) - maxStoredDamage; more > 0 {
		out.Damage = append(out.Damage[:maxStoredDamage], fmt.Sprintf("and %d more", more))
	}
	return out, nil
}

// storedRequest asks for a page.
type storedRequest struct {
	Schema int           `json:"schema"`
	Before replay.Cursor `json:"before"`
	Games  int           `json:"games"` // at most
}

// storedAnswer is one.
type storedAnswer struct {
	Schema int `json:"schema"`
	StoredPage
}

// gameRequest asks for a game, of whose place something may be known.
type gameRequest struct {
	Schema  int           `json:"schema"`
	ID      string        `json:"id"`
	At      replay.Cursor `json:"at"`      // where it was; zero: not known
	Segment uint64        `json:"segment"` // to look in; 0: at the place or, if none is known, in the newest
}

// gameAnswer is the game, or where to look for it next.
type gameAnswer struct {
	Schema int    `json:"schema"`
	Game   []byte `json:"game,omitempty"`  // as it is stored
	Older  uint64 `json:"older,omitempty"` // segment to look in next; 0: there is none
	Why    string `json:"why,omitempty"`   // there is no game in what was looked in
}

func (m *storedRequest) check() error {
	if m.Games < 1 || m.Games > MaxStored || m.Before.Offset < 0 {
		return fmt.Errorf("%d games before offset %d, expected 1 to %d games and an offset of 0 or more", m.Games, m.Before.Offset, MaxStored)
	}
	return checkSchema(m.Schema)
}

func (m *storedAnswer) check() error {
	if len(m.Games) > MaxStored || len(m.Damage) > maxStoredDamage+1 {
		return fmt.Errorf("%d games and %d damages, expected at most %d and %d", len(m.Games), len(m.Damage), MaxStored, maxStoredDamage+1)
	}
	return checkSchema(m.Schema)
}

func (m *gameRequest) check() error {
	if m.ID == "" || len(m.ID) > maxStoredID || m.At.Offset < 0 {
		return fmt.Errorf("an id of %d bytes and offset %d, expected 1 to %d bytes and an offset of 0 or more", len(m.ID), m.At.Offset, maxStoredID)
	}
	return checkSchema(m.Schema)
}

func (m *gameAnswer) check() error { return checkSchema(m.Schema) }

// storedServer answers who looks at stored games, one at a time, so that they do not slow
// what the replay role is for: it rests three times as long as it has read, a second at
// most, and an answer reads a page or one segment.
type storedServer struct {
	archive  *replay.Archive
	turn     chan struct{}
	patience time.Duration // for the question before
}

func newStoredServer(a *replay.Archive) *storedServer {
	return &storedServer{a, make(chan struct{}, 1), storedWait}
}

// begin waits until nobody else is answered. What it returns ends the turn.
func (s *storedServer) begin() (ctx context.Context, end func(), err error) {
	late := time.NewTimer(s.patience)
	defer late.Stop()
	select {
	case s.turn <- struct{}{}:
	case <-late.C:
		return nil, nil, errStoredBusy
	}
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), storedWithin)
	return ctx, func() {
		cancel()
		time.AfterFunc(min(3*time.Since(began), storedRest), func() { <-s.turn })
	}, nil
}

// answerPage answers an encoded storedRequest.
func (s *storedServer) answerPage(request []byte) ([]byte, error) {
	var q storedRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	ctx, end, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	p, err := ReadStored(ctx, s.archive, q.Before, q.Games)
	if err != nil {
		return nil, err
	}
	return encodeMessage(&storedAnswer{messageSchema, p}), nil
}

// answerGame answers an encoded gameRequest.
func (s *storedServer) answerGame(request []byte) ([]byte, error) {
	var q gameRequest
	if err := decodeMessage(request, &q); err != nil {
		return nil, err
	}
	ctx, end, err := s.begin()
	if err != nil {
		return nil, err
	}
	defer end()
	out := gameAnswer{Schema: messageSchema}
	if q.Segment == 0 && q.At.Segment > 0 {
		p, err := s.archive.At(q.At)
		if h, bad := game.DecodeHeader(p.Game); err == nil && bad == nil && h.ID == q.ID {
			out.Game = p.Game
			return encodeMessage(&out), nil
		}
		if err != nil {
			out.Why = err.Error()
		}
	}
	p, older, err := s.archive.FindIn(ctx, q.ID, q.Segment)
	switch {
	case errors.Is(err, replay.ErrUnknown):
		out.Older = older
		if out.Why == "" {
			out.Why = err.Error()
		}
	case err != nil:
		return nil, err
	default:
		out.Game, out.Why = p.Game, ""
	}
	return encodeMessage(&out), nil
}

// Stored asks the replay role of the run for the newest stored games before a place, as
// ReadStored returns them. The error wraps bus.ErrNobody if there is none, or one of an
// earlier build.
func (r *Run) Stored(ctx context.Context, before replay.Cursor, n int) (StoredPage, error) {
	text, err := r.bus.Ask(ctx, storedService, encodeMessage(&storedRequest{messageSchema, before, min(n, MaxStored)}))
	if err != nil {
		return StoredPage{}, err
	}
	var reply storedAnswer
	err = decodeMessage(text, &reply)
	return reply.StoredPage, err
}

// StoredGame asks the replay role for the game with an id, which lay at a place before; the
// zero Cursor stands for a place that is not known. Then, or if it is not there, it is
// looked for in all segments, one question each. The error wraps replay.ErrUnknown if there
// is no such game, and bus.ErrNobody as for Stored.
func (r *Run) StoredGame(ctx context.Context, id string, at replay.Cursor) ([]byte, error) {
	q := gameRequest{Schema: messageSchema, ID: id, At: at}
	why := ""
	for read := 1; ; read++ {
		text, err := r.bus.Ask(ctx, gameService, encodeMessage(&q))
		if err != nil {
			return nil, err
		}
		var reply gameAnswer
		if err := decodeMessage(text, &reply); err != nil {
			return nil, err
		}
		if len(reply.Game) > 0 {
			h, err := game.DecodeHeader(reply.Game)
			if err == nil && h.ID != id {
				err = fmt.Errorf("%w: found game %.80q, expected %.80q", errMessage, h.ID, id)
			}
			return reply.Game, err
		}
		if read == 1 {
			why = reply.Why
		}
		if reply.Older == 0 || q.Segment > 0 && reply.Older >= q.Segment {
			return nil, fmt.Errorf("%w: found none with the id %.80s in %d segments: %s", replay.ErrUnknown, id, read, why)
		}
		q.Segment = reply.Older
	}
}
