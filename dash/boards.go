package dash

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/replay"
)

const mostBoards = 12

// Boards are the games of the actors: those under way in the process of the page, or the
// newest one of each actor that is stored or was published.
type Boards struct {
	Live bool        `json:"live"` // they are under way
	List []BoardLine `json:"list"`
	More int         `json:"more"` // actors whose games are left out
}

// BoardLine is the newest position of a game. Its score is of the search that made the
// newest move, or in a finished game the result.
type BoardLine struct {
	Place
	Actor       string `json:"actor"` // or which of the games of this process
	Game        string `json:"game"`  // its id
	Generations [2]int `json:"generations"`
	Plies       int    `json:"plies"`
	Line        string `json:"line"`   // how the search expects the game to go on
	Result      string `json:"result"` // as PGN has it; * under way
	Reason      string `json:"reason"` // how it ended, in words
}

// liveBoards are the games that the process of the run plays.
func (w *Watch) liveBoards() Boards {
	out := Boards{Live: true, List: []BoardLine{}}
	generation := w.generations()
	for _, at := range w.cfg.Boards() {
		b := BoardLine{
			Place: Place{FEN: at.FEN, SAN: at.SAN, UCI: at.UCI, Check: at.Check}, Actor: "game " + cmp.Or(strings.TrimPrefix(at.Game, w.run.ID+"-"), at.Game),
			Game: at.Game, Generations: [2]int{generation.of(at.Nets[0]), generation.of(at.Nets[1])}, Plies: at.Plies, Line: strings.Join(at.Line, " "),
			Result: chess.Ongoing.String(),
		}
		b.judge(at.Score, at.Mover, scoresOf(w.settings.Actor.Search))
		out.List = append(out.List, b)
	}
	out.More = max(0, len(out.List)-mostBoards)
	out.List = out.List[:len(out.List)-out.More]
	return out
}

// newestBoards are the newest games of the actors, the newest first.
func (w *Watch) newestBoards() (Boards, error) {
	out := Boards{List: []BoardLine{}}
	generation := w.generations()
	seen := map[string]bool{}
	for _, s := range slices.Backward(w.buffer.newest()) {
		name := cmp.Or(replay.ActorOf(s.header.ID, w.buffer.run), otherActors)
		if seen[name] {
			continue
		}
		seen[name] = true
		if len(out.List) == mostBoards {
			out.More++
			continue
		}
		g, err := replayed(s.record, generation, w.settings.Actor.Search)
		if err != nil {
			return out, err
		}
		b := BoardLine{Place: g.Positions[len(g.Positions)-1], Actor: name, Game: g.ID, Generations: g.Generations, Plies: g.Plies, Result: g.Result, Reason: g.Reason}
		out.List = append(out.List, b)
	}
	return out, nil
}

func (s *Server) boards(w http.ResponseWriter, _ *http.Request) {
	var b Boards
	var err error
	s.watch.look(func(time.Time) {
		if s.watch.cfg.Boards != nil {
			b = s.watch.liveBoards()
		} else {
			b, err = s.watch.newestBoards()
		}
	})
	if err != nil {
		refuse(w, http.StatusInternalServerError, "a game cannot be replayed: "+err.Error())
		return
	}
	answer(w, encode(b))
}
