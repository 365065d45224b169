package dash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/bus"
	"github.com/crazyhouse-rl/selfplay/replay"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

const (
	pageGames  = 100              // of a page of stored games
	findWithin = 15 * time.Second // a game by its id
)

// Stored is a page of the games that the replay buffer still has.
type Stored struct {
	Games  []GameLine `json:"games"`  // the newest first
	Older  string     `json:"older"`  // place before which the next page ends; empty: there is none
	First  uint64     `json:"first"`  // number of the oldest segment; 0: none
	Last   uint64     `json:"last"`   // of the newest
	Damage []string   `json:"damage"` // what cannot be read in front of the games or between them
}

// placeText is a place of a stored game in addresses of the page: segment and offset.
func placeText(c replay.Cursor) string {
	if c == (replay.Cursor{}) {
		return ""
	}
	return fmt.Sprintf("%d.%d", c.Segment, c.Offset)
}

// parsePlace reads what placeText writes.
func parsePlace(text string) (c replay.Cursor, err error) {
	if text == "" {
		return c, nil
	}
	segment, offset, _ := strings.Cut(text, ".")
	c.Segment, err = strconv.ParseUint(segment, 10, 64)
	if err == nil {
		c.Offset, err = strconv.ParseInt(offset, 10, 64)
	}
	if err != nil || c.Segment == 0 || c.Segment == 1<<64-1 || c.Offset < 0 {
		return c, fmt.Errorf("found the place %.60q, expected segment and offset, such as 3.1024", text)
	}
	return c, nil
}

// line describes a game in a list.
func (w *Watch) line(g *selfplay.StoredGame, generation generations) GameLine {
	return GameLine{
		ID: g.ID, Actor: replay.ActorOf(g.ID, w.run.ID), Result: g.Result, Reason: g.Reason, Plies: g.Plies,
		Generations: [2]int{generation.of(g.Nets[0]), generation.of(g.Nets[1])}, Book: g.Book,
	}
}

// StoredGames are those of a run, read one question at a time. Errors of Game wrap
// replay.ErrUnknown if there is none with the id; those of both wrap bus.ErrNobody if nobody
// answers for a run on servers.
type StoredGames interface {
	// Stored returns at most n games before a place, as selfplay.ReadStored does.
	Stored(ctx context.Context, before replay.Cursor, n int) (selfplay.StoredPage, error)
	// StoredGame returns the game with an id, which lay at a place before, as it is stored.
	StoredGame(ctx context.Context, id string, at replay.Cursor) ([]byte, error)
}

// storedHere are the games in a directory.
type storedHere struct{ *replay.Archive }

func (a storedHere) Stored(ctx context.Context, before replay.Cursor, n int) (selfplay.StoredPage, error) {
	return selfplay.ReadStored(ctx, a.Archive, before, n)
}

func (a storedHere) StoredGame(ctx context.Context, id string, at replay.Cursor) ([]byte, error) {
	p, err := a.Find(ctx, id, at)
	return p.Game, err
}

// refuseStored says why stored games cannot be read.
func refuseStored(w http.ResponseWriter, err error) {
	switch {
	case errors.Is(err, replay.ErrUnknown):
		refuse(w, http.StatusNotFound, err.Error())
	case errors.Is(err, bus.ErrNobody):
		refuse(w, http.StatusNotFound, "no replay role of this run answers for stored games: there is none, or it is of an earlier build. Update it, or see them where the replay buffer is: selfplay dash DIR")
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusGatewayTimeout, fmt.Sprintf("no answer within %v; open a game from the list of stored games", findWithin))
	default:
		refuse(w, http.StatusInternalServerError, "the stored games cannot be read: "+err.Error())
	}
}

// storedGames are those of the run. Nil says that a refusal has been written.
func (s *Server) storedGames(w http.ResponseWriter) StoredGames {
	if s.watch.stored == nil {
		refuse(w, http.StatusNotFound, "this is a comparison, whose games are in the logs of its matches")
	}
	return s.watch.stored
}

// stored answers with a page of stored games.
func (s *Server) stored(w http.ResponseWriter, r *http.Request) {
	end, err := parsePlace(r.URL.Query().Get("before"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	stored := s.storedGames(w)
	if stored == nil {
		return
	}
	p, err := stored.Stored(r.Context(), end, pageGames)
	if err != nil {
		refuseStored(w, err)
		return
	}
	out := Stored{Games: []GameLine{}, Older: placeText(p.Older), First: p.First, Last: p.Last, Damage: append([]string{}, p.Damage...)}
	s.watch.look(func(time.Time) {
		generation := s.watch.generations()
		for _, g := range p.Games {
			line := s.watch.line(&g, generation)
			line.Place = placeText(g.At)
			out.Games = append(out.Games, line)
		}
	})
	answer(w, encode(out))
}

// find returns the record of a game that is not among the newest. Nil says that a
// refusal has been written.
func (s *Server) find(w http.ResponseWriter, r *http.Request) []byte {
	at, err := parsePlace(r.URL.Query().Get("at"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return nil
	}
	stored := s.storedGames(w)
	if stored == nil {
		return nil
	}
	if !s.finding.TryLock() { // a search reads all segments
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "the server looks for another game; try again")
		return nil
	}
	defer s.finding.Unlock()
	ctx, cancel := context.WithTimeout(r.Context(), findWithin)
	defer cancel()
	record, err := stored.StoredGame(ctx, r.PathValue("id"), at)
	if err != nil {
		refuseStored(w, err)
		return nil
	}
	return record
}
