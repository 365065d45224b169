package dash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/crazyhouse-rl/selfplay/analysis"
	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
)

const mostLines = 8 // of an analysis

// Text is a FEN or a PGN that a person has.
type Text struct {
	Text string `json:"text"`
}

// Told is the game that a text says. A FEN is a game without moves.
type Told struct {
	Table *Table `json:"table"`
	// White, Black and Result are what a PGN says, which may be more than the moves do.
	White  string `json:"white"`
	Black  string `json:"black"`
	Result string `json:"result"`
	More   bool   `json:"more"` // games followed, which were left out
}

// Analyse asks for an analysis of a position.
type Analyse struct {
	Question
	Lines int    `json:"lines"`
	Nodes uint64 `json:"nodes"` // 0: as many as there may be
}

// Analysis is what the net's search finds in a position, seen by the side to move.
type Analysis struct {
	*analysis.Report
	Net string `json:"net"` // whose search it was
}

// isFEN reports whether a text is a FEN, which begins with a board, and not a PGN.
func isFEN(text string) bool {
	first, _, _ := strings.Cut(text, " ")
	return strings.Count(first, "/") >= 7 && !strings.Contains(text, "\n")
}

// told reads a FEN or the first game of a PGN. A PGN that does not name its variant is of
// the run's.
func told(text string, v *chess.Variant) (*Told, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, fmt.Errorf("%w: found no text, expected a FEN or a PGN", errQuestion)
	}
	if isFEN(text) {
		q := Question{FEN: text}
		line, err := q.line(v)
		if err != nil {
			return nil, err
		}
		t, err := setTable(line, nil)
		return &Told{Table: t, Result: t.Result}, err
	}
	in := game.NewPGNReader(strings.NewReader(text))
	rec, err := in.Next()
	switch {
	case errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%w: found %.40q, expected a FEN or a PGN", errQuestion, text)
	case err != nil:
		return nil, err
	}
	if rec.Tags["Variant"] == "" {
		rec.Tags["Variant"] = v.Name
	}
	g, err := rec.Game()
	if err != nil {
		return nil, err
	}
	if g.Variant != v {
		return nil, fmt.Errorf("%w: found a game of %s, expected one of %s, which the net plays", errQuestion, g.Variant, v)
	}
	out := &Told{White: rec.Tags["White"], Black: rec.Tags["Black"], Result: g.Outcome.String()}
	_, err = in.Next()
	out.More = !errors.Is(err, io.EOF)
	out.Table, err = setTable(g.Line(), map[string]string{"White": out.White, "Black": out.Black})
	return out, err
}

func (s *Server) text(w http.ResponseWriter, r *http.Request) {
	q, err := readQuestion[Text](w, r)
	var v *chess.Variant
	s.watch.look(func(time.Time) { v = s.watch.variant() })
	var out *Told
	if err == nil {
		out, err = told(q.Text, v)
	}
	if err != nil {
		refuseAsked(w, err)
		return
	}
	answer(w, encode(out))
}

func (s *Server) analysis(w http.ResponseWriter, r *http.Request) {
	q, err := readQuestion[Analyse](w, r)
	var out *Analysis
	if err == nil {
		out, err = s.analyse(r.Context(), &q)
	}
	if err != nil {
		refuseAsked(w, err)
		return
	}
	answer(w, encode(out))
}

func (s *Server) analyse(ctx context.Context, q *Analyse) (*Analysis, error) {
	if q.Lines < 1 || q.Lines > mostLines {
		return nil, fmt.Errorf("%w: found lines %d, expected 1 to %d", errQuestion, q.Lines, mostLines)
	}
	line, o, _, err := s.gameOf(&q.Question)
	if err != nil {
		return nil, err
	}
	p, by, end, err := s.searches.begin(o, line.Pos().Variant())
	if err != nil {
		return nil, err
	}
	defer end()
	a := &analysis.Analyst{Player: p, Search: by, Limits: s.searches.limits(q.Nodes), Lines: q.Lines}
	report, err := a.Report(ctx, line)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSearch, err)
	}
	return &Analysis{report, o.name}, nil
}
