package dash

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/xboard"
)

const (
	askPath   = "/api/ask/" // the paths with the method POST, beside controlPath
	mostAsked = 256 << 10   // bytes of a question
	mostText  = 100         // bytes of a move that a person types
)

// Question is what the page asks about: a position, given by where the game began and
// its moves. The page is not believed: the rules are applied to every move.
type Question struct {
	FEN   string   `json:"fen"`   // where the game began; empty: the variant's start position
	Moves []string `json:"moves"` // as UCI has them
	Move  string   `json:"move"`  // one more, as UCI or SAN has it; empty: none

	Level  Level  `json:"level"`  // of the net that plays
	Person string `json:"person"` // which side is not the net's: white, black; empty: both
}

// Table is a game as far as it was played.
type Table struct {
	Start     string   `json:"start"`     // FEN; empty: the variant's start position
	Positions []Place  `json:"positions"` // the start first
	Legal     []Choice `json:"legal"`     // moves of the last position; none if the game is over
	Result    string   `json:"result"`    // as PGN has it, * before the end
	End       string   `json:"end"`       // how the game ended, in words; empty before
	PGN       string   `json:"pgn"`
}

// Choice is a legal move.
type Choice struct {
	UCI string `json:"uci"`
	SAN string `json:"san"`
}

// Errors of a request, beside what is wrong with a move or a FEN.
var (
	errQuestion = errors.New("bad question")
	errTooLarge = errors.New("question too large")
)

// readQuestion reads the JSON of a request, whole, so that the server notices when the
// page goes away.
func readQuestion[T any](w http.ResponseWriter, r *http.Request) (q T, err error) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return q, fmt.Errorf("%w: found content of type %.50q, expected application/json", errQuestion, r.Header.Get("Content-Type"))
	}
	in := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostAsked))
	in.DisallowUnknownFields()
	var large *http.MaxBytesError
	switch err := in.Decode(&q); {
	case errors.As(err, &large):
		return q, fmt.Errorf("%w: found more than %d bytes", errTooLarge, large.Limit)
	case err != nil:
		return q, fmt.Errorf("%w: %w", errQuestion, err)
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return q, fmt.Errorf("%w: found more than one JSON value", errQuestion)
	}
	return q, nil
}

// line plays the moves of a question by the rules.
func (q *Question) line(v *chess.Variant) (*chess.Line, error) {
	start := v.Start()
	if q.FEN != "" {
		var err error
		if start, err = chess.ParseFEN(v, q.FEN); err != nil {
			return nil, fmt.Errorf("FEN: %w", err)
		}
	}
	if len(q.Moves) > game.MaxGamePlies {
		return nil, fmt.Errorf("%w: found %d moves, expected at most %d", errQuestion, len(q.Moves), game.MaxGamePlies)
	}
	line := chess.NewLine(start)
	line.Grow(len(q.Moves) + 2)
	for i, text := range q.Moves {
		m, err := line.Pos().ParseUCI(text)
		if err != nil {
			return nil, fmt.Errorf("ply %d: %w", i+1, err)
		}
		line.Push(m)
	}
	if text := strings.TrimSpace(q.Move); text != "" {
		if len(text) > mostText {
			return nil, fmt.Errorf("%w: found a move of %d bytes, expected a move such as Nf3, N@f3 or g1f3", errQuestion, len(text))
		}
		m, err := xboard.ParseMove(line.Pos(), text)
		if err != nil {
			return nil, err
		}
		line.Push(m)
	}
	return line, nil
}

// setTable describes a line. Tags go to its PGN.
func setTable(line *chess.Line, tags map[string]string) (*Table, error) {
	start := line.Start()
	g := &game.Game{Variant: start.Variant(), Start: *start}
	t := &Table{Positions: make([]Place, 0, line.Len()+1), Legal: []Choice{}}
	if fen := start.FEN(); fen != g.Variant.StartFEN {
		t.Start = fen
	}
	p := *start
	place := Place{}
	for _, m := range line.Moves() {
		place.FEN, place.Check = p.FEN(), p.InCheck()
		t.Positions = append(t.Positions, place)
		g.Plies = append(g.Plies, game.Ply{Move: m})
		place = Place{SAN: p.SAN(m), UCI: p.UCI(m)}
		p.Make(m)
	}
	place.FEN, place.Check = p.FEN(), p.InCheck()
	t.Positions = append(t.Positions, place)
	g.Outcome, g.Reason = line.Outcome()
	t.Result = g.Outcome.String()
	if g.Outcome != chess.Ongoing {
		t.End = game.EndText(g.Outcome, g.Reason)
	} else {
		var list chess.MoveList
		p.Legal(&list)
		for _, m := range list.Slice() {
			t.Legal = append(t.Legal, Choice{p.UCI(m), p.SAN(m)})
		}
	}
	var pgn strings.Builder
	if err := (game.PGNOptions{}).Write(&pgn, g, tags); err != nil {
		return nil, err
	}
	t.PGN = pgn.String()
	return t, nil
}

// refuseAsked answers a question that has no answer.
func refuseAsked(w http.ResponseWriter, err error) {
	code := http.StatusBadRequest
	switch {
	case errors.Is(err, errTooLarge):
		code = http.StatusRequestEntityTooLarge
	case errors.Is(err, errBusy):
		code = http.StatusServiceUnavailable
		w.Header().Set("Retry-After", "1")
	case errors.Is(err, errSearch):
		code = http.StatusInternalServerError
	}
	refuse(w, code, err.Error())
}
