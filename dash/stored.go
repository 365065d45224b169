package dash

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/replay"
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
func (w *Watch) line(h *game.Header, generation map[string]int) GameLine {
	return GameLine{
		ID: h.ID, Actor: replay.ActorOf(h.ID, w.run.ID), Result: h.Outcome.String(), Reason: game.ReasonText(h.Reason), Plies: h.Plies,
		Generations: [2]int{generation[h.Nets[0]], generation[h.Nets[1]]}, Book: h.StartFEN != "",
	}
}

// archive is where the run's games are stored; nil: not in a directory here.
func (w *Watch) archive() *replay.Archive {
	if w.onServers() || w.compared != nil {
		return nil
	}
	return replay.NewArchive(w.path("replay"))
}

// stored answers with a page of stored games.
func (s *Server) stored(w http.ResponseWriter, r *http.Request) {
	end, err := parsePlace(r.URL.Query().Get("before"))
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	archive := s.watch.archive()
	if archive == nil {
		refuse(w, http.StatusNotFound, "the stored games are where the run's replay buffer is: selfplay dash DIR there shows them")
		return
	}
	p, err := archive.Before(r.Context(), end, pageGames)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "the stored games cannot be read: "+err.Error())
		return
	}
	out := Stored{Games: []GameLine{}, Older: placeText(p.Older), First: p.First, Last: p.Last, Damage: []string{}}
	for _, d := range p.Damage {
		out.Damage = append(out.Damage, d.String())
	}
	s.watch.look(func(time.Time) {
		generation := s.watch.generations()
		for _, g := range p.Games {
			h, err := game.DecodeHeader(g.Game)
			if err != nil {
				out.Damage = append(out.Damage, fmt.Sprintf("the game at %s: %v", placeText(g.At), err))
				continue
			}
			line := s.watch.line(&h, generation)
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
	archive := s.watch.archive()
	if archive == nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("this game is not among the newest %d that were published since this page is served: selfplay dash DIR, where the run's replay buffer is, finds all that are stored", keptGames))
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
	g, err := archive.Find(ctx, r.PathValue("id"), at)
	switch {
	case errors.Is(err, replay.ErrUnknown):
		refuse(w, http.StatusNotFound, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		refuse(w, http.StatusGatewayTimeout, fmt.Sprintf("the game was not found within %v; open it from the list of stored games", findWithin))
	case err != nil:
		refuse(w, http.StatusInternalServerError, "the stored games cannot be read: "+err.Error())
	default:
		return g.Game
	}
	return nil
}
