package dash

import (
	"fmt"
	"net/http"
	"time"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	levels "github.com/crazyhouse-rl/selfplay/search/strength"
)

// Opponent is who plays against a person.
type Opponent struct {
	Name    string `json:"name"`
	Net     string `json:"net"` // id; empty: the program's own
	Variant string `json:"variant"`
	// Elo are the ratings of the levels below full strength, rising.
	Elo     []int   `json:"elo"`
	Nodes   uint64  `json:"nodes"`   // of a search, at most
	Seconds float64 `json:"seconds"` // the same
}

// Level is how well the net plays: by a rating on the ladder's scale, or at full
// strength with a number of nodes a move.
type Level struct {
	Elo   *int   `json:"elo"`
	Nodes uint64 `json:"nodes"` // 0: as many as there may be
	Seed  uint64 `json:"seed"`  // of the choices of moves with a rating
}

// Reply is a move of the net.
type Reply struct {
	Table *Table `json:"table"`
	SAN   string `json:"san"`
	// Place is the position before the move, with what the search said of it.
	Place Place  `json:"place"`
	Depth int    `json:"depth"`
	Nodes uint64 `json:"nodes"`
	// Opponent is who moved: the newest net may be another one than before.
	Opponent string `json:"opponent"`
}

// check refuses a strength that there is not.
func (l *Level) check() error {
	if l.Elo == nil {
		return nil
	}
	if err := levels.Check(*l.Elo); err != nil {
		return fmt.Errorf("%w: elo: %w", errQuestion, err)
	}
	return nil
}

// words says the strength, by the limits of a search.
func (l *Level) words(s *searches) string {
	if l.Elo != nil {
		return fmt.Sprintf("elo %d", *l.Elo)
	}
	return game.LimitsText(search.Limits{Nodes: s.limits(l.Nodes).Nodes})
}

func (s *Server) opponent(w http.ResponseWriter, _ *http.Request) {
	var out Opponent
	s.watch.look(func(time.Time) {
		o := s.watch.opponent()
		out = Opponent{Name: o.name, Net: o.id, Variant: s.watch.variant().Name}
	})
	out.Nodes, out.Seconds = s.searches.most.Nodes, s.searches.most.MoveTime.Seconds()
	for skill := range levels.FullSkill {
		out.Elo = append(out.Elo, levels.EloOf(skill))
	}
	answer(w, encode(out))
}

// gameOf returns the game that a question is about, who plays in it, and the tags of its
// PGN.
func (s *Server) gameOf(q *Question) (*chess.Line, opponent, map[string]string, error) {
	var o opponent
	var v *chess.Variant
	s.watch.look(func(time.Time) { o, v = s.watch.opponent(), s.watch.variant() })
	tags := map[string]string{"Event": "a person's game", "Date": time.Now().Format("2006.01.02")}
	name := o.name + ", " + q.Level.words(s.searches)
	switch q.Person {
	case "white":
		tags["White"], tags["Black"] = "human", name
	case "black":
		tags["White"], tags["Black"] = name, "human"
	case "":
	default:
		return nil, o, nil, fmt.Errorf("%w: found person %.20q, expected white, black or nothing", errQuestion, q.Person)
	}
	if err := q.Level.check(); err != nil {
		return nil, o, nil, err
	}
	line, err := q.line(v)
	return line, o, tags, err
}

// position answers how a game stands.
func (s *Server) position(w http.ResponseWriter, r *http.Request) {
	q, err := readQuestion[Question](w, r)
	var line *chess.Line
	var tags map[string]string
	if err == nil {
		line, _, tags, err = s.gameOf(&q)
	}
	var t *Table
	if err == nil {
		t, err = setTable(line, tags)
	}
	if err != nil {
		refuseAsked(w, err)
		return
	}
	answer(w, encode(t))
}

// move has the net move.
func (s *Server) move(w http.ResponseWriter, r *http.Request) {
	reply, err := s.reply(w, r)
	if err != nil {
		refuseAsked(w, err)
		return
	}
	answer(w, encode(reply))
}

func (s *Server) reply(w http.ResponseWriter, r *http.Request) (*Reply, error) {
	q, err := readQuestion[Question](w, r)
	if err != nil {
		return nil, err
	}
	line, o, tags, err := s.gameOf(&q)
	if err != nil {
		return nil, err
	}
	if outcome, reason := line.Outcome(); outcome != chess.Ongoing {
		return nil, fmt.Errorf("%w: found a game that is over (%s), expected one in which a move can be made", errQuestion, game.EndText(outcome, reason))
	}
	p, by, end, err := s.searches.begin(o, line.Pos().Variant())
	if err != nil {
		return nil, err
	}
	defer end()
	if q.Level.Elo != nil {
		p = player.Weaken(p, levels.ForElo(*q.Level.Elo), q.Level.Seed)
	}
	res, err := find(r.Context(), p, line, s.searches.limits(q.Level.Nodes))
	if err != nil {
		return nil, err
	}
	at := line.Pos()
	out := &Reply{SAN: at.SAN(res.Move), Place: Place{FEN: at.FEN(), Check: at.InCheck()}, Depth: res.Depth, Nodes: res.Nodes, Opponent: o.name}
	out.Place.judge(res.Score, at.SideToMove(), by)
	line.Push(res.Move)
	out.Table, err = setTable(line, tags)
	return out, err
}
