package dash

import (
	"slices"
	"strings"

	"github.com/crazyhouse-rl/selfplay/chess"
	"github.com/crazyhouse-rl/selfplay/configs"
	"github.com/crazyhouse-rl/selfplay/game"
	"github.com/crazyhouse-rl/selfplay/player"
	"github.com/crazyhouse-rl/selfplay/search"
	"github.com/crazyhouse-rl/selfplay/selfplay"
)

// Games are the newest games of the replay buffer, or of a run on servers those published
// while the page was served.
type Games struct {
	Games []GameLine `json:"games"` // the newest first
	Total uint64     `json:"total"` // games ever stored, or of a run on servers published

	Published bool `json:"published"` // they are a run's on servers
}

// GameLine is a game in a list.
type GameLine struct {
	ID          string `json:"id"`
	Actor       string `json:"actor"`  // that played it; empty: not known
	Place       string `json:"place"`  // where it is stored, segment.offset; empty: not known
	Result      string `json:"result"` // as PGN has it
	Reason      string `json:"reason"` // why it ended, in words
	Plies       int    `json:"plies"`
	Generations [2]int `json:"generations"` // of White's net and Black's, as generations.of has them
	Book        bool   `json:"book"`        // it does not begin with the start position
}

// Replayed is a game with all its positions.
type Replayed struct {
	GameLine
	Nets      [2]string `json:"nets"` // ids, White's first
	Limits    string    `json:"limits"`
	Build     string    `json:"build"`
	Positions []Place   `json:"positions"` // the start first
	PGN       string    `json:"pgn"`
}

// Place is a position of a game, with the move that led to it and what the search that
// chose the next move said of it.
type Place struct {
	FEN   string   `json:"fen"`
	SAN   string   `json:"san"`   // empty at the start
	UCI   string   `json:"uci"`   // the same
	Check bool     `json:"check"` // the side to move is in check
	Score *int     `json:"score"` // centipawns from White's side; nil: none, or a mate
	Mate  *int     `json:"mate"`  // moves until White mates, negative: until Black does; 0: it is mate
	Win   *float64 `json:"win"`   // White's expected result, 0 to 1; nil: nothing was said
	Train bool     `json:"train"` // the next move is the search's own choice, so that the position may be trained on
}

func (w *Watch) games() Games {
	generation := w.generations()
	total, _, _ := w.buffer.total()
	out := Games{Games: make([]GameLine, 0, len(w.buffer.newest())), Total: total, Published: w.onServers()}
	for _, s := range slices.Backward(w.buffer.newest()) {
		g := selfplay.DescribeGame(&s.header)
		out.Games = append(out.Games, w.line(&g, generation))
	}
	return out
}

// record returns the encoded game of an id, nil if it is not among the newest.
func (w *Watch) record(id string) []byte {
	for _, s := range w.buffer.newest() {
		if s.header.ID == id {
			return s.record
		}
	}
	return nil
}

// scoresOf says by which search scores are that are stored under the search of the run's
// settings.
func scoresOf(name string) player.Search {
	if name == configs.TreeSearch {
		return player.TreeSearch
	}
	return player.AlphaBeta
}

// replayed decodes a game for the page.
func replayed(record []byte, generation generations, searchName string) (*Replayed, error) {
	g, err := game.Decode(record)
	if err != nil {
		return nil, err
	}
	by := scoresOf(searchName)
	var pgn strings.Builder
	if err := (game.PGNOptions{}).Write(&pgn, g, nil); err != nil {
		return nil, err
	}
	out := &Replayed{
		GameLine: GameLine{
			ID: g.ID, Result: g.Outcome.String(), Reason: game.ReasonText(g.Reason), Plies: len(g.Plies),
			Generations: [2]int{generation.of(g.Nets[0]), generation.of(g.Nets[1])}, Book: g.Start.FEN() != g.Variant.StartFEN,
		},
		Nets: g.Nets, Limits: g.Limits, Build: g.Build, PGN: pgn.String(),
	}
	p := g.Start
	place := Place{}
	for _, ply := range g.Plies {
		place.FEN, place.Check, place.Train = p.FEN(), p.InCheck(), ply.Train
		if ply.HasScore {
			place.judge(ply.Score, p.SideToMove(), by)
		}
		out.Positions = append(out.Positions, place)
		place = Place{SAN: p.SAN(ply.Move), UCI: p.UCI(ply.Move)}
		p.Make(ply.Move)
	}
	place.FEN, place.Check = p.FEN(), p.InCheck()
	place.end(g)
	out.Positions = append(out.Positions, place)
	return out, nil
}

// judge sets what a score of the side to move says, from White's side.
func (p *Place) judge(s search.Score, side chess.Color, by player.Search) {
	win := by.WDL(s).Expected()
	if side == chess.Black {
		s, win = -s, 1-win
	}
	p.Win = &win
	value := int(s)
	if !s.IsMate() {
		p.Score = &value
		return
	}
	plies := int(search.MateScore - max(s, -s))
	moves := (plies + 1) / 2
	if s < 0 {
		moves = -moves
	}
	p.Mate = &moves
}

// end sets what the result says of the last position.
func (p *Place) end(g *game.Game) {
	win := 0.5
	switch g.Outcome {
	case chess.WhiteWins:
		win = 1
	case chess.BlackWins:
		win = 0
	}
	p.Win = &win
	if g.Reason == chess.Checkmate {
		p.Mate = new(int)
	}
}
